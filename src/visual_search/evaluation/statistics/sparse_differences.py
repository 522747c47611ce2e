r"""Differences of few groups: how many differ at all, and an interval that does not close around what they say.

Where three of forty groups differ, nearly every resample holds some of the three and none that went the other way: the
interval lies on one side of 0, though signs alone do as much one time in four. Where none differs it has no width. Both
are shares: how many groups win, how many lose. A share has an exact interval [1]_, and each group can differ by no more
than the measure and the right answers of its queries allow.

.. [1] C. Clopper, E. Pearson, The use of confidence or fiducial limits illustrated in the case of the binomial,
   Biometrika 26, 1934.
"""

from __future__ import annotations

from math import ceil, isfinite, log, log2
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.statistics.interval import Interval, Resampling
from visual_search.evaluation.statistics.proportions import clopper_pearson

__all__ = ["differing_groups", "fewest_differing", "groups_without_loss", "sparse_interval"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


def fewest_differing(confidence: float = 0.95) -> int:
    """Fewest groups that must differ before flipped signs can contradict chance at this confidence.

    Of m groups that all favour one system, 2 in 2**m ways to sign them do as much.

    Examples
    --------
    >>> fewest_differing(0.95), fewest_differing(0.9), fewest_differing(0.99)
    (6, 5, 8)
    """
    return 1 + ceil(-log2(1 - confidence) - 1e-9)


def differing_groups(tops: FloatArray) -> BoolArray:
    """Which groups differ; sums that differ by no more than rounding do not.

    Parameters
    ----------
    tops : float64 array of shape (groups,) or (groups, m)
        Summed differences of each group.
    """
    size = np.abs(tops)
    differ: BoolArray = size > 1e-12 * np.maximum(1.0, size.max(axis=0, initial=0.0))
    return differ


def sparse_interval(
    tops: FloatArray, bottoms: FloatArray, largest: float, resampling: Resampling, unit: str = "groups"
) -> Interval | None:
    r"""Interval of a mean difference from the shares of groups that win and that lose.

    .. math:: \left[-L\, s\, u(l), \; L\, s\, u(w)\right], \quad s = \frac{\max_g b_g}{\frac1G \sum_g b_g}

    with :math:`u(x)` Clopper and Pearson's upper limit of x among G groups and L the largest difference that one of the
    queries can have; it never reaches beyond -L and L. Never narrower than it says, mostly much wider, as long as the
    queries to come are like these: have no larger groups, and no larger L.

    Parameters
    ----------
    tops, bottoms : float64 arrays of shape (groups,)
        Sums of differences, and what they are divided by; groups with denominator 0 are no part.
    largest : float
        The largest difference one query can have: 1 where the measure lies between 0 and 1, less where the number of
        right answers allows no more, as of Precision@20 with one of them; see
        `visual_search.evaluation.difference_limits`.
    resampling : Resampling
        For the confidence and the seed.
    unit : str
        What the groups are called.

    Returns
    -------
    Interval or None
        None with fewer than two groups, or where the difference has no limit.

    Examples
    --------
    >>> none_differ = sparse_interval(np.zeros(40), np.ones(40), 1.0, Resampling())
    >>> round(none_differ.low, 3), round(none_differ.high, 3)
    (-0.088, 0.088)
    """
    part = bottoms > 0
    tops, bottoms = tops[part], bottoms[part]
    count = len(tops)
    if count < 2 or not isfinite(largest):
        return None
    differ = differing_groups(tops)
    scale = float(bottoms.max() / bottoms.mean())
    wins, losses = int((differ & (tops > 0)).sum()), int((differ & (tops < 0)).sum())
    up, down = (
        min(1.0, scale * clopper_pearson(number, count, resampling.confidence)[1]) for number in (wins, losses)
    )
    method = (
        f"Clopper-Pearson limits on the shares of {unit} that win and lose, times {largest:.4g}, the largest "
        "difference that one of these queries can have"
    )
    return Interval(0.0 - largest * down, largest * up, resampling.confidence, method, 0, resampling.seed, count)


def groups_without_loss(margin: float, confidence: float = 0.95) -> int | None:
    """How many groups, none of them worse, keep the lower limit above minus a margin in largest differences.

    Examples
    --------
    >>> groups_without_loss(0.01), groups_without_loss(0.1)
    (368, 36)
    """
    if margin <= 0:
        return None
    if margin >= 1:
        return 1
    return ceil(log((1 - confidence) / 2) / log(1 - margin) + 1e-9)
