"""Tables in columns: Parquet files, data frames of any library, and mappings of arrays.

A frame is taken through the Arrow PyCapsule stream protocol (``__arrow_c_stream__``), which pandas, polars, DuckDB
and pyarrow speak, so that none of them is imported here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import FileFormatError, InputError, first_few
from visual_search.formats.arrays import as_float64

__all__ = ["ColumnTable", "parquet_column_names"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]


class ColumnTable:
    """Named columns, read as ids, numbers or flags.

    Parameters
    ----------
    source : path, mapping, or object with ``__arrow_c_stream__``
        A Parquet file; a mapping of column names to arrays or lists; a data frame or Arrow table.
    what : str
        What the table is, for error messages.

    Raises
    ------
    FileFormatError
        A file that is not Parquet, or a truncated one.
    InputError
        An object that is none of these, or columns of different lengths.

    Examples
    --------
    >>> table = ColumnTable({"query": ["q1", "q1"], "score": [0.5, 0.25]}, what="run")
    >>> table.ids("query")[0], table.numbers("score").tolist()
    (['q1'], [0.5, 0.25])
    """

    def __init__(self, source: Any, *, what: str) -> None:
        self._what = what
        self._table = _arrow_table(source, what)

    def __len__(self) -> int:
        return int(self._table.num_rows)

    def __contains__(self, name: object) -> bool:
        return name in self._table.column_names

    def _column(self, name: str, *, empty: bool = False) -> Any:
        if name not in self:
            there = ", ".join(map(repr, self._table.column_names))
            raise InputError(f"{self._what}: no column {name!r}; there are {there}; say which one is meant")
        if self._table.column_names.count(name) > 1:
            raise InputError(f"{self._what}: several columns are named {name!r}; name one of them otherwise")
        column = _decoded(self._table.column(name))
        if column.null_count and not empty:
            rows = [row for row, valid in enumerate(column.is_valid().to_pylist()) if not valid]
            raise InputError(
                f"{self._what}: column {name!r} is empty in {counted(len(rows), 'row', 'rows')}, "
                f"first: {first_few(rows)}"
            )
        return column.combine_chunks()

    def ids(self, name: str) -> tuple[list[str] | list[int], Int64Array]:
        """Distinct ids of a column in order of first appearance, and for each row its place among them.

        Raises
        ------
        InputError
            No such column, empty cells, or neither strings nor integers (floats are no ids).
        """
        import pyarrow as pa

        column = self._column(name)
        kind = column.type
        text = pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
        if pa.types.is_null(kind):  # no rows at all
            return [], np.zeros(0, dtype=np.int64)
        if not text and not pa.types.is_integer(kind):
            raise InputError(
                f"{self._what}: column {name!r} has type {kind}; ids are strings or integers, never floats or dates"
            )
        coded = column.cast(pa.large_string() if text else kind).dictionary_encode()
        codes: Int64Array = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
        return coded.dictionary.to_pylist(), codes

    def numbers(self, name: str) -> FloatArray:
        """A column as float64 of shape (rows,).

        Raises
        ------
        InputError
            No such column, empty cells, or not numbers.
        """
        return as_float64(self._numeric(name), what=f"{self._what}: column {name!r}")

    def numbers_or_nan(self, name: str) -> FloatArray:
        """A column as float64 of shape (rows,), NaN where a cell is empty.

        Raises
        ------
        InputError
            No such column, or neither numbers nor empty cells.

        Examples
        --------
        >>> ColumnTable({"grade": [2, None]}, what="judgements").numbers_or_nan("grade").tolist()
        [2.0, nan]
        """
        import pyarrow as pa

        column = self._column(name, empty=True)
        if pa.types.is_null(column.type):
            return np.full(len(self), np.nan)
        self._check_numeric(name, column.type)
        values: FloatArray = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        return values

    def order(self, name: str) -> Int64Array:
        """Place of each row among the distinct values of a column of numbers, texts or times, lowest 0.

        Raises
        ------
        InputError
            No such column, empty cells, or values that have no order.

        Examples
        --------
        >>> ColumnTable({"time": ["2026-01-03", "2026-01-01", "2026-01-03"]}, what="judgements").order("time").tolist()
        [1, 0, 1]
        """
        import pyarrow as pa
        from pyarrow import compute

        column = self._column(name)
        if pa.types.is_null(column.type):
            return np.zeros(len(self), dtype=np.int64)
        try:
            ranks = compute.rank(column, sort_keys="ascending", tiebreaker="dense")
        except pa.ArrowException as error:
            raise InputError(f"{self._what}: column {name!r} has type {column.type}, which has no order") from error
        places: Int64Array = ranks.to_numpy(zero_copy_only=False).astype(np.int64) - 1
        return places

    def scores(self, name: str) -> npt.NDArray[np.float32] | FloatArray:
        """A column of numbers, float32 where it is that and float64 otherwise; ties depend on it."""
        values = self._numeric(name)
        return values if values.dtype == np.float32 else as_float64(values, what=f"{self._what}: column {name!r}")

    def _numeric(self, name: str) -> npt.NDArray[Any]:
        column = self._column(name)
        self._check_numeric(name, column.type)
        values: npt.NDArray[Any] = column.to_numpy(zero_copy_only=False)
        return values

    def plain(self, names: Sequence[str]) -> dict[str, list[Any]]:
        """Columns as lists of Python values, with None where a cell is empty.

        Raises
        ------
        InputError
            No such column.
        """
        absent = [name for name in names if name not in self]
        if absent:
            there = ", ".join(map(repr, self._table.column_names))
            raise InputError(f"{self._what}: no column {first_few(absent)}; there are {there}")
        return {name: _decoded(self._table.column(name)).to_pylist() for name in names}

    def _check_numeric(self, name: str, kind: Any) -> None:
        import pyarrow as pa

        if not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
            raise InputError(f"{self._what}: column {name!r} has type {kind}; numbers are needed")

    def flags(self, name: str) -> npt.NDArray[np.bool_]:
        """A column of true and false, or of 0 and 1, as bool of shape (rows,)."""
        values = self._numeric(name)
        if values.dtype != np.bool_ and not np.isin(values, (0, 1)).all():
            raise InputError(f"{self._what}: column {name!r} must hold true and false, or 0 and 1")
        return values.astype(np.bool_)


def _decoded(column: Any) -> Any:
    """A column of a dictionary's codes as what they stand for, so that an empty entry shows as an empty cell."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column
    # Codes cannot be looked up in views of strings, which is how polars keeps its categories.
    view = pa.types.is_string_view(column.type.value_type)
    kind = pa.large_string() if view else column.type.value_type
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary.cast(kind)).dictionary_decode()
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, type=kind)


