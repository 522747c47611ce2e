"""One system minus another on one measure, with everything that says how much the difference means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.compared import ComparedResult, higher_is_better
from visual_search.evaluation.difference_limits import largest_difference
from visual_search.evaluation.statistics.bootstrap import bootstrap_ratios, group_sums
from visual_search.evaluation.statistics.flips import flip_test
from visual_search.evaluation.statistics.interval import Interval, Resampling, resampling_groups
from visual_search.evaluation.statistics.multiplicity import holm
from visual_search.evaluation.statistics.paired import caution_on
from visual_search.evaluation.statistics.power import group_spread, groups_needed, minimum_detectable_difference
from visual_search.evaluation.statistics.sparse_differences import (
    differing_groups,
    fewest_differing,
    sparse_interval,
)
from visual_search.ids import Id

__all__ = ["Contrast", "PairedSums", "bare_contrast", "contrasts_of", "paired_sums"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]
Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
POWER = 0.8


@dataclass(frozen=True, slots=True)
class Contrast:
    """System ``a`` minus system ``b`` on the queries where both have a value.

    Attributes
    ----------
    a, b, measure : str
    mean_a, mean_b : float
        Over these queries.
    difference : float
        Their difference, in the measure's own unit; NaN where no query has both.
    interval : Interval or None
        From resampled groups; where too few differ, from the shares of groups that win and lose.
    p_value : float
        Two-sided, of the paired randomisation.
    p_holm, p_max : float
        The same, valid for all comparisons of the call at once: by Holm, and by the largest of all statistics.
    effect_size : float
        Difference over the standard deviation, over groups, of their differences: 0.2 is small, 0.5 medium, 0.8 large
        by Cohen's habit. NaN where all groups differ alike.
    wins, losses, ties : int
        Queries on which ``a`` is better, worse, the same; where less is better, lower values win.
    only_a, only_b : int
        Queries left out because only the one or the other has a value.
    queries, groups : int
        Compared; ``groups`` are the independent ones among them.
    differing : int
        Groups whose differences do not add up to 0; of fewer than 6 resampling knows too little.
    spread : float
        Standard deviation over groups.
    largest : float
        The largest difference that any one of these queries can have, by the measure, its cut-off and how many right
        answers there are; infinite where there is no limit.
    detectable : float
        Smallest true difference that so many groups would show with 80 % power at the interval's confidence; NaN where
        too few groups differ for their spread to be known.
    groups_needed, queries_needed : int or None
        How many would show a true difference of the size that came with 80 % power; None where it is 0.
    improved, worsened : tuple of (id, float)
        Queries that changed most, and by how much.
    flips, seed : int
    """

    a: str
    b: str
    measure: str
    mean_a: float
    mean_b: float
    difference: float
    interval: Interval | None
    p_value: float
    p_holm: float
    p_max: float
    effect_size: float
    wins: int
    losses: int
    ties: int
    only_a: int
    only_b: int
    queries: int
    groups: int
    differing: int
    spread: float
    largest: float
    detectable: float
    groups_needed: int | None
    queries_needed: int | None
    improved: tuple[tuple[Id, float], ...]
    worsened: tuple[tuple[Id, float], ...]
    flips: int
    seed: int

    @property
    def caution(self) -> str | None:
        """What to bear in mind where few groups are there or differ, or where interval and p disagree; or None."""
        return caution_on(self.interval, self.differing, self.p_value)

    @property
    def better(self) -> int:
        """1 where the difference is for the better, -1 for the worse, 0 for neither."""
        sign = 1 if higher_is_better(self.measure) else -1
        return 0 if np.isnan(self.difference) else int(np.sign(self.difference)) * sign

    def as_json(self) -> dict[str, Any]:
        """As a JSON object; undefined and without limit are null."""
        value = asdict(self) | {"caution": self.caution}
        for side in ("improved", "worsened"):
            value[side] = [{"query": query, "difference": change} for query, change in value[side]]
        return {key: None if isinstance(one, float) and not np.isfinite(one) else one for key, one in value.items()}


@dataclass(frozen=True, slots=True, eq=False)
class PairedSums:
    """Values of two systems on the same queries.

    Attributes
    ----------
    a, b, measure : str
    tops_a, tops_b, bottoms : float64 arrays of shape (n,)
        The difference of means is the sum of the differences of the tops over the sum of the bottoms; all 0 where one
        of the two has no value.
    only_a, only_b : int
        Queries where only the one or the other has a value.
    largest : float
        The largest difference that any one of these queries can have; infinite where there is no limit.
    """

    a: str
    b: str
    measure: str
    tops_a: FloatArray
    tops_b: FloatArray
    bottoms: FloatArray
    only_a: int = 0
    only_b: int = 0
    largest: float = float("inf")


def paired_sums(first: ComparedResult, second: ComparedResult, measure: str) -> PairedSums | None:
    """Pair two systems' values on the same queries; None where their denominators differ."""
    tops_a, bottoms_a = first.tops[measure], first.bottoms[measure]
    tops_b, bottoms_b = second.tops[measure], second.bottoms[measure]
    both = (bottoms_a > 0) & (bottoms_b > 0)
    if not np.array_equal(bottoms_a[both], bottoms_b[both]):
        return None
    top_a, top_b, bottom = (np.where(both, part, 0.0) for part in (tops_a, tops_b, bottoms_a))
    only_a, only_b = (int((one & ~both).sum()) for one in (bottoms_a > 0, bottoms_b > 0))
    largest = largest_difference(measure, _most_relevant(first, second, both))
    if both.any() and np.isfinite(largest):
        # What came is possible, whatever the files say of their right answers.
        largest = max(largest, float((np.abs(top_a - top_b)[both] / bottom[both]).max()))
    return PairedSums(first.name, second.name, measure, top_a, top_b, bottom, only_a, only_b, largest)


