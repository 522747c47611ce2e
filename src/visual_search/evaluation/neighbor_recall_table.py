"""Recall of an index query by query, with the neighbours it missed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError, Problems
from visual_search.evaluation.measures.neighbor_recall import NeighborRecall, recall_pairs
from visual_search.evaluation.neighbor_positions import NeighborCounts, NeighborPositions
from visual_search.evaluation.neighbor_recall_words import table_json, table_text
from visual_search.evaluation.neighbor_scoring import notes_on_neighbors
from visual_search.evaluation.query_hardness import QueryHardness, query_hardness
from visual_search.evaluation.query_recall import QueryRecall
from visual_search.evaluation.statistics.bootstrap import bootstrap_mean
from visual_search.evaluation.statistics.interval import Interval
from visual_search.evaluation.statistics.proportions import wilson
from visual_search.evaluation.text_table import decimals
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.ids import Id, Ids

__all__ = ["NeighborRecallTable", "QueryRecall", "recall_table"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class NeighborRecallTable:
    """Recall of every query; a sequence of `QueryRecall` in the order of the truth.

    Attributes
    ----------
    measure : NeighborRecall
        What was measured.
    truth : ExactNeighbors
        Against what.
    recall : float64 array of shape (n,)
        NaN where nothing is asked for.
    returned, tied, missed : int64 arrays of shape (n,)
        Different items returned among the first k; those as far as the last neighbour; neighbours not returned.
    lower_bound : bool array of shape (n,)
        Where more may have been found than the truth can tell.
    latency : float64 array of shape (n,) or None
        Seconds each search took, where given.
    hardness : QueryHardness
        How hard each query is.
    missing_offsets, missing_ranks : int64 arrays
        Query i missed the neighbours of rank (from 0) ``missing_ranks[missing_offsets[i]:missing_offsets[i + 1]]``.
    notes : tuple of str
        What a reader should know.
    """

    measure: NeighborRecall
    truth: ExactNeighbors
    recall: FloatArray
    returned: Int64Array
    tied: Int64Array
    missed: Int64Array
    lower_bound: BoolArray
    latency: FloatArray | None
    hardness: QueryHardness
    missing_offsets: Int64Array
    missing_ranks: Int64Array
    notes: tuple[str, ...]

    @property
    def queries(self) -> Ids:
        """The queries, in order."""
        return self.truth.queries

    def __len__(self) -> int:
        return len(self.recall)

    def __iter__(self) -> Iterator[QueryRecall]:
        return (self[row] for row in range(len(self)))

    def __getitem__(self, row: int) -> QueryRecall:
        row = range(len(self))[row]
        ranks = self.missing_ranks[self.missing_offsets[row] : self.missing_offsets[row + 1]].tolist()
        items = self.truth.gallery.take(self.truth.positions[row, ranks].tolist())
        return QueryRecall(
            query=self.queries[row],
            recall=float(self.recall[row]),
            returned=int(self.returned[row]),
            tied=int(self.tied[row]),
            missed=int(self.missed[row]),
            missing=tuple(zip(items, (rank + 1 for rank in ranks), strict=True)),
            lower_bound=bool(self.lower_bound[row]),
            latency=None if self.latency is None else float(self.latency[row]),
            dimension=float(self.hardness.dimension[row]),
            contrast=float(self.hardness.contrast[row]),
        )

    @property
    def defined(self) -> FloatArray:
        """Values of the queries that have one."""
        return self.recall[~np.isnan(self.recall)]

    @property
    def mean(self) -> float:
        """Mean recall over the queries where it is defined; NaN where it is nowhere."""
        return float(self.defined.mean()) if len(self.defined) else float("nan")

    @property
    def minimum(self) -> float:
        """Lowest recall of a query."""
        return float(self.defined.min()) if len(self.defined) else float("nan")

    @property
    def mean_missed(self) -> float:
        """Neighbours that a query misses in the mean."""
        kept = ~np.isnan(self.recall)
        return float(self.missed[kept].mean()) if kept.any() else float("nan")

    def quantiles(self, at: Sequence[float] = (0.05, 0.25, 0.5)) -> dict[float, float]:
        """Recall that a share of the queries does not exceed.

        Each is the value of a query (the lower one where it falls between two), so that it is never one that no query
        has.
        """
        wrong = [share for share in at if not 0 <= share <= 1]
        if wrong:
            raise InputError(f"quantiles: {wrong[0]}; shares from 0 to 1 are needed")
        if not len(self.defined):
            return dict.fromkeys(at, float("nan"))
        found = np.quantile(self.defined, list(at), method="inverted_cdf")
        return dict(zip(at, found.tolist(), strict=True))

    def share_below(self, threshold: float) -> float:
        """Share of queries whose recall is below a threshold; one exactly at it is not."""
        if not 0 <= threshold <= 1:
            raise InputError(f"threshold: got {threshold}; a recall from 0 to 1 is needed, such as 0.9")
        return float((self.defined < threshold).mean()) if len(self.defined) else float("nan")

    @property
    def zero_recall_queries(self) -> tuple[Id, ...]:
        """Queries for which no neighbour was found."""
        return tuple(self.queries.take(np.flatnonzero(self.recall == 0).tolist()))

    def worst(self, count: int = 10) -> tuple[QueryRecall, ...]:
        """The queries of lowest recall, lowest first; equal ones in the order of the truth."""
        order = np.argsort(self.recall, kind="stable")[: len(self.defined)]
        return tuple(self[row] for row in order[:count].tolist())

    @property
    def interval(self) -> Interval | None:
        """Where the mean would lie had other queries been drawn; bootstrap over queries, 95 %, seed 0."""
        return bootstrap_mean(self.recall)

    @property
    def zero_recall_interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of the share of queries for which no neighbour is found."""
        return wilson(len(self.zero_recall_queries), len(self.defined))

    def by_dimension(self, parts: int = 4) -> list[tuple[float, float, int, float]]:
        """(lowest, highest dimension, queries, mean recall) of equal parts of the queries, easiest first.

        Only queries with recall and dimension both defined; empty where there are fewer than parts.
        """
        known = np.flatnonzero(~np.isnan(self.recall) & ~np.isnan(self.hardness.dimension))
        if parts < 1 or len(known) < parts:
            return []
        order = known[np.argsort(self.hardness.dimension[known], kind="stable")]
        dimension = self.hardness.dimension
        return [
            (float(dimension[part[0]]), float(dimension[part[-1]]), len(part), float(self.recall[part].mean()))
            for part in np.array_split(order, parts)
        ]

    def as_json(self, *, threshold: float = 0.9, worst: int = 10) -> dict[str, Any]:
        """As a JSON object: what was measured against what, the summary, the worst queries, every value."""
        return table_json(self, threshold=threshold, worst=worst)

    def text(self, *, threshold: float = 0.9, worst: int = 10) -> str:
        """The summary and the worst queries, for a terminal."""
        return table_text(self, threshold=threshold, worst=worst)

    def __repr__(self) -> str:
        return (
            f"NeighborRecallTable({self.measure} = {decimals(self.mean)}, {counted(len(self), 'query', 'queries')})"
        )


