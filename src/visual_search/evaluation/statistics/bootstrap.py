"""Percentile bootstrap over independent groups: how far a mean would move with other queries.

Queries of one group (one person, one scene, one document) succeed and fail together, so groups are drawn, not
queries, and all queries of a group go along [1]_. A mean is a ratio: sum of numerators by sum of denominators over
the queries drawn. Both sums are resampled together, which serves the macro mean (value over one), the micro mean
(hits over relevant items) and queries that are undefined (nothing over nothing) alike.

.. [1] B. Efron, R. Tibshirani, An Introduction to the Bootstrap, 1993, chapters 8 and 13.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError
from visual_search.evaluation.statistics.interval import Interval, Resampling, resampling_groups

__all__ = ["bootstrap_mean", "bootstrap_median", "bootstrap_ratios"]

FloatArray = npt.NDArray[np.float64]
Int64Array = npt.NDArray[np.int64]

ROWS_AT_A_TIME = 16
# Multiplications up to which OpenBLAS starts no threads.
_ONE_THREAD = 1 << 18


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
    (0.33, 0.88, 4)
    """
    settings = resampling or Resampling()
    _check(numerators, denominators)
    codes, count, unit = resampling_groups(groups, len(numerators))
    width = numerators.shape[1]
    # Macro means all divide by the number of queries; each denominator is summed once.
    seen: dict[bytes, int] = {}
    which = [seen.setdefault(column.tobytes(), len(seen)) for column in denominators.T]
    different = [which.index(place) for place in range(len(seen))]
    sums = _group_sums(np.hstack((numerators, denominators[:, different])), codes, count)
    means = np.full((settings.resamples, width), np.nan)
    if count > 1:
        start = 0
        for counts in group_counts(count, settings):
            drawn = _product(counts, sums)
            top, bottom = drawn[:, :width], drawn[:, width:][:, which]
            np.divide(top, bottom, out=means[start : start + len(counts)], where=bottom > 0)
            start += len(counts)
    taking_part = (sums[:, width:] > 0).sum(axis=0)[which]
    return [_interval(means[:, j], settings, unit, int(taking_part[j])) for j in range(width)]


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
    (0.25, 1.0, 4)
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
    means = [np.full(0, np.nan)]
    if count > 1 and len(order):
        means = [_medians(counts[:, owners], ranked) for counts in group_counts(count, settings)]
    return _interval(np.concatenate(means), settings, unit, len(np.unique(owners)))


def group_counts(count: int, settings: Resampling) -> Iterator[FloatArray]:
    """How often each group was drawn, block after block, float64 of shape (block, count).

    The draws are one stream of integers, so where a block ends does not matter; blocks are small and of fixed size,
    so memory is that of a few rows and sums come out the same to the last bit.
    """
    random = np.random.default_rng(settings.seed)
    for start in range(0, settings.resamples, ROWS_AT_A_TIME):
        rows = min(ROWS_AT_A_TIME, settings.resamples - start)
        drawn = random.integers(0, count, size=(rows, count))
        drawn += np.arange(rows)[:, None] * count
        yield np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count).astype(np.float64)


def _medians(weights: FloatArray, ranked: FloatArray) -> FloatArray:
    """Median of each resample from how often each ranked value was drawn."""
    reached = np.cumsum(weights, axis=1)
    total = reached[:, -1:]
    last = len(ranked) - 1
    lower = np.minimum((reached < np.ceil(total / 2)).sum(axis=1), last)
    upper = np.minimum((reached < np.floor(total / 2) + 1).sum(axis=1), last)
    return np.where(total[:, 0] > 0, (ranked[lower] + ranked[upper]) / 2, np.nan)


def _product(counts: FloatArray, sums: FloatArray) -> FloatArray:
    """Product of two matrices in pieces that BLAS computes on one thread.

    The whole is too small to gain from more threads, and where other work keeps the cores busy, threads that wait
    for each other take twenty times as long as the product itself.
    """
    rows, columns = len(counts), sums.shape[1]
    step = max(1, _ONE_THREAD // (rows * columns))
    total = np.zeros((rows, columns))
    for start in range(0, len(sums), step):
        total += counts[:, start : start + step] @ sums[start : start + step]
    return total


def _group_sums(values: FloatArray, codes: Int64Array, count: int) -> FloatArray:
    columns = [np.bincount(codes, weights=column, minlength=count) for column in values.T]
    return np.ascontiguousarray(np.array(columns).reshape(values.shape[1], count).T)


def _interval(means: FloatArray, settings: Resampling, unit: str, groups: int) -> Interval | None:
    known = means[~np.isnan(means)]
    if groups < 2 or not len(known):
        return None
    low, high = settings.ends(known)
    method = f"percentile bootstrap over {unit}"
    return Interval(low, high, settings.confidence, method, len(known), settings.seed, groups)


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