def _most_relevant(first: ComparedResult, second: ComparedResult, both: BoolArray) -> Int64Array | None:
    """Right answers of the queries that both have, the more of the two; None where either does not tell."""
    if first.relevant is None or second.relevant is None:
        return None
    return np.maximum(first.relevant, second.relevant)[both]


def contrasts_of(
    columns: Sequence[PairedSums],
    queries: Sequence[Id],
    *,
    groups: Sequence[object] | None,
    resampling: Resampling,
    flips: int,
    shown: int,
) -> tuple[Contrast, ...]:
    """Make all contrasts from one set of resamples and one set of flips."""
    tops = np.column_stack([column.tops_a - column.tops_b for column in columns])
    bottoms = np.column_stack([column.bottoms for column in columns])
    codes, count, unit = resampling_groups(groups, len(queries))
    top_sums, bottom_sums = group_sums(tops, codes, count), group_sums(bottoms, codes, count)
    intervals = bootstrap_ratios(tops, bottoms, groups=groups, resampling=resampling)
    test = flip_test(top_sums, flips=flips, seed=resampling.seed)
    tested = bottoms.any(axis=0)
    p_values = np.where(tested, test.p_values, np.nan)
    raised, largest = holm(p_values), np.where(tested, test.adjusted, np.nan)
    spreads = group_spread(top_sums, bottom_sums)
    differing = differing_groups(top_sums).sum(axis=0).tolist()
    made = []
    for j, column in enumerate(columns):
        interval = intervals[j]
        known = differing[j] >= fewest_differing(resampling.confidence)
        if not known:
            sums = top_sums[:, j], bottom_sums[:, j]
            interval = sparse_interval(*sums, column.largest, resampling, unit) or interval
        part: dict[str, Any] = {
            "interval": interval,
            "differing": differing[j],
            "p_value": float(p_values[j]),
            "p_holm": float(raised[j]),
            "p_max": float(largest[j]),
            "flips": test.flips,
            "seed": resampling.seed,
        }
        taking_part = int((bottom_sums[:, j] > 0).sum())
        numbers = _numbers(column, taking_part, float(spreads[j]), resampling.confidence)
        if not known:
            numbers = {**numbers, "detectable": float("nan")}
        made.append(
            Contrast(column.a, column.b, column.measure, **part, **numbers, **_changes(column, queries, shown))
        )
    return tuple(made)


def bare_contrast(column: PairedSums, queries: Sequence[Id], *, shown: int) -> Contrast:
    """The difference with its counts and the queries that changed most, at once; no interval and no p-value.

    For showing something while :func:`contrasts_of` is at work: all that tells how much it means is None or NaN.
    """
    taking_part = int((column.bottoms > 0).sum())
    numbers = {**_numbers(column, taking_part, float("nan"), 0.95), "detectable": float("nan")}
    part: dict[str, Any] = {"interval": None, "p_value": float("nan"), "differing": 0, "flips": 0, "seed": 0}
    return Contrast(
        column.a,
        column.b,
        column.measure,
        p_holm=float("nan"),
        p_max=float("nan"),
        **part,
        **numbers,
        **_changes(column, queries, shown),
    )


def _numbers(column: PairedSums, groups: int, spread: float, confidence: float) -> Mapping[str, Any]:
    total = column.bottoms.sum()
    mean_a, mean_b, difference = (
        float(tops.sum() / total) if total else float("nan")
        for tops in (column.tops_a, column.tops_b, column.tops_a - column.tops_b)
    )
    queries = int((column.bottoms > 0).sum())
    # What rounding leaves of groups that differ alike is no spread.
    flat = not spread > 1e-12 * max(1.0, abs(difference))
    needed = groups_needed(spread, difference, confidence=confidence, power=POWER) if difference else None
    return {
        "mean_a": mean_a,
        "mean_b": mean_b,
        "difference": difference,
        "effect_size": float("nan") if flat else difference / spread,
        "queries": queries,
        "groups": groups,
        "spread": spread,
        "largest": column.largest,
        "detectable": minimum_detectable_difference(spread, groups, confidence=confidence, power=POWER),
        "groups_needed": needed,
        "queries_needed": None if needed is None or not groups else int(np.ceil(needed * queries / groups)),
    }


def _changes(column: PairedSums, queries: Sequence[Id], shown: int) -> Mapping[str, Any]:
    sign = 1.0 if higher_is_better(column.measure) else -1.0
    defined = column.bottoms > 0
    change = np.zeros(len(queries))
    np.divide(column.tops_a - column.tops_b, column.bottoms, out=change, where=defined)
    gain = sign * change
    order = np.argsort(gain, kind="stable")

    def named(rows: Any) -> tuple[tuple[Id, float], ...]:
        return tuple((queries[row], float(change[row])) for row in rows)

    best = [row for row in order[::-1][:shown].tolist() if gain[row] > 0]
    worst = [row for row in order[:shown].tolist() if gain[row] < 0]
    return {
        "wins": int((gain > 0).sum()),
        "losses": int((gain < 0).sum()),
        "ties": int((defined & (gain == 0)).sum()),
        "only_a": column.only_a,
        "only_b": column.only_b,
        "improved": named(best),
        "worsened": named(worst),
    }
