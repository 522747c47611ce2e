"""Results: a table over time, with notes and the pinned baseline."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request
from starlette.responses import RedirectResponse, Response

from visual_search.catalogue.notes_file import NoteConflictError
from visual_search.web.addresses import address
from visual_search.web.explorer import ExplorerOf
from visual_search.web.page import Page
from visual_search.web.refusals import refusal
from visual_search.web.rendering import json_response, page_response
from visual_search.workflows.results_table import TableRequest, results_table

__all__ = ["PAGES"]

_ACTIONS = APIRouter()
_Key = Annotated[str, Form(max_length=64)]
_Text = Annotated[str, Query(max_length=1000)]


def _results(
    explorer: ExplorerOf,
    column: Annotated[list[str], Query(max_length=100)] = [],  # noqa: B006 - FastAPI copies it
    sort: _Text = "-time",
    q: _Text = "",
    protocol: _Text = "",
    dataset: _Text = "",
    measure: _Text = "",
    page: Annotated[int, Query(ge=1, le=1_000_000)] = 1,
) -> dict[str, Any]:
    request = TableRequest(column, sort, q, protocol, dataset, measure, page)
    table = results_table(explorer.results, request, link=lambda key: address("/result", result=key))
    state = {"column": column, "sort": sort, "q": q, "protocol": protocol, "dataset": dataset, "measure": measure}
    return table | {"state": {name: value or None for name, value in state.items()}}


@_ACTIONS.post("/results/note")
def write_note(
    request: Request,
    explorer: ExplorerOf,
    result: _Key,
    version: Annotated[int, Form(ge=0)],
    text: Annotated[str, Form(max_length=100_000)] = "",
) -> Response:
    """Write a result's note; 409 with both texts where somebody else wrote it since."""
    try:
        note = explorer.results.shelf.write_note(result, text.replace("\r\n", "\n"), version=version)
    except NoteConflictError as conflict:
        return _conflict(request, result, conflict)
    if _wants_page(request):
        return RedirectResponse(address("/result", result=result) + "#note", 303)
    return json_response({"text": note.text, "version": note.version, "time": note.time})


@_ACTIONS.post("/results/pin")
def pin(
    request: Request,
    explorer: ExplorerOf,
    result: _Key,
    pinned: Annotated[bool, Form()],
    back: Annotated[str, Form(max_length=20_000)] = "",
) -> Response:
    """Pin a result as the baseline of those that are comparable with it, or let it go."""
    explorer.results.shelf.pin(result, pinned=pinned)
    if not _wants_page(request):
        return json_response({"result": result, "pinned": pinned})
    if back.startswith("?"):
        return RedirectResponse("/results" + back, 303)
    return RedirectResponse(address("/result", result=result), 303)


def _conflict(request: Request, key: str, conflict: NoteConflictError) -> Response:
    now = {"text": conflict.now.text, "version": conflict.now.version, "time": conflict.now.time}
    if _wants_page(request):
        data = {"key": key, "now": now, "offered": conflict.offered}
        return page_response(request, "note_conflict.html.j2", data, title="Two notes", twin=None, status=409)
    told = now | {"offered": conflict.offered}
    details = [{"where": name, "message": str(value)} for name, value in told.items()]
    return refusal(request, 409, "NoteConflict", str(conflict), details=details)


def _wants_page(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")


PAGES = (
    Page(
        "/results",
        "results.html.j2",
        _results,
        "Results",
        navigation="Results",
        order=20,
        offered=lambda explorer: bool(explorer.results.shelf),
        actions=_ACTIONS,
    ),
)
