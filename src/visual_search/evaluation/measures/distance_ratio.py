"""DistanceRatio: how much farther the returned items are than the nearest ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError, first_few
from visual_search.evaluation.measures.neighbor_measure import NeighborMeasure
from visual_search.evaluation.measures.parameters import cutoff
from visual_search.evaluation.neighbor_positions import OTHER, NeighborPositions

__all__ = ["DistanceRatio"]

AnyArray: TypeAlias = npt.NDArray[Any]
FloatArray: TypeAlias = npt.NDArray[np.float64]

# A returned distance that is farther from the exact one than this share of it is worth a remark.
_APART = 0.01


@dataclass(frozen=True, kw_only=True)
class DistanceRatio(NeighborMeasure):
    """Mean over the first k places of the exact distance there over the returned one.

    ::

        DistanceRatio@k = (1/k) sum over r = 1..k of exact d_r / returned d_r        (0/0 = 1)

    Parameters
    ----------
    average : {"macro", "micro", "median", "minimum"}
        How the queries become one number.
    k : int
        The place down to which the list is read, from 1.

    Convention
    ----------
    Needs the distances that the system returned, as scores: minus the plain (not squared) distance, and the cosine
    itself under cosine, whose distance is 1 - cosine. Refused for inner product, which is no distance. Returned
    distances are taken in rising order; empty places, repeated ids and places beyond a short list count 0. A returned
    distance below the exact one can only be rounding (or another metric, which is remarked) and counts 1. Where a
    filter leaves fewer than k items, the mean is over as many.

    How to read it
    --------------
    1 is perfect. Where `NeighborRecall` is low and this is high, the missed neighbours were replaced by items almost as
    near.

    References
    ----------
    The inverse of the relative distance error of Arya et al., "An Optimal Algorithm for Approximate Nearest Neighbor
    Searching", J. ACM 1998, averaged over places.

    Examples
    --------
    >>> str(DistanceRatio(k=10))
    'DistanceRatio@10'
    """

    k: int | str | None = cutoff()

    @property
    def words(self) -> str:
        """What the number is."""
        return f"exact distance over returned distance, place by place, mean over the first {self.k}"

    def check(self, table: NeighborPositions) -> None:
        """Refuse metrics that are no distance, lists without distances, and squared distances."""
        super().check(table)
        if table.shift is None:
            raise InputError(f"{self}: a truth by {table.metric} has no distances that could be divided")
        if table.returned_distances is None:
            raise InputError(
                f"{self}: the lists have no scores; give minus the distances (the cosines under cosine) as scores"
            )
        exact, returned = _of_hits(table, self.k_number)
        telling = (exact > 0) & (np.abs(exact - 1) > _APART)
        square = np.abs(returned - exact**2) <= 1e-3 * exact**2
        if telling.sum() >= 3 and square[telling].mean() >= 0.95:
            raise InputError(
                f"{self}: the returned distances of known neighbours are the squares of the exact ones; give minus "
                "the plain distances, sqrt(d), as scores"
            )

    def neighbor_pairs(self, table: NeighborPositions) -> tuple[AnyArray, AnyArray]:
        """Sum of ratios over the places that the exact answer has."""
        wanted = np.minimum(self.k_number, table.answers)
        exact, returned = self._by_place(table)
        asked = np.arange(self.k_number) < wanted[:, None]
        ratio = np.zeros(exact.shape)
        np.divide(exact, returned, out=ratio, where=asked & (returned > 0))
        ratio[asked & (returned <= exact)] = 1.0
        return ratio.sum(axis=1), wanted

    def _by_place(self, table: NeighborPositions) -> tuple[FloatArray, FloatArray]:
        """Exact and returned distances, (n, k), rising; infinite where there are none."""
        exact = np.maximum(table.distances[:, : self.k_number] + (table.shift or 0.0), 0.0)
        returned = np.full((len(table), self.k_number), np.inf)
        kept = (table.place_in_list < self.k_number) & (table.ranks >= OTHER)
        if table.returned_distances is not None:
            returned[table.query_of_place[kept], table.place_in_list[kept]] = table.returned_distances[kept]
        return exact, np.sort(returned, axis=1)

    def remarks(self, table: NeighborPositions) -> list[str]:
        """Distances that cannot be the truth's, and cosines too coarse to tell near items apart."""
        said = []
        exact, returned = _of_hits(table, self.k_number)
        apart = np.abs(returned - exact) > _APART * exact + 2 * table.resolution * max(table.shift or 0.0, 0.0)
        if apart.any():
            said.append(
                f"{self}: {int(apart.sum()):,} of {counted(len(apart), 'known neighbour', 'known neighbours')} came "
                "with a distance more than 1 % from the exact one; the engine's codes are compressed, or its metric is "
                "another"
            )
        if table.shift:
            placed, _ = self._by_place(table)
            coarse = ((placed < table.resolution / _APART) & np.isfinite(placed)).any(axis=1)
            if coarse.any():
                named = first_few(table.queries.take(np.flatnonzero(coarse).tolist()))
                who = counted(int(coarse.sum()), "query has", "queries have")
                said.append(
                    f"{self}: {who} neighbours nearer than the returned cosines can tell to 1 %; their ratios are "
                    f"rounding: {named}"
                )
        return said


def _of_hits(table: NeighborPositions, k: int) -> tuple[FloatArray, FloatArray]:
    """Exact and returned distance of every returned neighbour among the first k."""
    if table.returned_distances is None:
        return np.zeros(0), np.zeros(0)
    hit = (table.ranks >= 0) & (table.place_in_list < k)
    exact = table.distance_of_hit(table.query_of_place[hit], table.ranks[hit]) + (table.shift or 0.0)
    return np.maximum(exact, 0.0), table.returned_distances[hit]
