r"""A lower confidence bound of a mean of values between 0 and 1 that is safe for skewed values, and its p-value.

Recalls pile up at 1 with a thin tail below. The mean of a sample that happens to miss the tail is too high and its
spread too small at once, so that Student's bound fails just where it matters. Gaffke's bound [1]_ [2]_ adds one
imagined query of value 0 and lets the weights of the queries be as uncertain as the uniform distribution over all
weightings makes them:

.. math:: P\Bigl(\sum_{g=0}^{G} w_g \, (s_g - m \, n_g) \le 0\Bigr) = \alpha, \quad w \sim
    \text{Dirichlet}(1, \dots, 1)

The m that solves this is the bound; s and n are the sum and the number of the values of a group (of one query, where
there are no groups), and the imagined group 0 has s = 0 and the largest n. For values 0 and 1 it is Clopper and
Pearson's bound. The probability is computed by inverting the Laplace transform of a sum of exponential variables along
a hyperbola through its saddle point [3]_, where little cancels: it is right to 12 digits of its own, however small it
is, so that high confidences hold too. Nothing is drawn at random.

.. [1] N. Gaffke, Three test statistics for a nonparametric one-sided hypothesis on the mean of a nonnegative variable,
   Mathematical Methods of Statistics 14, 2005.
.. [2] E. Learned-Miller, P. Thomas, A new confidence interval for the mean of a bounded random variable,
   arXiv:1905.06208, 2019.
.. [3] C. Helstrom, Approximate evaluation of detection probabilities in radar and optical communications, IEEE
   Transactions on Aerospace and Electronic Systems 14, 1978.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, first_few

__all__ = ["GroupedValues", "lower_bound", "p_value"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_COARSE = 0.25
_AT_ONCE = 4
_FARTHEST = 60
_HALVINGS = 8
_SAME = 1e-8  # halving the steps squares the error
_FALLEN = 1e-17
_STEPS_OF_SEARCH = 100
_NEAR = 1e-14
_FAR = 40.0  # standard deviations at which a normal probability is no number but 0


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
            # A query without a group is one of its own; 1 and "1" are two, as they are where queries are divided.
            places: dict[object, int] = {}
            named = (("query", row) if groups[row] is None else ("group", groups[row]) for row in known.tolist())
            codes = np.array([places.setdefault(name, len(places)) for name in named], dtype=np.int64)
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
    return _highest(held, 1 - confidence)


def _highest(held: GroupedValues, level: float) -> float:
    """The highest target whose p-value is at most the level, by false position (Illinois).

    On the scale of the normal distribution, where p-values go nearly in a straight line with the target.
    """
    usual, centre, spread = NormalDist(), *_usual_place(held)

    def above(target: float) -> tuple[bool, float]:
        found = _below_zero(held.sums - target * held.sizes, held.counts)
        if 0 < found < 1:
            return found > level, usual.inv_cdf(found) - usual.inv_cdf(level)
        # Too small or too near to 1 to be told apart: as far off as the line has it, and no nearer than that.
        far = max(abs(target - centre) / spread, _FAR) if spread else _FAR
        return found > level, far if found else -far

    low, high = 0.0, held.mean
    (low_is_above, at_low), (high_is_above, at_high) = above(low), above(high)
    if low_is_above:
        return 0.0
    if not high_is_above:
        return high
    moved = 0
    for _ in range(_STEPS_OF_SEARCH):
        if high - low < _NEAR:
            break
        middle = low + at_low / (at_low - at_high) * (high - low) if at_low < at_high else (low + high) / 2
        # Not nearer to an end than half of what is wanted, so that both ends come near.
        middle = min(max(middle, low + _NEAR / 2), high - _NEAR / 2)
        is_above, found = above(middle)
        # An end that stays a second time counts half, so that it moves next.
        if is_above:
            at_low = at_low / 2 if moved > 0 else at_low
            high, at_high, moved = middle, found, 1
        else:
            at_high = at_high / 2 if moved < 0 else at_high
            low, at_low, moved = middle, found, -1
    return low


def _usual_place(held: GroupedValues) -> tuple[float, float]:
    """Mean and standard error of the ratio of sums to sizes, the imagined group among them."""
    whole = float(held.counts @ held.sizes)
    mean = float(held.counts @ held.sums) / whole
    return mean, sqrt(float(held.counts @ (held.sums - mean * held.sizes) ** 2)) / whole


def _below_zero(weights: FloatArray, counts: FloatArray) -> float:
    """P(sum of weights times Gamma(counts) variables <= 0)."""
    if weights.min() >= 0:
        return 0.0 if weights.max() > 0 else 1.0
    if weights.max() <= 0:
        return 1.0
    # Of the two sides the one beyond the mean.
    return 1 - _far_side(-weights, counts) if counts @ weights < 0 else _far_side(weights, counts)


def _far_side(weights: FloatArray, counts: FloatArray) -> float:
    """The same where the mean of the sum is not below 0."""
    scaled = weights / -weights.min()
    place = _saddle(scaled, counts)
    peak = -float(np.log1p(-place * scaled) @ counts) - log(-place)
    path = _Path.through(np.append(scaled / (1 - place * scaled), -1 / place), np.append(counts, 1.0))
    return min(max(exp(min(peak, 700.0)) * path.integral() / np.pi, 0.0), 1.0)


def _saddle(weights: FloatArray, counts: FloatArray) -> float:
    """Where between the first pole, -1, and 0 the integrand is least: there the integral has least to cancel."""
    low, high = -40.0, 34.0  # logits of how far it is on the way from 0 to the pole
    while high - low > 1e-6:
        middle = (low + high) / 2
        place = -1 / (1 + exp(-middle))
        slope = float(counts @ (weights / (1 - place * weights))) - 1 / place
        low, high = (middle, high) if slope > 0 else (low, middle)
    return -1 / (1 + exp(-(low + high) / 2))


@dataclass(frozen=True, slots=True)
class _Path:
    """A hyperbola through the saddle, bent as steepest descent begins.

    It is s - saddle = width (i sinh u + bend (cosh u - 1)), from u = 0; the other half is its mirror image.
    A share is that of a factor: at s it is its value at the saddle times (1 - (s - saddle) share) ** -count.
    """

    shares: FloatArray
    counts: FloatArray
    width: float
    bend: float

    @classmethod
    def through(cls, shares: FloatArray, counts: FloatArray) -> _Path:
        """The one that leaves the saddle as the integrand falls off."""
        second = float(counts @ shares**2)
        return cls(shares, counts, 1 / sqrt(second), 2 / 3 * float(counts @ shares**3) / second**1.5)

    def integral(self) -> float:
        """Of the integrand along it, relative to the saddle: equal steps in u, halved until nothing changes."""
        heights = [np.array([self.width / 2])]
        while len(heights) == 1 or (
            np.abs(heights[-1][-2:]).max() > _FALLEN * self.width and len(heights) < _FARTHEST
        ):
            heights.append(self._heights(_COARSE * (np.arange(1, _AT_ONCE + 1) + _AT_ONCE * (len(heights) - 1))))
        end = _COARSE * _AT_ONCE * (len(heights) - 1)
        step, area = _COARSE, _COARSE * float(sum(part.sum() for part in heights))
        for _ in range(_HALVINGS):
            between = step * (np.arange(round(end / step)) + 0.5)
            before, area = area, area / 2 + step / 2 * float(self._heights(between).sum())
            step /= 2
            if abs(area - before) <= _SAME * abs(area):
                break
        return area

    def _heights(self, steps: npt.NDArray[np.floating[Any]]) -> FloatArray:
        rise, fall = np.sinh(steps), np.cosh(steps)
        imaginary = np.outer(self.width * rise, self.shares)
        real = np.outer(self.width * self.bend * (fall - 1), self.shares)
        # Of 1 - z, as exactly for small z as for large ones.
        size = 0.5 * np.log1p(real * (real - 2) + imaginary**2) @ self.counts
        angle = np.arctan2(imaginary, 1 - real) @ self.counts
        heights: FloatArray = self.width * np.exp(-size) * (fall * np.cos(angle) + self.bend * rise * np.sin(angle))
        return heights