def _arrow_array(values: Any) -> Any:
    import pyarrow as pa

    try:
        return pa.array(values)
    except OverflowError:
        return pa.array(values, type=pa.uint64())  # whole numbers of 64 bits without a sign


def _arrow_table(source: Any, what: str) -> Any:
    import pyarrow as pa

    if isinstance(source, (str, os.PathLike)):
        return _parquet(Path(source))
    if isinstance(source, Mapping):
        return _from_mapping(source, what)
    if hasattr(source, "__arrow_c_stream__"):
        try:
            return pa.table(source)
        except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
            raise InputError(f"{what}: the columns do not make a table ({error})") from error
    raise InputError(
        f"{what}: {type(source).__name__} is not a table; give a Parquet file, a data frame that speaks "
        "__arrow_c_stream__ (pandas from 2.2, polars, DuckDB, pyarrow), or a mapping of columns"
    )


def parquet_column_names(path: str | os.PathLike[str]) -> list[str]:
    """Names of a Parquet file's columns.

    Raises
    ------
    FileFormatError
        Not a whole Parquet file.
    """
    from pyarrow import parquet

    names: list[str] = _whole(path, lambda: parquet.read_schema(path)).names
    return names


def _parquet(path: Path) -> Any:
    from pyarrow import parquet

    return _whole(path, lambda: parquet.read_table(path))


def _whole(path: str | os.PathLike[str], read: Callable[[], Any]) -> Any:
    import pyarrow as pa

    try:
        return read()
    except (pa.ArrowException, UnicodeDecodeError) as error:
        raise FileFormatError(f"{path}: not a whole Parquet file ({error})") from error
    except OSError as error:
        # What a damaged page raises; an error of the system itself has a number, or a type of its own.
        if error.errno is not None or type(error) is not OSError:
            raise
        raise FileFormatError(f"{path}: not a whole Parquet file ({error})") from error


def _from_mapping(source: Mapping[Any, Any], what: str) -> Any:
    import pyarrow as pa

    try:
        return pa.table({str(name): _arrow_array(values) for name, values in source.items()})
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise InputError(f"{what}: the columns do not make a table ({error})") from error
