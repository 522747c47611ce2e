"""Intervals for all measures of a result, from one set of resamples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from visual_search.evaluation.result import Result
from visual_search.evaluation.statistics.bootstrap import bootstrap_median, bootstrap_ratios
from visual_search.evaluation.statistics.interval import Interval, Resampling

__all__ = ["measure_intervals"]


def measure_intervals(
    result: Result, *, groups: Sequence[object] | None = None, resampling: Resampling | None = None
) -> dict[str, Interval | None]:
    """Make the interval of every measure's mean by the measure's own average.

    Parameters
    ----------
    result : Result
    groups : sequence with one entry a query, optional
        Queries with equal entries are drawn together; None is a group of its own.
    resampling : Resampling, optional

    Returns
    -------
    dict of canonical text to Interval or None
        None where fewer than two groups have a defined value.
    """
    found = list(result.values())
    medians = {
        str(one.measure): bootstrap_median(one.values, groups=groups, resampling=resampling)
        for one in found
        if one.measure.average == "median"
    }
    ratios = [one for one in found if one.measure.average != "median"]
    if not ratios:
        return medians
    numerators, denominators = [], []
    for one in ratios:
        if one.measure.average == "micro":
            numerators.append(np.where(one.parts.defined, one.parts.numerator, 0.0))
            denominators.append(np.where(one.parts.defined, one.parts.denominator, 0.0))
        else:
            numerators.append(np.where(one.parts.defined, one.values, 0.0))
            denominators.append(one.parts.defined.astype(np.float64))
    intervals = bootstrap_ratios(
        np.column_stack(numerators), np.column_stack(denominators), groups=groups, resampling=resampling
    )
    named = {str(one.measure): interval for one, interval in zip(ratios, intervals, strict=True)}
    return {text: (named | medians)[text] for text in result}
