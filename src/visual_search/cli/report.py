"""``visual-search report``."""

from __future__ import annotations

import argparse
import webbrowser

from visual_search.cli.options import add_json, print_json

SUMMARY = "Build one HTML page from result files; it opens from disk and can be mailed."
EXAMPLE = """\
  visual-search report results.json -o report.html
  visual-search report before.json after.json -o report.html --title 'Model 7 against model 6'"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("results", nargs="+", metavar="RESULT", help="results JSON files")
    parser.add_argument("-o", "--out", default="report.html", metavar="FILE", help="the page")
    parser.add_argument(
        "--baseline", default=None, help="model the others are held against; the first where left out"
    )
    parser.add_argument("--title", default=None, help="headline of the page")
    parser.add_argument("--open", action="store_true", help="open the page")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the page and print where it is."""
    from visual_search.workflows.report import report_results

    page = report_results(arguments.results, arguments.out, title=arguments.title, baseline=arguments.baseline)
    if arguments.json:
        print_json({"report": str(page)})
    else:
        print(page)
    if arguments.open:
        webbrowser.open(page.absolute().as_uri())
    return 0
