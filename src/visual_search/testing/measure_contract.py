"""What any measure must hold, as checks that a measure of your own can be run through.

::

    from visual_search.testing.measure_contract import check_measure

    def test_my_measure() -> None:
        check_measure(TwoHits(k=3))

Small rankings are drawn (`visual_search.testing.strategies`) and every property asserted on each. Needs hypothesis.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from types import MappingProxyType
from typing import Any

import numpy as np

from visual_search.errors import MissingDependencyError

try:
    from hypothesis import HealthCheck, given, settings
except ImportError as missing:
    raise MissingDependencyError(
        "check_measure draws its cases with hypothesis: pip install 'visual-search[test]'"
    ) from missing

from visual_search.evaluation.joining import join
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.parameters import declared
from visual_search.evaluation.measures.parsing import parse_measure
from visual_search.evaluation.ties import TIE_RULES, TieRule
from visual_search.testing.strategies import Case, cases

__all__ = ["PROPERTIES", "check_measure"]

_TOLERANCE = 1e-12


def _values(measure: Measure, case: Case, ties: TieRule = "expected") -> list[float]:
    return _by_rule(measure, case, (ties,))[ties]


def _by_rule(measure: Measure, case: Case, rules: Sequence[TieRule] = TIE_RULES) -> dict[TieRule, list[float]]:
    positions = join(case.ranking, case.relevance)
    return {rule: measure.values(positions, rule).value.tolist() for rule in rules}


def _same(first: list[float], second: list[float]) -> bool:
    return np.allclose(first, second, rtol=0, atol=_TOLERANCE, equal_nan=True)


def _reads_back(measure: Measure, _case: Case) -> None:
    assert parse_measure(str(measure)) == measure, f"{measure} does not read back from its text"


def _within_bounds(measure: Measure, case: Case) -> None:
    low, high = measure.bounds
    for ties, values in _by_rule(measure, case).items():
        for value in values:
            inside = math.isnan(value) or low - _TOLERANCE <= value <= high + _TOLERANCE
            assert inside, f"{measure} under ties={ties} is {value}, outside {measure.bounds}"


def _within_reach(measure: Measure, case: Case) -> None:
    positions = join(case.ranking, case.relevance)
    largest = measure.largest(positions.relevant_counts(getattr(measure, "rel", 1))).tolist()
    for ties, values in _by_rule(measure, case).items():
        for value, most in zip(values, largest, strict=True):
            inside = math.isnan(value) or value <= most + _TOLERANCE
            assert inside, f"{measure} under ties={ties} is {value}, above {most}, the largest it says it can be"


def _ordered_by_rule(measure: Measure, case: Case) -> None:
    # Only where every rule defines the value: an order may decide whether a quotient exists.
    table = _by_rule(measure, case)
    sign = 1 if measure.higher_is_better else -1
    for row in zip(*(table[ties] for ties in TIE_RULES), strict=True):
        by_rule = dict(zip(TIE_RULES, row, strict=True))
        if any(math.isnan(value) for value in row):
            continue
        for ties in TIE_RULES:
            least, most = sign * by_rule["worst"], sign * by_rule["best"]
            assert least - _TOLERANCE <= sign * by_rule[ties] <= most + _TOLERANCE, (
                f"{measure}: {ties} is {by_rule[ties]}, not between worst {by_rule['worst']} and best "
                f"{by_rule['best']}"
            )


def _ideal_ranking(measure: Measure, case: Case) -> None:
    """No list of a query's judged items scores better than the one by falling grade."""
    ideal_run = {
        query: {
            item: float(-place) for place, item in enumerate(sorted(grades, key=grades.__getitem__, reverse=True))
        }
        for query, grades in case.grades.items()
    }
    if not any(ideal_run.values()):
        return
    ideal = _values(measure, Case(ideal_run, case.grades, {query: [] for query in ideal_run}))
    sign = 1 if measure.higher_is_better else -1
    reverse_run = {
        query: {item: float(place) for place, item in enumerate(reversed(list(scored)))}
        for query, scored in ideal_run.items()
    }
    shuffled = {query: dict.fromkeys(scored, 0.0) for query, scored in ideal_run.items()}
    for run in (reverse_run, shuffled):
        other = _values(measure, Case(run, case.grades, {query: [] for query in run}))
        for best, value in zip(ideal, other, strict=True):
            fine = math.isnan(value) or sign * value <= sign * best + _TOLERANCE
            assert fine, f"{measure}: the ideal ranking scores {best}, another {value}"
    if measure.perfect is None or measure.depth is not None:
        return
    for value, grades in zip(ideal, case.grades.values(), strict=True):
        some = max(grades.values(), default=0) >= getattr(measure, "rel", 1)
        fine = not some or abs(value - measure.perfect) <= _TOLERANCE
        assert fine, f"{measure}: the ideal ranking scores {value}, not {measure.perfect}"


