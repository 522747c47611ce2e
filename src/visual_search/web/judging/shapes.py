"""What pages and programs are told of pairs and judgements: no system, no rank, and no file name or id that could tell.

An id is shown only where there is neither picture nor text, since then it is all there is to judge by.
"""

from __future__ import annotations

import hashlib
from typing import Any

from starlette.requests import Request

from visual_search.judging.pool import PoolQuery
from visual_search.judging.records import Judgement
from visual_search.judging.store_contents import PairContent, QueryPair
from visual_search.judging.task import Grade, JudgingTask
from visual_search.web.judging.room import JudgingRoom

__all__ = [
    "candidate_shape",
    "changes_told",
    "grade_key",
    "grade_name",
    "judgement_shape",
    "pair_shape",
    "place_of",
    "query_shape",
    "task_shape",
]

_LOOKED = 0.3  # seconds; who decides waits for this JSON


def place_of(room: JudgingRoom) -> str:
    """A name for the store, under which a browser keeps what it has not sent yet."""
    return hashlib.sha256(room.store.database.shown.encode()).hexdigest()[:12]


def grade_key(task: JudgingTask, grade: Grade) -> str:
    """The key that gives a grade: its own figure where all grades are figures, else its place from 0.

    >>> task = JudgingTask()
    >>> [grade_key(task, grade) for grade in task.grades]
    ['0', '1', '2']
    """
    figures = all(one.value in range(10) for one in task.grades)
    return f"{grade.value:.0f}" if figures else str(task.grades.index(grade))


def grade_name(task: JudgingTask, value: float | None) -> str:
    """A grade's name; the number where the task has none of it, and ``can't tell`` for None."""
    if value is None:
        return "can't tell"
    return next((grade.name for grade in task.grades if grade.value == value), f"{value:g}")


def task_shape(room: JudgingRoom) -> dict[str, Any]:
    """What judges are asked."""
    task = room.task
    return {
        "grades": [
            {"value": grade.value, "name": grade.name, "key": grade_key(task, grade)} for grade in task.grades
        ],
        "reasons": list(task.reasons),
        "guideline": room.guideline,
        "wanted": task.wanted,
        "overlap": task.overlap,
        "overlap_wanted": task.overlap_wanted,
    }


def query_shape(room: JudgingRoom, query: PoolQuery) -> dict[str, Any]:
    """A query as a judge sees it."""
    number = room.query_number(query.query_id)
    seen = query.image is not None or query.text is not None
    return {
        "number": number,
        "text": query.text if seen else str(query.query_id),
        "picture": None if query.image is None else f"/judge/pictures/query/{number}",
    }


def candidate_shape(one: PairContent | QueryPair) -> dict[str, Any]:
    """A candidate as a judge sees it."""
    shown = one.image is not None
    return {
        "pair": one.pair,
        "picture": f"/judge/pictures/candidate/{one.pair}" if shown else None,
        "text": None if shown else str(one.item),
    }


def pair_shape(room: JudgingRoom, content: PairContent) -> dict[str, Any]:
    """A pair as a judge sees it."""
    return candidate_shape(content) | {"query": query_shape(room, content.query)}


def changes_told(
    request: Request, room: JudgingRoom, candidates: list[dict[str, Any]], queries: list[dict[str, Any]]
) -> None:
    """Write beside each picture whether it changed since it was first judged; None where that is not known.

    A page has what is in memory, and asks for the rest when its pictures have come in; its JSON looks for a moment.
    """
    seconds = _LOOKED if request.scope["path"].endswith(".json") else 0.0
    found = room.changed.candidates([one["pair"] for one in candidates], seconds=seconds)
    for one in candidates:
        one["picture_changed"] = found.get(one["pair"])
    asked = {number: room.query(number) for number in {one["number"] for one in queries}}
    of_query = room.changed.queries([(one.query_id, one.image) for one in asked.values()], seconds=seconds)
    for one in queries:
        one["picture_changed"] = of_query.get(asked[one["number"]].query_id)


def judgement_shape(room: JudgingRoom, judgement: Judgement) -> dict[str, Any]:
    """A record as its own judge sees it."""
    verdict = judgement.verdict
    return {
        "number": judgement.number,
        "pair": judgement.pair,
        "time": judgement.time.isoformat(timespec="milliseconds"),
        "undo": judgement.is_undo,
        "grade": judgement.grade,
        "name": None if verdict is None else grade_name(room.task, judgement.grade),
        "reason": "" if verdict is None else verdict.reason,
        "note": "" if verdict is None else verdict.note,
        "seconds": None if verdict is None else verdict.seconds,
    }
