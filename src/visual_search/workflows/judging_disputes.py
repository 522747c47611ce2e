"""Pairs on which judges differ, each with what they said and wrote, for whoever decides."""

from __future__ import annotations

from dataclasses import dataclass

from visual_search.ids import Id
from visual_search.judging.disagreements import Disagreement, disagreements
from visual_search.judging.judgement_table import JudgementTable
from visual_search.judging.records import Judgement, judgement_columns
from visual_search.judging.store import JudgementStore

__all__ = ["Dispute", "disputes"]


@dataclass(frozen=True, slots=True)
class Dispute:
    """One pair to decide.

    Attributes
    ----------
    pair : int
        Its number in the store.
    disagreement : Disagreement
    said : tuple of Judgement
        The judges' records that hold, by grade, those without one last; adjudications are not among them.
    decision : Judgement or None
        The latest adjudication that holds.
    """

    pair: int
    disagreement: Disagreement
    said: tuple[Judgement, ...]
    decision: Judgement | None


def disputes(store: JudgementStore, *, decided: bool = False) -> list[Dispute]:
    """Pairs that wait for an adjudicator, the most disputed first.

    Parameters
    ----------
    store : JudgementStore
    decided : bool
        Whether those that were decided stand there too, at the end.
    """
    standing = store.standing()
    if not standing:
        return []
    table = JudgementTable.from_table(judgement_columns(standing))
    said: dict[tuple[Id, Id], list[Judgement]] = {}
    decisions: dict[tuple[Id, Id], Judgement] = {}
    for mark in standing:
        if mark.role == "judge":
            said.setdefault((mark.query, mark.item), []).append(mark)
        else:
            decisions[mark.query, mark.item] = mark
    found = []
    for one in disagreements(table, rel=store.task.relevant_from, decided=decided):
        marks = sorted(said[one.query, one.item], key=_by_grade)
        found.append(Dispute(marks[0].pair, one, tuple(marks), decisions.get((one.query, one.item))))
    return found


def _by_grade(judgement: Judgement) -> tuple[bool, float, int]:
    grade = judgement.grade
    return grade is None, grade or 0.0, judgement.number
