"""Intervals of a share, such as the hit rate of independent queries, by formula instead of resampling.

Where all of 60 queries succeed, every resample succeeds, and a bootstrap interval has no width. These two have [1]_.

.. [1] L. Brown, T. Cai, A. DasGupta, Interval Estimation for a Binomial Proportion, Statistical Science 16, 2001.
"""

from __future__ import annotations

from math import sqrt
from statistics import NormalDist

from visual_search.errors import InputError
from visual_search.evaluation.statistics.beta import beta_quantile

__all__ = ["clopper_pearson", "wilson"]


def wilson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    r"""Wilson's score interval of a share: all shares that a score test would not refuse.

    .. math:: \frac{\hat p + z^2/2n \pm z \sqrt{\hat p (1 - \hat p)/n + z^2/4n^2}}{1 + z^2/n}

    Parameters
    ----------
    successes, trials : int
        Independent queries with a hit, and all of them.
    confidence : float in (0, 1)

    Returns
    -------
    tuple of float
        Ends within 0 and 1.

    How to read it
    --------------
    On average over the true share it holds as often as it says; for a given one sometimes a little less.

    Raises
    ------
    InputError
        No trials, more successes than trials, or a confidence outside its range.

    Examples
    --------
    >>> [round(end, 3) for end in wilson(60, 60)]
    [0.94, 1.0]
    """
    _check(successes, trials, confidence)
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    share = successes / trials
    middle = share + z * z / (2 * trials)
    spread = z * sqrt(share * (1 - share) / trials + z * z / (4 * trials * trials))
    below = 1 + z * z / trials
    low = 0.0 if successes == 0 else max(0.0, (middle - spread) / below)
    high = 1.0 if successes == trials else min(1.0, (middle + spread) / below)
    return low, high


def clopper_pearson(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Clopper and Pearson's interval of a share: never holds less often than it says, mostly more.

    Parameters, errors as for :func:`wilson`.

    Returns
    -------
    tuple of float
        Quantiles of Beta(s, n - s + 1) and Beta(s + 1, n - s).

    Examples
    --------
    >>> [round(end, 4) for end in clopper_pearson(60, 60)]
    [0.9404, 1.0]
    """
    _check(successes, trials, confidence)
    tail, failures = (1 - confidence) / 2, trials - successes
    low = beta_quantile(tail, successes, failures + 1) if successes else 0.0
    high = beta_quantile(1 - tail, successes + 1, failures) if failures else 1.0
    return low, high


def _check(successes: int, trials: int, confidence: float) -> None:
    if trials < 1 or not 0 <= successes <= trials:
        raise InputError(f"{successes} successes of {trials} trials; at least 1 trial and 0 to all successes")
    if not 0 < confidence < 1:
        raise InputError(f"confidence is {confidence}; it must lie between 0 and 1, such as 0.95")
