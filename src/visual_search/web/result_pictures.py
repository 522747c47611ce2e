"""Pictures of results: each as a picture, and what became of it since it was measured as words."""

# No postponed annotations here: FastAPI reads those of the functions below.

from base64 import b64encode
from textwrap import wrap
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from markupsafe import Markup
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from visual_search.ids import Id
from visual_search.web.addresses import address
from visual_search.web.explorer import Explorer, ExplorerOf
from visual_search.web.pictures import marked_response
from visual_search.web.rendering import json_response
from visual_search.workflows.result_pictures import FramedPictures, NoPictureError, WordsOfChange

__all__ = ["ROUTER", "framed_pictures", "picture_address"]

ROUTER = APIRouter()

_LOOKED = 1.0  # seconds that a page's JSON waits for pictures that nobody looked at
Side = Literal["items", "queries"]


class _Named(BaseModel):
    """A picture by its result, its side and its id."""

    model_config = ConfigDict(extra="forbid")

    result: str = Field(max_length=64)
    side: Side
    id: str = Field(max_length=100_000)


class _Asked(BaseModel):
    """The pictures that came in sight."""

    model_config = ConfigDict(extra="forbid")

    pictures: list[_Named] = Field(max_length=100)


def picture_address(key: str, side: str, identifier: Id, words: WordsOfChange) -> str:
    """Where a small picture of a result's item or query is served.

    One that changed since it was measured has words drawn into it, unless they stand beside it.
    """
    where = None if words == "within" else words
    return address("/result/picture", result=key, side=side, id=identifier, words=where)


def framed_pictures(request: Request, explorer: Explorer) -> FramedPictures:
    """The pictures of a page, which asks for what it does not know of them itself, or of its JSON, which cannot."""
    seconds = _LOOKED if request.scope["path"].endswith(".json") else 0.0
    return FramedPictures(explorer.pictures, picture_address, seconds=seconds)


@ROUTER.get("/result/picture")
def picture(
    request: Request,
    explorer: ExplorerOf,
    result: Annotated[str, Query(max_length=64)],
    side: Side,
    identifier: Annotated[str, Query(alias="id", max_length=100_000)],
    words: Annotated[
        WordsOfChange, Query(description="where a picture that changed since it was measured has the words of it")
    ] = "within",
) -> Response:
    """A small picture, which says so when its file has changed; or an empty one that says why there is none."""
    try:
        small = explorer.pictures.small(result, side, identifier)
    except NoPictureError as problem:
        return Response(_empty(str(problem)), media_type="image/svg+xml", headers={"Cache-Control": "no-store"})
    made = small.thumbnail
    if small.changed and words == "within":
        return marked_response(request, _changed(made.data), f"{made.mark}-changed", media_type="image/svg+xml")
    return marked_response(request, made.data, made.mark)


@ROUTER.post("/result/pictures")
def states(explorer: ExplorerOf, asked: _Asked) -> Response:
    """What became of pictures since they were measured, in the order asked.

    ``picture_changed`` is null where the result does not say what was measured, and where there is no picture;
    ``picture_problem`` then says why there is none.
    """
    return json_response({"pictures": [_state(explorer, one) for one in asked.pictures]})


def _state(explorer: Explorer, one: _Named) -> dict[str, Any]:
    found = explorer.pictures.state(one.result, one.side, one.id)
    shown = None if found.problem else picture_address(one.result, one.side, one.id, found.words_of_change)
    return {"picture": shown, "picture_changed": found.changed, "picture_problem": found.problem}


def _empty(words: str) -> str:
    """A picture of words: a browser's own sign for what is missing would say nothing."""
    lines = Markup("").join(
        Markup('<tspan x="64" dy="15">{}</tspan>').format(line) for line in wrap(words, 20, max_lines=4)
    )
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="128" height="128" viewBox="0 0 128 128"><text y="36" '
        'text-anchor="middle" font-family="sans-serif" font-size="12" fill="#7b838c">{}</text></svg>'
    ).format(lines)


def _changed(webp: bytes) -> bytes:
    """A picture with the words that it is not the one that was measured, for a page that cannot ask."""
    drawing = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256" viewBox="0 0 256 256"><image width="256" '
        'height="256" href="data:image/webp;base64,{}"/><rect y="188" width="256" height="68" fill="#15181c" '
        'fill-opacity=".86"/><text text-anchor="middle" font-family="sans-serif" font-size="25" fill="#fff"><tspan '
        'x="128" y="216">changed since it</tspan><tspan x="128" y="244">was measured</tspan></text></svg>'
    ).format(b64encode(webp).decode("ascii"))
    return drawing.encode()
