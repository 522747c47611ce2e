"""A second copy of a result beside the first, so that a new one may take its place."""

from __future__ import annotations

import os
import shutil
from functools import partial
from pathlib import Path

from visual_search.errors import InputError
from visual_search.formats.atomic import write_text
from visual_search.formats.companions import remove_companions, write_companion
from visual_search.formats.result_record import record_text
from visual_search.formats.results import StoredResult, check_result_path, read_result

__all__ = ["copy_result"]


def copy_result(stored: StoredResult, path: str | os.PathLike[str]) -> StoredResult:
    """Copy a result and its companions to another name in its own folder; a result of that name is replaced.

    Parameters
    ----------
    stored : StoredResult
    path : path
        The new JSON file; in the same folder, since the places of images may be told relative to it.

    Returns
    -------
    StoredResult
        The copy.

    Raises
    ------
    InputError
        Another folder, or the result's own name.
    """
    target = check_result_path(path)
    if target.parent.resolve() != stored.folder.resolve() or target == stored.path.resolve():
        raise InputError(f"path: {target}; a copy lies beside {stored.path}, under another name")
    replaced = (read_result(target).record.get("files") or {}) if target.exists() else {}
    files: dict[str, str] = {}
    checksums: dict[str, str] = {}
    for name, companion in (stored.record.get("files") or {}).items():
        source = stored.folder / companion
        files[name], checksums[name] = write_companion(target, name, partial(_copied, source))
    record = dict(stored.record)
    if files:
        record |= {"files": files, "file_checksums": checksums}
    write_text(target, record_text(record))
    remove_companions(target, set(replaced.values()) - set(files.values()))
    return StoredResult(target, record)


def _copied(source: Path, target: Path) -> None:
    shutil.copyfile(source, target)
