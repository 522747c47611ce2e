"""Pairs on which judges differ, and the page on which somebody decides them.

Who said what is not shown: who decides goes by the pictures and the notes.
"""

# No postponed annotations here: FastAPI reads those of the functions below.

from typing import Annotated, Any

from fastapi import Query, Request

from visual_search.web.judging.guideline import guideline_markup
from visual_search.web.judging.judge_page import JudgeName
from visual_search.web.judging.room import JudgingRoom, RoomOf
from visual_search.web.judging.shapes import changes_told, grade_name, pair_shape, place_of, task_shape
from visual_search.web.page import Page
from visual_search.workflows.judging_disputes import Dispute, disputes

__all__ = ["PAGES"]

_MOST = 500
Limit = Annotated[int, Query(ge=1, le=_MOST)]


def _disagreements(
    request: Request, room: RoomOf, judge: JudgeName = None, *, decided: bool = False, limit: Limit = 60
) -> dict[str, Any]:
    found = disputes(room.store, decided=decided)
    shown = _shapes(room, found[:limit])
    changes_told(request, room, shown, [one["query"] for one in shown])
    return {
        "judge": judge or None,
        "decided": decided,
        "limit": limit,
        "total": len(found),
        "disagreements": shown,
    }


def _adjudicate(room: RoomOf, judge: JudgeName = None) -> dict[str, Any]:
    return {
        "judge": judge or None,
        "role": "adjudicator",
        "judges": room.store.judges(),
        "place": place_of(room),
        "task": task_shape(room),
        "progress": room.tally(),
        "last": [],
        "guideline_html": guideline_markup(room.guideline),
    }


def _shapes(room: JudgingRoom, found: list[Dispute]) -> list[dict[str, Any]]:
    contents = room.store.pairs([one.pair for one in found])
    return [pair_shape(room, content) | _dispute(room, one) for one, content in zip(found, contents, strict=True)]


def _dispute(room: JudgingRoom, dispute: Dispute) -> dict[str, Any]:
    decision = dispute.decision
    return {
        "matters": dispute.disagreement.matters,
        "votes": [
            {
                "grade": one.grade,
                "name": grade_name(room.task, one.grade),
                "reason": one.verdict.reason if one.verdict else "",
                "note": one.verdict.note if one.verdict else "",
            }
            for one in dispute.said
        ],
        "decision": None if decision is None else grade_name(room.task, decision.grade),
    }


PAGES = (
    Page(
        "/judge/disagreements",
        "judging/disagreements.html.j2",
        _disagreements,
        "Disagreements",
        navigation="Disagreements",
        order=30,
    ),
    Page("/judge/adjudicate", "judging/judge.html.j2", _adjudicate, "Adjudicate"),
)
