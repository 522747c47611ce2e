"""F1: precision and recall among the first k in one number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.measures.hits import expected_hits
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.parameters import cutoff, threshold
from visual_search.evaluation.positions import Positions

__all__ = ["F1"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class F1(Measure):
    """Harmonic mean of precision and recall among the first k.

    ::

        F1@k = 2 h_k / (k + R)

    Parameters
    ----------
    k : int
        The rank down to which the list is read, from 1.
    rel : float
        An item is relevant when its grade is at least this.

    Convention
    ----------
    Undefined for a query without relevant items. Precision is over k, recall over R.

    How to read it
    --------------
    Reaches 1 only where k = R; elsewhere its ceiling is 2 min(k, R) / (k + R).

    References
    ----------
    Manning, Raghavan and Schuetze, "Introduction to Information Retrieval", section 8.3.

    Examples
    --------
    >>> str(F1(k=10))
    'F1@10'
    """

    perfect: ClassVar[float | None] = None
    averages: ClassVar[tuple[str, ...]] = ("macro", "micro", "median")

    k: int | str | None = cutoff()
    rel: float = threshold()

    @property
    def words(self) -> str:
        """What the number is."""
        return f"twice the relevant items among the first {self.k}, divided by {self.k} + R"

    def largest(self, relevant: Int64Array) -> FloatArray:
        """2 min(R, k) / (k + R)."""
        below = relevant + self.k if isinstance(self.k, int) else relevant
        return 2 * self.places(relevant) / np.maximum(below, 1)

    def expectation(self, positions: Positions) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Twice the expected hits over k + R."""
        total = positions.relevant_counts(self.rel)
        limits = self.limits(positions)
        return 2 * expected_hits(positions, limits, self.rel), np.where(total > 0, limits + total, 0)
