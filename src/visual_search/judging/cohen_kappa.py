"""Cohen's kappa of two judges, plain or weighted by how far their grades lie apart."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.judging.coefficient import Coefficient
from visual_search.judging.grade_counts import checked_counts

__all__ = ["WEIGHTS", "Weights", "cohen_kappa", "kappa_of_confusions"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Weights: TypeAlias = Literal["none", "linear", "quadratic"]
WEIGHTS: tuple[Weights, ...] = get_args(Weights)


def cohen_kappa(
    confusion: npt.ArrayLike, scale: npt.ArrayLike | None = None, *, weights: Weights = "none"
) -> Coefficient:
    r"""Cohen's kappa of two judges from the table of their grades.

    .. math:: \kappa = 1 - \frac{\sum_{ck} w_{ck}\, o_{ck}}{\sum_{ck} w_{ck}\, o_{c\cdot}\, o_{\cdot k} / n}

    with weights of disagreement 1 where the grades differ, ``|c - k|`` (linear) or ``(c - k)^2`` (quadratic).

    Parameters
    ----------
    confusion : array-like of shape (grades, grades)
        Pairs to which the first judge gave the row's grade and the second the column's, whole numbers.
    scale : array-like of shape (grades,), optional
        The grades, rising; 0, 1, 2, ... where left out. Weights are by their distances, so that a grade nobody used
        changes nothing.
    weights : {"none", "linear", "quadratic"}

    Returns
    -------
    Coefficient

    Convention
    ----------
    Only pairs that both judged. Undefined where there is none, and where both gave one and the same grade only.

    How to read it
    --------------
    1 is full agreement, 0 what two judges would reach who mark independently with their own shares of grades, below 0
    less than that. Chance is high, and kappa low, where one grade is far more frequent than the others: read it
    beside the percent agreement.

    References
    ----------
    J. Cohen, A coefficient of agreement for nominal scales, Educational and Psychological Measurement 20, 1960;
    Weighted kappa, Psychological Bulletin 70(4), 1968.

    Examples
    --------
    >>> cohen_kappa([[20, 5], [10, 15]]).value
    0.4
    """
    if weights not in WEIGHTS:
        raise InputError(f"weights is {weights!r}; allowed are {', '.join(WEIGHTS)}")
    made, grades = checked_counts(confusion, scale)
    if made.shape[0] != made.shape[1]:
        raise InputError(f"confusion has shape {made.shape}; the grades of both judges are needed, as a square")
    total = int(made.sum())
    value = float(kappa_of_confusions(made.reshape(1, -1), grades, weights)[0])
    reason = ""
    if not total:
        reason = "no pair was judged by both"
    elif np.isnan(value):
        reason = "both judges gave one grade only, so that chance alone would agree always"
    name = "Cohen's kappa" + ("" if weights == "none" else f" ({weights})")
    return Coefficient(name, value, total, 0, reason)


def kappa_of_confusions(sums: FloatArray, scale: FloatArray, weights: Weights) -> FloatArray:
    """Kappa of each row of a confusion written in a line, float64 of shape (rows,); NaN where undefined."""
    width = len(scale)
    table = sums.reshape(-1, width, width)
    apart = np.abs(scale[:, None] - scale[None, :])
    weight = {"none": (apart > 0).astype(np.float64), "linear": apart, "quadratic": apart**2}[weights]
    total = table.sum(axis=(1, 2))
    chance = table.sum(axis=2)[:, :, None] * table.sum(axis=1)[:, None, :]
    seen, expected = (table * weight).sum(axis=(1, 2)) * total, (chance * weight).sum(axis=(1, 2))
    ratio = np.full(len(table), np.nan)
    np.divide(seen, expected, out=ratio, where=expected > 0)
    return 1 - ratio
