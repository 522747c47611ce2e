"""The two Parquet tables beside a result: what was returned, and each query's values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from visual_search.counted import counted
from visual_search.errors import FileFormatError, InputError, Problems, first_few
from visual_search.ids import Id

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc

__all__ = ["STATES", "check_columns", "queries_table", "ranking_table", "read_columns", "read_table", "write_table"]

STATES = ("relevant", "not_relevant", "unjudged", "ignored")
_FILLED = {"query", "item", "position", "score", "state", "num_relevant"}


def ranking_table(columns: Mapping[str, Any]) -> pa.Table:
    """Build the ranking table from columns; see :func:`visual_search.formats.results.write_result`.

    Raises
    ------
    InputError
        A column missing, unknown or of another length or type; a rank below 1; a score that is not finite; an
        unknown state. All problems at once.
    """
    import pyarrow as pa

    kinds = {
        "query": None,
        "position": pa.int32(),
        "rank": pa.int32(),
        "item": None,
        "score": pa.float64(),
        "distance": pa.float64(),
        "state": pa.string(),
        "grade": pa.float64(),
    }
    problems = Problems("ranking")
    for name in columns.keys() - kinds.keys():
        problems.add(f"{name!r}: unknown column; known are {', '.join(kinds)}")
    for name in kinds.keys() - {"distance", "grade"} - columns.keys():
        problems.add(f"{name!r}: column missing")
    problems.raise_if_any(InputError)
    length = len(columns["query"])
    made = {n: _column(n, columns.get(n, [None] * length), kind, problems) for n, kind in kinds.items()}
    problems.raise_if_any(InputError)
    table = _table(made, problems)
    _check_ranking(table, problems)
    problems.raise_if_any(InputError)
    return table


def queries_table(columns: Mapping[str, Any]) -> pa.Table:
    """Build the table of queries from columns; see :func:`visual_search.formats.results.write_result`.

    Raises
    ------
    InputError
        A column missing or of another length or type, or a repeated query; all problems at once.
    """
    import pyarrow as pa

    problems = Problems("queries")
    for name in {"query", "num_relevant"} - columns.keys():
        problems.add(f"{name!r}: column missing")
    problems.raise_if_any(InputError)
    length = len(columns["query"])
    fixed: dict[str, Any] = {"query": None, "group": None, "category": None, "num_relevant": pa.int64()}
    kinds = fixed | {name: pa.float64() for name in columns if name not in fixed}
    made = {n: _column(n, columns.get(n, [None] * length), kind, problems) for n, kind in kinds.items()}
    problems.raise_if_any(InputError)
    table = _table(made, problems)
    repeated = length - len(table.column("query").unique())
    if repeated:
        problems.add(f"'query': {repeated} repeated ids; one row a query")
    problems.raise_if_any(InputError)
    return table


def _column(name: str, values: Any, kind: Any, problems: Problems) -> Any:
    import pyarrow as pa

    try:
        # NaN becomes null: undefined is the same thing in both.
        made = pa.array(values, type=kind, from_pandas=True)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as problem:
        problems.add(f"{name!r}: {problem}")
        return pa.array([], type=kind or pa.string())
    if kind is None:
        made = _text_or_integers(name, made, problems)
    if name in {"query", "item", "position", "score", "state", "num_relevant"} and made.null_count:
        problems.add(
            f"{name!r}: {counted(made.null_count, 'value is', 'values are')} missing or NaN; each row needs one"
        )
    return made


def _text_or_integers(name: str, made: Any, problems: Problems) -> Any:
    import pyarrow as pa

    if pa.types.is_null(made.type):
        return made.cast(pa.string())
    if pa.types.is_integer(made.type):
        return made.cast(pa.int64())
    if not (pa.types.is_string(made.type) or pa.types.is_large_string(made.type)):
        problems.add(f"{name!r}: text or whole numbers are needed; got {made.type}")
        return pa.array([], type=pa.string())
    return made


def _table(columns: dict[str, Any], problems: Problems) -> pa.Table:
    import pyarrow as pa

    lengths = {name: len(column) for name, column in columns.items()}
    if len(set(lengths.values())) > 1:
        problems.add(f"columns must have one length; got {lengths}")
        problems.raise_if_any(InputError)
    return pa.table(columns)


def _check_ranking(table: pa.Table, problems: Problems) -> None:
    import pyarrow.compute as pc

    states = {str(state) for state in table.column("state").unique().to_pylist()} - set(STATES)
    if states:
        problems.add(f"'state': {first_few(sorted(states))}; allowed are {', '.join(STATES)}")
    for name in ("position", "rank"):
        places = table.column(name).drop_null().to_numpy()
        if len(places) and places.min() < 1:
            problems.add(f"{name!r}: starts at 1; got {places.min()}")
    ignored = pc.equal(table.column("state"), "ignored")
    if pc.any(pc.not_equal(ignored, pc.is_null(table.column("rank")))).as_py():
        problems.add("'rank': an ignored item has none, and every other has one")
    scores = table.column("score").to_numpy()
    if not np.isfinite(scores).all():
        problems.add(f"'score': {int((~np.isfinite(scores)).sum())} values are infinite")


def write_table(path: Path, table: pa.Table) -> None:
    """Write Parquet, in groups of rows small enough that one query's rows are read without the rest."""
    import pyarrow.parquet as pq

    pq.write_table(table, path, compression="zstd", row_group_size=1 << 13)


