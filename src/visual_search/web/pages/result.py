"""Result: one result as in the report, with its note, and its queries to look at."""

from __future__ import annotations

from base64 import b64encode
from textwrap import wrap
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from markupsafe import Markup
from starlette.responses import Response

from visual_search.reports.wording import short_id
from visual_search.web.addresses import address
from visual_search.web.explorer import ExplorerOf
from visual_search.web.page import Page
from visual_search.web.pictures import marked_response
from visual_search.web.shown import Shown
from visual_search.workflows.result_choice import result_choice
from visual_search.workflows.result_pictures import NoPictureError
from visual_search.workflows.result_view import result_view

__all__ = ["PAGES", "picture_address"]

_ACTIONS = APIRouter()


def picture_address(key: str, side: str, identifier: str | int) -> str:
    """Where a small picture of a result's item or query is served."""
    return address("/result/picture", result=key, side=side, id=identifier)


def _result(
    explorer: ExplorerOf,
    result: Annotated[str, Query(max_length=64)] = "",
    measure: Annotated[str, Query(max_length=1000)] = "",
) -> Shown:
    if not result:
        return Shown(result_choice(explorer.results), None)
    view = result_view(explorer.results, result, measure=measure, address=picture_address)
    return Shown(view.as_json(), view)


def _title(data: Any) -> str:
    return short_id(data.view.opened.entry.name) if data.view else "Result"


@_ACTIONS.get("/result/picture")
def picture(
    request: Request,
    explorer: ExplorerOf,
    result: Annotated[str, Query(max_length=64)],
    side: Literal["items", "queries"],
    identifier: Annotated[str, Query(alias="id", max_length=100_000)],
) -> Response:
    """A small picture, which says so when its file has changed; or an empty one that says why there is none."""
    try:
        small = explorer.pictures.small(result, side, identifier)
    except NoPictureError as problem:
        return Response(_empty(str(problem)), media_type="image/svg+xml", headers={"Cache-Control": "no-store"})
    made = small.thumbnail
    if small.changed:
        return marked_response(request, _changed(made.data), f"{made.mark}-changed", media_type="image/svg+xml")
    return marked_response(request, made.data, made.mark)


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
    """A picture with the words that it is not the one that was measured, which a page cannot know beforehand."""
    drawing = Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" width="256" height="256" viewBox="0 0 256 256"><image width="256" '
        'height="256" href="data:image/webp;base64,{}"/><rect y="188" width="256" height="68" fill="#15181c" '
        'fill-opacity=".86"/><text text-anchor="middle" font-family="sans-serif" font-size="25" fill="#fff"><tspan '
        'x="128" y="216">changed since it</tspan><tspan x="128" y="244">was measured</tspan></text></svg>'
    ).format(b64encode(webp).decode("ascii"))
    return drawing.encode()


PAGES = (Page("/result", "result.html.j2", _result, _title, actions=_ACTIONS),)
