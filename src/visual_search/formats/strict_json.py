"""JSON read strictly: where the text is broken, and which keys an object repeats."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from visual_search.errors import FileFormatError, Problems

__all__ = ["parse_json", "read_json", "read_unrepeated_json"]


class _Repeating(dict[str, Any]):
    """An object whose text gave some key more than once; the last value stands, as in the standard library."""

    repeated: tuple[str, ...] = ()


def read_json(
    path: str | os.PathLike[str], error: type[FileFormatError] = FileFormatError
) -> tuple[Any, tuple[str, ...]]:
    """Read a UTF-8 JSON file; see :func:`parse_json`."""
    return parse_json(Path(path).read_bytes(), subject=str(path), error=error)


def read_unrepeated_json(path: str | os.PathLike[str]) -> Any:
    """Read a UTF-8 JSON file in which no object may give a key twice, since nobody knows which value is meant.

    Raises
    ------
    FileFormatError
        As for :func:`parse_json`; and keys that come twice, with their places.
    """
    value, repeated = read_json(path)
    problems = Problems(str(path))
    for line in repeated:
        problems.add(line)
    problems.raise_if_any(FileFormatError)
    return value


def parse_json(
    data: bytes, *, subject: str, error: type[FileFormatError] = FileFormatError
) -> tuple[Any, tuple[str, ...]]:
    """Parse JSON and name every key that an object repeats.

    Parameters
    ----------
    data : bytes
        UTF-8, with or without a byte order mark.
    subject : str
        The file's name, for messages.
    error : type of FileFormatError
        What to raise.

    Returns
    -------
    value : object
        The parsed value.
    repeated : tuple of str
        One line for each repeated key, with its place.

    Raises
    ------
    FileFormatError
        Not UTF-8, not JSON (with line and column), nested too deeply, or a whole number of thousands of digits.

    Examples
    --------
    >>> parse_json(b'{"queries": [{"query_id": "a", "query_id": "b"}]}', subject="eval.json")[1]
    ('queries[0]: the key "query_id" appears twice or more; keep one',)
    """
    found = False

    def build(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        nonlocal found
        built = dict(pairs)
        if len(built) == len(pairs):
            return built
        seen: set[str] = set()
        twice = {key: None for key, _ in pairs if key in seen or seen.add(key)}  # type: ignore[func-returns-value]
        marked = _Repeating(built)
        marked.repeated = tuple(twice)
        found = True
        return marked

    try:
        value = json.loads(data.decode("utf-8-sig"), object_pairs_hook=build)
    except UnicodeDecodeError as reason:
        raise error(f"{subject}: not UTF-8 text (byte {reason.start}); save it as UTF-8") from None
    except json.JSONDecodeError as reason:
        raise error(
            f"{subject}: not valid JSON at line {reason.lineno}, column {reason.colno}: {reason.msg}"
            + (" (the file is empty)" if not data.strip() else "")
        ) from None
    except RecursionError:
        raise error(f"{subject}: nested too deeply to be what is expected here") from None
    except ValueError as reason:  # a whole number of more digits than Python turns into one
        raise error(f"{subject}: holds a number that is too long: {reason}") from None
    return value, tuple(_repeats(value, "")) if found else ()


def _repeats(value: Any, place: str) -> Iterator[str]:
    if isinstance(value, _Repeating):
        where = f"{place}: " if place else ""
        for key in value.repeated:
            yield f'{where}the key "{key}" appears twice or more; keep one'
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _repeats(inner, f"{place}.{key}" if place else key)
    elif isinstance(value, list):
        for row, inner in enumerate(value):
            yield from _repeats(inner, f"{place}[{row}]")
