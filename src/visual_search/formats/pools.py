"""Files of a pool: a JSON record that names a table of pairs and a table of pictures by their content.

The digits in a companion's name are those of its content, as with results: a pool written over an old one touches
nothing of the old one until the new record is in its place.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from visual_search.errors import FileFormatError, InputError
from visual_search.formats.atomic import write_json
from visual_search.formats.columns import ColumnTable
from visual_search.formats.companions import companions_folder, remove_companions, write_companion
from visual_search.formats.fingerprint import fingerprint_file
from visual_search.formats.outputs import written_file
from visual_search.formats.plain_json import check_regular, read_plain_json
from visual_search.formats.results import ImageLocation
from visual_search.ids import Id

__all__ = ["StoredPool", "read_stored_pool", "write_stored_pool"]

FORMAT, VERSION = "visual-search pool", 1
_COLUMNS = ("query", "item", "kind", "system", "rank", "near", "likeness")


@dataclass(frozen=True, slots=True)
class StoredPool:
    """A pool as its files tell it.

    Attributes
    ----------
    record : dict
        The JSON value.
    pairs : mapping of column name to list
        query, item, kind, system, rank, near, likeness: one row a source of a pair.
    pictures : sequence of (side, id, ImageLocation)
        Where images are; side is "query" or "item".
    """

    record: Mapping[str, Any]
    pairs: Mapping[str, list[Any]]
    pictures: Sequence[tuple[str, Id, ImageLocation]]


def write_stored_pool(path: Path, stored: StoredPool) -> None:
    """Write companions, then the record; what was there stays whole until then. Of a link it is what it leads to.

    Raises
    ------
    InputError
        What no file can be written to; a name that does not end in ``.json``, or a file that is there and is no pool.
    """
    path = written_file(path, "pool")
    if path.suffix != ".json":
        raise InputError(f"pool: {path.name!r}; a pool is JSON: give a name that ends in .json")
    replaced: dict[str, str] = {}
    if path.exists():
        try:
            replaced = _record(path)["files"]
        except FileFormatError as error:
            raise InputError(f"pool: {path} is there and is no pool ({error}); give another name") from error
    files: dict[str, str] = {}
    checksums: dict[str, str] = {}
    path.parent.mkdir(parents=True, exist_ok=True)
    tables = {"pairs": _pairs_table(stored.pairs), "pictures": _pictures_table(stored.pictures, path.parent)}
    for name, table in tables.items():
        files[name], checksums[name] = write_companion(path, name, partial(_write_table, table))
    head = {"format": FORMAT, "version": VERSION}
    write_json(path, {**head, **stored.record, "files": files, "file_checksums": checksums})
    remove_companions(path, set(replaced.values()) - set(files.values()))


def read_stored_pool(path: Path) -> StoredPool:
    """Read a pool's files.

    Raises
    ------
    FileFormatError
        Not a pool, of a later version, or with a companion that is gone or another's.
    """
    record = _record(path)
    pairs = ColumnTable(_companion(path, record, "pairs"), what=f"{path.name}: pairs").plain(_COLUMNS)
    pictures = ColumnTable(_companion(path, record, "pictures"), what=f"{path.name}: pictures")
    columns = pictures.plain(("side", "text_id", "number_id", "path", "member"))
    folder = companions_folder(path, record["files"].values())
    places = [
        (side, text if text is not None else number, ImageLocation(folder / place, member))
        for side, text, number, place, member in zip(*columns.values(), strict=True)
    ]
    return StoredPool(record, pairs, places)


def _record(path: Path) -> dict[str, Any]:
    value = read_plain_json(path)
    if not isinstance(value, dict) or value.get("format") != FORMAT:
        raise FileFormatError(f"{path.name}: no pool; visual-search judge pool writes one")
    if value.get("version") != VERSION:
        raise FileFormatError(
            f"{path.name}: a pool of version {value.get('version')!r}; this program reads {VERSION}"
        )
    for key in ("files", "file_checksums"):
        part = value.get(key)
        if not isinstance(part, dict) or not {"pairs", "pictures"} <= part.keys():
            raise FileFormatError(f"{path.name}: {key} must name pairs and pictures")
        if any(not isinstance(text, str) or "/" in text or "\\" in text for text in part.values()):
            raise FileFormatError(f"{path.name}: {key} must be plain names of files beside it")
    return value


def _companion(path: Path, record: Mapping[str, Any], name: str) -> Path:
    companion = companions_folder(path, record["files"].values()) / str(record["files"][name])
    try:
        check_regular(companion)
        found = fingerprint_file(companion)
    except OSError as error:
        raise FileFormatError(
            f"{path.name}: its {name} file {companion.name} cannot be read ({error.strerror}); it belongs beside the "
            "JSON file"
        ) from error
    if found != record["file_checksums"][name]:
        raise FileFormatError(f"{path.name}: {companion.name} is not the {name} file this record was written with")
    return companion


def _pairs_table(columns: Mapping[str, list[Any]]) -> Any:
    import pyarrow as pa

    fixed = {"kind": pa.string(), "system": pa.string(), "rank": pa.int32(), "likeness": pa.float64()}
    ids = {
        name: pa.int64()
        if columns[name] and all(isinstance(one, int | None) for one in columns[name])
        else pa.string()
        for name in ("query", "item")
    }
    kinds = {**ids, "near": ids["item"], **fixed}
    return pa.table({name: pa.array(columns[name], type=kinds[name]) for name in _COLUMNS})


def _pictures_table(pictures: Sequence[tuple[str, Id, ImageLocation]], folder: Path) -> Any:
    import pyarrow as pa

    columns: dict[str, list[Any]] = {name: [] for name in ("side", "text_id", "number_id", "path", "member")}
    for side, name, place in pictures:
        columns["side"].append(side)
        columns["text_id"].append(name if isinstance(name, str) else None)
        columns["number_id"].append(name if isinstance(name, int) else None)
        columns["path"].append(_written(place.path, folder))
        columns["member"].append(place.member)
    kinds = {"number_id": pa.int64()}
    return pa.table({name: pa.array(values, type=kinds.get(name, pa.string())) for name, values in columns.items()})


def _written(path: Path, folder: Path) -> str:
    """A path relative to the record's folder where it lies below, else absolute."""
    whole, root = Path(os.path.abspath(path)), Path(os.path.abspath(folder))  # noqa: PTH100 - links stay links
    return whole.relative_to(root).as_posix() if whole.is_relative_to(root) else str(whole)


def _write_table(table: Any, path: Path) -> None:
    from pyarrow import parquet

    parquet.write_table(table, path, compression="zstd")
