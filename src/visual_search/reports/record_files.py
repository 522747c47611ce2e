"""Files that a report can be made of, told apart by what is in them and not by what they are called."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from visual_search.errors import FileFormatError, Problems, first_few
from visual_search.formats.plain_json import check_regular, read_plain_json
from visual_search.formats.result_record import FORMAT as RESULT_FORMAT
from visual_search.formats.result_record import guide_keys
from visual_search.leaks.leak_record import LEAKS_FORMAT
from visual_search.tuning.sweep_record import FORMAT as SWEEP_FORMAT

__all__ = ["RecordFile", "RecordKind", "read_records"]

RecordKind: TypeAlias = Literal[
    "result",
    "sweep",
    "choice",
    "attribution",
    "leaks",
    "truth",
    "directions",
    "split",
    "codes",
    "comparison",
    "judging",
    "index",
]

_SPLIT_FORMAT = "visual-search split"
_FORMATS: dict[str, RecordKind] = {RESULT_FORMAT: "result", LEAKS_FORMAT: "leaks", _SPLIT_FORMAT: "split"}
# What a record without a format is known by: keys that no other has together.
_KEYS: tuple[tuple[RecordKind, frozenset[str]], ...] = (
    ("choice", frozenset({"certified", "candidates", "target", "measure"})),
    ("attribution", frozenset({"rows", "validity", "index", "num_queries"})),
    ("directions", frozenset({"there", "back", "pooled"})),
    ("directions", frozenset({"split", "systems"})),
    ("codes", frozenset({"there", "back", "vectors"})),
    ("judging", frozenset({"agreement", "disagreements", "judgements_needed"})),
    ("comparison", frozenset({"contrasts", "systems", "measures"})),
)


@dataclass(frozen=True, slots=True)
class RecordFile:
    """A file with what it holds.

    Attributes
    ----------
    path : Path
    kind : RecordKind
    value : Any
        The JSON value; None for what is read by its own room (a sweep, a truth, a split, an index).
    """

    path: Path
    kind: RecordKind
    value: Any = None


class _DatasetError(FileFormatError):
    """The right answers of an evaluation: nothing to show, and no mistake among the files of a folder."""


def read_records(
    paths: Sequence[str | os.PathLike[str]], *, left_out: Callable[[str], object] | None = None
) -> list[RecordFile]:
    """Find out what each file is.

    Parameters
    ----------
    paths : sequence of path
    left_out : callable, optional
        Is told of each dataset that is passed over because records stand beside it; where left out, or where nothing
        else is given, a dataset is refused like any other file.

    Raises
    ------
    FileFormatError
        Files that a report cannot show; all of them, each with what it is.
    OSError
        One is not there or cannot be read.
    """
    problems = Problems("records")
    found, datasets = [], []
    for path in map(Path, paths):
        try:
            found.append(_record(path))
        except _DatasetError as problem:
            datasets.append(str(problem))
        except FileFormatError as problem:
            problems.add(str(problem))
    for told in datasets:
        if left_out is not None and found:
            left_out(told)
        else:
            problems.add(f"{told}; {_allowed()}")
    problems.raise_if_any(FileFormatError)
    return found


def _record(path: Path) -> RecordFile:
    if path.is_dir():
        if not (path / "manifest.json").is_file():
            raise FileFormatError(
                f"{path.name}: a folder that is no index; name the files in it, as {path.name}/*.json; {_allowed()}"
            )
        return RecordFile(path, "index")
    check_regular(path)
    with path.open("rb") as stream:
        head = stream.read(4)
        stream.seek(0)
        first_line = stream.readline(1 << 20)
    if head == b"PAR1":
        return RecordFile(path, "split")
    if zipfile.is_zipfile(path):
        return RecordFile(path, "truth")
    if _is_sweep(first_line):
        return RecordFile(path, "sweep")
    value = read_plain_json(path)
    if not isinstance(value, Mapping):
        raise FileFormatError(f"{path.name}: {_what(value)}; {_allowed()}")
    if value.keys() >= {"recall", "attribution"} and isinstance(value["attribution"], Mapping):
        value = value["attribution"]  # what ``truth recall --qrels --json`` prints
    kind = _kind(value)
    if kind is None and _is_dataset(value):
        raise _DatasetError(f"{path.name}: queries and right answers, which a report does not show")
    if kind is None:
        keys = first_few(list(value), 5) if value else "none"
        form = f"its format is {value['format']!r}" if "format" in value else f"its keys are {keys}"
        raise FileFormatError(f"{path.name}: not a record that a report shows; {form}; {_allowed()}")
    return RecordFile(path, kind, value)


def _is_sweep(line: bytes) -> bool:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    record = value.get("record") if isinstance(value, dict) else None
    return isinstance(record, dict) and record.get("format") == SWEEP_FORMAT


def _kind(value: Mapping[str, Any]) -> RecordKind | None:
    if "format" in value:
        form = value["format"]
        return _FORMATS.get(form) if isinstance(form, str) else None
    for kind, keys in _KEYS:
        if keys <= value.keys():
            return kind
    # A result with the evaluation guide's keys alone has no format; what it lacks is told when it is read.
    return "result" if value.keys() & set(guide_keys([])) - {"num_queries"} else None


def _is_dataset(value: Mapping[str, Any]) -> bool:
    """Whether it is what ``evaluate --dataset`` reads: queries by their ids, each with its right answers."""
    queries = value.get("queries")
    return (
        isinstance(queries, list)
        and bool(queries)
        and all(isinstance(one, Mapping) and {"query_id", "ground_truth"} <= one.keys() for one in queries)
    )


def _what(value: Any) -> str:
    names = {list: "a list", str: "text", bool: "true or false", type(None): "null"}
    return f"JSON, but {names.get(type(value), 'a number')} and no object"


def _allowed() -> str:
    kinds = [kind for kind in get_args(RecordKind) if kind != "index"]
    return f"a report shows files of these kinds: {', '.join(kinds)}; and the folder of an index"
