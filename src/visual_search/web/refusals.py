"""One shape for every error, ``{"error": {"kind", "message", "status", "details"}}``, and a page of it for people."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from visual_search.errors import (
    FileFormatError,
    FingerprintError,
    MissingDependencyError,
    UndecodableImageError,
    UnknownIdError,
    UnknownNameError,
    VisualSearchError,
)
from visual_search.web.rendering import json_response, page_response

__all__ = ["add_refusals", "refusal", "unexpected", "wants_page"]

_LOG = logging.getLogger("visual_search.web")
_STATUS: tuple[tuple[type[VisualSearchError], int], ...] = (
    (UnknownIdError, 404),
    (UnknownNameError, 404),
    (FingerprintError, 409),
    (UndecodableImageError, 422),
    (FileFormatError, 422),
    (MissingDependencyError, 501),
)
_LONGEST_INPUT = 200


def refusal(
    request: Request,
    status: int,
    kind: str,
    message: str,
    *,
    details: list[dict[str, str]] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The answer to a request that is not served.

    Parameters
    ----------
    request : Request
        Whoever asks for HTML, and not for a ``.json``, gets a page.
    status : int
        HTTP status.
    kind : str
        What a program tells it by: an error's class, or the name of the status.
    message : str
        What came, what is allowed, how to mend it.
    details : list of ``{"where", "message"}``, optional
        One for each parameter that is wrong.
    """
    error: dict[str, Any] = {"kind": kind, "message": message, "status": status, "details": details or []}
    if wants_page(request):
        title = HTTPStatus(status).phrase
        answer = page_response(request, "refused.html.j2", error, title=title, twin=None, status=status)
        answer.headers.update(headers or {})
        return answer
    return json_response({"error": error}, status, headers)


def unexpected(request: Request, error: Exception) -> Response:
    """The answer where this program is at fault: the trace goes to the log and to nobody else."""
    _LOG.error("%s %s", request.method, request.scope["path"], exc_info=error)
    message = "a fault of visual-search, not of the request; the terminal that serves has the lines to report"
    return refusal(request, 500, "InternalError", message)


def add_refusals(app: FastAPI) -> None:
    """Answer every error of the pages in the one shape."""
    app.add_exception_handler(VisualSearchError, _refused_by_package)
    app.add_exception_handler(HTTPException, _refused_by_server)
    app.add_exception_handler(RequestValidationError, _refused_parameters)


def wants_page(request: Request) -> bool:
    """Whether a person asks, with a browser, and not a program."""
    return "text/html" in request.headers.get("accept", "") and not request.scope["path"].endswith(".json")


def _refused_by_package(request: Request, error: Exception) -> Response:
    status = next((status for kind, status in _STATUS if isinstance(error, kind)), 400)
    return refusal(request, status, type(error).__name__, str(error))


def _refused_by_server(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    status = HTTPStatus(error.status_code)
    kind = _KINDS.get(status) or status.name.title().replace("_", "")
    said = str(error.detail)
    message = said if said != status.phrase else _COMMON.get(status, said)
    return refusal(request, status, kind, message, headers=error.headers)


_KINDS = {413: "TooLarge", 414: "AddressTooLong", 422: "InvalidParameters"}  # whose names differ between Pythons
_COMMON = {
    404: "no page has this address; the navigation leads to those there are",
    405: "this address does not take that method",
}


def _refused_parameters(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    details = [
        {
            "where": ".".join(str(part) for part in one["loc"]),
            "message": f"{one['msg']}; got {repr(one.get('input'))[:_LONGEST_INPUT]}",
        }
        for one in error.errors()
    ]
    message = "; ".join(f"{one['where']}: {one['message']}" for one in details)
    return refusal(request, 422, "InvalidParameters", message, details=details)
