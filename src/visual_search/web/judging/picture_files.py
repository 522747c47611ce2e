"""Pictures of queries and candidates, by numbers that tell nothing."""

# No postponed annotations here: FastAPI reads those of the functions below.

from typing import Annotated

from fastapi import APIRouter, HTTPException
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from visual_search.errors import UndecodableImageError
from visual_search.formats.results import ImageLocation
from visual_search.web.judging.room import JudgingRoom, RoomOf
from visual_search.web.rendering import json_response

__all__ = ["ROUTER"]

ROUTER = APIRouter(prefix="/judge/pictures")

_LARGE, _SMALL = 1280, 320
# A picture's number is its own for good; a browser that judges need not ask again, also while the server is away.
_HEADERS = {"Cache-Control": "private, max-age=86400"}

_SECONDS = 2.0  # for pictures whose hashes are not known; those that were shown are

Numbers = Annotated[list[int], Field(default_factory=list, max_length=100)]


class _Asked(BaseModel):
    """Pictures by their numbers."""

    model_config = ConfigDict(extra="forbid")

    queries: Numbers
    candidates: Numbers


@ROUTER.post("/changed")
def changed_pictures(room: RoomOf, asked: _Asked) -> Response:
    """Those of the pictures that are no longer what they were when somebody first judged by them."""
    queries = {room.query(number).query_id: number for number in asked.queries}
    places = [(name, room.query(number).image) for name, number in queries.items()]
    found = room.changed.queries(places, seconds=_SECONDS)
    room.store.pairs(asked.candidates)  # refuses numbers that are no pair's
    candidates = room.changed.candidates(asked.candidates, seconds=_SECONDS)
    told = {
        "queries": [queries[name] for name, changed in found.items() if changed],
        "candidates": [pair for pair, changed in candidates.items() if changed],
    }
    return json_response(told)


@ROUTER.get("/query/{number}", include_in_schema=False)
def query_picture(room: RoomOf, number: int, *, small: bool = False) -> Response:
    """The picture of a query."""
    return _picture(room, room.query(number).image, small=small)


@ROUTER.get("/candidate/{pair}", include_in_schema=False)
def candidate_picture(room: RoomOf, pair: int, *, small: bool = False) -> Response:
    """The picture of a pair's candidate."""
    return _picture(room, room.store.pairs([pair])[0].image, small=small)


def _picture(room: JudgingRoom, place: ImageLocation | None, *, small: bool) -> Response:
    if place is None:
        raise HTTPException(404, "there is no picture")
    try:
        made = room.pictures.made(place, _SMALL if small else _LARGE)
    except UndecodableImageError:
        # Why, and of which file, is not for judges: a file's name may tell what it shows.
        raise HTTPException(404, "the picture cannot be shown") from None
    return Response(made.data, headers=_HEADERS, media_type="image/webp")
