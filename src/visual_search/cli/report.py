"""``visual-search report``."""

from __future__ import annotations

import argparse
import webbrowser
from pathlib import Path

from visual_search.cli.options import add_json, print_json, stderr

SUMMARY = (
    "Build one HTML page from result files and other records; it opens from disk and can be mailed. With --bundle, a "
    "folder of pages with every query."
)
EXAMPLE = """\
  visual-search report results.json -o report.html
  visual-search report before.json after.json -o report.html --title 'Model 7 against model 6'
  visual-search report results.json sweep.jsonl choice.json leaks.json photos.index -o report.html
  visual-search report before.json after.json --bundle report/"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "records",
        nargs="+",
        metavar="RECORD",
        help="results, and sweeps, choices, attributions, leaks, truths, directions, splits, codes, comparisons, "
        "judgings, indexes: told apart by their content",
    )
    place = parser.add_mutually_exclusive_group()
    place.add_argument("-o", "--out", default="report.html", metavar="FILE", help="the page")
    place.add_argument("--bundle", default=None, metavar="DIR", help="a folder of pages with every query instead")
    parser.add_argument(
        "--baseline", default=None, help="model the others are held against; the first where left out"
    )
    parser.add_argument("--title", default=None, help="headline of the page")
    parser.add_argument("--per-page", type=int, default=30, metavar="N", help="queries of a page of the bundle")
    parser.add_argument("--open", action="store_true", help="open the page")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the page and print where it is."""
    page = _bundled(arguments) if arguments.bundle is not None else _written(arguments)
    if arguments.json:
        print_json({"report": str(page)})
    else:
        print(page)
    if arguments.open:
        webbrowser.open(page.absolute().as_uri())
    return 0


def _written(arguments: argparse.Namespace) -> Path:
    from visual_search.workflows.report import report_results

    return report_results(
        arguments.records, arguments.out, title=arguments.title, baseline=arguments.baseline, left_out=_note
    )


def _bundled(arguments: argparse.Namespace) -> Path:
    from visual_search.cli.progress import count_progress
    from visual_search.workflows.report import report_bundle

    with count_progress("queries", quiet=arguments.json) as progress:
        return report_bundle(
            arguments.records,
            arguments.bundle,
            title=arguments.title,
            baseline=arguments.baseline,
            per_page=arguments.per_page,
            progress=progress,
            left_out=_note,
        )


def _note(text: str) -> None:
    stderr().print(f"left out: {text}", markup=False)
