"""Chooses the cheapest setting that may be said to reach a target, and reports it on other queries."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, Problems, first_few
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.parsing import parse_measure
from visual_search.evaluation.seeds import seeded
from visual_search.evaluation.statistics.independence import about_groups
from visual_search.tuning.certification import Verdict, certify
from visual_search.tuning.choice import Candidate, Choice, HeldOut
from visual_search.tuning.lower_bound import GroupedValues, lower_bound
from visual_search.tuning.query_split import validation_and_test
from visual_search.tuning.sweep_point import COSTS, SweepPoint
from visual_search.tuning.sweep_record import Sweep

__all__ = ["choose", "dearness"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


def choose(
    sweep: Sweep | str | os.PathLike[str],
    target: float | None = None,
    *,
    target_recall: float | None = None,
    measure: str | None = None,
    threshold: float | None = None,
    confidence: float = 0.95,
    cost: str = "latency_p50",
    test_share: float = 0.2,
    seed: int = 0,
    groups: Mapping[Any, object] | Sequence[object] | None = None,
) -> Choice:
    """Choose the cheapest setting whose lower confidence bound reaches a target.

    Parameters
    ----------
    sweep : Sweep or path
    target : float in (0, 1)
        For the mean of the measure or, with a threshold, for the share of queries that reach it. ``target_recall`` is
        the same by the name that fits recall.
    measure : str, optional
        One of the sweep's, such as ``"HitRate@10"`` to tune on relevance; its first by default.
    threshold : float, optional
        Hold the share of queries with at least this value against the target; above 0, at most the measure's best.
    confidence : float in (0, 1)
        That no setting is certified which misses the target, all settings together.
    cost : str
        By which a setting is cheap: ``latency_mean``, ``latency_p50``, ``latency_p95``, ``latency_p99``,
        ``throughput``, ``index_bytes``, ``memory_bytes``, ``peak_build_bytes``, ``build_seconds``.
    test_share : float in (0, 1)
        Share of the queries that is kept for the report.
    seed : int
        Of the split.
    groups : mapping or sequence, optional
        Group of each query (scene, person): groups are split and counted, not queries.

    Returns
    -------
    Choice
        ``.certified``; ``.chosen`` with its point, bound and cost; ``.test``; ``.words()``.

    Raises
    ------
    InputError
        A target, share, threshold or cost that is not allowed, a measure of which less is better, values outside 0 to
        1, or settings of several structures without any cost.
    UnknownNameError
        A measure that was not taken, or a cost that does not exist.

    Convention
    ----------
    The bound is Gaffke's (:mod:`visual_search.tuning.lower_bound`). Many settings: fixed-sequence test along each
    ladder from the dearest setting to the cheapest, Bonferroni over ladders. The test queries are looked at after the
    choice, for the chosen setting alone. Undefined values are left out. A setting that the sweep gave up at its time
    limit is never chosen and has no part in the tests; ``not_finished`` has it.

    How to read it
    --------------
    "certified" errs in at most 1 - confidence of all sweeps, where queries are drawn as these were. A mean on the test
    queries below the target is no contradiction: with few of them its own error is large.

    Examples
    --------
    >>> from visual_search.testing.simulated_sweeps import simulated_sweep
    >>> choice = choose(simulated_sweep([0.93, 0.955, 0.97, 0.99], queries=1500, seed=4), target_recall=0.95)
    >>> choice.chosen.point.asked, choice.test.queries
    ({'ef_search': 64}, 300)
    """
    held = sweep if isinstance(sweep, Sweep) else Sweep.load(sweep)
    problems = Problems("choice")
    wanted = _target(target, target_recall, problems)
    name = held.measure(measure)
    _check_measure(parse_measure(name), threshold, problems)
    _check_numbers(confidence, test_share, seed, problems)
    problems.raise_if_any(InputError)
    held.refuse_if_empty()
    by = _measured_cost(held.points, cost)
    named = _groups(held.query_ids, groups)
    validation, test = validation_and_test(len(held.query_ids), test_share=test_share, seed=seed, groups=named)
    ladders = _ladders(held.points, by)
    of_validation = None if named is None else [named[row] for row in validation.tolist()]
    tested = certify(
        [[_reached(point.values[name], threshold)[validation] for point in ladder] for ladder in ladders],
        wanted,
        confidence,
        of_validation,
    )
    candidates = [
        _candidate(point, verdict, by)
        for ladder, verdicts in zip(ladders, tested, strict=True)
        for point, verdict in zip(ladder, verdicts, strict=True)
    ]
    candidates.sort(key=lambda one: dearness(one.point, by))
    certified = [one for one in candidates if one.status == "certified"]
    chosen = certified[0] if certified else None
    of_test = None if named is None else [named[row] for row in test.tolist()]
    return Choice(
        chosen=chosen,
        test=None
        if chosen is None
        else _held_out(chosen.point.values[name][test], threshold, of_test, confidence, wanted),
        candidates=tuple(candidates),
        measure=name,
        target=wanted,
        threshold=threshold,
        confidence=confidence,
        cost=by,
        seed=seed,
        validation_queries=len(validation),
        validation_groups=len(validation) if of_validation is None else _count(of_validation),
        data=dict(held.header["data"]),
        notes=(*held.notes, *_cost_notes(by), *about_groups(named, len(held.query_ids))),
        missing=held.missing,
        not_finished=held.not_finished,
    )


def dearness(point: SweepPoint, cost: str | None) -> tuple[Any, ...]:
    """Sort key, rising with cost: the cost asked for, then time, then the settings themselves."""
    keys: list[Any] = []
    for name in dict.fromkeys((cost, "latency_p50")):
        value = None if name is None else point.of(name)
        if name is not None and value is not None:
            keys.append(value if COSTS[name][1] else -value)
    return (*keys, [(isinstance(value, str), value) for value in point.asked.values()], point.ladder)


def _ladders(points: Sequence[SweepPoint], cost: str | None) -> list[list[SweepPoint]]:
    ladders: dict[str, list[SweepPoint]] = {}
    for point in points:
        ladders.setdefault(point.ladder, []).append(point)
    if cost is None and len(ladders) > 1:
        raise InputError(
            f"cost: cost not measured, so settings of {len(ladders)} structures ({first_few(ladders, 3)}) cannot be "
            "ranked; sweep with costs, or choose by cost='index_bytes'"
        )
    return [sorted(ladder, key=lambda one: dearness(one, cost), reverse=True) for ladder in ladders.values()]


def _measured_cost(points: Sequence[SweepPoint], cost: str) -> str | None:
    """The cost's name; None where the sweep measured no times."""
    without = [point.label for point in points if point.of(cost) is None]
    if not without:
        return cost
    if all(point.cost is None for point in points):
        return None
    needs = (
        "a percentile needs enough timings (p50: 2, p95: 20, p99: 100): sweep with more distinct queries, or choose by "
        "another cost"
        if cost.startswith("latency")
        else "choose by another cost, or sweep where it can be measured"
    )
    raise InputError(f"cost: {cost} is not known for {len(without)} points ({first_few(without, 2)}); {needs}")


