"""``visual-search serve``."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from visual_search.cli.options import add_json, print_json, stderr
from visual_search.errors import MissingDependencyError

SUMMARY = (
    "Look through indexes and results in a browser: search by an image, compare results, see what a setting loses. "
    "Only this machine is served unless --host says otherwise, and then a token is needed."
)
EXAMPLE = """\
  visual-search serve results/ --index photos.index --open
  visual-search serve last-week.json results.json --index photos.index --sweep sweep.jsonl --port 8080
  visual-search serve results/ --host 0.0.0.0 --token auto"""

_TOKEN_VARIABLE = "VISUAL_SEARCH_TOKEN"  # noqa: S105 - the name of a variable


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "results", metavar="FOLDER|RESULT", nargs="*", default=[], help="result files, and folders of them"
    )
    parser.add_argument(
        "--index",
        metavar="INDEX",
        action="append",
        default=[],
        help="an index to search; may be given several times",
    )
    parser.add_argument(
        "--sweep",
        metavar="FILE",
        action="append",
        default=[],
        help="what visual-search sweep wrote; may be given several times",
    )
    parser.add_argument(
        "--images",
        metavar="FOLDER",
        action="append",
        default=[],
        help="a folder whose pictures may be shown where results name them, beside those of the results; may be "
        "given several times",
    )
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
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Serve until stopped."""
    _check_installed()
    from visual_search.web.app import create_app
    from visual_search.web.serving import serve
    from visual_search.web.settings import ExplorerSettings

    settings = ExplorerSettings(
        results=tuple(map(Path, arguments.results)),
        indexes=tuple(map(Path, arguments.index)),
        sweeps=tuple(map(Path, arguments.sweep)),
        images=tuple(map(Path, arguments.images)),
        host=arguments.host,
        token=_token(arguments.token),
        names=tuple(arguments.name),
    )
    app = create_app(settings)

    def ready(address: str) -> None:
        if arguments.json:
            print_json({"address": address})
        else:
            stderr().print(f"{address}  (stop with Ctrl-C)", markup=False)
        if arguments.open:
            import webbrowser

            webbrowser.open(address)

    serve(app, settings, arguments.port, ready)
    return 0


def _check_installed() -> None:
    from importlib.util import find_spec

    lacking = [name for name in ("fastapi", "multipart", "uvicorn") if find_spec(name) is None]
    if lacking:
        raise MissingDependencyError(f"serve: needs {', '.join(lacking)}: pip install 'visual-search[web]'")


def _token(given: str | None) -> str | None:
    if given == "auto":
        import secrets

        return secrets.token_urlsafe(24)
    return given if given is not None else os.environ.get(_TOKEN_VARIABLE) or None