def recall_table(
    table: NeighborPositions,
    truth: ExactNeighbors,
    measure: NeighborRecall,
    *,
    latency: FloatArray | None = None,
    hardness: QueryHardness | None = None,
) -> NeighborRecallTable:
    """Make the table of lists that are joined with the truth already."""
    _check_columns(len(truth), latency, hardness)
    values = measure.neighbor_values(table)
    counts = table.counts(measure.k_number, measure.nearest)
    found, wanted = recall_pairs(table, k=measure.k_number, nearest=measure.nearest, ties=measure.ties)
    missed = np.asarray(wanted - found, dtype=np.int64)
    query, rank = np.nonzero(_missing(table, counts, measure, missed))
    return NeighborRecallTable(
        measure=measure,
        truth=truth,
        recall=values.value,
        returned=counts.returned,
        tied=counts.tied,
        missed=missed,
        lower_bound=counts.undecided if measure.ties == "exact" else np.zeros(len(table), dtype=np.bool_),
        latency=latency,
        hardness=query_hardness(truth, k=min(measure.k_number, truth.k)) if hardness is None else hardness,
        missing_offsets=np.searchsorted(query, np.arange(len(table) + 1)).astype(np.int64),
        missing_ranks=rank.astype(np.int64),
        notes=(*notes_on_neighbors(table, measure.k_number), *measure.remarks(table)),
    )


def _check_columns(queries: int, latency: FloatArray | None, hardness: QueryHardness | None) -> None:
    problems = Problems("recall table")
    if latency is not None and (latency.shape != (queries,) or not (latency >= 0).all()):
        problems.add(
            f"latency: shape {latency.shape}; seconds, 0 or more, for each of {queries} queries are needed"
        )
    if hardness is not None and len(hardness.dimension) != queries:
        problems.add(f"hardness: of {len(hardness.dimension)} queries, and the truth has {queries}")
    problems.raise_if_any(InputError)


def _missing(
    table: NeighborPositions, counts: NeighborCounts, measure: NeighborRecall, missed: Int64Array
) -> BoolArray:
    """Which places of the exact answer were asked for and not returned, bool of shape (n, depth).

    Of neighbours that tie at the boundary any may stand for the others: those written down first are named, as many as
    are missed.
    """
    hit = (table.place_in_list < measure.k_number) & (table.ranks >= 0) & (table.ranks < table.depth)
    there = np.zeros(table.distances.shape, dtype=np.bool_)
    there[table.query_of_place[hit], table.ranks[hit]] = True
    _, last = table.boundary(measure.nearest)
    asked = np.arange(table.depth) < counts.wanted[:, None]
    if measure.ties == "strict":
        asked = (table.distances < last[:, None]) | (asked & counts.fits[:, None])
    absent = asked & ~there
    missing: BoolArray = absent & (np.cumsum(absent, axis=1) <= missed[:, None])
    return missing
