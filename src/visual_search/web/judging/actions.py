"""What a judge's browser asks and tells: pairs to judge, judgements, undo, later.

Each request that writes carries a key, and the same one may come again: it writes once.
"""

# No postponed annotations here: FastAPI reads those of the functions below.

from typing import Annotated, Any, Literal

from fastapi import APIRouter
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from visual_search.judging.records import LONGEST, Verdict
from visual_search.judging.suggestions import suggestion_after
from visual_search.web.judging.room import JudgingRoom, RoomOf
from visual_search.web.judging.shapes import grade_name, judgement_shape, pair_shape
from visual_search.web.rendering import json_response

__all__ = ["ROUTER"]

ROUTER = APIRouter(prefix="/judge")

Name = Annotated[str, Field(min_length=1, max_length=200)]


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=False, allow_inf_nan=False)


class Wish(_Said):
    """Who wants pairs, how many, in which window."""

    judge: Name
    window: str = Field(default="", max_length=200)
    count: int = Field(default=1, ge=1, le=50)


class Mark(_Said):
    """A judgement: a grade, or the reason why there is none."""

    key: Name
    judge: Name
    pair: int
    grade: float | None = None
    reason: str = Field(default="", max_length=LONGEST)
    note: str = Field(default="", max_length=LONGEST)
    seconds: float | None = None
    role: Literal["judge", "adjudicator"] = "judge"
    replaces: int | None = None


class Undoing(_Said):
    """Which record of whose is taken back."""

    key: Name
    judge: Name
    number: int


class PuttingOff(_Said):
    """Which pair comes later."""

    judge: Name
    pair: int


class Leaving(_Said):
    """Which window is closed."""

    judge: Name
    window: str = Field(default="", max_length=200)


@ROUTER.post("/next")
def next_pairs(room: RoomOf, wish: Wish) -> Response:
    """Pairs to judge, the one that matters most first; what the window holds already is among them."""
    found = room.assignment.next(wish.judge, window=wish.window, count=wish.count)
    return json_response({"pairs": [pair_shape(room, one) for one in found], "progress": room.tally()})


@ROUTER.post("/judgements")
def judge(room: RoomOf, mark: Mark) -> Response:
    """Write a judgement; the answer comes when it is on the disk, and only then is there a suggestion to see."""
    verdict = Verdict(mark.grade, mark.reason, mark.note, mark.seconds)
    written = room.store.judge(mark.judge, mark.pair, verdict, key=mark.key, role=mark.role, replaces=mark.replaces)
    room.changed.judged(written.pair)
    suggestion = None if mark.role == "adjudicator" else _suggestion(room, mark.judge, written.pair)
    return json_response({"judgement": judgement_shape(room, written), "suggestion": suggestion})


@ROUTER.post("/undo")
def undo(room: RoomOf, undoing: Undoing) -> Response:
    """Take a judgement back."""
    written = room.store.undo(undoing.judge, undoing.number, key=undoing.key)
    return json_response({"judgement": judgement_shape(room, written)})


@ROUTER.post("/later")
def put_off(room: RoomOf, putting: PuttingOff) -> Response:
    """Put a pair behind all others of this judge."""
    room.assignment.later(putting.judge, putting.pair)
    return json_response({"later": putting.pair})


@ROUTER.post("/release")
def release(room: RoomOf, leaving: Leaving) -> Response:
    """Give back what a window holds."""
    room.assignment.release(leaving.judge, window=leaving.window)
    return json_response({"released": leaving.window})


def _suggestion(room: JudgingRoom, judge: str, pair: int) -> dict[str, Any] | None:
    found = suggestion_after(room.store, judge, pair)
    if found is None:
        return None
    return {"grade": found.grade, "name": grade_name(room.task, found.grade), "maker": found.maker}
