"""The first rows of every list of a ranking file, and what lies behind them, read a batch at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from visual_search.errors import FileFormatError
from visual_search.formats.result_tables import read_table
from visual_search.ids import Id

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["RankingHeads", "read_heads"]

_BATCH = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class RankingHeads:
    """The heads of all lists of a ranking, by query.

    Attributes
    ----------
    table : pyarrow.Table
        Columns of the ranking file; each query's rows together, by position. The first ``shown`` items that count,
        what is ignored among them, and the first relevant item where it lies behind them.
    shown : int
    places : dict of query to (int, int)
        First row of each query in ``table``, and the row after its last.
    returned : dict of query to int
        Length of each whole list.
    """

    table: pa.Table
    shown: int
    places: dict[Id, tuple[int, int]]
    returned: dict[Id, int]

    def rows(self, query: Id) -> list[dict[str, Any]]:
        """The rows of one query, each with ``head`` (False: the first relevant, from behind) and ``returned``."""
        first, after = self.places.get(query, (0, 0))
        rows: list[dict[str, Any]] = self.table.slice(first, after - first).to_pylist()
        for row in rows:
            row["head"] = (row["position"] if row["rank"] is None else row["rank"]) <= self.shown
            row["returned"] = self.returned[query]
        return rows


def read_heads(path: Path, shown: int) -> RankingHeads:
    """Read the head of every list; memory grows with queries and ``shown``, not with the depth of the lists.

    Parameters
    ----------
    path : Path
        A result's ranking file.
    shown : int
        Items of each list.

    Raises
    ------
    FileFormatError
        Truncated, not Parquet, or not a ranking.
    """
    import pyarrow as pa
    import pyarrow.compute as pc

    rank, position = pc.field("rank"), pc.field("position")
    heads = read_table(path, "ranking", rows=pc.if_else(pc.is_null(rank), position, rank) <= shown)
    returned: dict[Id, int] = {}
    later: pa.Table | None = None
    for batch in _batches(path):
        for row in batch.group_by("query").aggregate([("position", "count")]).to_pylist():
            returned[row["query"]] = returned.get(row["query"], 0) + row["position_count"]
        found = batch.filter(pc.field("state") == "relevant")
        later = found if later is None else pa.concat_tables([later, found])
        firsts = later.group_by("query").aggregate([("rank", "min")]).rename_columns(["query", "rank"])
        later = later.join(firsts, ["query", "rank"], join_type="inner")
    if later is not None:
        behind = later.filter(pc.field("rank") > shown).select(heads.column_names)
        heads = pa.concat_tables([heads, behind.cast(heads.schema)])
    heads = heads.sort_by([("query", "ascending"), ("position", "ascending")])
    return RankingHeads(heads, shown, _places(heads), returned)


def _batches(path: Path) -> Iterator[pa.Table]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_BATCH):
                yield pa.Table.from_batches([batch])
    except pa.ArrowException as problem:
        raise FileFormatError(f"{path.name}: damaged, or not a Parquet file of a result: {problem}") from problem


def _places(table: pa.Table) -> dict[Id, tuple[int, int]]:
    """Rows of each query of a table in which they stand together."""
    places: dict[Id, tuple[int, int]] = {}
    for row, query in enumerate(table.column("query").to_pylist()):
        places[query] = (places[query][0] if query in places else row, row + 1)
    return places
