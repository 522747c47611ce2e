"""JSON files of a result: regular files, UTF-8, no NaN or infinity, no endless number, no key given twice."""

from __future__ import annotations

import json
import re
import stat
from collections import Counter
from pathlib import Path
from typing import Any

from visual_search.errors import FileFormatError, first_few

__all__ = ["check_regular", "read_plain_json"]


def check_regular(path: Path) -> None:
    """Refuse folders, and pipes and devices, which may never end.

    Raises
    ------
    FileFormatError
        Not a regular file, nor a link to one.
    OSError
        It is not there or cannot be reached.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise FileFormatError(f"{path.name}: a folder, pipe or device; a result is made of regular files")


def read_plain_json(path: Path, *, passed_over: str | None = None) -> Any:
    """Read a JSON value.

    Parameters
    ----------
    path : Path
    passed_over : str, optional
        A key of the outermost object whose list, where it is written with a line for each of its objects, is not
        parsed: an empty list stands for it. Written in another way, it is parsed like the rest.

    Raises
    ------
    FileFormatError
        Not a regular file, not UTF-8, not JSON (with line and column), nested too deeply, a key that an object
        gives twice, or a number that is NaN, infinite or of thousands of digits.
    OSError
        It is not there or cannot be read.
    """
    check_regular(path)

    def refuse(text: str) -> float:
        raise FileFormatError(f"{path.name}: holds {text}, which is not JSON; undefined values are null")

    def distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        built = dict(pairs)
        if len(built) < len(pairs):
            twice = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
            raise FileFormatError(f"{path.name}: an object gives the same key twice: {first_few(twice)}; keep one")
        return built

    try:
        text = path.read_bytes().decode("utf-8-sig")
        if passed_over is not None:
            text = _without(text, passed_over)
        return json.loads(text, parse_constant=refuse, object_pairs_hook=distinct)
    except FileFormatError:
        raise
    except json.JSONDecodeError as problem:
        raise FileFormatError(
            f"{path.name}: not JSON, or cut off: {problem.msg} at line {problem.lineno}, column {problem.colno}"
        ) from problem
    except UnicodeDecodeError as problem:
        raise FileFormatError(f"{path.name}: byte {problem.start} is not UTF-8; a result is JSON text") from problem
    except RecursionError as problem:
        raise FileFormatError(f"{path.name}: nested too deeply to be a result") from problem
    except ValueError as problem:  # a whole number of more digits than Python turns into one
        raise FileFormatError(f"{path.name}: holds a number that is too long: {problem}") from problem


# A line for each object; text in JSON has no line breaks, so that a line that begins so is no part of a text.
_OBJECT_LINES = re.compile(r"(?:\n    \{[^\n]*\},)*\n    \{[^\n]*\}")


def _without(text: str, key: str) -> str:
    head = f'\n  "{key}": ['
    start = text.find(head)
    inner = start + len(head)
    end = text.find("\n  ]", inner)
    if min(start, end) < 0 or _OBJECT_LINES.fullmatch(text, inner, end) is None:
        return text
    return text[:inner] + text[end:]
