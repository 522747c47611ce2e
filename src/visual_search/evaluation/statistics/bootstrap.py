"""Bootstrap over independent groups: how far a mean would move with other queries.

Queries of one group (one person, one scene, one document) succeed and fail together, so groups are drawn, not
queries, and all queries of a group go along [1]_. A mean is a ratio: sum of numerators by sum of denominators over
the queries drawn. Both sums are resampled together, which serves the macro mean (value over one), the micro mean
(hits over relevant items) and queries that are undefined (nothing over nothing) alike.

.. [1] B. Efron, R. Tibshirani, An Introduction to the Bootstrap, 1993, chapters 8 and 13.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError
from visual_search.evaluation.statistics.draws import (
    CELLS_AT_A_TIME,
    ExactSums,
    every_resample,
    number_of_resamples,
    random_resamples,
)
from visual_search.evaluation.statistics.ends import accelerations, bca_shares, interval_ends, widened_tail
from visual_search.evaluation.statistics.interval import Interval, Resampling, resampling_groups

__all__ = [
    "bootstrap_mean",
    "bootstrap_median",
    "bootstrap_ratios",
    "group_sums",
    "resampled",
    "resampled_interval",
]

FloatArray = npt.NDArray[np.float64]
Int64Array = npt.NDArray[np.int64]

_WORDS = {"percentile": "percentile bootstrap", "bca": "BCa bootstrap"}


def bootstrap_ratios(
    numerators: FloatArray,
    denominators: FloatArray,
    *,
    groups: Sequence[object] | None = None,
    resampling: Resampling | None = None,
) -> list[Interval | None]:
    r"""Intervals of many means at once, all from the same resamples.

    .. math:: \frac{\sum_g c_g \, \sum_{i \in g} a_{ij}}{\sum_g c_g \, \sum_{i \in g} b_{ij}},
        \quad c \sim \text{multinomial over the groups}

    Parameters
    ----------
    numerators, denominators : float64 arrays of shape (n, m)
        One row a query, one column a measure; both 0 where the query adds nothing.
    groups : sequence of length n, optional
        Group of each query; None (for all or for one query) is a group of its own.
    resampling : Resampling, optional

    Returns
    -------
    list of Interval or None
        One per measure; None with fewer than two groups that add something, where nothing can be said.

    Convention
    ----------
    Resamples that drew no query with a denominator have no mean and are left out; ``resamples`` counts the others.

    Examples
    --------
    >>> hits, relevant = np.array([[1.0], [0.0], [2.0], [3.0]]), np.array([[2.0], [1.0], [2.0], [4.0]])
    >>> [interval] = bootstrap_ratios(hits, relevant)
    >>> round(interval.low, 2), round(interval.high, 2), interval.groups
    (0.0, 1.0, 4)
    """
    settings = resampling or Resampling()
    _check(numerators, denominators)
    codes, count, unit = resampling_groups(groups, len(numerators))
    width = numerators.shape[1]
    # Macro means all divide by the number of queries; each denominator is summed once.
    seen: dict[bytes, int] = {}
    which = [seen.setdefault(column.tobytes(), len(seen)) for column in denominators.T]
    different = [which.index(place) for place in range(len(seen))]
    sums = group_sums(np.hstack((numerators, denominators[:, different])), codes, count)
    exact = ExactSums(sums)

    def ratios(counts: FloatArray) -> FloatArray:
        drawn = exact.of(counts)
        top, bottom = drawn[:, :width], drawn[:, width:][:, which]
        made = np.full(top.shape, np.nan)
        np.divide(top, bottom, out=made, where=bottom > 0)
        return made

    means, shares = resampled(ratios, width, count, settings)
    observed = ratios(np.ones((1, count)))[0] if count else np.full(width, np.nan)
    bent = accelerations(sums[:, :width], sums[:, width:][:, which]) if settings.method == "bca" else None
    taking_part = (sums[:, width:] > 0).sum(axis=0)[which]
    made: list[Interval | None] = []
    for j in range(width):
        correction = None if bent is None else (float(observed[j]), float(bent[j]))
        made.append(
            resampled_interval(means[:, j], shares, settings, unit, int(taking_part[j]), correction=correction)
        )
    return made


def bootstrap_mean(
    values: FloatArray, *, groups: Sequence[object] | None = None, resampling: Resampling | None = None
) -> Interval | None:
    """Interval of one macro mean; NaN where a query's value is undefined.

    Parameters
    ----------
    values : float64 array of shape (n,)
        One value a query.
    groups, resampling
        As for :func:`bootstrap_ratios`.

    Examples
    --------
    >>> interval = bootstrap_mean(np.array([1.0, 0.0, 1.0, 1.0, np.nan]))
    >>> interval.low, interval.high, interval.groups
    (0.0, 1.0, 4)
    """
    defined = ~np.isnan(values)
    numerators = np.where(defined, values, 0.0)[:, None]
    return bootstrap_ratios(numerators, defined.astype(np.float64)[:, None], groups=groups, resampling=resampling)[
        0
    ]


def bootstrap_median(
    values: FloatArray, *, groups: Sequence[object] | None = None, resampling: Resampling | None = None
) -> Interval | None:
    """Interval of one median; NaN where a query's value is undefined.

    Convention
    ----------
    The median of an even number of values is the middle of the two in the middle, here as everywhere.

    Examples
    --------
    >>> interval = bootstrap_median(np.array([1.0, 1.0, 2.0, 3.0, 9.0]))
    >>> interval.low, interval.high
    (1.0, 9.0)
    """
    settings = resampling or Resampling()
    codes, count, unit = resampling_groups(groups, len(values))
    rows = np.flatnonzero(~np.isnan(values))
    order = rows[np.argsort(values[rows], kind="stable")]
    ranked, owners = values[order], codes[order]
    if not len(order):
        return None

    def medians(counts: FloatArray) -> FloatArray:
        # A row of counts has one number a group, but one a query is needed here; again a few rows at a time.
        step = max(1, CELLS_AT_A_TIME // len(ranked))
        parts = [counts[start : start + step, owners] for start in range(0, len(counts), step)]
        return np.concatenate([_medians(part, ranked) for part in parts])[:, None]

    means, shares = resampled(medians, 1, count, settings)
    return resampled_interval(means[:, 0], shares, settings, unit, len(np.unique(owners)))


def resampled(
    statistic: Callable[[FloatArray], FloatArray], width: int, count: int, settings: Resampling
) -> tuple[FloatArray, FloatArray | None]:
    """The statistic of every resample, shape (resamples, width), and the resamples' probabilities unless equal."""
    if count < 2:
        return np.full((0, width), np.nan), None
    if number_of_resamples(count) <= settings.enumerated:
        counts, shares = every_resample(count)
        return statistic(counts), shares
    made = np.empty((settings.resamples, width))
    start = 0
    for counts in random_resamples(count, settings.resamples, settings.seed):
        made[start : start + len(counts)] = statistic(counts)
        start += len(counts)
    return made, None


