"""The files of a folder that may be results, and what the catalogue keeps of each."""

from __future__ import annotations

import hashlib
import json
import os
import zlib
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Any

from visual_search.catalogue.entry import MeasuredMean, facts_of_record, means_of_record
from visual_search.errors import FileFormatError
from visual_search.evaluation.compared import record_parts
from visual_search.formats.fingerprint import fingerprint_file
from visual_search.formats.result_record import FORMAT
from visual_search.formats.results import read_headline

__all__ = ["Found", "Scanned", "found_file", "found_files", "key_of", "measures_rows", "record_from", "scanned"]

# Rows of the record that are read from the Parquet file beside it, a column at a time.
_LONG = "per_query_results"
_DEEPEST = 6  # folders below the results folder


@dataclass(frozen=True, slots=True)
class Found:
    """A file that may be a result: its place in the folder, and what changes whenever its bytes do."""

    file: str
    path: Path
    identity: str
    changed: float


@dataclass(frozen=True, slots=True)
class Scanned:
    """What the catalogue keeps of one file."""

    fingerprint: str
    problem: str | None
    facts: str
    parts: str
    record: bytes | None
    measures: dict[str, MeasuredMean]


def key_of(file: str, folder: str = "") -> str:
    """The 16 digits that stand for a file in addresses; a place in the folder never does.

    ``folder`` tells files of several folders apart.

    >>> key_of("week-3/a.json")
    '3011e568248a67ce'
    """
    return hashlib.sha256((folder + file).encode("utf-8", "surrogateescape")).hexdigest()[:16]


def found_files(folder: Path, *, _below: str = "", _deep: int = 0) -> Iterator[Found]:
    """Every JSON file of a folder and of those in it that may be a result; hidden ones and companions are not."""
    try:
        with os.scandir(folder) as listed:
            entries = sorted(listed, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        try:
            if entry.is_dir(follow_symlinks=False):
                if _deep < _DEEPEST:
                    yield from found_files(Path(entry.path), _below=f"{_below}{entry.name}/", _deep=_deep + 1)
            elif entry.name.endswith(".json") and ".items." not in entry.name:
                yield from found_file(folder, entry.name, below=_below)
        except OSError:  # gone between the listing and the look
            continue


def found_file(folder: Path, name: str, *, below: str = "") -> Iterator[Found]:
    """One file, where it is there and regular."""
    path = folder / name
    try:
        told = path.stat()
    except OSError:
        return
    if S_ISREG(told.st_mode):
        numbers = (told.st_size, told.st_mtime_ns, told.st_ctime_ns, told.st_ino)
        yield Found(f"{below}{name}", path, "-".join(map(str, numbers)), told.st_mtime)


def scanned(path: Path) -> Scanned | None:
    """Read one file; None where it is gone or is sound JSON of another kind.

    A file that cannot be read as a result is kept with the reason.
    """
    try:
        fingerprint = fingerprint_file(path)
        record = read_headline(path)
    except FileNotFoundError:
        return None
    except (FileFormatError, OSError) as problem:
        if _is_something_else(path):
            return None
        return Scanned(_fingerprint(path), str(problem), "{}", "{}", None, {})
    kept = {key: value for key, value in record.items() if key != _LONG} if _has_queries(record) else record
    return Scanned(
        fingerprint,
        None,
        _text(facts_of_record(record)),
        _text(record_parts(record)),
        zlib.compress(_text(kept).encode("utf-8", "surrogatepass"), 1),
        means_of_record(record),
    )


def record_from(stored: bytes) -> dict[str, Any]:
    """The record as the catalogue keeps it: without the rows per query that a file beside the result has."""
    kept: dict[str, Any] = json.loads(zlib.decompress(stored).decode("utf-8", "surrogatepass"))
    kept.setdefault(_LONG, [])
    return kept


def _has_queries(record: dict[str, Any]) -> bool:
    return "queries" in (record.get("files") or {})


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def _fingerprint(path: Path) -> str:
    try:
        return fingerprint_file(path)
    except OSError:
        return ""


def _is_something_else(path: Path) -> bool:
    """Whether it is JSON that never was a result, such as a dataset: nothing to tell anybody about."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return False
    if not isinstance(value, dict):
        return True
    return value.get("format") != FORMAT and not {"per_query_results", "num_queries"} & value.keys()


def measures_rows(key: str, measures: dict[str, MeasuredMean]) -> list[tuple[Any, ...]]:
    """Rows of the table of measures, in the record's order."""
    return [(key, place, name, *asdict(one).values()) for place, (name, one) in enumerate(measures.items())]
