"""A result opened to be looked through: values of its queries a column at a time, lists a query at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.catalogue.entry import Entry
from visual_search.errors import FileFormatError, UnknownIdError
from visual_search.evaluation.compared import canonical, higher_is_better
from visual_search.evaluation.guide_measures import GuideMeasures
from visual_search.formats.ranking_rows import RankingRows
from visual_search.formats.results import StoredResult
from visual_search.ids import Id

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["OpenedResult", "Order"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
IntArray: TypeAlias = npt.NDArray[np.int64]
Order: TypeAlias = Literal["worst", "best"]
_FIXED = ("query", "group", "category", "num_relevant")


class OpenedResult:
    """One result with what was read of it so far; nothing is read before it is asked for.

    Parameters
    ----------
    entry : Entry
    stored : StoredResult
        As the catalogue gives it: without rows per query where a file beside it has them.
    ranking_of : callable
        Gives the rows of its ranking; where known, without looking for each query's anew.
    """

    def __init__(
        self,
        entry: Entry,
        stored: StoredResult,
        *,
        ranking_of: Callable[[StoredResult], RankingRows] = StoredResult.ranking_rows,
    ) -> None:
        self.entry = entry
        self.stored = stored
        self._ranking_of = ranking_of
        self._columns: dict[str, FloatArray] = {}
        self._lock = Lock()

    @property
    def record(self) -> dict[str, Any]:
        """The JSON record, without rows per query."""
        return self.stored.record

    @cached_property
    def query_ids(self) -> Sequence[Id]:
        """Every query in the file's order.

        Raises
        ------
        FileFormatError
            The file of queries is gone, damaged, or of another run.
        """
        if self._told is not None:
            found: list[Id] = self._told.column("query").to_pylist()
            return found
        return [one["query_id"] for one in self.record["per_query_results"]]

    @cached_property
    def _told(self) -> pa.Table | None:
        """Id, group and number of right answers of each query; None where no file beside the result has them."""
        columns = ["query", "group", "num_relevant"]
        return self.stored.queries(columns=columns) if self.stored.has_queries else None

    @cached_property
    def _rows(self) -> dict[str, int]:
        return {str(query): row for row, query in enumerate(self.query_ids)}

    def row_of(self, query: str) -> int:
        """Row of a query by its id as text.

        Raises
        ------
        UnknownIdError
            The result has no such query.
        """
        row = self._rows.get(query)
        if row is None:
            raise UnknownIdError(f"{self.entry.name}: no query {query[:100]!r} in {self.entry.file}")
        return row

    def has_query(self, query: str) -> bool:
        """Whether the result has a query of this id."""
        return query in self._rows

    @cached_property
    def _texts(self) -> dict[str, str]:
        """Canonical text of each measure to its name in the file."""
        if not self.stored.has_queries:
            return {name: name for name in self._guide_columns}
        return {canonical(name): name for name in self.stored.query_columns() if name not in _FIXED}

    @property
    def measure_names(self) -> Sequence[str]:
        """Measures with a value per query, by canonical text, in the file's order."""
        return list(self._texts)

    def values(self, measure: str) -> FloatArray:
        """Values per query, float64 of shape (n,); NaN where undefined.

        Raises
        ------
        UnknownIdError
            It has no such measure per query.
        """
        with self._lock:
            if measure not in self._columns:
                self._columns[measure] = self._read(measure)
            return self._columns[measure]

    def _read(self, measure: str) -> FloatArray:
        if measure not in self._texts:
            raise UnknownIdError(
                f"{self.entry.name}: no {measure[:100]!r} per query; there are {', '.join(self.measure_names)}"
            )
        if not self.stored.has_queries:
            return self._guide_columns[measure]
        name = self._texts[measure]
        column = self.stored.queries(columns=[name]).column(name)
        return np.asarray(column.to_numpy(), dtype=np.float64)

    @cached_property
    def _guide_columns(self) -> dict[str, FloatArray]:
        return GuideMeasures.of(self.record["k_values"]).columns(self.record["per_query_results"])

    def facts(self, row: int) -> dict[str, Any]:
        """``group`` and ``num_relevant`` of the query in a row; None where not told."""
        names = ("group", "num_relevant")
        if self._told is not None:
            return {name: self._told.column(name)[row].as_py() for name in names}
        one = self.record["per_query_results"][row]
        return {name: one.get(name) for name in names}

    @cached_property
    def leading_measure(self) -> str:
        """The measure by which queries are ordered unless another is asked for: the deepest AP, else the first."""
        precisions = [name for name in self.measure_names if name.startswith("AP(")]
        return (precisions or [*self.measure_names])[-1 if precisions else 0]

    def order(self, measure: str, order: Order) -> IntArray:
        """Rows of the queries that have a value, worst or best first; equal ones in the file's order."""
        values = self.values(measure)
        sign = 1.0 if higher_is_better(measure) == (order == "worst") else -1.0
        rows = np.argsort(sign * values, kind="stable")  # NaN comes last
        return rows[: int(np.isfinite(values).sum())]

    @cached_property
    def _ranking(self) -> RankingRows:
        return self._ranking_of(self.stored)

    def list_of(self, query: str) -> list[dict[str, Any]]:
        """What was returned for one query, as rows of the ranking file by position.

        Raises
        ------
        FileFormatError
            The ranking file is not named, gone, damaged, or of another run.
        UnknownIdError
            The result has no such query.
        """
        identifier = self.query_ids[self.row_of(query)]
        with self._lock:
            ranking = self._ranking
        rows: list[dict[str, Any]] = ranking.rows(identifier).to_pylist()
        return sorted(rows, key=lambda row: row["position"])

    @property
    def has_lists(self) -> bool:
        """Whether it keeps what was returned."""
        return self.stored.has_ranking

    def problem(self) -> str | None:
        """Why values per query cannot be read; None where they can."""
        try:
            if not self.query_ids:
                return "This result keeps no values per query."
        except FileFormatError as problem:
            return str(problem)
        return None
