"""Krippendorff's alpha: disagreement seen over disagreement expected, whoever judged what."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.judging.coefficient import Coefficient
from visual_search.judging.grade_counts import checked_counts

__all__ = ["LEVELS", "Level", "alpha_of_coincidences", "coincidences", "krippendorff_alpha"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Level: TypeAlias = Literal["nominal", "ordinal", "interval"]
LEVELS: tuple[Level, ...] = get_args(Level)


def krippendorff_alpha(
    counts: npt.ArrayLike, scale: npt.ArrayLike | None = None, *, level: Level = "ordinal"
) -> Coefficient:
    r"""Krippendorff's alpha for any number of judges, with holes.

    .. math:: \alpha = 1 - (n - 1) \frac{\sum_{c,k} o_{ck}\, \delta^2_{ck}}{\sum_{c,k} n_c n_k\, \delta^2_{ck}}

    with :math:`o_{ck}` the coincidences of grades c and k within pairs, each pair of m judgements adding
    1/(m - 1) for every ordered two of them; :math:`n_c = \sum_k o_{ck}`; and a difference of

    - nominal: 1 where c and k differ,
    - ordinal: all judgements from c to k, those of c and k counted half,
    - interval: c - k.

    Parameters
    ----------
    counts : array-like of shape (pairs, grades)
        How many judges gave each grade to each pair, whole numbers.
    scale : array-like of shape (grades,), optional
        The grades, rising; 0, 1, 2, ... where left out. Only ``interval`` reads their distances.
    level : {"nominal", "ordinal", "interval"}

    Returns
    -------
    Coefficient

    Convention
    ----------
    A pair with fewer than two judgements coincides with nothing and is left out. Undefined where no pair has two,
    and where only one grade was given, so that there was nothing to disagree on.

    How to read it
    --------------
    1 is full agreement, 0 what marks drawn at random from all marks would give, below 0 more disagreement than that.
    Krippendorff asks for .8, and .667 at the least for tentative conclusions. With one grade far more frequent than
    the others alpha is low though nearly all marks agree: read it beside the percent agreement.

    References
    ----------
    K. Krippendorff, Computing Krippendorff's Alpha-Reliability, 2011; Content Analysis, 4th edition, 2018, chapter 12.

    Examples
    --------
    >>> round(krippendorff_alpha([[2, 0], [0, 2], [1, 1]], level="nominal").value, 4)
    0.4444
    """
    if level not in LEVELS:
        raise InputError(f"level is {level!r}; allowed are {', '.join(LEVELS)}")
    made, grades = checked_counts(counts, scale)
    sums = coincidences(made).sum(axis=0, keepdims=True)
    value = float(alpha_of_coincidences(sums, grades, level)[0])
    judged, several = made.sum(axis=1) > 0, made.sum(axis=1) > 1
    reason = ""
    if not several.any():
        reason = "no pair was judged by two"
    elif np.isnan(value):
        reason = "all judges gave one grade only, so that there was nothing to disagree on"
    return Coefficient(
        f"Krippendorff's alpha ({level})", value, int(several.sum()), int((judged & ~several).sum()), reason
    )


def coincidences(counts: FloatArray) -> FloatArray:
    """Coincidences of grades within each pair, float64 of shape (pairs, grades * grades); 0 with fewer than two."""
    width = counts.shape[1]
    both = counts[:, :, None] * counts[:, None, :]
    both[:, np.arange(width), np.arange(width)] -= counts
    total = counts.sum(axis=1)
    made: FloatArray = np.where(total > 1, 1 / np.maximum(total - 1, 1), 0.0)[:, None, None] * both
    return made.reshape(len(counts), width * width)


def alpha_of_coincidences(sums: FloatArray, scale: FloatArray, level: Level) -> FloatArray:
    """Alpha of each row of summed coincidences, float64 of shape (rows,); NaN where undefined."""
    width = len(scale)
    table = sums.reshape(-1, width, width)
    marginal = table.sum(axis=2)
    total = marginal.sum(axis=1)
    distance = _squared_differences(marginal, scale, level)
    seen = (table * distance).sum(axis=(1, 2))
    expected = (marginal[:, :, None] * marginal[:, None, :] * distance).sum(axis=(1, 2))
    ratio = np.full(len(table), np.nan)
    np.divide((total - 1) * seen, expected, out=ratio, where=expected > 0)
    return 1 - ratio


def _squared_differences(marginal: FloatArray, scale: FloatArray, level: Level) -> FloatArray:
    """Squared difference of each two grades, shape (rows or 1, grades, grades)."""
    if level == "nominal":
        return 1 - np.eye(len(scale))[None]
    if level == "interval":
        return ((scale[:, None] - scale[None, :]) ** 2)[None]
    # Marks up to and half of each grade: their difference is what lies between, both ends counted half.
    middle = np.cumsum(marginal, axis=1) - marginal / 2
    squared: FloatArray = (middle[:, :, None] - middle[:, None, :]) ** 2
    return squared
