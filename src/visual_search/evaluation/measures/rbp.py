"""RBP: relevant items weighed by the patience of a reader."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.measures.measure import EmptyRule, Measure
from visual_search.evaluation.measures.parameters import cutoff, number, number_text, threshold
from visual_search.evaluation.positions import Positions

__all__ = ["RBP"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class RBP(Measure):
    """Rank-biased precision: the rate of relevant items seen by a reader who goes on with probability p.

    ::

        RBP(p) = (1 - p) * sum over relevant items of p^(rank - 1)

    Parameters
    ----------
    p : float
        Probability to go on to the next item, strictly between 0 and 1.
    k : int, optional
        The rank down to which the list is read; without it the whole list.
    rel : float
        An item is relevant, and gains 1, when its grade is at least this.

    Convention
    ----------
    A query without relevant items scores 0 and is counted. Gains are 0 or 1, so that no value exceeds 1.

    How to read it
    --------------
    A reader looks at 1 / (1 - p) items on average: 5 at p = .8. What lies beyond the list can add at most p^length.

    References
    ----------
    Moffat and Zobel, "Rank-biased precision for measurement of retrieval effectiveness", ACM TOIS 27(1), 2008.

    Examples
    --------
    >>> str(RBP()), str(RBP(p=0.95))
    ('RBP(p=0.8)', 'RBP(p=0.95)')
    """

    perfect: ClassVar[float | None] = None

    p: float = number(0.8, about="probability to go on to the next item", low=0, high=1, open_ends=True, named=True)
    k: int | str | None = cutoff(required=False)
    rel: float = threshold()

    @property
    def on_empty(self) -> EmptyRule:
        """What a query without relevant items is."""
        return "zero"

    @property
    def never_falls_with_k(self) -> bool:
        """Whether a deeper cut-off never gives less."""
        return True

    @property
    def words(self) -> str:
        """What the number is."""
        within = "" if self.k is None else f" among the first {self.k}"
        return f"relevant items{within} weighed by a reader who goes on with probability {number_text(self.p)}"

    def largest(self, relevant: Int64Array) -> FloatArray:
        """1 - p^min(R, k): all relevant items first."""
        found: FloatArray = 1 - self.p ** self.places(relevant).astype(np.float64)
        return found

    def expectation(self, positions: Positions) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Mean gain of each group times the weight of its places, p^s - p^(s + m)."""
        groups = positions.relevant_groups(self.rel)
        inside = np.clip(self.limits(positions)[groups.query] - groups.above, 0, groups.size)
        weight = self.p**groups.above * (1 - self.p**inside)
        return positions.sum_by_query(groups.query, groups.relevant / groups.size * weight), np.ones(len(positions))
