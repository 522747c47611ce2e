"""What a comparison of so many groups can see: the smallest difference, and how many groups a difference needs.

Both take the difference of means to be normal with Student's t for its unknown spread [1]_, and the groups of a larger
set to be like those of this one.

.. [1] J. Cohen, Statistical Power Analysis for the Behavioral Sciences, 2nd edition, 1988, chapter 2.
"""

from __future__ import annotations

from math import ceil, isfinite, sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.evaluation.statistics.beta import student_quantile

__all__ = ["group_spread", "groups_needed", "minimum_detectable_difference"]

FloatArray = npt.NDArray[np.float64]


def group_spread(tops: FloatArray, bottoms: FloatArray) -> FloatArray:
    r"""Standard deviation over groups of what each adds to a mean that is a ratio of sums.

    .. math:: u_g = \frac{a_g - \bar d\, b_g}{\frac1G \sum_g b_g}, \quad \bar d = \frac{\sum_g a_g}{\sum_g b_g}

    Where groups are of one size, ``u`` is the group's mean less the mean of all. The standard error of the mean is the
    spread over the square root of the number of groups.

    Parameters
    ----------
    tops, bottoms : float64 arrays of shape (groups, m)
        Sums of numerators and of denominators; groups with denominator 0 are left out.

    Returns
    -------
    float64 array of shape (m,)
        NaN with fewer than two groups.

    Examples
    --------
    >>> group_spread(np.array([[1.0], [3.0]]), np.ones((2, 1))).round(3).tolist()
    [1.414]
    """
    made = np.full(tops.shape[1], np.nan)
    for j in range(tops.shape[1]):
        part = bottoms[:, j] > 0
        top, bottom = tops[part, j], bottoms[part, j]
        if len(top) > 1:
            added = (top - top.sum() / bottom.sum() * bottom) / bottom.mean()
            made[j] = added.std(ddof=1)
    return made


def minimum_detectable_difference(
    spread: float, groups: int, *, confidence: float = 0.95, power: float = 0.8
) -> float:
    """Smallest true difference that a two-sided test on so many groups finds with the given probability.

    Parameters
    ----------
    spread : float
        Standard deviation over groups; see :func:`group_spread`.
    groups : int
    confidence, power : float in (0, 1)

    Returns
    -------
    float
        In the measure's own unit; NaN with fewer than two groups.

    How to read it
    --------------
    A smaller difference may be there and stay unseen: more often than one time in five at 80 % power.

    Examples
    --------
    >>> round(minimum_detectable_difference(0.2, 100), 4)
    0.0566
    """
    _check(confidence, power)
    if groups < 2 or not isfinite(spread):
        return float("nan")
    return _quantiles(groups, confidence, power) * spread / sqrt(groups)


def groups_needed(spread: float, difference: float, *, confidence: float = 0.95, power: float = 0.8) -> int | None:
    """How many groups a test needs to find a true difference with the given probability; None where none are enough.

    Examples
    --------
    >>> groups_needed(0.2, 0.0566)
    100
    """
    _check(confidence, power)
    size = abs(difference)
    if not isfinite(spread) or not size:
        return None
    normal = NormalDist()
    least = (normal.inv_cdf((1 + confidence) / 2) + normal.inv_cdf(power)) * spread / size
    needed = max(2, ceil(least**2 - 1e-9))
    # Student's quantiles are a little larger than the normal ones: a few groups more.
    while _quantiles(needed, confidence, power) * spread / sqrt(needed) > size:
        needed += 1
    return needed


def _quantiles(groups: int, confidence: float, power: float) -> float:
    freedom = groups - 1
    return student_quantile((1 + confidence) / 2, freedom) + student_quantile(power, freedom)


def _check(confidence: float, power: float) -> None:
    for name, value in (("confidence", confidence), ("power", power)):
        if not 0 < value < 1:
            raise InputError(f"{name} is {value}; it must lie between 0 and 1")
