"""One ranking against the same judged pairs under many gradings, joined once."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.evaluation.joining import join
from visual_search.evaluation.positions import Positions
from visual_search.ground_truth.relevance import Relevance
from visual_search.rankings.ranking import Ranking

__all__ = ["Regraded"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]


class Regraded:
    """Where the judged items of each query stand, whatever their grades.

    Parameters
    ----------
    ranking : Ranking
    relevance : Relevance
        The judged pairs; its own grades are not read.

    Examples
    --------
    >>> from visual_search.evaluation.measures.parsing import parse_measure
    >>> run = Ranking.from_dict({"q": {"a": 2.0, "b": 1.0}})
    >>> pairs = Regraded(run, Relevance.from_dict({"q": {"a": 1, "b": 1}}))
    >>> [parse_measure("RR").values(pairs.graded(np.array(grades))).value.tolist() for grades in ([1.0, 0], [0, 1.0])]
    [[1.0], [0.5]]
    """

    def __init__(self, ranking: Ranking, relevance: Relevance) -> None:
        # Each pair's grade is its own number, so that a hit tells which pair it is.
        numbered = Relevance(
            relevance.queries,
            relevance.items,
            relevance.offsets,
            relevance.rows,
            np.arange(len(relevance.rows), dtype=np.float64),
            relevance.ignored,
        )
        self._joined = join(ranking, numbered)
        self._of_hit: Int64Array = self._joined.grades.astype(np.int64)
        self._judged: Int64Array = np.flatnonzero(~relevance.ignored).astype(np.int64)
        self._query: Int64Array = relevance.query_of_entry()[self._judged]
        self._pairs = len(relevance.rows)

    def graded(self, grades: FloatArray) -> Positions:
        """Positions when the pairs have these grades.

        Parameters
        ----------
        grades : float64 array of shape (pairs,)
            One finite grade for each pair of the relevance, in its order; those of ignored pairs are not read.
        """
        if grades.shape != (self._pairs,) or not np.isfinite(grades[self._judged]).all():
            raise InputError(f"grades: {self._pairs} finite numbers are needed; got shape {grades.shape}")
        judged = grades[self._judged]
        order = np.lexsort((-judged, self._query))
        return replace(self._joined, grades=grades[self._of_hit], judged_grades=judged[order])
