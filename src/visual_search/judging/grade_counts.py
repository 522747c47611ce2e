"""How often each pair was given each grade, which is all that agreement among many judges depends on."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.judging.judgement_table import JudgementTable

__all__ = ["MOST_GRADES", "checked_counts", "grade_counts"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

# Beyond it a scale is no scale that people marked on, and tables of grade by grade grow with its square.
MOST_GRADES = 50


def grade_counts(table: JudgementTable) -> FloatArray:
    """Independent judgements of each pair by grade, float64 of shape (pairs, grades), grades as in ``table.scale``.

    Adjudications, and marks without a grade, are not counted.

    Examples
    --------
    >>> table = JudgementTable.from_table(
    ...     {"judge": ["ann", "bo", "ann"], "query": ["q"] * 3, "item": ["a", "a", "b"], "grade": [1, 2, None]}
    ... )
    >>> grade_counts(table).tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """
    width = len(table.scale)
    if width > MOST_GRADES:
        raise InputError(
            f"judgements: {width} different grades, from {table.scale[0]:g} to {table.scale[-1]:g}; agreement is "
            f"computed on a scale of at most {MOST_GRADES}: round the grades"
        )
    rows = table.independent
    cell = table.pair[rows] * width + np.searchsorted(table.scale, table.grade[rows])
    return np.bincount(cell, minlength=table.pairs * width).reshape(table.pairs, width).astype(np.float64)


def checked_counts(counts: npt.ArrayLike, scale: npt.ArrayLike | None) -> tuple[FloatArray, FloatArray]:
    """Counts of shape (pairs, grades) and the grades they are of, 0, 1, 2, ... where none are given.

    Raises
    ------
    InputError
        Not a matrix of whole numbers from 0, or grades that are not as many or do not rise.
    """
    made = np.asarray(counts, dtype=np.float64)
    if made.ndim != 2 or not np.isfinite(made).all() or (made < 0).any() or (made != np.rint(made)).any():
        raise InputError(
            "counts: a matrix of whole numbers from 0 is needed, one row a pair and one column a grade"
        )
    grades = np.arange(made.shape[1], dtype=np.float64) if scale is None else np.asarray(scale, dtype=np.float64)
    if grades.shape != (made.shape[1],) or not np.isfinite(grades).all() or (np.diff(grades) <= 0).any():
        raise InputError(
            f"scale: {made.shape[1]} rising grades are needed, one a column of the counts; got {scale!r}"
        )
    return made, grades
