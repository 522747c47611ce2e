"""How far judges agree, and what the rule of aggregation does to the scores."""

# No postponed annotations here: FastAPI reads those of the functions below.

from typing import Annotated, Any

from fastapi import Query

from visual_search.judging.aggregation import DEFAULT_RULE, RULE_WORDS
from visual_search.web.judging.judge_page import JudgeName
from visual_search.web.judging.room import RoomOf
from visual_search.web.judging.shapes import grade_name
from visual_search.web.page import Page

__all__ = ["PAGES"]


def _agreement(
    room: RoomOf, judge: JudgeName = None, rule: Annotated[str, Query(max_length=40)] = DEFAULT_RULE
) -> dict[str, Any]:
    summary = room.summary(rule)
    return {
        "judge": judge or None,
        "rule": rule,
        "rules": dict(RULE_WORDS),
        "progress": room.tally(),
        "grades": {f"{grade.value:g}": grade_name(room.task, grade.value) for grade in room.task.grades},
        "summary": summary,
    }


PAGES = (
    Page(
        "/judge/agreement", "judging/agreement.html.j2", _agreement, "Agreement", navigation="Agreement", order=40
    ),
)
