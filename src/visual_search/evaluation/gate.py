"""A gate for continuous integration: a change may not make a measure worse by more than a margin."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np

from visual_search.counted import counted
from visual_search.errors import InputError
from visual_search.evaluation.compared import AnyResult, higher_is_better
from visual_search.evaluation.comparison import Comparison, compare
from visual_search.evaluation.contrast import POWER, Contrast
from visual_search.evaluation.slices import Attribute
from visual_search.evaluation.statistics.interval import Interval, Resampling
from visual_search.evaluation.statistics.paired import FEWEST_GROUPS
from visual_search.evaluation.statistics.power import groups_needed
from visual_search.evaluation.statistics.sparse_differences import fewest_differing, groups_without_loss

__all__ = ["GateResult", "Verdict", "gate"]

Verdict: TypeAlias = Literal["passed", "failed", "not decided"]


@dataclass(frozen=True, slots=True)
class GateResult:
    """Whether a candidate is no worse than its baseline, up to a margin.

    Attributes
    ----------
    verdict : {"passed", "failed", "not decided"}
        Passed: the whole interval lies above minus the margin. Failed: it lies wholly below, and p agrees. Not decided:
        it holds minus the margin, or there are too few groups for an interval that can be relied on.
    reason : str
        In words, with what would decide it.
    margin : float
        In the measure's own unit.
    contrast : Contrast
        Candidate minus baseline.
    groups_needed, queries_needed : int or None
        How many would decide it with 80 % power if the two were in truth equal; where too few groups differ, at least
        so many as would pass if none of them were worse. None where that cannot be said.
    comparison : Comparison
        The whole, with notes.
    """

    verdict: Verdict
    reason: str
    margin: float
    contrast: Contrast
    groups_needed: int | None
    queries_needed: int | None
    comparison: Comparison

    @property
    def passed(self) -> bool:
        """Whether the gate is open; only a decided one is."""
        return self.verdict == "passed"

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "passed": self.passed,
            "verdict": self.verdict,
            "reason": self.reason,
            "margin": self.margin,
            "contrast": self.contrast.as_json(),
            "groups_needed": self.groups_needed,
            "queries_needed": self.queries_needed,
            "despite": self.comparison.despite,
            "differences": list(self.comparison.differences),
            "notes": list(self.comparison.notes),
            "unproven": list(self.comparison.unproven),
        }


def gate(
    candidate: AnyResult,
    baseline: AnyResult,
    measure: str,
    margin: float,
    *,
    groups: Attribute | None = None,
    resampling: Resampling | None = None,
    despite: str | None = None,
) -> GateResult:
    """Test that a candidate is not worse than its baseline by more than a margin (non-inferiority).

    Parameters
    ----------
    candidate, baseline : result, stored result, or path of one
    measure : str
        Text form, such as ``"nDCG@10"``.
    margin : float, at least 0
        How much worse is still good enough, in the measure's own unit.
    groups, despite
        As for :func:`visual_search.evaluation.comparison.compare`.
    resampling : Resampling, optional
        10,000 resamples at 95 % unless given: with a two-sided interval, a candidate worse by exactly the margin
        passes one time in forty.

    Returns
    -------
    GateResult

    Raises
    ------
    InputError
        A margin that is negative or not finite; and what :func:`compare` refuses.

    Convention
    ----------
    Results of a split that is not proven are decided on, and the reason says so. Where less is better, the signs are
    turned. With fewer than 10 groups nothing is decided, whatever the interval. Where fewer than 6 groups differ, the
    interval is that of the shares of groups that win and lose, times the largest difference: with none worse it passes
    a margin of .01 from 368 groups on. A verdict that rests on the interval's excluding 0 needs a p that says so too.

    Examples
    --------
    >>> from visual_search import Relevance, evaluate
    >>> truth = Relevance.from_dict({f"q{n}": {"a": 1} for n in range(40)})
    >>> before = evaluate({f"q{n}": {"a": 1.0, "b": 2.0 - n % 3} for n in range(40)}, truth, ["RR"])
    >>> after = evaluate({f"q{n}": {"a": 2.0, "b": 1.0} for n in range(40)}, truth, ["RR"])
    >>> gate(after, before, "RR", 0.01).verdict, gate(before, after, "RR", 0.01).verdict
    ('passed', 'failed')
    """
    if not _is_margin(margin):
        raise InputError(
            f"margin is {margin!r}; a number of at least 0 in the measure's own unit is needed, such as 0.01"
        )
    settings = resampling or Resampling(resamples=10_000)
    comparison = compare(
        {"baseline": baseline, "candidate": candidate},
        [measure],
        groups=groups,
        resampling=settings,
        despite=despite,
    )
    found = comparison.contrast("candidate")
    needed = _needed(found, margin, settings.confidence)
    queries = None if needed is None or not found.groups else math.ceil(needed * found.queries / found.groups)
    verdict, reason = _verdict(found, margin)
    if found.only_a or found.only_b:
        verdict, reason = _over_some(verdict, reason, found)
    elif verdict == "not decided":
        reason = f"{reason}; {_what_would_decide(found, margin, needed, queries)}"
    if comparison.unproven:
        reason = f"{reason}; the split is not proven, so mind the notes"
    return GateResult(verdict, reason, margin, found, needed, queries, comparison)


def _is_margin(margin: object) -> bool:
    return (
        isinstance(margin, int | float | np.integer | np.floating)
        and not isinstance(margin, bool)
        and bool(0 <= margin < math.inf)
    )


def _verdict(found: Contrast, margin: float) -> tuple[Verdict, str]:
    interval = found.interval
    if interval is None:
        return "not decided", f"{counted(found.groups, 'independent group', 'independent groups')} make no interval"
    less = "" if higher_is_better(found.measure) else " (less is better)"
    low, high = interval.low, interval.high
    gain = (low, high) if not less else (-high, -low)
    between = f"{found.measure}{less}: candidate - baseline is {found.difference:+.4f} ({low:+.4f} to {high:+.4f})"
    bound = f"{-margin:+.4f}" if not less else f"{margin:+.4f}"
    if (doubt := _doubt(found, interval, rests_on_0=gain[1] < -margin or not margin)) is not None:
        return "not decided", f"{between}, but {doubt}"
    if found.differing < fewest_differing(interval.confidence):
        verb = "differ" if found.differing > 1 else "differs"
        between = f"{between}, since {found.differing or 'none'} of {found.groups:,} groups {verb}"
    if gain[0] > -margin:
        return "passed", f"{between}; the interval lies on the good side of {bound}"
    if gain[1] < -margin:
        return "failed", f"{between}; the interval lies beyond {bound}, so it is worse by more than the margin"
    return "not decided", f"{between}; the interval holds {bound}, so it is too wide to tell"


def _over_some(verdict: Verdict, reason: str, found: Contrast) -> tuple[Verdict, str]:
    """A measure that only one of the two has for some queries says nothing of these: such a gate never passes."""
    reason = (
        f"{reason}; but {counted(found.only_b, 'query has', 'queries have')} a value in the baseline only, "
        f"{found.only_a:,} in the candidate only, which the difference over the other {found.queries:,} leaves out: "
        "take a measure that is defined for every query, such as RR or HitRate@10"
    )
    return "not decided" if verdict == "passed" else verdict, reason


def _doubt(found: Contrast, interval: Interval, *, rests_on_0: bool) -> str | None:
    """Why the interval is not to be relied on, or None; ``rests_on_0``: the verdict needs that it excludes 0."""
    if found.groups < FEWEST_GROUPS:
        few = counted(found.groups, "independent group", "independent groups")
        return f"over only {few}; fewer than {FEWEST_GROUPS} decide nothing"
    if found.differing < fewest_differing(interval.confidence) and interval.resamples:
        return found.caution
    contradicted = 0 not in interval and found.p_value > 1 - interval.confidence
    return found.caution if contradicted and rests_on_0 else None


def _needed(found: Contrast, margin: float, confidence: float) -> int | None:
    """Groups that would decide it."""
    if not margin:
        return None
    needed = groups_needed(found.spread, margin, confidence=confidence, power=POWER)
    if found.differing >= fewest_differing(confidence):
        return needed
    if not math.isfinite(found.largest) or found.interval is None:
        return None
    return max(needed or 2, groups_without_loss(margin / found.largest if found.largest else 1, confidence) or 2)


def _what_would_decide(found: Contrast, margin: float, needed: int | None, queries: int | None) -> str:
    if not margin:
        return "with a margin of 0 only a candidate that is better can pass, however many queries there are"
    if found.differing == 0 and needed is not None and queries is not None:
        return (
            f"if none were worse, {max(needed, FEWEST_GROUPS):,} groups of one size would be needed to pass; there are "
            f"{found.groups:,}"
        )
    if needed is None or queries is None:
        return "the groups seen differ alike, so that nothing can be said of how many would be needed"
    needed = max(needed, FEWEST_GROUPS)
    queries = max(queries, needed)
    return (
        f"if the two are equal in truth, about {counted(queries, 'query', 'queries')} in {needed:,} groups would be "
        f"needed to pass four times in five; there are {found.queries:,} in {found.groups:,}"
    )
