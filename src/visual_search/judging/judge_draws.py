"""Grades as they would be with other judges: judges drawn anew from those there are, the rule applied again."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.statistics.draws import every_resample, number_of_resamples, random_resamples
from visual_search.judging.aggregation import aggregated_grades, checked_rule, decided_grades, rule_grades
from visual_search.judging.judgement_table import JudgementTable

__all__ = ["JudgeDraws", "draws_of_judges"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


class JudgeDraws:
    """Grades of the graded pairs of a table under draws of its judges.

    Parameters
    ----------
    table : JudgementTable
    rule : str

    Attributes
    ----------
    judges : int
        Judges who gave a grade.
    shared : float
        Share of the graded pairs, those not decided by adjudication, that at least two judges graded.

    Examples
    --------
    >>> table = JudgementTable.from_table(
    ...     {"judge": ["ann", "bo", "bo"], "query": ["q"] * 3, "item": ["a", "a", "b"], "grade": [1, 2, 0]}
    ... )
    >>> draws = JudgeDraws(table, "mean")
    >>> draws.grades(np.array([1.0, 1.0])).tolist(), draws.grades(np.array([2.0, 0.0])).tolist()
    ([1.5, 0.0], [1.0, 0.0])
    """

    def __init__(self, table: JudgementTable, rule: str) -> None:
        self._rule = checked_rule(rule)
        self._scale, self._pairs = table.scale, table.pairs
        rows = table.independent
        present = np.unique(table.judge[rows])
        self.judges = len(present)
        self._judge = np.searchsorted(present, table.judge[rows])
        self._cell = table.pair[rows] * len(table.scale) + np.searchsorted(table.scale, table.grade[rows])
        self._base = aggregated_grades(table, self._rule)
        decided, _ = decided_grades(table)
        self._fixed = decided if self._rule == "adjudicated" else np.zeros(table.pairs, dtype=np.bool_)
        self._graded = ~np.isnan(self._base)
        open_pairs = self._graded & ~self._fixed
        several = np.bincount(table.pair[rows], minlength=table.pairs) > 1
        self.shared = float(several[open_pairs].mean()) if open_pairs.any() else 0.0

    def grades(self, weights: FloatArray) -> FloatArray:
        """One grade for each pair that the rule gives one.

        Parameters
        ----------
        weights : float64 array of shape (judges,)
            How often each judge was drawn.

        Returns
        -------
        float64 array of shape (graded pairs,)
            Pairs go by query, then item. A pair of which no judge was drawn, or that was adjudicated, keeps its grade.
        """
        drawn = np.bincount(self._cell, weights=weights[self._judge], minlength=self._pairs * len(self._scale))
        counts: FloatArray = drawn.reshape(self._pairs, len(self._scale)).astype(np.float64)
        made = rule_grades(counts, self._scale, self._rule)
        kept = self._fixed | np.isnan(made)
        grades: FloatArray = np.where(kept, self._base, made)[self._graded]
        return grades


def draws_of_judges(judges: int, most: int, seed: int) -> tuple[FloatArray, FloatArray]:
    """How often each judge is drawn, shape (draws, judges), and each draw's probability.

    All draws where there are no more than ``most``, else so many at random.

    >>> weights, chances = draws_of_judges(2, 200, seed=0)
    >>> weights.tolist(), chances.tolist()
    ([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]], [0.25, 0.5, 0.25])
    """
    if number_of_resamples(judges) <= most:
        return every_resample(judges)
    made = np.concatenate(list(random_resamples(judges, most, seed)))
    return made, np.full(len(made), 1 / len(made))
