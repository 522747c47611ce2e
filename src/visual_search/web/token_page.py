"""From a token, shown once, to a cookie that this browser keeps."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Form, Request
from starlette.responses import Response

from visual_search.web.admission import Admission
from visual_search.web.rendering import page_response

__all__ = ["ROUTER", "TOKEN_PATH", "signed_in"]

TOKEN_PATH = "/token"  # noqa: S105 - an address
ROUTER = APIRouter()


def signed_in(request: Request, admission: Admission) -> Response:
    """Set the cookie and go on to the same address without the token.

    The page goes on by itself: after a redirect a browser that came from another site would hold the cookie back.
    """
    rest = [(name, value) for name, value in request.query_params.multi_items() if name != "token"]
    path = "/" if request.scope["path"] == TOKEN_PATH else "/" + quote(request.scope["path"].lstrip("/\\"))
    onward = path + (f"?{urlencode(rest)}" if rest else "")
    answer = page_response(request, "signed_in.html.j2", {"onward": onward}, title="Signed in", twin=None)
    answer.set_cookie(
        admission.cookie_name(request),
        admission.cookie_value,
        httponly=True,
        samesite="strict",
        secure=request.scope["scheme"] == "https",
    )
    return answer


@ROUTER.post(TOKEN_PATH, include_in_schema=False)
def take_token(request: Request, token: Annotated[str, Form(max_length=1000)]) -> Response:
    """The form of the page that asks for the token."""
    admission: Admission = request.app.state.admission
    if admission.is_token(token):
        return signed_in(request, admission)
    message = "this is not the token that 'visual-search serve' was started with"
    data = {"kind": "TokenNeeded", "message": message, "status": 401, "details": []}
    return page_response(request, "refused.html.j2", data, title="Unauthorized", twin=None, status=401)
