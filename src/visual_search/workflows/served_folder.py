"""What lies in a folder of results beside them and can be looked through as well: indexes and sweeps."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from visual_search.formats.json_lines import record_of_line
from visual_search.indexing.manifest import MANIFEST_NAME
from visual_search.tuning.sweep_record import is_header

__all__ = ["FoundBeside", "found_beside"]

_INDEX_SUFFIX = ".index"
_SWEEP_SUFFIXES = (".jsonl", ".sweep")
_LONGEST_HEADER = 64 << 20  # bytes of a sweep's first line; 10,000 queries with 100 neighbours each take some 20 MB


@dataclass(frozen=True, slots=True)
class FoundBeside:
    """Indexes and sweeps at the top of folders, by name.

    Attributes
    ----------
    indexes, sweeps : list of Path
        Those that look like one; whether they can be read shows when they are opened.
    """

    indexes: list[Path] = field(default_factory=list)
    sweeps: list[Path] = field(default_factory=list)


def found_beside(
    places: Iterable[str | os.PathLike[str]], given: Iterable[str | os.PathLike[str]] = ()
) -> FoundBeside:
    """Look through folders for ``*.index`` folders and files of sweeps; folders below them are not looked into.

    Parameters
    ----------
    places : iterable of path
        Folders; files among them are passed over.
    given : iterable of path
        What is opened anyway and is not to be found again.

    Returns
    -------
    FoundBeside

    Examples
    --------
    >>> found_beside([])
    FoundBeside(indexes=[], sweeps=[])
    """
    seen = {Path(one).resolve() for one in given}
    found = FoundBeside()
    for folder in map(Path, places):
        for path in _listed(folder):
            kind = found.indexes if _is_index(path) else found.sweeps if _is_sweep(path) else None
            if kind is not None and (real := path.resolve()) not in seen:
                seen.add(real)
                kind.append(path)
    return found


def _listed(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError:  # a file, or a folder that may not be read
        return []


def _is_index(path: Path) -> bool:
    try:
        return path.name.endswith(_INDEX_SUFFIX) and not path.is_symlink() and (path / MANIFEST_NAME).is_file()
    except OSError:
        return False


def _is_sweep(path: Path) -> bool:
    try:
        if path.suffix not in _SWEEP_SUFFIXES or path.is_symlink() or not path.is_file():
            return False
        with path.open("rb") as stream:
            if not stream.read(4096).lstrip().startswith(b"{"):
                return False
            stream.seek(0)
            return is_header(record_of_line(stream.readline(_LONGEST_HEADER))[0])
    except (OSError, ValueError, RecursionError):
        return False
