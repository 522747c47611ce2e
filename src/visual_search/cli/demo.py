"""``visual-search demo``."""

from __future__ import annotations

import argparse
import shlex
import time
import webbrowser
from typing import TYPE_CHECKING

from visual_search.cli.options import add_json, print_json, stderr

if TYPE_CHECKING:
    from rich.console import Console

SUMMARY = (
    "The whole job on 400 real photographs of 40 people: index, search, evaluate in both directions of a proven split, "
    "compare, look for leaks, report. "
    "Or the lab on GlyphLab, 180 generated scenes of two views each."
)
EXAMPLE = """\
  visual-search demo
  visual-search demo --out faces --open
  visual-search demo glyphlab --out lab/data"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "data",
        metavar="DATA",
        nargs="?",
        choices=["faces", "glyphlab"],
        default="faces",
        help="faces, or glyphlab: its three files and the lab's table",
    )
    parser.add_argument("--out", default="visual-search-demo", metavar="FOLDER", help="where everything goes")
    parser.add_argument("--open", action="store_true", help="open the report of faces")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run it and print the figures."""
    begun = time.monotonic()
    console = stderr()
    shown = _run_glyphlab if arguments.data == "glyphlab" else _run_faces
    shown(arguments, console)
    if not arguments.json:
        console.print(f"{time.monotonic() - begun:.0f} s", markup=False)
    return 0


def _run_faces(arguments: argparse.Namespace, console: Console) -> None:
    from visual_search.cli.progress import image_progress
    from visual_search.workflows.demo import run_demo

    quiet = arguments.json
    report = run_demo(
        arguments.out,
        say=lambda words: None if quiet else console.print(words, markup=False),
        progress=lambda words: image_progress(words, quiet=quiet),
    )
    if quiet:
        print_json(report.as_json())
    else:
        print(report.summary())
        print(f"\nreport: {report.page.absolute().as_uri()}")
        print(f"look through it: visual-search serve {shlex.quote(str(report.folder))} --open")
    if arguments.open:
        webbrowser.open(report.page.absolute().as_uri())


def _run_glyphlab(arguments: argparse.Namespace, console: Console) -> None:
    from visual_search.errors import InputError
    from visual_search.workflows.glyphlab_lab import run_lab

    if arguments.open:
        raise InputError("--open: glyphlab makes files and a table, and no report to open; leave it out")
    report = run_lab(arguments.out)
    if arguments.json:
        print_json(report.as_json())
        return
    for path in report.files:
        console.print(f"wrote {path}", markup=False)
    print(f"GlyphLab, raw pixels by cosine, 30 test scenes, seed {report.data.seed}")
    print(report.summary())
