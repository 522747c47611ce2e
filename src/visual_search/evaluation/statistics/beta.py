"""The incomplete beta function and what follows from it: quantiles of the beta and of Student's t distribution.

In plain floating point, since a statistics package would take longer to load than an evaluation takes.
"""

from __future__ import annotations

from math import exp, lgamma, log, log1p, sqrt

__all__ = ["beta_cdf", "beta_quantile", "student_cdf", "student_quantile"]

_TINY = 1e-300
_MOST_TERMS = 100_000


def beta_cdf(x: float, a: float, b: float) -> float:
    """Share of a beta distribution below x, the regularised incomplete beta function.

    Source
    ------
    Continued fraction 8.17.22 of the NIST Digital Library of Mathematical Functions.

    Examples
    --------
    >>> round(beta_cdf(0.25, 1, 3), 12) == round(1 - 0.75**3, 12)
    True
    """
    if x <= 0:
        return 0.0
    if x >= 1:
        return 1.0
    if x > (a + 1) / (a + b + 2):  # there the fraction of the other tail converges faster
        return 1 - beta_cdf(1 - x, b, a)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    return front / _fraction(x, a, b)


def _fraction(x: float, a: float, b: float) -> float:
    """Continued fraction from above, by Lentz's method."""
    value = above = 1.0
    below = 0.0
    for term in range(1, _MOST_TERMS):
        half = term // 2
        if term % 2:
            numerator = -(a + half) * (a + b + half) * x / ((a + 2 * half) * (a + 2 * half + 1))
        else:
            numerator = half * (b - half) * x / ((a + 2 * half - 1) * (a + 2 * half))
        below = 1 / ((1 + numerator * below) or _TINY)
        above = (1 + numerator / above) or _TINY
        value *= above * below
        if abs(above * below - 1) < 1e-16:
            break
    return value


def beta_quantile(share: float, a: float, b: float) -> float:
    """Where a beta distribution has this share below it; by bisection, to the last bits.

    >>> round(beta_quantile(0.5, 2, 2), 12)
    0.5
    """
    low, high = 0.0, 1.0
    for _ in range(1100):  # a quantile may be as small as the smallest number there is
        middle = (low + high) / 2
        if middle in (low, high):
            break
        if beta_cdf(middle, a, b) < share:
            low = middle
        else:
            high = middle
    return (low + high) / 2


def student_cdf(value: float, freedom: float) -> float:
    """Share of Student's t distribution below a value.

    Parameters
    ----------
    value : float
    freedom : float
        Degrees of freedom, above 0.

    Examples
    --------
    >>> round(student_cdf(2.262, 9), 3), student_cdf(0.0, 9)
    (0.975, 0.5)
    """
    tail = beta_cdf(freedom / (freedom + value * value), freedom / 2, 0.5) / 2
    return 1 - tail if value > 0 else tail


def student_quantile(share: float, freedom: float) -> float:
    """Where Student's t distribution has this share below it.

    Parameters
    ----------
    share : float in (0, 1)
    freedom : float
        Degrees of freedom, above 0.

    Examples
    --------
    >>> round(student_quantile(0.975, 9), 3), round(student_quantile(0.025, 9), 3)
    (2.262, -2.262)
    """
    if share == 0.5:
        return 0.0
    tail = 2 * min(share, 1 - share)
    x = beta_quantile(tail, freedom / 2, 0.5)
    distance = sqrt(freedom * (1 - x) / x)
    return distance if share > 0.5 else -distance
