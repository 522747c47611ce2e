"""The sides of a split as one Parquet table: a row an item, what is known of it in columns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from visual_search.errors import FileFormatError
from visual_search.evaluation.protocols.sides import Column, Side
from visual_search.formats.atomic import atomic_path
from visual_search.ids import Id, Ids

__all__ = ["read_sides", "write_sides"]

_KEY = b"visual_search.split"
_COLUMNS = ("group", "view", "label", "image")


def write_sides(path: Path, sides: Mapping[str, Side], head: Mapping[str, Any]) -> None:
    """Write the sides one after the other, with everything else of the split in the file's own metadata.

    Ids and values are text in the table; the metadata says which were integers.
    """
    import pyarrow as pa
    from pyarrow import parquet

    kinds = {name: _kinds(side) for name, side in sides.items()}
    tables = [_table(name, side) for name, side in sides.items()]
    extra = {_KEY: json.dumps({**head, "kinds": kinds}, allow_nan=False).encode()}
    whole = pa.concat_tables(tables).replace_schema_metadata(extra)
    with atomic_path(path) as temporary:
        parquet.write_table(whole, temporary)


def read_sides(path: Path) -> tuple[dict[str, Side], dict[str, Any]]:
    """Read the sides, and what else the file says.

    Raises
    ------
    FileFormatError
        Not Parquet, cut off, or not a split.
    """
    import pyarrow as pa
    from pyarrow import compute, parquet

    try:
        table = parquet.read_table(path)
    except (pa.ArrowInvalid, OSError) as problem:
        raise FileFormatError(f"{path.name}: not a whole Parquet file ({problem})") from problem
    try:
        head = json.loads((table.schema.metadata or {}).get(_KEY, b"null"))
        kinds = head["kinds"]
        sides = {name: _side(table.filter(compute.equal(table["side"], name)), kinds[name]) for name in kinds}
    except (KeyError, TypeError, ValueError, pa.ArrowInvalid) as problem:
        raise FileFormatError(f"{path.name}: a Parquet file, but not a split ({problem})") from problem
    return sides, head


def _kinds(side: Side) -> dict[str, str]:
    known = {"id": side.ids.kind.__name__}
    for name in _COLUMNS:
        column = getattr(side, name)
        if column is not None:
            known[name] = "int" if column.values and isinstance(column.values[0], int) else "str"
    if side.by_row:
        known["by_row"] = "true"
    return known | ({} if side.places is None else {"places": "float"})


def _table(name: str, side: Side) -> Any:
    import pyarrow as pa

    def text(values: list[Id] | None) -> Any:
        return pa.array([None] * len(side) if values is None else list(map(str, values)), pa.string())

    columns = {one: None if (column := getattr(side, one)) is None else column.rows() for one in _COLUMNS}
    places = np.full((len(side), 2), np.nan) if side.places is None else side.places
    return pa.table(
        {
            "side": pa.array([name] * len(side), pa.string()),
            "id": text(list(side.ids)),
            **{one: text(values) for one, values in columns.items()},
            "place_0": places[:, 0],
            "place_1": places[:, 1],
        }
    )


def _side(table: Any, kinds: Mapping[str, str]) -> Side:
    def values(name: str) -> list[Id]:
        texts = table[name].to_pylist()
        return [int(one) for one in texts] if kinds[name] == "int" else texts

    columns = [Column.of(values(name)) if name in kinds else None for name in _COLUMNS]
    places = None
    if "places" in kinds:
        places = np.column_stack([table[name].to_numpy() for name in ("place_0", "place_1")]).astype(np.float64)
    group, view, label, image = columns
    ids = Ids(values("id"), what="ids")
    return Side(ids, group=group, view=view, label=label, places=places, image=image, by_row="by_row" in kinds)
