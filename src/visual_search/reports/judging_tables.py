"""What is said of judgements, in tables of text that a terminal and a page show alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from visual_search.counted import counted
from visual_search.evaluation.statistics.agreement import agreement_note, between
from visual_search.evaluation.text_table import decimals, p_text
from visual_search.evaluation.unjudged_bounds import UnjudgedBounds
from visual_search.judging.aggregation import RULE_WORDS
from visual_search.judging.agreement import Agreement
from visual_search.judging.disagreements import Disagreement
from visual_search.judging.judge_pairs import JudgePair
from visual_search.judging.judged_study import JudgedStudy, JudgedSystem
from visual_search.judging.rule_effects import RuleEffect
from visual_search.judging.score_effect import MeasureEffect

__all__ = ["JudgingTable", "study_tables"]


@dataclass(frozen=True, slots=True)
class JudgingTable:
    """One table.

    Attributes
    ----------
    title : str
    head : tuple of str
        Names of the columns; the first column names the rows.
    rows : tuple of tuple of str
    notes : tuple of str
        What stands under it.
    """

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = field(default=())


def study_tables(study: JudgedStudy, *, listed: int = 10) -> tuple[JudgingTable, ...]:
    """All tables of a study: agreement, judges, disagreements, and for each system its scores and the rules' effect.

    Parameters
    ----------
    study : JudgedStudy
    listed : int
        So many of the disagreements are shown.
    """
    made = [*_agreement(study.agreement), _disagreements(study.disagreements, listed)]
    for one in study.systems:
        made += [_scores(one), _rules(one.name, one.rules)]
    if study.needed:
        words = tuple(f"{first} and {second}: {found.words}" for first, second, found in study.needed)
        made.append(JudgingTable("Until the systems separate", (), (), words))
    return tuple(made)


def _agreement(found: Agreement) -> Iterator[JudgingTable]:
    flat = agreement_note(one.interval for one in found.overall)
    yield JudgingTable(
        "Agreement of the judges",
        ("coefficient", "value", "95 %", "pairs"),
        tuple((one.name, decimals(one.value), between(one.interval), f"{one.pairs:,}") for one in found.overall),
        (*((flat,) if flat else ()), *found.notes),
    )
    yield JudgingTable(
        "Judges",
        ("judge", "judged", "cannot tell", "mean grade"),
        tuple(
            (str(one.judge), f"{one.judged:,}", f"{one.could_not_tell:,}", decimals(one.mean_grade, 2))
            for one in found.judges
        ),
    )
    if found.judge_pairs:
        yield JudgingTable(
            "Every two judges: Cohen's kappa",
            ("judges", "pairs", "equal", "kappa", "95 %", "linear", "quadratic", "shift"),
            tuple(map(_judge_pair, found.judge_pairs)),
        )
    if len(found.judge_pairs) == 1 and found.judge_pairs[0].pairs:
        yield _confusion(found.judge_pairs[0])


def _judge_pair(one: JudgePair) -> tuple[str, ...]:
    kappas = (decimals(one.linear.value), decimals(one.quadratic.value))
    return (
        f"{one.first}, {one.second}",
        f"{one.pairs:,}",
        decimals(one.percent.value),
        decimals(one.plain.value),
        between(one.plain.interval),
        *kappas,
        f"{one.shift:+.2f}" if one.pairs else "-",
    )


def _confusion(one: JudgePair) -> JudgingTable:
    head = (f"{one.first} down, {one.second} across", *(f"{grade:g}" for grade in one.scale))
    rows = ((f"{grade:g}", *map(str, line)) for grade, line in zip(one.scale, one.confusion.tolist(), strict=True))
    return JudgingTable("Confusion of grades", head, tuple(rows))


def _disagreements(found: Sequence[Disagreement], listed: int) -> JudgingTable:
    title = f"{counted(len(found), 'pair waits', 'pairs wait')} for an adjudicator"
    rows = (
        (str(one.query), str(one.item), one.words(), decimals(one.dispute, 2), "yes" if one.matters else "no")
        for one in found[:listed]
    )
    left = len(found) - listed
    return JudgingTable(
        title,
        ("query", "item", "said", "dispute", "relevance disputed"),
        tuple(rows),
        (f"the first {listed}; {left} more",) if left > 0 else (),
    )


def _scores(system: JudgedSystem) -> JudgingTable:
    effect = system.effect
    head = (
        "measure",
        "mean",
        "queries",
        "and judges",
        "due to judges",
        "judged",
        "unjudged listed",
        "unjudged any",
    )
    notes = [f"rule {effect.rule}: {RULE_WORDS[effect.rule]}; Bpref {decimals(effect.bpref)}"]
    reasons = [one.score.reason for one in effect.measures]
    reasons += [
        f"{one.listed.measure} has no bound: {one.listed.reason}" for one in effect.measures if one.listed.reason
    ]
    notes += [reason for reason in dict.fromkeys(reasons) if reason]
    notes.append(
        "95 % intervals over queries, and over queries and judges; between which values the score lies whatever the "
        "unjudged items of the lists, or of the whole gallery, turn out to be; and the score of lists without them"
    )
    return JudgingTable(
        f"{system.name}: scores",
        (*head, "judged only"),
        tuple(map(_score, effect.measures)),
        (*notes, *effect.notes),
    )


def _score(one: MeasureEffect) -> tuple[str, ...]:
    share = one.score.share
    return (
        str(one.score.measure),
        decimals(one.score.mean),
        between(one.score.queries_only),
        between(one.score.interval) or "-",
        "-" if np.isnan(share) else f"{share:.0%}".replace("%", " %"),
        f"{decimals(one.judged, 2)} @{one.depth}",
        _bounds(one.listed),
        _bounds(one.gallery),
        decimals(one.judged_only),
    )


def _bounds(found: UnjudgedBounds) -> str:
    return "-" if found.reason else f"{decimals(found.low)} to {decimals(found.high)}"


def _rules(name: str, effects: Sequence[RuleEffect]) -> JudgingTable:
    rows = []
    used = effects[0].rule if effects else None
    for one in effects:
        apart = one.difference
        base = "in use" if one.rule == used else "the same grades"
        rows.append(
            (
                one.rule,
                one.measure,
                decimals(one.mean),
                f"{one.relevant:,}",
                base if apart is None else f"{apart.difference:+.3f}",
                "" if apart is None else between(apart.interval, "+.3f"),
                "" if apart is None else p_text(apart.p_value),
            )
        )
    head = ("rule", "measure", "mean", "relevant", "difference", "95 %", "p")
    return JudgingTable(f"{name}: effect of the rule", head, tuple(rows))
