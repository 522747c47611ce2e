"""Parquet with a column of lists, one vector a row, and where wanted a column of ids.

The lists may be of fixed size or not; every row's length is checked. Parquet is packed, so it is read into memory:
n d b bytes for the vectors and one row group beside them.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError, InputError, first_few
from visual_search.formats.atomic import atomic_path
from visual_search.formats.vector_file import VectorFile, blocks, check_dimension, check_type, file_size
from visual_search.ids import Ids

__all__ = ["read_parquet", "write_parquet"]

AnyArray = npt.NDArray[Any]

_BATCH_ROWS = 1 << 14


def read_parquet(path: Path, *, vector_column: str | None, id_column: str | None) -> VectorFile:
    """Read vectors and ids; see ``read_vectors``."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    file_size(path)
    try:
        with pq.ParquetFile(path) as table:
            named = _list_column(path, table.schema_arrow, vector_column)
            keyed = _id_column(path, table.schema_arrow, id_column)
            parts, ids = _columns(path, table, named, keyed)
    except (pa.ArrowException, OSError) as error:
        raise FileFormatError(f"{path}: not a whole Parquet file ({str(error).splitlines()[0]})") from error
    if not parts:
        raise FileFormatError(f"{path}: column {named!r} has no rows, so that the vectors have no dimension")
    return VectorFile(path, "parquet", np.concatenate(parts), ids=Ids(ids, what=f"{path}: ids") if keyed else None)


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _list_column(path: Path, schema: Any, asked: str | None) -> str:
    there = [field.name for field in schema if _is_list(field.type)]
    if asked is not None and asked not in there:
        raise InputError(f"vector_column: {path} has no column of lists {asked!r}; there are {there or 'none'}")
    if asked is None and len(there) != 1:
        raise FileFormatError(
            f"{path}: {len(there)} columns of lists ({', '.join(there) or 'none'}) among {', '.join(schema.names)}; "
            "vectors are one column of lists: name it with vector_column="
        )
    return asked or there[0]


def _id_column(path: Path, schema: Any, asked: str | None) -> str | None:
    if asked is None:
        return "id" if "id" in schema.names else None
    if asked not in schema.names:
        raise InputError(f"id_column: {path} has no column {asked!r}; there are {', '.join(schema.names)}")
    return asked


def _columns(path: Path, table: Any, named: str, keyed: str | None) -> tuple[list[AnyArray], list[Any]]:
    parts: list[AnyArray] = []
    ids: list[Any] = []
    start, dimension = 0, None
    for batch in table.iter_batches(_BATCH_ROWS, columns=[named] + ([keyed] if keyed else [])):
        if not batch.num_rows:
            continue
        column = batch.column(batch.schema.get_field_index(named))
        dimension = dimension or _first_length(path, column)
        parts.append(_matrix(path, column, start, dimension))
        if keyed:
            ids += batch.column(batch.schema.get_field_index(keyed)).to_pylist()
        start += batch.num_rows
    missing = [row for row, value in enumerate(ids) if value is None]
    if missing:
        raise FileFormatError(f"{path}: column {keyed!r} is empty in {len(missing)} rows: {first_few(missing)}")
    return parts, ids


def _first_length(path: Path, column: Any) -> int:
    dimension = len(column[0].as_py() or ())
    check_dimension(path, dimension, what="row 0 has dimension")
    return dimension


def _matrix(path: Path, column: Any, start: int, dimension: int) -> AnyArray:
    import pyarrow.compute as pc

    lengths = pc.list_value_length(column).fill_null(0).to_numpy(zero_copy_only=False)
    wrong = np.flatnonzero(lengths != dimension)
    if wrong.size:
        told = ", ".join(f"row {start + row} has {lengths[row]}" for row in wrong[:5].tolist())
        raise FileFormatError(f"{path}: rows of different dimension: row 0 has {dimension}, but {told}")
    values = column.flatten()
    if values.null_count:
        rows = np.unique(np.flatnonzero(np.array(values.is_null())) // dimension) + start
        raise FileFormatError(f"{path}: empty components in {len(rows)} rows: {first_few(rows.tolist())}")
    flat: AnyArray = values.to_numpy(zero_copy_only=False)
    check_type(path, flat.dtype)
    return flat.reshape(-1, dimension)


def write_parquet(path: Path, vectors: AnyArray, ids: Ids | None, *, vector_column: str = "vector") -> None:
    """Write a column ``id`` where there are ids and a column of lists of fixed size, whole or not at all."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    if not len(vectors):
        raise InputError(
            "array: no rows; Parquet keeps the dimension in the rows, so an empty file would have none"
        )
    kind = pa.from_numpy_dtype(vectors.dtype.newbyteorder("="))
    fields = [pa.field(vector_column, pa.list_(pa.field("item", kind, nullable=False), vectors.shape[1]))]
    if ids is not None:
        fields.insert(0, pa.field("id", pa.string() if ids.kind is str else pa.int64(), nullable=False))
    schema, start = pa.schema(fields), 0
    with atomic_path(path) as temporary, pq.ParquetWriter(temporary, schema) as writer:
        for block in blocks(vectors):
            flat = pa.array(block.astype(kind.to_pandas_dtype(), copy=False).reshape(-1), kind)
            columns = [pa.FixedSizeListArray.from_arrays(flat, type=fields[-1].type)]
            if ids is not None:
                columns.insert(0, pa.array(ids[start : start + len(block)], fields[0].type))
            writer.write_table(pa.table(columns, schema=schema))
            start += len(block)
