"""The nearest rows of each query among those seen so far, and what ties with the k-th."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.ground_truth.exact_answers import ExactAnswers
from visual_search.kernels.dispatch import kernels

__all__ = ["NearestSoFar", "Pairs", "Proposal"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Pairs:
    """Exact distances of rows to queries.

    Parameters
    ----------
    query_of : int64 array of shape (pairs,)
        Never falling.
    rows : int64 array of shape (pairs,)
        Not seen before.
    distances : float64 array of shape (pairs,)
    """

    query_of: Int64Array
    rows: Int64Array
    distances: FloatArray


@dataclass(frozen=True, slots=True)
class Proposal:
    """What the nearest rows of some queries would be with more rows seen."""

    queries: Int64Array
    distances: FloatArray
    rows: Int64Array
    dropped: FloatArray


class NearestSoFar:
    """The k nearest rows of each query and up to ``tie_cap`` more that tie with the k-th, by distance and then row.

    What does not fit is dropped; the least distance dropped tells whether ties were among it. A row that was dropped
    stays behind all that are kept, so that the order in which rows are seen changes nothing.

    Parameters
    ----------
    queries, k, tie_cap : int

    Examples
    --------
    >>> nearest = NearestSoFar(1, 1, 1)
    >>> nearest.add(Pairs(np.zeros(4, np.int64), np.arange(4), np.array([2.0, 1.0, 1.0, 1.0])))
    >>> answers = nearest.answers()
    >>> answers.positions.tolist(), answers.tied(0).tolist(), answers.ties_capped.tolist()
    ([[1]], [2], [True])
    """

    def __init__(self, queries: int, k: int, tie_cap: int) -> None:
        self.k = k
        self.distances = np.full((queries, k + tie_cap), np.inf)
        self.rows = np.full((queries, k + tie_cap), -1, dtype=np.int64)
        self.dropped = np.full(queries, np.inf)
        self.evaluations = np.zeros(queries, dtype=np.int64)

    @property
    def kth(self) -> FloatArray:
        """Distance of the k-th, infinite where fewer have been seen."""
        return self.distances[:, self.k - 1]

    def propose(self, pairs: Pairs) -> Proposal:
        """What the queries named in the pairs would have; nothing is changed."""
        begins = np.diff(pairs.query_of, prepend=-1) > 0
        queries, local = pairs.query_of[begins], np.cumsum(begins) - 1
        distances, rows = self.distances[queries], self.rows[queries]
        dropped = kernels().merge_nearest((distances, rows), self.k, local, pairs.rows, pairs.distances)
        return Proposal(queries, distances, rows, np.minimum(self.dropped[queries], dropped))

    def accept(self, proposal: Proposal, which: BoolArray | None = None) -> None:
        """Make a proposal true, for all its queries or those chosen."""
        chosen = slice(None) if which is None else which
        queries = proposal.queries[chosen]
        self.distances[queries] = proposal.distances[chosen]
        self.rows[queries] = proposal.rows[chosen]
        self.dropped[queries] = proposal.dropped[chosen]

    def add(self, pairs: Pairs, *, threads: int | None = None) -> None:
        """See more rows."""
        nearest = self.distances, self.rows
        dropped = kernels().merge_nearest(
            nearest, self.k, pairs.query_of, pairs.rows, pairs.distances, threads=threads
        )
        np.minimum(self.dropped, dropped, out=self.dropped)

    def forget(self, queries: Int64Array, first: int, last: int) -> None:
        """Take the rows first .. last from some queries, for who sees all rows of that span again.

        What they had displaced need not come back: whatever stood in front of it is seen again, or k rows nearer still.
        """
        kept = (self.rows[queries] < first) | (self.rows[queries] >= last)
        order = np.argsort(~kept, axis=1, kind="stable")
        kept = np.take_along_axis(kept, order, axis=1)
        rows, distances = (np.take_along_axis(of[queries], order, axis=1) for of in (self.rows, self.distances))
        self.rows[queries] = np.where(kept, rows, -1)
        self.distances[queries] = np.where(kept, distances, np.inf)

    def answers(self, certified: BoolArray | None = None) -> ExactAnswers:
        """The answers, once all rows have been seen."""
        tied = self.rows[:, self.k :] >= 0
        offsets = np.concatenate(([0], np.cumsum(tied.sum(axis=1)))).astype(np.int64)
        return ExactAnswers(
            positions=np.ascontiguousarray(self.rows[:, : self.k]),
            distances=np.ascontiguousarray(self.distances[:, : self.k]),
            certified=np.ones(len(self.rows), dtype=np.bool_) if certified is None else certified,
            tie_offsets=offsets,
            tie_positions=self.rows[:, self.k :][tied],
            ties_capped=self.dropped == self.kth,
            evaluations=self.evaluations,
        )