def _medians(weights: FloatArray, ranked: FloatArray) -> FloatArray:
    """Median of each resample from how often each ranked value was drawn."""
    reached = np.cumsum(weights, axis=1)
    total = reached[:, -1:]
    last = len(ranked) - 1
    lower = np.minimum((reached < np.ceil(total / 2)).sum(axis=1), last)
    upper = np.minimum((reached < np.floor(total / 2) + 1).sum(axis=1), last)
    return np.where(total[:, 0] > 0, (ranked[lower] + ranked[upper]) / 2, np.nan)


def group_sums(values: FloatArray, codes: Int64Array, count: int) -> FloatArray:
    """Sum each column over the queries of each group, float64 of shape (count, m)."""
    columns = [np.bincount(codes, weights=column, minlength=count) for column in values.T]
    return np.ascontiguousarray(np.array(columns).reshape(values.shape[1], count).T)


def resampled_interval(
    means: FloatArray,
    shares: FloatArray | None,
    settings: Resampling,
    unit: str,
    groups: int,
    *,
    correction: tuple[float, float] | None = None,
) -> Interval | None:
    """Interval from resampled means; ``correction`` is the observed mean and its acceleration, for BCa."""
    known = ~np.isnan(means)
    if groups < 2 or not known.any():
        return None
    means, shares = means[known], None if shares is None else shares[known]
    tail = widened_tail(settings.tail, groups) if settings.widened else settings.tail
    tails = (tail, 1 - tail)
    if correction is not None:
        tails = bca_shares(means, shares, *correction, tail)
    low, high = interval_ends(means, shares, tails)
    words = f"{_WORDS['percentile' if correction is None else 'bca']} over {unit}"
    words = f"widened {words}" if settings.widened else words
    method = words if shares is None else f"{words}, every resample enumerated"
    return Interval(low, high, settings.confidence, method, len(means), settings.seed, groups)


def _check(numerators: FloatArray, denominators: FloatArray) -> None:
    if numerators.ndim != 2 or numerators.shape != denominators.shape:
        raise InputError(
            f"numerators and denominators must have one shape (queries, measures); got {numerators.shape} and "
            f"{denominators.shape}"
        )
    wrong = np.flatnonzero(~(np.isfinite(numerators) & np.isfinite(denominators)).all(axis=1))
    if wrong.size:
        raise InputError(
            "numerators or denominators are not finite for "
            f"{counted(wrong.size, 'query', 'queries')}, first rows {wrong[:5].tolist()}; "
            "a query whose value is undefined has 0 in both"
        )
