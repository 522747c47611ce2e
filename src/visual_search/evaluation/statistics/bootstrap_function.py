"""Bootstrap over groups of any number that is a function of sums over the groups: kappas, alphas, and their like."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.evaluation.statistics.bootstrap import resampled, resampled_interval
from visual_search.evaluation.statistics.draws import ExactSums
from visual_search.evaluation.statistics.interval import Interval, Resampling

__all__ = ["Statistic", "bootstrap_function", "jackknife_acceleration"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
# Sums of shape (resamples, m) -> one number for each, float64 of shape (resamples,), NaN where undefined.
Statistic: TypeAlias = Callable[[FloatArray], FloatArray]


def bootstrap_function(
    statistic: Statistic, sums: FloatArray, *, resampling: Resampling | None = None, unit: str = "queries"
) -> Interval | None:
    r"""Interval of a function of sums over independent groups.

    .. math:: f\left(\sum_g c_g\, s_g\right), \quad c \sim \text{multinomial over the groups}

    Parameters
    ----------
    statistic : callable
        Takes sums, float64 of shape (resamples, m), and gives one number for each; NaN where it is undefined.
    sums : float64 array of shape (groups, m)
        What each group adds; a group of zeros takes no part.
    resampling : Resampling, optional
    unit : str
        What the groups are, for the interval's words.

    Returns
    -------
    Interval or None
        None with fewer than two groups that add something, and where no resample has a value.

    Convention
    ----------
    As for :func:`visual_search.evaluation.statistics.bootstrap.bootstrap_ratios`: resamples in which the number is
    undefined are left out and not counted; BCa takes its acceleration from the numbers without one group.

    References
    ----------
    B. Efron, R. Tibshirani, An Introduction to the Bootstrap, 1993, chapters 8 and 14.

    Examples
    --------
    >>> sums = np.array([[1.0, 2.0], [2.0, 2.0], [0.0, 1.0], [3.0, 3.0]])
    >>> found = bootstrap_function(lambda drawn: drawn[:, 0] / drawn[:, 1], sums)
    >>> round(found.low, 2), round(found.high, 2), found.groups
    (0.0, 1.0, 4)
    """
    settings = resampling or Resampling()
    if sums.ndim != 2 or not np.isfinite(sums).all():
        raise InputError(f"sums must be finite numbers of shape (groups, m); got shape {sums.shape}")
    taking_part = sums[(sums != 0).any(axis=1)]
    count = len(taking_part)
    if count < 2:
        return None
    exact = ExactSums(taking_part)
    made, shares = resampled(lambda counts: statistic(exact.of(counts))[:, None], 1, count, settings)
    correction = None
    if settings.method == "bca":
        whole = np.ones((1, count))
        observed = float(statistic(exact.of(whole))[0])
        without = statistic(exact.of(whole - np.eye(count)))
        if np.isnan(observed):
            return None
        correction = (observed, jackknife_acceleration(without))
    return resampled_interval(made[:, 0], shares, settings, unit, count, correction=correction)


def jackknife_acceleration(without: FloatArray) -> float:
    r"""How the spread of a number changes with it, from the numbers without one group.

    .. math:: a = \frac{\sum_g (\bar\theta - \theta_{-g})^3}{6 (\sum_g (\bar\theta - \theta_{-g})^2)^{3/2}}

    Examples
    --------
    >>> jackknife_acceleration(np.array([0.5, 0.5, 0.5]))
    0.0
    """
    known = without[~np.isnan(without)]
    if not len(known):
        return 0.0
    distance = known.mean() - known
    spread = float((distance**2).sum())
    # What rounding makes of equal numbers is no spread.
    if spread <= len(known) * (4e-16 * float(np.abs(known).max(initial=0.0))) ** 2:
        return 0.0
    return float((distance**3).sum() / (6 * spread**1.5))
