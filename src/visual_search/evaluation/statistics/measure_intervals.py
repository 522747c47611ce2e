"""Intervals of measures: of one at a time, or of all measures of a result from one set of resamples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.measures.measure import Measure, MeasureValues
from visual_search.evaluation.result import Result
from visual_search.evaluation.statistics.bootstrap import bootstrap_median, bootstrap_ratios
from visual_search.evaluation.statistics.interval import Interval, Resampling, resampling_groups
from visual_search.evaluation.statistics.proportions import clopper_pearson, wilson

__all__ = ["MeanBootstrap", "measure_intervals", "with_intervals"]

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class MeanBootstrap:
    """Makes the interval of one measure; what ``evaluate`` takes as ``interval``.

    Parameters
    ----------
    resampling : Resampling

    Examples
    --------
    >>> from visual_search import Ranking, Relevance, evaluate
    >>> run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"b": 2.0, "a": 1.0}}
    >>> truth = {"q1": {"a": 1}, "q2": {"a": 1}}
    >>> result = evaluate(Ranking.from_dict(run), Relevance.from_dict(truth), ["RR"], interval=MeanBootstrap())
    >>> result["RR"].interval.low, result["RR"].mean, result["RR"].interval.high
    (0.5, 0.75, 1.0)
    """

    resampling: Resampling = field(default_factory=Resampling)

    def __call__(
        self, measure: Measure, values: MeasureValues, groups: npt.NDArray[np.int64] | None
    ) -> Interval | None:
        """Make the interval of the measure's mean by its own average."""
        coded = None if groups is None else groups.tolist()
        if measure.average == "minimum" or not len(values.value):
            return None
        if measure.average == "median":
            return bootstrap_median(values.value, groups=coded, resampling=self.resampling)
        if (share := _share(measure, values, coded, self.resampling)) is not None:
            return share
        above, below = _ratio(measure, values)
        return bootstrap_ratios(above[:, None], below[:, None], groups=coded, resampling=self.resampling)[0]


def measure_intervals(
    result: Result, *, groups: Sequence[object] | None = None, resampling: Resampling | None = None
) -> dict[Measure, Interval | None]:
    """Make the interval of every measure's mean by the measure's own average, all from one set of resamples.

    Parameters
    ----------
    result : Result
    groups : sequence with one entry a query, optional
        Queries with equal entries are drawn together; None is a group of its own.
    resampling : Resampling, optional

    Returns
    -------
    dict of Measure to Interval or None
        None where fewer than two groups have a defined value, and for a minimum: resampled queries never give a lower
        one than was seen, so that a bootstrap says nothing of it.
    """
    found = list(result.values())
    intervals: dict[Measure, Interval | None] = {one.measure: None for one in found}
    if not len(result.queries):
        return intervals
    intervals |= {
        one.measure: bootstrap_median(one.values, groups=groups, resampling=resampling)
        for one in found
        if one.measure.average == "median"
    }
    settings = resampling or Resampling()
    for one in found:
        share = _share(one.measure, one.parts, groups, settings)
        if share is not None:
            intervals[one.measure] = share
    ratios = [
        one for one in found if one.measure.average not in ("median", "minimum") and intervals[one.measure] is None
    ]
    if ratios:
        pairs = [_ratio(one.measure, one.parts) for one in ratios]
        made = bootstrap_ratios(
            np.column_stack([above for above, _ in pairs]),
            np.column_stack([below for _, below in pairs]),
            groups=groups,
            resampling=resampling,
        )
        intervals |= {one.measure: interval for one, interval in zip(ratios, made, strict=True)}
    return intervals


def with_intervals(
    result: Result, *, groups: Sequence[object] | None = None, resampling: Resampling | None = None
) -> Result:
    """Give the same result with an interval at every measure; parameters as for :func:`measure_intervals`.

    Groups that are given stay with the result, so that a comparison draws them together too.
    """
    intervals = measure_intervals(result, groups=groups, resampling=resampling)
    codes, _, unit = resampling_groups(groups, len(result.queries))
    return result.replaced(
        {one.measure: replace(one, interval=intervals[one.measure]) for one in result.values()},
        groups=codes if unit == "groups" else None,
    )


def _share(
    measure: Measure, values: MeasureValues, groups: Sequence[object] | None, settings: Resampling
) -> Interval | None:
    """Interval by formula where the mean is a share of independent queries; None where it is not."""
    known = values.value[values.defined]
    is_share = measure.average == "macro" and len(known) > 1 and bool(np.isin(known, (0.0, 1.0)).all())
    if settings.proportions == "bootstrap" or not is_share:
        return None
    codes, _, unit = resampling_groups(groups, len(values.value))
    if len(np.unique(codes[values.defined])) < len(known):
        return None
    hits, trials = int(known.sum()), len(known)
    if settings.proportions == "wilson":
        (low, high), method = wilson(hits, trials, settings.confidence), "Wilson score interval"
    else:
        (low, high), method = clopper_pearson(hits, trials, settings.confidence), "Clopper-Pearson interval"
    return Interval(low, high, settings.confidence, f"{method} over {unit}", 0, settings.seed, trials)


def _ratio(measure: Measure, values: MeasureValues) -> tuple[FloatArray, FloatArray]:
    """Numerators and denominators whose summed quotient is the measure's mean."""
    defined = values.defined
    if measure.average == "micro":
        return np.where(defined, values.numerator, 0.0), np.where(defined, values.denominator, 0.0)
    return np.where(defined, values.value, 0.0), defined.astype(np.float64)
