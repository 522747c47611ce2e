"""The page on which a judge goes from pair to pair."""

# No postponed annotations here: FastAPI reads those of the functions below.

from typing import Annotated, Any

from fastapi import Query

from visual_search.judging.records import Judgement
from visual_search.web.judging.guideline import guideline_markup
from visual_search.web.judging.room import JudgingRoom, RoomOf
from visual_search.web.judging.shapes import judgement_shape, pair_shape, place_of, task_shape
from visual_search.web.page import Page

__all__ = ["PAGES", "JudgeName"]

#: A judge's name in an address; several people may judge in windows of one browser.
JudgeName = Annotated[str | None, Query(max_length=200)]

_REMEMBERED = 8


def _judge(room: RoomOf, judge: JudgeName = None) -> dict[str, Any]:
    return {
        "judge": judge or None,
        "role": "judge",
        "judges": room.store.judges(),
        "place": place_of(room),
        "task": task_shape(room),
        "progress": room.tally(now=True),
        "last": _last(room, judge) if judge else [],
        "guideline_html": guideline_markup(room.guideline),
    }


def _last(room: JudgingRoom, judge: str) -> list[dict[str, Any]]:
    """The last judgements of a judge that hold, the oldest first."""
    standing: dict[int, Judgement] = {}
    for one in room.store.log(judge=judge, last=4 * _REMEMBERED):
        if one.role != "judge":
            continue
        standing.pop(one.pair, None)
        if not one.is_undo:
            standing[one.pair] = one
    last = list(standing.values())[-_REMEMBERED:]
    contents = room.store.pairs([one.pair for one in last])
    return [
        judgement_shape(room, one) | pair_shape(room, content) for one, content in zip(last, contents, strict=True)
    ]


PAGES = (Page("/judge", "judging/judge.html.j2", _judge, "Judge", navigation="Judge", order=10),)
