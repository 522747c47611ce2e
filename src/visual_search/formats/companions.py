"""Files beside a result's record, named by content: a new result leaves an old one's alone until it is whole."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TypeVar

from visual_search.formats.atomic import flush_file, fsync_folder, temporary_beside
from visual_search.formats.fingerprint import fingerprint_file

__all__ = ["LONGEST_NAME", "companions_folder", "remove_companions", "without_companions", "write_companion"]

AnyPath = TypeVar("AnyPath", bound="str | os.PathLike[str]")

LONGEST_NAME = 255  # bytes that every usual file system takes
_ENDINGS = {
    "ranking": "parquet",
    "queries": "parquet",
    "items": "json",
    "pairs": "parquet",
    "pictures": "parquet",
}
_KINDS = "|".join(rf"{kind}(\.[0-9a-f]{{12}})?\.{ending}" for kind, ending in _ENDINGS.items())
_NAME = re.compile(rf"(?P<stem>.+)\.({_KINDS})", re.DOTALL)
_LONGEST_STEM = LONGEST_NAME - max(len(f".{kind}.0123456789ab.{end}") for kind, end in _ENDINGS.items())


def write_companion(record: Path, kind: str, write: Callable[[Path], object]) -> tuple[str, str]:
    """Write one companion whole or not at all, under a name such as ``results.ranking.0123456789ab.parquet``.

    Parameters
    ----------
    record : Path
        The JSON record beside which the file goes.
    kind : {"ranking", "queries", "items", "pairs", "pictures"}
    write : callable
        Writes the file at the path that it is given.

    Returns
    -------
    name : str
        The file's plain name.
    checksum : str
        Its SHA-256, as :func:`fingerprint_file` gives it; the name has the first 12 digits.
    """
    stem = _stem(record)
    with temporary_beside(record.with_name(f"{stem}.{kind}")) as temporary:
        write(temporary)
        flush_file(temporary)
        checksum = fingerprint_file(temporary)
        digits = checksum.removeprefix("sha256:")[:12]
        target = record.with_name(f"{stem}.{kind}.{digits}.{_ENDINGS[kind]}")
        temporary.replace(target)
    fsync_folder(record.parent)
    return target.name, checksum


def companions_folder(record: Path, names: Iterable[str]) -> Path:
    """The folder in which a record's companions lie, and from which its relative places count.

    That is the record's own. Of a link it is that of the file it leads to, unless a companion lies beside the link.
    """
    if not record.is_symlink() or any(record.with_name(name).exists() for name in names):
        return record.parent
    return Path(os.path.realpath(record)).parent


def remove_companions(record: Path, names: Iterable[str]) -> None:
    """Remove companions of a record that has been replaced; a name that :func:`write_companion` gives none is left.

    Names of earlier versions, without digits (``results.ranking.parquet``), are ours too.
    """
    for name in names:
        if (found := _NAME.fullmatch(name)) and found["stem"] == _stem(record):
            record.with_name(name).unlink(missing_ok=True)


def without_companions(paths: Iterable[AnyPath]) -> list[AnyPath]:
    """Leave out the companions of records that are given too, as ``results/*.json`` names them.

    A file that bears a companion's name stays where its record is not among the paths.

    >>> without_companions(["old.json", "old.items.0123456789ab.json", "new.items.0123456789ab.json"])
    ['old.json', 'new.items.0123456789ab.json']
    """
    given = list(paths)
    records = {(one.parent, _stem(one)) for one in map(Path, given) if one.suffix == ".json"}
    return [path for path in given if not _belongs_to_one(Path(path), records)]


def _belongs_to_one(path: Path, records: Collection[tuple[Path, str]]) -> bool:
    found = _NAME.fullmatch(path.name)
    return found is not None and (path.parent, found["stem"]) in records


def _stem(record: Path) -> str:
    """What the names of a record's companions begin with: its own stem, a long one cut and told apart by a digest."""
    whole = record.stem.encode("utf-8", "surrogateescape")
    if len(whole) <= _LONGEST_STEM:
        return record.stem
    digits = hashlib.sha256(whole).hexdigest()[:12]
    begins = whole[: _LONGEST_STEM - len(digits) - 1].decode("utf-8", "ignore")
    return f"{begins}~{digits}"
