"""A page: one function gives its data, its template shows them, and ``.json`` behind its address gives the same."""

# No postponed annotations here: FastAPI reads those of the functions below, which name a page's own function.

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, FastAPI, Request
from starlette.responses import RedirectResponse, Response

from visual_search.web.explorer import Explorer
from visual_search.web.rendering import json_response, page_response
from visual_search.web.shown import Shown

__all__ = ["Page", "add_page"]


def _always(_: Explorer) -> bool:
    return True


def _nothing(_: Explorer) -> None:
    """All is ready."""


@dataclass(frozen=True, slots=True)
class Page:
    """What is shown under one address.

    Attributes
    ----------
    path : str
        Such as ``"/search"``; the twin is ``"/search.json"``.
    template : str
        In ``web/templates``; it extends ``base.html.j2`` and finds the data as ``data``.
    data : callable
        From the explorer and the page's query parameters to its data: a mapping that JSON can hold; markup that was
        made here (a drawing) is text to JSON. FastAPI reads its parameters: ``ExplorerOf``, and query parameters
        with types and bounds. What it raises becomes an error page or the JSON of an error.
    title : str or callable
        The page's title, or a function of the data that gives it.
    navigation : str or None
        Its word in the navigation; None for a page that others lead to.
    order : int
        Place in the navigation.
    offered : callable
        Whether the navigation has it, for what an explorer serves; always, where left out. The first page that is
        offered is the one that opens.
    actions : APIRouter or None
        What else belongs to it: forms that it posts, pictures that it shows.
    get_ready : callable
        Does, before anybody asks, what takes its first visitor long; called once, behind the pages.
    uploads : tuple of str
        Addresses of actions that take a picture: their bodies may be as long as ``max_upload_bytes``.
    """

    path: str
    template: str
    data: Callable[..., Mapping[str, Any]]
    title: str | Callable[[Mapping[str, Any]], str]
    navigation: str | None = None
    order: int = 100
    offered: Callable[[Explorer], bool] = _always
    actions: APIRouter | None = None
    get_ready: Callable[[Explorer], object] = _nothing
    uploads: tuple[str, ...] = ()

    def title_of(self, data: Mapping[str, Any]) -> str:
        """The title for these data."""
        return self.title if isinstance(self.title, str) else self.title(data)


def add_page(app: FastAPI, page: Page) -> None:
    """Give a page its two addresses, and its actions theirs."""
    twin_path = f"{page.path}.json"

    def html(request: Request, data: Annotated[Any, Depends(page.data)]) -> Response:
        if isinstance(data, Shown) and data.leads_to is not None:
            return RedirectResponse(data.leads_to, 303)
        query = request.scope["query_string"].decode("ascii", "replace")
        twin = twin_path + (f"?{query}" if query else "")
        return page_response(request, page.template, data, title=page.title_of(data), twin=twin)

    def twin(data: Annotated[Any, Depends(page.data)]) -> Response:
        return json_response(data)

    name = page.path.strip("/").replace("/", "-") or "start"
    app.add_api_route(page.path, html, methods=["GET"], include_in_schema=False, name=name)
    app.add_api_route(twin_path, twin, methods=["GET"], name=f"{name}.json", response_model=None)
    if page.actions is not None:
        app.include_router(page.actions)
