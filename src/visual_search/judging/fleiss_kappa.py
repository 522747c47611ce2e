"""Fleiss' kappa, and the plain share of agreeing judges beside it."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.judging.coefficient import Coefficient
from visual_search.judging.grade_counts import checked_counts

__all__ = [
    "agreeing_share",
    "fleiss_kappa",
    "fleiss_parts",
    "kappa_of_fleiss_parts",
    "percent_agreement",
    "usual_judges",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]


def fleiss_kappa(counts: npt.ArrayLike, *, judges: int | None = None) -> Coefficient:
    r"""Fleiss' kappa, for pairs that were all judged by as many judges, not always the same.

    .. math:: \kappa = \frac{\bar P - \bar P_e}{1 - \bar P_e}, \quad
        P_i = \frac{\sum_j n_{ij} (n_{ij} - 1)}{m (m - 1)}, \quad \bar P_e = \sum_j p_j^2

    Parameters
    ----------
    counts : array-like of shape (pairs, grades)
        How many judges gave each grade to each pair, whole numbers.
    judges : int, optional
        m, judges a pair, at least 2; the number that most pairs have where left out (of several such the largest).

    Returns
    -------
    Coefficient

    Convention
    ----------
    The definition needs one m: pairs with another number of judgements are left out and counted. Undefined where no
    pair has two judgements, and where only one grade was given.

    How to read it
    --------------
    1 is full agreement, 0 what judges would reach who mark at random with these shares of grades. Grades have no
    order in it: 0 against 3 is as bad as 2 against 3.

    References
    ----------
    J. L. Fleiss, Measuring nominal scale agreement among many raters, Psychological Bulletin 76(5), 1971.

    Examples
    --------
    >>> round(fleiss_kappa([[3, 0], [0, 3], [2, 1], [1, 2]]).value, 4)
    0.3333
    """
    made, _ = checked_counts(counts, None)
    if judges is not None and judges < 2:
        raise InputError(f"judges is {judges}; agreement needs at least 2 judges a pair")
    wanted = usual_judges(made) if judges is None else judges
    value = float(kappa_of_fleiss_parts(fleiss_parts(made, wanted).sum(axis=0, keepdims=True), wanted)[0])
    total = made.sum(axis=1)
    used = int((total == wanted).sum()) if wanted else 0
    reason = ""
    if not used:
        reason = "no pair was judged by two" if judges is None else f"no pair was judged by {judges}"
    elif np.isnan(value):
        reason = "all judges gave one grade only, so that chance alone would agree always"
    return Coefficient("Fleiss' kappa", value, used, int((total > 0).sum()) - used, reason)


def usual_judges(counts: FloatArray) -> int:
    """Judgements that most pairs with at least two have, the largest of several such numbers; 0 where none has two.

    >>> usual_judges(np.array([[2.0, 0.0], [1.0, 1.0], [3.0, 0.0], [1.0, 0.0]]))
    2
    """
    total = counts.sum(axis=1).astype(np.int64)
    often = np.bincount(total[total > 1], minlength=1)
    return int(len(often) - 1 - np.argmax(often[::-1])) if often.any() else 0


def fleiss_parts(counts: FloatArray, judges: int) -> FloatArray:
    """What each pair adds: 1, its share of agreeing judges, and its counts; zeros where it has another number."""
    used = counts.sum(axis=1) == max(judges, 2)
    parts: FloatArray = np.column_stack((used, agreeing_share(counts), counts)) * used[:, None]
    return parts


def kappa_of_fleiss_parts(sums: FloatArray, judges: int) -> FloatArray:
    """Kappa of each row of summed parts, float64 of shape (rows,); NaN where undefined."""
    pairs = sums[:, 0]
    share = np.divide(sums[:, 1], pairs, out=np.full(len(sums), np.nan), where=pairs > 0)
    by_grade = sums[:, 2:] / np.maximum(pairs * judges, 1)[:, None]
    chance = (by_grade**2).sum(axis=1)
    # One grade alone: every other share is exactly 0.
    several = (by_grade > 0).sum(axis=1) > 1
    kappa = np.full(len(sums), np.nan)
    np.divide(share - chance, 1 - chance, out=kappa, where=several)
    return kappa


def percent_agreement(counts: npt.ArrayLike) -> Coefficient:
    """Share of agreeing twos of judges, averaged over the pairs judged by at least two.

    Convention
    ----------
    Undefined where no pair was judged by two. Chance is not taken off.

    Examples
    --------
    >>> percent_agreement([[2, 0], [1, 1], [1, 0]]).value
    0.5
    """
    made, _ = checked_counts(counts, None)
    several = made.sum(axis=1) > 1
    value = float(agreeing_share(made)[several].mean()) if several.any() else float("nan")
    single = int((made.sum(axis=1) == 1).sum())
    return Coefficient(
        "percent agreement", value, int(several.sum()), single, "" if several.any() else "no pair was judged by two"
    )


def agreeing_share(counts: FloatArray) -> FloatArray:
    """Share of ordered twos of judges that agree on each pair, float64 of shape (pairs,); 0 with fewer than two."""
    total = counts.sum(axis=1)
    agreeing: FloatArray = (counts * (counts - 1)).sum(axis=1)
    share = np.zeros(len(counts))
    np.divide(agreeing, total * (total - 1), out=share, where=total > 1)
    return share
