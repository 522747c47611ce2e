"""The explorer as one application."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from visual_search import __version__
from visual_search.web import static_files, token_page
from visual_search.web.admission import Admission
from visual_search.web.body_limit import BodyLimit
from visual_search.web.explorer import Explorer
from visual_search.web.guard import Guard
from visual_search.web.page import add_page
from visual_search.web.pages import all_pages
from visual_search.web.refusals import add_refusals
from visual_search.web.settings import ExplorerSettings

__all__ = ["create_app"]


def create_app(settings: ExplorerSettings) -> FastAPI:
    """Make the explorer.

    Parameters
    ----------
    settings : ExplorerSettings
        What is served, to whom, within which limits.

    Returns
    -------
    FastAPI
        An application for uvicorn or any other ASGI server. Pages in HTML, each with a twin under ``.json``, which
        ``/openapi.json`` describes.

    Raises
    ------
    VisualSearchError
        What the settings name is not there or not what it should be.
    """
    app = FastAPI(title="Visual Search", version=__version__, docs_url=None, redoc_url=None, redirect_slashes=False)
    admission = Admission(settings)
    app.state.explorer = explorer = Explorer(settings)
    app.state.admission = admission
    pages = all_pages()

    def get_ready() -> None:
        explorer.get_ready()
        for page in pages:
            page.get_ready(explorer)

    app.state.get_ready = get_ready
    app.state.navigation = [
        (page.navigation, page.path) for page in pages if page.navigation and page.offered(explorer)
    ]
    limits = {path: settings.max_upload_bytes for page in pages for path in page.uploads}
    app.add_middleware(BodyLimit, limit=settings.max_body_bytes, by_path=limits, seconds=settings.body_seconds)
    app.add_middleware(Guard, admission=admission)  # the last added is the outermost
    add_refusals(app)
    app.include_router(static_files.ROUTER)
    app.include_router(token_page.ROUTER)
    for page in pages:
        add_page(app, page)
    app.add_api_route("/", _start, include_in_schema=False)
    return app


def _start(request: Request) -> Response:
    """The first page of the navigation."""
    return RedirectResponse(request.app.state.navigation[0][1], 303)
