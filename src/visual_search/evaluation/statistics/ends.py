"""From resampled means to the ends of an interval: plain percentiles, or corrected for bias and acceleration (BCa).

BCa moves both percentiles by how far the resamples lie to one side of the mean that came, and by how their spread
changes with the mean, which the means without one group tell [1]_.

.. [1] B. Efron, Better bootstrap confidence intervals, Journal of the American Statistical Association 82, 1987.
"""

from __future__ import annotations

from functools import lru_cache
from math import erfc, sqrt
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.statistics.beta import student_quantile

__all__ = ["accelerations", "bca_shares", "interval_ends", "widened_tail"]

FloatArray = npt.NDArray[np.float64]


def interval_ends(means: FloatArray, shares: FloatArray | None, tails: tuple[float, float]) -> tuple[float, float]:
    """Percentiles of resampled means.

    Parameters
    ----------
    means : float64 array of shape (n,)
    shares : float64 array of shape (n,), optional
        Probability of each; equal ones when None.
    tails : tuple of float
        Share below the lower end, and share below the upper one.

    Returns
    -------
    tuple of float
        With shares given, the lowest mean with at least the first share at or below it, and the highest with at least
        the rest of the second at or above it; else percentiles interpolated between neighbours.
    """
    if shares is None:
        low, high = np.quantile(means, tails)
        return float(low), float(high)
    order = np.argsort(means, kind="stable")
    ranked, weights = means[order], shares[order] / shares.sum()
    # Sums of shares are off by rounding; a tail that is met exactly must count as met.
    below = np.searchsorted(np.cumsum(weights), tails[0] - 1e-12)
    above = np.searchsorted(np.cumsum(weights[::-1]), 1 - tails[1] - 1e-12)
    last = len(ranked) - 1
    return float(ranked[min(int(below), last)]), float(ranked[last - min(int(above), last)])


@lru_cache(maxsize=256)
def widened_tail(tail: float, groups: int) -> float:
    r"""Tail to take in place of the one that is meant, since resamples of few groups spread too little.

    .. math:: \Phi\left(-\sqrt{\tfrac{G}{G - 1}}\; t_{1 - \text{tail},\, G - 1}\right)

    A resample's mean has the spread of the sample, which is too small by (G - 1)/G, and is known from G groups only,
    which Student's t accounts for [1]_.

    .. [1] T. Hesterberg, What Teachers Should Know About the Bootstrap, The American Statistician 69, 2015: the
       expanded percentile interval.

    Examples
    --------
    >>> [round(widened_tail(0.025, groups), 4) for groups in (5, 10, 50, 1000)]
    [0.001, 0.0086, 0.0212, 0.0248]
    """
    spread = sqrt(groups / (groups - 1)) * student_quantile(1 - tail, groups - 1)
    return max(erfc(spread / sqrt(2)) / 2, 1e-300)


def bca_shares(
    means: FloatArray, shares: FloatArray | None, observed: float, acceleration: float, tail: float
) -> tuple[float, float]:
    """Shares at which BCa takes the percentiles for this much outside on either side.

    A mean that many resamples equal counts half of them as below. Where the observed mean lies beyond all resamples
    it is taken to lie half a resample inside.
    """
    normal = NormalDist()
    # Means of the same groups in another order differ by rounding.
    near = np.abs(means - observed) <= 1e-12 * max(1e-300, float(np.abs(means).max()))
    lower = (means < observed) & ~near
    if shares is None:
        below = float(lower.mean() + near.mean() / 2)
        least = 0.5 / len(means)
    else:
        below = float((shares[lower].sum() + shares[near].sum() / 2) / shares.sum())
        least = 0.5 * float(shares.min() / shares.sum())
    bias = normal.inv_cdf(min(max(below, least), 1 - least))
    distance = -normal.inv_cdf(tail)
    moved = []
    for z in (bias - distance, bias + distance):
        slowed = 1 - acceleration * z
        # Where the spread grows without bound before z is reached, the end is the last resample.
        moved.append(normal.cdf(bias + z / slowed) if slowed > 0 else float(z > 0))
    return moved[0], moved[1]


def accelerations(tops: FloatArray, bottoms: FloatArray) -> FloatArray:
    r"""How the spread of each mean changes with it, from the means without one group.

    .. math:: a = \frac{\sum_g (\bar\theta - \theta_{-g})^3}{6 (\sum_g (\bar\theta - \theta_{-g})^2)^{3/2}}

    Parameters
    ----------
    tops, bottoms : float64 arrays of shape (groups, m)
        Sums of numerators and of denominators; a group whose denominator is 0 is no part of that mean.

    Returns
    -------
    float64 array of shape (m,)
        0 where all such means are equal.
    """
    # One row a measure, so that sums come out the same whatever is measured beside it.
    above, below = np.ascontiguousarray(tops.T), np.ascontiguousarray(bottoms.T)
    rest = below.sum(axis=1, keepdims=True) - below
    part = (below > 0) & (rest > 0)
    without = np.zeros_like(above)
    np.divide(above.sum(axis=1, keepdims=True) - above, rest, out=without, where=part)
    count = np.maximum(part.sum(axis=1), 1)
    centre = without.sum(axis=1) / count
    distance = np.where(part, centre[:, None] - without, 0.0)
    spread = (distance**2).sum(axis=1)
    # What rounding makes of equal means is no spread.
    real = spread > count * (4e-16 * np.abs(without).max(axis=1, initial=0.0)) ** 2
    made = np.zeros(len(above))
    np.divide((distance**3).sum(axis=1), 6 * np.maximum(spread, 1e-300) ** 1.5, out=made, where=real)
    return made
