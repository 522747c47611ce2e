"""``visual-search compare``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from visual_search.cli.options import add_json, print_json, stderr

if TYPE_CHECKING:
    from visual_search.evaluation.comparison import Comparison

SUMMARY = "Compare results on the same queries: differences, intervals, p-values, and what could have been seen."
EXAMPLE = """\
  visual-search compare before.json after.json --measure nDCG@10 --measure HitRate@1
  visual-search compare a.json b.json c.json --all-pairs --format latex > table.tex
  visual-search compare old.json new.json --despite 'the gallery grew by 40 pictures'"""

# Comparisons up to which the queries that changed are named; of more, the lists would hide the table.
_MOST_NAMED = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("results", nargs="+", metavar="RESULT", help="results JSON files, two or more")
    parser.add_argument(
        "--measure",
        action="append",
        metavar="MEASURE",
        default=[],
        help="text form of a measure, may be given several times; all that the results share where left out",
    )
    parser.add_argument(
        "--baseline", default=None, help="model or file the others are held against; the first where left out"
    )
    parser.add_argument("--all-pairs", action="store_true", help="each with each")
    parser.add_argument(
        "--format", default="text", choices=["text", "md", "latex", "html", "csv"], help="form of the table"
    )
    parser.add_argument("--confidence", type=float, default=0.95, help="of the intervals")
    parser.add_argument("--seed", type=int, default=0, help="of resamples and sign flips")
    parser.add_argument(
        "--despite",
        metavar="REASON",
        default=None,
        help="compare the common queries of results whose data differ; the reason is printed with the table",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Compare and print."""
    from visual_search.reports.comparison_tables import comparison_notes, comparison_table
    from visual_search.workflows.compare import compare_files

    comparison = compare_files(
        arguments.results,
        arguments.measure,
        baseline=arguments.baseline,
        all_pairs=arguments.all_pairs,
        confidence=arguments.confidence,
        seed=arguments.seed,
        despite=arguments.despite,
    )
    if arguments.json:
        print_json(comparison.as_json())
        return 0
    print(comparison_table(comparison, arguments.format).rstrip("\n"))
    if arguments.format in ("text", "csv"):
        say = stderr().print
        for note in comparison_notes(comparison):
            say(note, markup=False)
    if arguments.format == "text":
        _print_changes(comparison)
    return 0


def _print_changes(comparison: Comparison) -> None:
    if len(comparison.contrasts) > _MOST_NAMED:
        print("name measures (--measure) to see which queries changed most")
        return
    for one in comparison.contrasts:
        for words, changes in (("improved", one.improved), ("worsened", one.worsened)):
            if changes:
                listed = ", ".join(f"{query} ({change:+.3f})" for query, change in changes)
                print(f"{one.a} instead of {one.b}, {one.measure}: {words} most: {listed}")
