"""Query: one row of pictures a system, and how items move from one to the next."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request

from visual_search.reports.wording import short_id
from visual_search.web.addresses import address
from visual_search.web.explorer import ExplorerOf
from visual_search.web.page import Page
from visual_search.web.result_pictures import framed_pictures
from visual_search.web.shown import Shown
from visual_search.workflows.query_view import query_view
from visual_search.workflows.result_choice import result_choice

__all__ = ["PAGES"]

_USUAL = 20


def _query(
    request: Request,
    explorer: ExplorerOf,
    result: Annotated[list[str], Query(max_length=8)] = [],  # noqa: B006 - FastAPI copies it
    query: Annotated[
        str | None, Query(max_length=100_000, description="the first in the order where left out")
    ] = None,
    measure: Annotated[str, Query(max_length=1000)] = "",
    order: Annotated[str, Query(max_length=20)] = "",
    shown: Annotated[int, Query(ge=1, le=200)] = _USUAL,
) -> Shown:
    if not result:
        return Shown(result_choice(explorer.results), None)
    pictures = framed_pictures(request, explorer)
    view = query_view(
        explorer.results, result, query, measure=measure, order=order, shown=shown, picture_of=pictures
    )
    state = {"measure": measure or None, "order": order or None, "shown": shown if shown != _USUAL else None}
    own = None if query == view.query else address("/query", result=tuple(result), query=view.query, **state)
    return Shown({**view.as_json(), "pictures": pictures.as_json()}, view, leads_to=own)


def _title(data: Any) -> str:
    return f"Query {short_id(data['query'], 60)}" if data.view else "Query"


PAGES = (Page("/query", "query.html.j2", _query, _title),)
