"""``visual-search demo``."""

from __future__ import annotations

import argparse
import time
import webbrowser

from visual_search.cli.options import add_json, print_json, stderr

SUMMARY = "The whole job on 400 real photographs of 40 people: index, search, evaluate, compare, report."
EXAMPLE = """\
  visual-search demo
  visual-search demo --out faces --open"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("--out", default="visual-search-demo", metavar="FOLDER", help="where everything goes")
    parser.add_argument("--open", action="store_true", help="open the report")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run it and print the figures."""
    from visual_search.cli.progress import image_progress
    from visual_search.workflows.demo import run_demo

    begun = time.monotonic()
    console = stderr()
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
        console.print(f"{time.monotonic() - begun:.0f} s", markup=False)
    if arguments.open:
        webbrowser.open(report.page.absolute().as_uri())
    return 0
