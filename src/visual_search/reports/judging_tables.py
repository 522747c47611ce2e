"""What is said of judgements, in tables of text that a terminal and a page show alike.

The tables are made of the record that ``judge agreement --json`` prints, so that a page made later of a file shows what
the terminal showed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from visual_search.counted import counted
from visual_search.evaluation.statistics.agreement import agreement_note, between
from visual_search.evaluation.statistics.interval import Interval
from visual_search.evaluation.text_table import decimals, p_text
from visual_search.judging.judged_study import JudgedStudy

__all__ = ["JudgingTable", "record_tables", "study_tables"]

_Record = Mapping[str, Any]


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
    """All tables of a study; as `record_tables` of its record."""
    return record_tables(study.as_json(), listed=listed)


def record_tables(record: _Record, *, listed: int = 10) -> tuple[JudgingTable, ...]:
    """All tables of a study: agreement, judges, disagreements, and for each system its scores and the rules' effect.

    Parameters
    ----------
    record : mapping of str
        What :meth:`visual_search.judging.judged_study.JudgedStudy.as_json` gives.
    listed : int
        So many of the disagreements are shown.
    """
    made = [*_agreement(record["agreement"]), _disagreements(record["disagreements"], listed)]
    for name, system in record["systems"].items():
        made += [_scores(name, system, record["rule_words"]), _rules(name, system["rules"], record["rule"])]
    if record["judgements_needed"]:
        words = tuple(f"{one['first']} and {one['second']}: {one['words']}" for one in record["judgements_needed"])
        made.append(JudgingTable("Until the systems separate", (), (), words))
    return tuple(made)


def _agreement(found: _Record) -> Iterator[JudgingTable]:
    flat = agreement_note(_interval(one["interval"]) for one in found["overall"])
    yield JudgingTable(
        "Agreement of the judges",
        ("coefficient", "value", "95 %", "pairs"),
        tuple(
            (one["name"], decimals(one["value"]), _between(one["interval"]), _count(one["pairs"]))
            for one in found["overall"]
        ),
        (*((flat,) if flat else ()), *found["notes"]),
    )
    yield JudgingTable(
        "Judges",
        ("judge", "judged", "cannot tell", "mean grade"),
        tuple(
            (
                str(one["judge"]),
                _count(one["judged"]),
                _count(one["could_not_tell"]),
                decimals(one["mean_grade"], 2),
            )
            for one in found["judges"]
        ),
    )
    pairs = found["judge_pairs"]
    if pairs:
        yield JudgingTable(
            "Every two judges: Cohen's kappa",
            ("judges", "pairs", "equal", "kappa", "95 %", "linear", "quadratic", "shift"),
            tuple(map(_judge_pair, pairs)),
        )
    if len(pairs) == 1 and pairs[0]["pairs"]:
        yield _confusion(pairs[0])


def _judge_pair(one: _Record) -> tuple[str, ...]:
    percent, plain, linear, quadratic = one["coefficients"]
    return (
        ", ".join(map(str, one["judges"])),
        _count(one["pairs"]),
        decimals(percent["value"]),
        decimals(plain["value"]),
        _between(plain["interval"]),
        decimals(linear["value"]),
        decimals(quadratic["value"]),
        f"{one['shift']:+.2f}" if one["pairs"] and one["shift"] is not None else "-",
    )


def _confusion(one: _Record) -> JudgingTable:
    down, across = one["judges"]
    head = (f"{down} down, {across} across", *map(_grade, one["scale"]))
    rows = ((_grade(grade), *map(_count, line)) for grade, line in zip(one["scale"], one["confusion"], strict=True))
    return JudgingTable("Confusion of grades", head, tuple(rows))


def _disagreements(found: Sequence[_Record], listed: int) -> JudgingTable:
    title = f"{counted(len(found), 'pair waits', 'pairs wait')} for an adjudicator"
    rows = (
        (
            str(one["query"]),
            str(one["item"]),
            ", ".join(f"{said['judge']} {_grade(said['grade'], 'cannot tell')}" for said in one["said"]),
            decimals(one["dispute"], 2),
            "yes" if one["matters"] else "no",
        )
        for one in found[:listed]
    )
    left = len(found) - listed
    return JudgingTable(
        title,
        ("query", "item", "said", "dispute", "relevance disputed"),
        tuple(rows),
        (f"the first {listed}; {left} more",) if left > 0 else (),
    )


def _scores(name: str, system: _Record, rule_words: str) -> JudgingTable:
    head = (
        "measure",
        "mean",
        "queries",
        "and judges",
        "due to judges",
        "judged",
        "unjudged listed",
        "unjudged any",
        "judged only",
    )
    measures = system["measures"]
    notes = [f"rule {system['rule']}: {rule_words}; Bpref {decimals(system['bpref'])}"]
    reasons = [one["reason"] for one in measures]
    reasons += [
        f"{one['measure']} has no bound: {reason}"
        for one in measures
        if (reason := (one["bounds_of_lists"] or {}).get("reason"))
    ]
    notes += [reason for reason in dict.fromkeys(reasons) if reason]
    notes.append(
        "95 % intervals over queries, and over queries and judges; between which values the score lies whatever the "
        "unjudged items of the lists, or of the whole gallery, turn out to be; and the score of lists without them"
    )
    return JudgingTable(f"{name}: scores", head, tuple(map(_score, measures)), (*notes, *system["notes"]))


def _score(one: _Record) -> tuple[str, ...]:
    share = one["judges_share_of_variance"]
    return (
        str(one["measure"]),
        decimals(one["mean"]),
        _between(one["queries_only"]),
        _between(one["interval"]) or "-",
        "-" if share is None else f"{share:.0%}".replace("%", " %"),
        f"{decimals(one['judged'], 2)} @{_count(one['depth'])}",
        _bounds(one["bounds_of_lists"]),
        _bounds(one["bounds_of_gallery"]),
        decimals(one["judged_only"]),
    )


def _bounds(found: _Record | None) -> str:
    return "-" if not found or found["reason"] else f"{decimals(found['low'])} to {decimals(found['high'])}"


def _rules(name: str, effects: Sequence[_Record], used: str) -> JudgingTable:
    rows = []
    for one in effects:
        apart = one["difference"]
        known = apart is not None and apart["difference"] is not None
        base = "in use" if one["rule"] == used else "the same grades"
        rows.append(
            (
                one["rule"],
                one["measure"],
                decimals(one["mean"]),
                _count(one["relevant_pairs"]),
                (f"{apart['difference']:+.3f}" if known else "-") if apart else base,
                _between(apart["interval"], "+.3f") if apart else "",
                p_text(apart["p_value"]) if apart else "",
            )
        )
    head = ("rule", "measure", "mean", "relevant", "difference", "95 %", "p")
    return JudgingTable(f"{name}: effect of the rule", head, tuple(rows))


def _interval(value: _Record | None) -> Interval | None:
    if not value or None in (value["low"], value["high"], value["confidence"]):
        return None
    return Interval(**{key: value[key] for key in Interval.__dataclass_fields__})


def _between(value: _Record | None, form: str = ".3f") -> str:
    return between(_interval(value), form)


def _count(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"


def _grade(value: float | None, none: str = "-") -> str:
    return none if value is None else f"{value:g}"
