"""Listening: the server around the application."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from urllib.parse import quote

import uvicorn
from fastapi import FastAPI

from visual_search.errors import InputError
from visual_search.web.rendering import compile_templates
from visual_search.web.settings import ExplorerSettings

__all__ = ["listening_socket", "serve"]

_LONGEST_HEAD = 1 << 20  # an id of 10,000 letters takes up to 120,000 bytes in an address
_LONGEST_WAIT = 3  # seconds for open requests when stopped


def serve(app: FastAPI, settings: ExplorerSettings, port: int, ready: Callable[[str], object]) -> None:
    """Serve until interrupted.

    Parameters
    ----------
    app : FastAPI
    settings : ExplorerSettings
        Those the application was made of.
    port : int
        0 to 65535; 0 takes one that is free.
    ready : callable
        Called once with the address for a browser, the token in it, when requests are taken.

    Raises
    ------
    InputError
        The address cannot be listened on.
    """
    listening = listening_socket(settings.host, port)
    config = uvicorn.Config(
        app,
        http="h11",
        h11_max_incomplete_event_size=_LONGEST_HEAD,
        log_level="warning",
        access_log=False,  # it would write down tokens and ids
        server_header=False,
        timeout_graceful_shutdown=_LONGEST_WAIT,
        lifespan="off",
    )
    with listening:
        listening.listen(128)  # from here on requests wait for their turn, so the address may be told
        ready(_address(settings, listening.getsockname()[1]))
        threading.Thread(target=_get_ready, args=(app,), name="get ready", daemon=True).start()
        uvicorn.Server(config).run([listening])


def _get_ready(app: FastAPI) -> None:
    """Do what the first visitors would wait for: what the application itself wants ready, and its templates."""
    app.state.get_ready()
    compile_templates()


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket at an address; port 0 takes one that is free.

    Raises
    ------
    InputError
        No such port, or the address cannot be had.
    """
    try:
        if not 0 <= port <= 65535:
            raise InputError(f"port={port}: give a number from 0 to 65535")
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(place)
        except OSError:
            listening.close()
            raise
    except OSError as error:
        raise InputError(
            f"{host}:{port} cannot be listened on ({error.strerror or error}); another program may be there: give "
            "another --port, or 0 for a free one"
        ) from error
    return listening


def _address(settings: ExplorerSettings, port: int) -> str:
    host = {"0.0.0.0": socket.gethostname(), "::": socket.gethostname()}.get(settings.host, settings.host)  # noqa: S104
    shown = f"[{host}]" if ":" in host else host
    query = "" if settings.token is None else f"?token={quote(settings.token, safe='')}"
    return f"http://{shown}:{port}/{query}"