def read_table(
    path: Path,
    kind: str,
    *,
    queries: Iterable[Id] | None = None,
    rows: pc.Expression | None = None,
    columns: Sequence[str] | None = None,
) -> pa.Table:
    """Read Parquet, all of it, or the rows of some queries, or those for which an expression holds, or some columns.

    Raises
    ------
    FileFormatError
        Truncated, not Parquet, or not the columns, types and states of the ``kind``, ranking or queries.
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    wanted = None if columns is None else list(columns)
    try:
        with pq.ParquetFile(path) as opened:
            schema = opened.schema_arrow
            check_columns(schema, kind, path.name)
            if absent := [name for name in wanted or () if name not in schema.names]:
                raise InputError(
                    f"columns: {first_few(absent)} not in {path.name}; there are {', '.join(schema.names)}"
                )
            if rows is None and queries is None:
                table = opened.read(columns=wanted, use_threads=wanted is None)  # threads cost more than they give
        if rows is not None or queries is not None:
            chosen = rows
            if queries is not None:
                chosen = pc.field("query").isin(pa.array(list(queries), type=schema.field("query").type))
            table = pq.read_table(path, partitioning=None, filters=chosen, columns=wanted)
    except pa.ArrowException as problem:
        raise FileFormatError(f"{path.name}: damaged, or not a Parquet file of a result: {problem}") from problem
    problems = Problems(path.name)
    for name in _FILLED & set(table.column_names):
        if table.column(name).null_count:
            problems.add(f"{name!r}: {table.column(name).null_count} values are missing; each row needs one")
    if kind == "ranking" and columns is None:
        _check_ranking(table, problems)
    problems.raise_if_any(FileFormatError)
    return table


def read_columns(path: Path, kind: str) -> list[str]:
    """Names of the columns, in the file's order; nothing else is read.

    Raises
    ------
    FileFormatError
        As for :func:`read_table`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
    except pa.ArrowException as problem:
        raise FileFormatError(f"{path.name}: damaged, or not a Parquet file of a result: {problem}") from problem
    check_columns(schema, kind, path.name)
    names: list[str] = schema.names
    return names


def check_columns(schema: pa.Schema, kind: str, subject: str) -> None:
    """Refuse a file without the columns and types of the ``kind``, ranking or queries.

    Raises
    ------
    FileFormatError
        All that is wrong, at once.
    """
    problems = Problems(subject)
    ids, floats = {"string", "large_string", "int64"}, {"double"}
    if kind == "ranking":
        needed = {"query": ids, "item": ids, "position": {"int32"}, "rank": {"int32"}, "score": floats}
        needed |= {"state": {"string"}, "distance": floats, "grade": floats}
    else:
        needed = {"query": ids, "group": ids, "category": ids, "num_relevant": {"int64"}}
        needed |= {name: floats for name in schema.names if name not in needed}
    for name, kinds in needed.items():
        found = [str(field.type) for field in schema if field.name == name]
        if len(found) != 1:
            problems.add(f"{name!r}: column {'repeated' if found else 'missing'}")
        elif found[0] not in kinds:
            problems.add(f"{name!r}: type {found[0]}; allowed: {', '.join(sorted(kinds))}")
    problems.raise_if_any(FileFormatError)
