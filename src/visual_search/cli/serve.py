"""``visual-search serve``."""

from __future__ import annotations

import argparse
from pathlib import Path

from visual_search.cli.listening import add_listening, check_served, listen, token_of
from visual_search.cli.options import add_json, stderr

SUMMARY = (
    "Look through indexes and results in a browser: search by an image, compare results, see what a setting loses. "
    "Only this machine is served unless --host says otherwise, and then a token is needed."
)
EXAMPLE = """\
  visual-search serve visual-search-demo --open
  visual-search serve results/ --index photos.index --open
  visual-search serve last-week.json results.json --index photos.index --sweep sweep.jsonl --port 8080
  visual-search serve results/ --host 0.0.0.0 --token auto"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "results",
        metavar="FOLDER|RESULT",
        nargs="*",
        default=[],
        help="result files, and folders of them with the *.index folders and sweeps there",
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
    add_listening(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Serve until stopped."""
    check_served()
    from visual_search.web.app import create_app
    from visual_search.web.settings import ExplorerSettings

    settings = ExplorerSettings(
        results=tuple(map(Path, arguments.results)),
        indexes=tuple(map(Path, arguments.index)),
        sweeps=tuple(map(Path, arguments.sweep)),
        images=tuple(map(Path, arguments.images)),
        host=arguments.host,
        token=token_of(arguments),
        names=tuple(arguments.name),
    )
    app = create_app(settings)
    if not arguments.json:
        for line in app.state.explorer.told():
            stderr().print(line, markup=False)
    listen(app, settings, arguments)
    return 0
