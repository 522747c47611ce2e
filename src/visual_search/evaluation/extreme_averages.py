"""Lowest and highest average over queries, some of which have a value only under some completions."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.measures.measure import Measure

__all__ = ["extreme_averages", "extreme_quotients"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


def extreme_averages(
    measure: Measure, lows: FloatArray, highs: FloatArray, *, always: BoolArray
) -> tuple[float, float]:
    """Extremes of a mean or median over queries.

    Parameters
    ----------
    measure : Measure
        Its average is that of ``lows`` and ``highs``.
    lows, highs : float64 arrays of shape (n,)
        Extremes of each query; NaN where it has a value under no completion.
    always : bool array of shape (n,)
        Whether the query has a value under every completion. One that need not have one enters where that takes the
        average further out: of so many the lowest lows, and the highest highs.

    Returns
    -------
    tuple of float
        NaN where no query can have a value.

    Examples
    --------
    >>> from visual_search.evaluation.measures.parsing import parse_measure
    >>> lows, highs = np.array([0.2, 0.0]), np.array([0.6, 1.0])
    >>> extreme_averages(parse_measure("AP"), lows, highs, always=np.array([True, False]))
    (0.1, 0.8)
    """
    average = np.median if measure.average == "median" else np.mean
    return 0.0 - _highest(-lows, always, average), _highest(highs, always, average)


def _highest(values: FloatArray, always: BoolArray, average: Callable[[FloatArray], np.floating]) -> float:
    fixed = values[always]
    optional = np.sort(values[~always & ~np.isnan(values)])[::-1]
    tried = [
        float(average(np.concatenate((fixed, optional[:count]))))
        for count in range(len(optional) + 1)
        if len(fixed) + count
    ]
    return max(tried, default=float("nan"))


def extreme_quotients(query: Int64Array, tops: FloatArray, bottoms: FloatArray) -> tuple[float, float]:
    r"""Extremes of a quotient of sums when each query may choose one of several (numerator, denominator).

    For a trial value t each query takes what makes ``top - t * bottom`` largest; the quotient of what was taken is the
    next trial, until none is better.

    Parameters
    ----------
    query : int64 array of shape (choices,)
        Row of the query of each choice, rising.
    tops, bottoms : float64 arrays of shape (choices,)
        Neither negative; both 0 where a query adds nothing.

    Returns
    -------
    tuple of float
        Lowest and highest; NaN where all denominators are 0.

    References
    ----------
    W. Dinkelbach, On nonlinear fractional programming, Management Science 13(7), 1967.

    Examples
    --------
    >>> extreme_quotients(np.array([0, 0, 1]), np.array([1.0, 2.0, 1.0]), np.array([2.0, 3.0, 1.0]))
    (0.6666666666666666, 0.75)
    """
    return -_highest_quotient(query, -tops, bottoms), _highest_quotient(query, tops, bottoms)


def _highest_quotient(query: Int64Array, tops: FloatArray, bottoms: FloatArray) -> float:
    if not bottoms.any():
        return float("nan")
    # To begin with, each query takes its largest denominator, so that there is a quotient.
    order = np.lexsort((bottoms, query))
    taken = order[_last_of_each(query[order])]
    value, trial = float("-inf"), float(tops[taken].sum() / bottoms[taken].sum())
    while trial > value:
        value = trial
        worth = tops - value * bottoms
        order = np.lexsort((bottoms, worth, query))
        taken = order[_last_of_each(query[order])]
        if not bottoms[taken].any():  # adding nothing is best for all: no query can take the quotient further
            break
        trial = float(tops[taken].sum() / bottoms[taken].sum())
    return value


def _last_of_each(query: Int64Array) -> BoolArray:
    return np.append(query[1:] != query[:-1], True)
