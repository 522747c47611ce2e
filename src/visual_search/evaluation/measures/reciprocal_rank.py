"""RR: how early the first relevant item comes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.measures.draws import classes_of, first_relevant_chances, weighted_inverse_ranks
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.parameters import cutoff, threshold
from visual_search.evaluation.positions import Positions

__all__ = ["RR"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class RR(Measure):
    """Reciprocal of the rank of the first relevant item.

    ::

        RR@k = 1 / rank of the first relevant item; 0 when that is beyond k
        expected over the first group with relevant items (n items, r relevant, s before it):
            sum over j = 1..n-r+1 of C(n - j, r - 1) / C(n, r) * [s + j <= k] / (s + j)

    Parameters
    ----------
    k : int, optional
        The rank down to which the list is read; without it the whole list.
    rel : float
        An item is relevant when its grade is at least this.

    Convention
    ----------
    Undefined for a query without relevant items; 0 when none of them is in the list. Its mean over queries is MRR.

    How to read it
    --------------
    1 when the first result is right, 1/2 when the second is the first that is. It sees only that one item. The mean
    of reciprocals is not the reciprocal of a mean rank.

    References
    ----------
    Voorhees, "The TREC-8 Question Answering Track Report", 1999; trec_eval's ``recip_rank``.

    Examples
    --------
    >>> str(RR()), str(RR() @ 10)
    ('RR', 'RR@10')
    """

    k: int | str | None = cutoff(required=False)
    rel: float = threshold()

    @property
    def never_falls_with_k(self) -> bool:
        """Whether a deeper cut-off never gives less."""
        return True

    @property
    def words(self) -> str:
        """What the number is."""
        return "1 / rank of the first relevant item" + ("" if self.k is None else f", 0 when beyond rank {self.k}")

    def largest(self, relevant: Int64Array) -> FloatArray:
        """1; 0 without relevant items."""
        return (relevant > 0).astype(np.float64)

    def expectation(self, positions: Positions) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Expected reciprocal rank in the first group that has a relevant item."""
        groups = positions.relevant_groups(self.rel)
        groups = groups.where(groups.before == 0)
        inside = np.clip(self.limits(positions)[groups.query] - groups.above, 0, groups.size)
        reciprocal = np.where(inside > 0, 1 / (groups.above + 1), 0.0)
        mixed = np.flatnonzero((groups.size > groups.relevant) & (inside > 0))
        for (n, r), chosen in classes_of(groups.size[mixed], groups.relevant[mixed]):
            these = mixed[chosen]
            depth = np.minimum(inside[these], n - r + 1)
            chances = first_relevant_chances(n, r, int(depth.max()))
            reciprocal[these] = weighted_inverse_ranks(chances, groups.above[these], depth)
        values = np.zeros(len(positions))
        values[groups.query] = reciprocal
        return values, (positions.relevant_counts(self.rel) > 0).astype(np.int64)
