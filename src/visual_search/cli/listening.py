"""What every verb that serves pages asks for: address, port, token, names."""

from __future__ import annotations

import argparse
import os
from typing import TYPE_CHECKING

from visual_search.cli.options import print_json, stderr
from visual_search.errors import MissingDependencyError

if TYPE_CHECKING:
    from fastapi import FastAPI

    from visual_search.web.settings import ExplorerSettings

__all__ = ["add_listening", "check_served", "listen", "token_of"]

_TOKEN_VARIABLE = "VISUAL_SEARCH_TOKEN"  # noqa: S105 - the name of a variable


def add_listening(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on")
    parser.add_argument("--port", type=int, default=8000, help="port; 0 takes a free one")
    parser.add_argument(
        "--token",
        default=None,
        help=f"whoever asks must show it; auto makes one; left out, that of the variable {_TOKEN_VARIABLE}",
    )
    parser.add_argument(
        "--name",
        metavar="NAME",
        action="append",
        default=[],
        help="a host name of this machine, where pages are asked for by it; may be given several times",
    )
    parser.add_argument("--open", action="store_true", help="open the browser")


def token_of(arguments: argparse.Namespace) -> str | None:
    """The token that was given, made, or found in the environment."""
    given: str | None = arguments.token
    if given == "auto":
        import secrets

        return secrets.token_urlsafe(24)
    return given if given is not None else os.environ.get(_TOKEN_VARIABLE) or None


def check_served(extra: str = "web", *more: str) -> None:
    """Refuse where what serves pages is not installed, with the extra that brings it."""
    from importlib.util import find_spec

    lacking = [name for name in ("fastapi", "python_multipart", "uvicorn", *more) if find_spec(name) is None]
    if lacking:
        raise MissingDependencyError(f"needs {', '.join(lacking)}: pip install 'visual-search[{extra}]'")


def listen(app: FastAPI, settings: ExplorerSettings, arguments: argparse.Namespace) -> None:
    """Serve until stopped, and tell the address when requests are taken."""
    from visual_search.web.serving import serve

    def ready(address: str) -> None:
        if arguments.json:
            print_json({"address": address})
        else:
            stderr().print(f"{address}  (stop with Ctrl-C)", markup=False)
        if arguments.open:
            import webbrowser

            webbrowser.open(address)

    serve(app, settings, arguments.port, ready)
