"""A body that is too long is refused while it comes in, never held whole; one that stops coming is not waited for."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from visual_search.web.refusals import refusal

__all__ = ["BodyLimit"]

#: Read and thrown away after a refusal, so that a browser, which reads no answer before it has sent all, gets it.
_THROWN_AWAY = 1 << 30


class BodyLimit:
    """ASGI middleware that counts.

    Parameters
    ----------
    app : ASGI application
    limit : int
        Longest body in bytes.
    by_path : mapping of str to int
        Other limits for some addresses.
    seconds : float
        How long a part of a body that was announced is waited for.
    """

    def __init__(self, app: ASGIApp, limit: int, by_path: Mapping[str, int], *, seconds: float = 30.0) -> None:
        self._app = app
        self._limit = limit
        self._by_path = by_path
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on what is short enough."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        limit = self._by_path.get(scope["path"], self._limit)
        message = f"more than {limit:,} bytes; this address takes no longer bodies"
        late = f"the body stopped coming: no byte of it for {self._seconds:g} s; send it again"
        come, over, more = 0, False, True

        async def counted() -> Message:
            nonlocal come, over, more
            try:
                # After its end only the caller's going away is waited for, as long as the answer takes.
                part = await asyncio.wait_for(receive(), self._seconds if more else None)
            except TimeoutError:
                more = False  # nothing is to be thrown away
                raise HTTPException(408, late, {"Connection": "close"}) from None
            come += len(part.get("body", b""))
            more = part["type"] == "http.request" and part.get("more_body", False)
            if come > limit:
                over = True
                raise HTTPException(413, message, {"Connection": "close"})
            return part

        async def after_the_body(part: Message) -> None:
            if over and more and part["type"] == "http.response.start":
                await _thrown_away(receive, come, self._seconds)
            await send(part)

        request = Request(scope, receive)
        declared = request.headers.get("content-length", "0")
        if declared.isdecimal() and int(declared[:20]) > limit:
            await _thrown_away(receive, 0, self._seconds)
            await refusal(request, 413, "TooLarge", message, headers={"Connection": "close"})(scope, receive, send)
            return
        await self._app(scope, counted, after_the_body)


async def _thrown_away(receive: Receive, come: int, seconds: float) -> None:
    while come < _THROWN_AWAY:
        try:
            message = await asyncio.wait_for(receive(), seconds)
        except TimeoutError:
            return
        if message["type"] != "http.request" or not message.get("more_body", False):
            return
        come += len(message.get("body", b""))