def _grows_with_k(measure: Measure, case: Case) -> None:
    if not measure.never_falls_with_k or "k" not in declared(measure):
        return
    cut: list[dict[str, Any]] = [{"k": k} for k in range(1, 8)]
    tables = [_by_rule(replace(measure, **k), case) for k in cut]
    for shallow, deep in pairwise(tables):
        for ties in TIE_RULES:
            for less, more in zip(shallow[ties], deep[ties], strict=True):
                assert math.isnan(less) or less <= more + _TOLERANCE, (
                    f"{measure} falls as k grows, under ties={ties}"
                )


def _renaming_changes_nothing(measure: Measure, case: Case) -> None:
    def new(item: str) -> str:
        return f"renamed-{item[::-1]}"

    renamed = Case(
        {query: {new(item): score for item, score in scored.items()} for query, scored in case.run.items()},
        {query: {new(item): grade for item, grade in grades.items()} for query, grades in case.grades.items()},
        {query: [new(item) for item in items] for query, items in case.ignored.items()},
    )
    rules: tuple[TieRule, ...] = ("expected", "best", "worst", "listed")
    before, after = _by_rule(measure, case, rules), _by_rule(measure, renamed, rules)
    for ties in rules:
        assert _same(before[ties], after[ties]), f"{measure} changes under ties={ties} when items are renamed"


def _monotone_scores_change_nothing(measure: Measure, case: Case) -> None:
    stretched = Case(
        {
            query: {item: math.exp(3 * score) + 7 for item, score in scored.items()}
            for query, scored in case.run.items()
        },
        case.grades,
        case.ignored,
    )
    before, after = _by_rule(measure, case), _by_rule(measure, stretched)
    for ties in TIE_RULES:
        assert _same(before[ties], after[ties]), f"{measure} changes under ties={ties} when scores are stretched"


def _unjudged_below_k_change_nothing(measure: Measure, case: Case) -> None:
    if not isinstance(measure.depth, int):
        return
    longer = {}
    for query, scored in case.run.items():
        kept = [item for item in scored if item not in case.ignored[query]]
        fill = measure.depth if len(kept) < measure.depth else 0
        longer[query] = scored if fill else {**scored, **{f"more{number}": -9.0 for number in range(3)}}
    extended = Case(longer, case.grades, case.ignored)
    assert _same(_values(measure, case), _values(measure, extended)), (
        f"{measure} changes when unjudged items are added below rank {measure.depth}"
    )


PROPERTIES: Mapping[str, Callable[[Measure, Case], None]] = MappingProxyType(
    {
        "its text reads back": _reads_back,
        "values stay within its bounds": _within_bounds,
        "no value is above what the right answers allow": _within_reach,
        "every tie rule lies between worst and best": _ordered_by_rule,
        "the ideal ranking is best": _ideal_ranking,
        "it never falls as k grows, if it says so": _grows_with_k,
        "renaming items changes nothing": _renaming_changes_nothing,
        "stretching scores changes nothing": _monotone_scores_change_nothing,
        "unjudged items below k change nothing": _unjudged_below_k_change_nothing,
    }
)


def check_measure(measure: Measure, *, examples: int = 50) -> None:
    """Run a measure through every property.

    Parameters
    ----------
    measure : Measure
        The measure, with its parameters.
    examples : int
        Small rankings to draw; each goes through every property.

    Raises
    ------
    AssertionError
        A property does not hold; the message says which, and hypothesis shows the smallest ranking.
    """

    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    @given(case=cases(max_items=5))
    def properties_of_measure(case: Case) -> None:
        for holds in PROPERTIES.values():
            holds(measure, case)

    properties_of_measure()
