"""Judged: how much of what was shown anyone has judged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.measures.measure import EmptyRule, Measure
from visual_search.evaluation.measures.parameters import cutoff
from visual_search.evaluation.positions import Positions

__all__ = ["Judged"]


@dataclass(frozen=True, kw_only=True)
class Judged(Measure):
    """Share of the first k items that somebody judged, relevant or not.

    ::

        Judged@k = judged items among the first k / min(k, list length)

    Parameters
    ----------
    k : int
        The rank down to which the list is read, from 1.

    Convention
    ----------
    Ignored items are not in the list. A query without relevant items is counted. An empty list is counted as 0,
    though it is 0 of 0: nobody has judged anything of what was shown, and a query that a run lacks must not raise its
    coverage. A micro average, which sums what was shown, gets nothing from it.

    How to read it
    --------------
    Coverage: read it beside every score. Where it is low, the score says little, since unjudged items count as not
    relevant.

    References
    ----------
    Buckley and Voorhees, SIGIR 2004, on what unjudged items do to a score.

    Examples
    --------
    >>> str(Judged(k=10))
    'Judged@10'
    """

    perfect: ClassVar[float | None] = None
    averages: ClassVar[tuple[str, ...]] = ("macro", "micro", "median")

    k: int | str | None = cutoff()

    @property
    def on_empty(self) -> EmptyRule:
        """What a query without relevant items is."""
        return "counted"

    @property
    def words(self) -> str:
        """What the number is."""
        return f"judged items among the first {self.k}, divided by min({self.k}, list length)"

    def expectation(self, positions: Positions) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Expected judged items inside the cut."""
        groups = positions.gain_groups(np.ones(len(positions.grades)))
        limits = self.limits(positions)
        inside = np.clip(limits[groups.query] - groups.above, 0, groups.size)
        judged = positions.sum_by_query(groups.query, groups.total / groups.size * inside)
        return judged, self.retrieved(positions)
