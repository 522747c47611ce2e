"""Recall of an index query by query, with the neighbours it missed."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError
from visual_search.evaluation.measures.neighbor_recall import NeighborRecall, recall_pairs
from visual_search.evaluation.neighbor_positions import NeighborCounts, NeighborPositions
from visual_search.evaluation.neighbor_scoring import notes_on_neighbors
from visual_search.evaluation.text_table import decimals, text_table
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.ids import Id, Ids

__all__ = ["NeighborRecallTable", "QueryRecall", "recall_table"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class QueryRecall:
    """One query of a table.

    Attributes
    ----------
    query : id
    recall : float
        NaN where nothing is asked for.
    returned : int
        Different items among the first k.
    tied : int
        Returned items exactly as far as the last neighbour.
    missed : int
        Neighbours that were not returned.
    missing : tuple of (id, true rank)
        Which, nearest first; ranks from 1 in the exact answer.
    lower_bound : bool
        Whether more may have been found than the truth can tell.
    """

    query: Id
    recall: float
    returned: int
    tied: int
    missed: int
    missing: tuple[tuple[Id, int], ...]
    lower_bound: bool

    def as_json(self) -> dict[str, Any]:
        """As a JSON object; undefined is null."""
        return {
            "query": self.query,
            "recall": None if math.isnan(self.recall) else self.recall,
            "returned": self.returned,
            "tied": self.tied,
            "missed": self.missed,
            "missing": [{"id": item, "rank": rank} for item, rank in self.missing],
            "lower_bound": self.lower_bound,
        }


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
        return float((self.defined < threshold).mean()) if len(self.defined) else float("nan")

    @property
    def zero_recall_queries(self) -> tuple[Id, ...]:
        """Queries for which no neighbour was found."""
        return tuple(self.queries.take(np.flatnonzero(self.recall == 0).tolist()))

    def worst(self, count: int = 10) -> tuple[QueryRecall, ...]:
        """The queries of lowest recall, lowest first; equal ones in the order of the truth."""
        order = np.argsort(self.recall, kind="stable")[: len(self.defined)]
        return tuple(self[row] for row in order[:count].tolist())

    def as_json(self, *, threshold: float = 0.9, worst: int = 10) -> dict[str, Any]:
        """As a JSON object: what was measured against what, the summary, the worst queries, every value."""

        def known(value: float) -> float | None:
            return None if math.isnan(value) else value

        return {
            "measure": str(self.measure),
            "words": self.measure.words,
            "truth": {"label": self.truth.label(), "kind": self.truth.kind, "fingerprint": self.truth.fingerprint},
            "num_queries": len(self),
            "undefined": len(self) - len(self.defined),
            "mean": known(self.mean),
            "mean_missed": known(self.mean_missed),
            "minimum": known(self.minimum),
            "quantiles": {str(share): known(value) for share, value in self.quantiles().items()},
            "share_below": {"threshold": threshold, "share": known(self.share_below(threshold))},
            "zero_recall_queries": list(self.zero_recall_queries),
            "worst": [one.as_json() for one in self.worst(worst)],
            "queries": list(self.queries),
            "recall": [known(value) for value in self.recall.tolist()],
            "returned": self.returned.tolist(),
            "tied": self.tied.tolist(),
            "missed": self.missed.tolist(),
            "lower_bound": self.lower_bound.tolist(),
            "notes": list(self.notes),
        }

    def text(self, *, threshold: float = 0.9, worst: int = 10) -> str:
        """The summary and the worst queries, for a terminal."""
        over = counted(len(self.defined), "query", "queries")
        none = counted(len(self.zero_recall_queries), "query", "queries")
        missed = f"{decimals(self.mean_missed)} neighbours missed a query"
        lines = [
            f"{self.measure} = {decimals(self.mean)} over {over}, {missed}",
            f"lowest {decimals(self.minimum)}; {none} with none found; share of queries below {threshold}: "
            + decimals(self.share_below(threshold)),
            "  ".join(f"{share:.0%} of the queries up to {value:.3f}" for share, value in self.quantiles().items()),
            "",
        ]
        rows = [
            [
                str(one.query),
                decimals(one.recall),
                str(one.returned),
                str(one.missed),
                ", ".join(f"{item} (rank {rank})" for item, rank in one.missing[:5])
                + (f" and {len(one.missing) - 5} more" if len(one.missing) > 5 else ""),
            ]
            for one in self.worst(worst)
            if one.missed
        ]
        if rows:
            lines += [text_table(["query", "recall", "returned", "missed", "missing neighbours"], rows), ""]
        return "\n".join([*lines, *self.notes])

    def __repr__(self) -> str:
        return (
            f"NeighborRecallTable({self.measure} = {decimals(self.mean)}, {counted(len(self), 'query', 'queries')})"
        )


def recall_table(table: NeighborPositions, truth: ExactNeighbors, measure: NeighborRecall) -> NeighborRecallTable:
    """Make the table of lists that are joined with the truth already."""
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
        missing_offsets=np.searchsorted(query, np.arange(len(table) + 1)).astype(np.int64),
        missing_ranks=rank.astype(np.int64),
        notes=(*notes_on_neighbors(table, measure.k_number), *measure.remarks(table)),
    )


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