def _target(target: float | None, target_recall: float | None, problems: Problems) -> float:
    wanted = target if target is not None else target_recall
    if wanted is None or (target is not None and target_recall is not None):
        problems.add("target: give it once, as target=0.95 or target_recall=0.95")
    elif not 0 < wanted < 1:
        problems.add(f"target: got {wanted}; must lie between 0 and 1, such as 0.95 (1 itself cannot be certified)")
    return float("nan") if wanted is None else float(wanted)


def _check_numbers(confidence: float, test_share: float, seed: int, problems: Problems) -> None:
    # A confidence so small that 1 less it is 1 again is none, either.
    if not 0 < 1 - confidence < 1:
        problems.add(f"confidence: got {confidence}; must lie between 0 and 1, such as 0.95")
    if not 0 < test_share < 1:
        problems.add(f"test_share: got {test_share}; must lie between 0 and 1, such as 0.2")
    try:
        seeded(seed)
    except InputError as error:
        problems.add(str(error))


def _check_measure(measure: Measure, threshold: float | None, problems: Problems) -> None:
    """Refuse measures of which less is better, and thresholds that every value reaches, or none."""
    if not measure.higher_is_better:
        problems.add(
            f"measure: less of {measure} is better, and a target is reached from below; choose by the measure it "
            "counts and a threshold, as in measure='NeighborRecall@10', threshold=0.9, target=0.95"
        )
    if threshold is None:
        return
    best = measure.perfect
    if not (np.isfinite(threshold) and threshold > 0 and (best is None or threshold <= best)):
        upto = "" if best is None else f" and at most {best:g}"
        problems.add(
            f"threshold: got {threshold}; it is a value of {measure}, above 0{upto}, such as 0.8: of any other every "
            "setting would say the same"
        )


def _groups(
    queries: Sequence[Any], groups: Mapping[Any, object] | Sequence[object] | None
) -> Sequence[object] | None:
    if groups is None or not isinstance(groups, Mapping):
        return groups
    known = set(queries)
    unknown = [query for query in groups if query not in known]
    if unknown:
        raise InputError(f"groups: {len(unknown)} queries that the sweep does not have: {first_few(unknown)}")
    return [groups.get(query) for query in queries]


def _reached(values: FloatArray, threshold: float | None) -> FloatArray:
    """The values or, with a threshold, 1 where they reach it and else 0; NaN stays."""
    if threshold is None:
        return values
    return np.where(np.isnan(values), np.nan, (values >= threshold).astype(np.float64))


def _candidate(point: SweepPoint, verdict: Verdict, cost: str | None) -> Candidate:
    bound = None if verdict.values is None else lower_bound(verdict.values, 1 - verdict.level)
    return Candidate(
        point=point,
        status=verdict.status,
        mean=verdict.mean,
        bound=bound,
        p_value=verdict.p_value,
        cost=None if cost is None else point.of(cost),
        queries=0 if verdict.values is None else verdict.values.queries,
        groups=0 if verdict.values is None else verdict.values.groups,
    )


def _held_out(
    values: FloatArray, threshold: float | None, groups: Sequence[object] | None, confidence: float, target: float
) -> HeldOut | None:
    if np.isnan(values).all():
        return None
    reached = _reached(values, threshold)
    held = GroupedValues.of(reached, groups)
    lowest = float(np.nanmin(values))
    # What is missing to 1 has a lower bound too; it is asked for only where somebody would wonder.
    upper = None if held.mean >= target else 1 - lower_bound(GroupedValues.of(1 - reached, groups), confidence)
    return HeldOut(held.mean, lower_bound(held, confidence), lowest, held.queries, held.groups, upper)


def _cost_notes(cost: str | None) -> list[str]:
    if cost is not None:
        return []
    return ["cost not measured: the setting that searches least is taken, by its search settings"]


def _count(groups: Sequence[object]) -> int:
    alone = sum(group is None for group in groups)
    return alone + len({group for group in groups if group is not None})
