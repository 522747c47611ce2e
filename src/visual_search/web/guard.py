"""What stands before every page: who may ask, what the browser may do with the answer, and no fault left bare."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from visual_search.web.admission import Admission
from visual_search.web.refusals import refusal, unexpected
from visual_search.web.token_page import TOKEN_PATH, signed_in

__all__ = ["HEADERS", "Guard"]

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
#: Of every answer. The referrer goes to our own pages only: with none at all, browsers would hide the origin of a form.
HEADERS = {
    "Content-Security-Policy": _POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Guard:
    """ASGI middleware around everything else.

    Parameters
    ----------
    app : ASGI application
    admission : Admission
    """

    def __init__(self, app: ASGIApp, admission: Admission) -> None:
        self._app = app
        self._admission = admission

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Refuse, or pass on; either way the answer has the headers."""
        if scope["type"] != "http":
            if scope["type"] == "websocket":
                await send({"type": "websocket.close", "code": 1008})
                return
            await self._app(scope, receive, send)
            return
        bodiless = scope["method"] == "HEAD"
        started = False

        async def with_headers(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            elif bodiless:
                message = {**message, "body": b""}
            await send(message)

        request = Request(scope, receive)
        try:
            app = self._refused(request) or self._app
            await app({**scope, "method": "GET"} if bodiless else scope, receive, with_headers)
        except Exception as error:
            if started:
                raise
            await unexpected(request, error)(scope, receive, with_headers)

    def _refused(self, request: Request) -> Response | None:
        """The answer to a request that goes no further; None for one that does."""
        if not self._admission.host_is_ours(request):
            message = "this explorer does not serve the host name asked for; --name NAME lets it"
            return refusal(request, 421, "WrongHost", message)
        if not self._admission.same_site(request):
            return refusal(request, 403, "CrossSite", "only the explorer's own pages may send this")
        path: str = request.scope["path"]
        if path.startswith("/static/") or path == TOKEN_PATH or not self._admission.needs_token:
            return None
        shown = request.query_params.get("token")
        if shown is not None and request.method in ("GET", "HEAD") and self._admission.is_token(shown):
            return signed_in(request, self._admission)
        if self._admission.has_token(request):
            return None
        message = "this explorer needs its token: open the address that 'visual-search serve' printed"
        return refusal(request, 401, "TokenNeeded", message, headers={"WWW-Authenticate": "Bearer"})
