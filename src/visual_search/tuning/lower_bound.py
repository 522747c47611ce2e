r"""A lower confidence bound of a mean of values between 0 and 1 that is safe for skewed values, and its p-value.

Recalls pile up at 1 with a thin tail below. The mean of a sample that happens to miss the tail is too high and its
spread too small at once, so that Student's bound fails just where it matters. Gaffke's bound [1]_ [2]_ adds one
imagined query of value 0 and lets the weights of the queries be as uncertain as the uniform distribution over all
weightings makes them:

.. math:: P\Bigl(\sum_{g=0}^{G} w_g \, (s_g - m \, n_g) \le 0\Bigr) = \alpha, \quad w \sim
    \text{Dirichlet}(1, \dots, 1)

The m that solves this is the bound; s and n are the sum and the number of the values of a group (of one query, where
there are no groups), and the imagined group 0 has s = 0 and the largest n. For values 0 and 1 it is Clopper and
Pearson's bound. The probability is computed by inverting the characteristic function [3]_ of a sum of exponential
variables; nothing is drawn at random.

.. [1] N. Gaffke, Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable,
   Mathematical Methods of Statistics 14, 2005.
.. [2] E. Learned-Miller, P. Thomas, A new confidence interval for the mean of a bounded random variable,
   arXiv:1905.06208, 2019.
.. [3] J. Gil-Pelaez, Note on the inversion theorem, Biometrika 38, 1951.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log, sqrt
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, first_few

__all__ = ["GroupedValues", "lower_bound", "p_value"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_STEPS = 640
_STEPS_OF_SEARCH = 60
_FAR = 9.0  # standard deviations beyond which a probability is 0 or 1 for every purpose here


@dataclass(frozen=True, slots=True)
class GroupedValues:
    """Values of independent groups, those alike counted together.

    Parameters
    ----------
    sums, sizes : float64 arrays of shape (m,)
        Sum and number of the values of a group.
    counts : float64 array of shape (m,)
        How many groups have that sum and size; the imagined group is among them.
    mean : float
        Over the queries that were seen.
    groups, queries : int
        What was seen, without the imagined one.
    """

    sums: FloatArray
    sizes: FloatArray
    counts: FloatArray
    mean: float
    groups: int
    queries: int

    @classmethod
    def of(cls, values: FloatArray, groups: Sequence[object] | None = None) -> GroupedValues:
        """Sort values by group; NaN (undefined) values are left out.

        Raises
        ------
        InputError
            Values outside 0 to 1, or none at all.
        """
        known = np.flatnonzero(~np.isnan(values))
        held = np.asarray(values, dtype=np.float64)[known]
        outside = np.flatnonzero((held < 0) | (held > 1))
        if outside.size:
            raise InputError(
                f"values: {outside.size} lie outside 0 to 1, first: {first_few(held[outside].tolist())}; the bound is "
                "for measures between 0 and 1"
            )
        if not held.size:
            raise InputError("values: none is defined, so there is no mean to bound")
        if groups is None:
            sums, sizes = held, np.ones(len(held), dtype=np.float64)
        else:
            # A query without a group is one of its own.
            named = [groups[row] for row in known.tolist()]
            _, codes = np.unique(
                [f"g{group}" if group is not None else f"q{row}" for row, group in enumerate(named)],
                return_inverse=True,
            )
            sums = np.bincount(codes, weights=held).astype(np.float64)
            sizes = np.bincount(codes).astype(np.float64)
        # Complex numbers sort as pairs do, by real part first, and several times as fast as rows.
        pairs = np.append(sums, 0.0) + 1j * np.append(sizes, sizes.max())
        alike, counts = np.unique(pairs, return_counts=True)
        weights = counts.astype(np.float64)
        return cls(alike.real, alike.imag, weights, float(held.mean()), len(sums), len(held))


def p_value(values: FloatArray | GroupedValues, target: float, groups: Sequence[object] | None = None) -> float:
    """How surprising these values are where the true mean is not above the target.

    Parameters
    ----------
    values : float64 array of shape (n,), or GroupedValues
        Between 0 and 1; NaN is left out.
    target : float in (0, 1)
    groups : sequence of length n, optional
        Group of each query; None is a group of its own.

    Returns
    -------
    float
        At most alpha exactly where ``lower_bound`` at confidence 1 - alpha reaches the target.

    Examples
    --------
    >>> round(p_value(np.ones(59), 0.95), 4)  # .95 ** 59
    0.0485
    """
    held = values if isinstance(values, GroupedValues) else GroupedValues.of(values, groups)
    return _below_zero(held.sums - target * held.sizes, held.counts)


def lower_bound(
    values: FloatArray | GroupedValues, confidence: float = 0.95, groups: Sequence[object] | None = None
) -> float:
    """Lower confidence bound of the mean over all queries like these.

    Parameters
    ----------
    values, groups
        As for :func:`p_value`.
    confidence : float in (0, 1)
        One-sided.

    Returns
    -------
    float
        Between 0 and the mean.

    Raises
    ------
    InputError
        Values outside 0 to 1, none at all, or a confidence outside its range.

    How to read it
    --------------
    Of samples like this one, at most 1 - confidence have a bound above the true mean. Where groups are of different
    sizes, it is the ratio of two means that is bounded, for which this is an approximation.

    Examples
    --------
    >>> round(lower_bound(np.ones(59)), 4), round(lower_bound(np.repeat([1.0, 0.0], [57, 3])), 4)
    (0.9505, 0.8758)
    """
    if not 0 < confidence < 1:
        raise InputError(f"confidence is {confidence}; it must lie between 0 and 1, such as 0.95")
    held = values if isinstance(values, GroupedValues) else GroupedValues.of(values, groups)
    low, high = 0.0, held.mean
    # The probability less 1 - confidence, at both ends.
    above_low = _below_zero(held.sums, held.counts) - (1 - confidence)
    above_high = _below_zero(held.sums - high * held.sizes, held.counts) - (1 - confidence)
    if above_low >= 0:
        return 0.0
    for step in range(_STEPS_OF_SEARCH):
        if high - low < 1e-10:
            break
        # False position, every third step a bisection, so that both ends come in.
        share = 0.5 if step % 3 == 2 else above_low / (above_low - above_high)
        middle = low + min(max(share, 0.01), 0.99) * (high - low)
        above = _below_zero(held.sums - middle * held.sizes, held.counts) - (1 - confidence)
        if above <= 0:
            low, above_low = middle, above
        else:
            high, above_high = middle, above
    return low


def _below_zero(weights: FloatArray, counts: FloatArray) -> float:
    """P(sum of weights times Gamma(counts) variables <= 0)."""
    if weights.min() >= 0:
        return 0.0 if weights.max() > 0 else 1.0
    if weights.max() <= 0:
        return 1.0
    spread = sqrt(float((counts * weights**2).sum()))
    distance = float((counts * weights).sum()) / spread
    if abs(distance) > _FAR and counts.sum() > 100:
        return 0.0 if distance > 0 else 1.0
    # Over log t: the integrand falls off exponentially at both ends, where equal steps converge fast.
    last = _decayed(weights, counts, spread)
    logs = np.linspace(log(1e-9), last, _STEPS)
    times = np.exp(logs) / spread
    products = times[:, None] * weights
    size = np.exp(-0.5 * (np.log1p(products**2) @ counts))
    # Of a gamma variable: (1 - i t w) ** -count, whose angle is count * atan(t w).
    angle = np.arctan(products) @ counts
    area = float((size * np.sin(angle)).sum()) * float(logs[1] - logs[0])
    return min(max(0.5 - area / np.pi, 0.0), 1.0)


def _decayed(weights: FloatArray, counts: FloatArray, spread: float) -> float:
    """The logarithm of t times spread from which on the characteristic function is below 1e-13."""
    place = log(4.0)
    while place < 60:
        time = np.exp(place) / spread
        if 0.5 * float(np.log1p((time * weights) ** 2) @ counts) > 30:
            break
        place += 0.1
    return place
