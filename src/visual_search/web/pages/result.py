"""Result: one stored result as in the report, with its note, and its queries to look at."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request

from visual_search.reports.wording import short_id
from visual_search.web import result_pictures
from visual_search.web.explorer import ExplorerOf
from visual_search.web.page import Page
from visual_search.web.result_pictures import framed_pictures
from visual_search.web.shown import Shown
from visual_search.workflows.result_choice import result_choice
from visual_search.workflows.result_view import result_view

__all__ = ["PAGES"]


def _result(
    request: Request,
    explorer: ExplorerOf,
    result: Annotated[str, Query(max_length=64)] = "",
    measure: Annotated[str, Query(max_length=1000)] = "",
) -> Shown:
    if not result:
        return Shown(result_choice(explorer.results), None)
    pictures = framed_pictures(request, explorer)
    view = result_view(explorer.results, result, measure=measure, picture_of=pictures)
    return Shown({**view.as_json(), "pictures": pictures.as_json()}, view)


def _title(data: Any) -> str:
    return short_id(data.view.opened.entry.name) if data.view else "Result"


PAGES = (Page("/result", "result.html.j2", _result, _title, actions=result_pictures.ROUTER),)
