"""The judging pages as one application, behind the same guard as the explorer."""

from __future__ import annotations

from fastapi import FastAPI
from starlette.responses import RedirectResponse, Response

from visual_search import __version__
from visual_search.web import static_files, token_page
from visual_search.web.admission import Admission
from visual_search.web.body_limit import BodyLimit
from visual_search.web.guard import Guard
from visual_search.web.judging import (
    actions,
    agreement_page,
    dispute_pages,
    grid_page,
    judge_page,
    picture_files,
)
from visual_search.web.judging.room import JudgingRoom
from visual_search.web.page import add_page
from visual_search.web.refusals import add_refusals
from visual_search.web.settings import ExplorerSettings

__all__ = ["create_judging_app"]


def create_judging_app(room: JudgingRoom, settings: ExplorerSettings) -> FastAPI:
    """Make the application.

    Parameters
    ----------
    room : JudgingRoom
        Where people judge.
    settings : ExplorerSettings
        To whom it is served, and within which limits.

    Returns
    -------
    FastAPI
        An application for uvicorn or any other ASGI server. Pages in HTML, each with a twin under ``.json``, which
        ``/openapi.json`` describes, as it does what is posted.
    """
    app = FastAPI(title="Judging", version=__version__, docs_url=None, redoc_url=None, redirect_slashes=False)
    admission = Admission(settings)
    app.state.judging = room
    app.state.get_ready = room.get_ready
    app.state.admission = admission
    modules = (judge_page, grid_page, dispute_pages, agreement_page)
    pages = sorted((page for module in modules for page in module.PAGES), key=lambda page: (page.order, page.path))
    app.state.navigation = [(page.navigation, page.path) for page in pages if page.navigation]
    app.add_middleware(BodyLimit, limit=settings.max_body_bytes, by_path={})
    app.add_middleware(Guard, admission=admission)  # the last added is the outermost
    add_refusals(app)
    for router in (static_files.ROUTER, token_page.ROUTER, actions.ROUTER, picture_files.ROUTER):
        app.include_router(router)
    for page in pages:
        add_page(app, page)
    app.add_api_route("/", _start, include_in_schema=False)
    return app


def _start() -> Response:
    return RedirectResponse("/judge", 303)
