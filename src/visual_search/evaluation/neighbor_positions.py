"""The one table neighbour measures read: where the returned items of each query stand in its exact answer.

`Positions` starts from judged items and asks where they are in the list, since a list may be long and judgements are
few. Here the answer is short, an item's class depends on the k of the measure, and what counts is which places of the
list hold something new; so the table starts from the list. No id, no vector and no file is in it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.ids import Id, Ids

__all__ = ["EMPTY", "OTHER", "REPEATED", "NeighborCounts", "NeighborPositions"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

# What a place of a list holds when it is no known neighbour.
OTHER = -1  # an item farther than all that are known
EMPTY = -2  # a place the engine could not fill
REPEATED = -3  # an item that stands further up already


class NeighborCounts(NamedTuple):
    """What was found among the first k of each query, int64 arrays of shape (n,) unless said.

    Attributes
    ----------
    wanted : how many neighbours are asked for: m, or fewer where the answer has fewer
    nearer : exact neighbours strictly nearer than the last of them
    level : known items exactly as far as the last of them
    strict : returned items that are strictly nearer
    tied : returned items that are exactly as far
    listed : returned items among the first m of the exact answer as it is written down
    returned : different items among the first k
    fits : bool; whether all items as far as the last have a place in the answer
    undecided : bool; whether items that were not kept as ties could have raised the count
    """

    wanted: Int64Array
    nearer: Int64Array
    level: Int64Array
    strict: Int64Array
    tied: Int64Array
    listed: Int64Array
    returned: Int64Array
    fits: BoolArray
    undecided: BoolArray

    @property
    def quota(self) -> Int64Array:
        """Places of the answer that any of the items as far as the last may take."""
        return self.wanted - self.nearer

    @property
    def found(self) -> Int64Array:
        """Returned items that belong to some exact answer, no more than its places."""
        return self.strict + np.minimum(self.tied, self.quota)


@dataclass(frozen=True, slots=True, eq=False)
class NeighborPositions:
    """Where the returned items of each query stand in its exact answer, ragged.

    Made by `visual_search.evaluation.neighbor_joining.neighbor_positions`.

    Attributes
    ----------
    queries : Ids
        The queries of the truth, shape (n,).
    offsets : int64 array of shape (n + 1,)
        Query i owns the places ``offsets[i]:offsets[i + 1]`` of its list, as returned.
    ranks : int64 array of shape (places,)
        Place in the exact answer, from 0; depth and above: tied with its last and beyond it; OTHER, EMPTY, REPEATED.
    returned_distances : float64 array of shape (places,) or None
        Distances that the system gave, in the truth's unit; None where it gave none, or they are no distances.
    resolution : float
        Relative rounding of the scores they come from.
    distances : float64 array of shape (n, depth)
        Exact distances, nearest first; infinite after the end of a short answer.
    shift : float or None
        What makes real distances of them when added; None under a metric that has none (inner product).
    answers : int64 array of shape (n,)
        Neighbours in the exact answer.
    ties : int64 array of shape (n,)
        Items beyond the answer that are known to tie with its last.
    ties_capped, certified : bool arrays of shape (n,)
        Where there are more ties than were kept; where the answer is proven.
    metric : str
        What the distances are.
    gallery_size : int
        How many items the neighbours were looked for among.
    label : str
        What the truth is the truth of.
    missing : bool array of shape (n,)
        Queries without a list.
    unknown_queries : tuple of ids
        Lists of queries that the truth does not have; they are not evaluated.
    """

    queries: Ids
    offsets: Int64Array
    ranks: Int64Array
    returned_distances: FloatArray | None
    resolution: float
    distances: FloatArray
    shift: float | None
    answers: Int64Array
    ties: Int64Array
    ties_capped: BoolArray
    certified: BoolArray
    metric: str
    gallery_size: int
    label: str
    missing: BoolArray
    unknown_queries: tuple[Id, ...]

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def depth(self) -> int:
        """How many neighbours the truth has for a query."""
        return int(self.distances.shape[1])

    @property
    def lengths(self) -> Int64Array:
        """Places of each list, int64 of shape (n,)."""
        return np.diff(self.offsets)

    @property
    def query_of_place(self) -> Int64Array:
        """Row of the query of each place, int64 of shape (places,)."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)

    @property
    def place_in_list(self) -> Int64Array:
        """Place in its list, from 0, int64 of shape (places,)."""
        return np.arange(len(self.ranks), dtype=np.int64) - np.repeat(self.offsets[:-1], self.lengths)

    def boundary(self, nearest: int) -> tuple[Int64Array, FloatArray]:
        """How many neighbours are asked for, min(m, answers), and the distance of the last; NaN where there is none."""
        wanted = np.minimum(nearest, self.answers)
        last = self.distances[np.arange(len(self)), np.maximum(wanted - 1, 0)]
        return wanted, np.where(wanted > 0, last, np.nan)

    def distance_of_hit(self, query: Int64Array, rank: Int64Array) -> FloatArray:
        """Exact distance of returned neighbours; one tied beyond the answer is as far as its last."""
        return self.distances[query, np.minimum(rank, self.answers[query] - 1)]

    def counts(self, k: int, nearest: int) -> NeighborCounts:
        """Count, among the first k places, the returned items of each class for the m nearest.

        Equality of distances is that of float64: the truth's distances are exact where they decide a tie, and an
        epsilon would make the count depend on the unit of the data.
        """
        wanted, last = self.boundary(nearest)
        inside = self.place_in_list < k
        query, rank = self.query_of_place[inside], self.ranks[inside]
        hit = rank >= 0
        hit_query, hit_rank = query[hit], rank[hit]
        distance = self.distance_of_hit(hit_query, hit_rank)

        def by_query(rows: Int64Array) -> Int64Array:
            return np.bincount(rows, minlength=len(self)).astype(np.int64)

        nearer = (self.distances < last[:, None]).sum(axis=1).astype(np.int64)
        ends_level = last == self.boundary(self.depth)[1]  # ties beyond the answer are ties with the m-th too
        level = (self.distances == last[:, None]).sum(axis=1) + np.where(ends_level, self.ties, 0)
        tied = by_query(hit_query[distance == last[hit_query]])
        unseen = ends_level & self.ties_capped
        others = by_query(query[rank == OTHER])
        return NeighborCounts(
            wanted=wanted,
            nearer=nearer,
            level=level.astype(np.int64),
            strict=by_query(hit_query[distance < last[hit_query]]),
            tied=tied,
            listed=by_query(hit_query[hit_rank < wanted[hit_query]]),
            returned=by_query(query[rank >= OTHER]),
            fits=(level == wanted - nearer) & ~unseen,
            undecided=unseen & (tied < wanted - nearer) & (others > 0),
        )

    def __repr__(self) -> str:
        return f"NeighborPositions({counted(len(self), 'query', 'queries')}, {self.label})"
