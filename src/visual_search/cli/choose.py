"""``visual-search choose``."""

from __future__ import annotations

import argparse

from visual_search.cli.options import add_json, print_json, stderr

SUMMARY = (
    "Choose the cheapest setting of a sweep that reaches a target with confidence, and report it on queries that "
    "had no part in the choice. Exit code 1 when none is certified."
)
EXAMPLE = """\
  visual-search choose sweep.jsonl --target-recall .95 --confidence .95
  visual-search choose sweep.jsonl --target-recall .9 --cost latency_p99 --figure front.svg --report page.html
  visual-search choose sweep.jsonl --target .8 --measure HitRate@10 --groups scenes.csv
  visual-search choose sweep.jsonl --target .99 --threshold .8 --cost throughput"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("sweep", metavar="SWEEP", help="file that visual-search sweep wrote")
    target = parser.add_mutually_exclusive_group(required=True)
    target.add_argument("--target-recall", type=float, metavar="R", help="for the mean of the measure, such as .95")
    target.add_argument("--target", type=float, metavar="X", help="the same, where the measure is no recall")
    parser.add_argument(
        "--measure", default=None, help="one of the sweep's, such as HitRate@10; the first if left out"
    )
    parser.add_argument(
        "--threshold",
        type=float,
        default=None,
        metavar="V",
        help="hold the share of queries whose value is at least this (above 0, such as .8) against the target, and not "
        "the mean",
    )
    parser.add_argument(
        "--confidence", type=float, default=0.95, help="how sure it must be that no setting is certified wrongly"
    )
    parser.add_argument(
        "--cost",
        default="latency_p50",
        metavar="COST",
        help="what a setting should have little of: latency_p50 (median of single queries), latency_p95, latency_p99, "
        "latency_mean, index_bytes (what a search goes through), memory_bytes (all the index holds), peak_build_bytes, "
        "build_seconds; or much of: throughput (queries a second)",
    )
    parser.add_argument("--test-share", type=float, default=0.2, help="share of the queries kept for the report")
    parser.add_argument(
        "--groups", metavar="TABLE", default=None, help="CSV of query and group: whole groups are split and counted"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the split")
    parser.add_argument(
        "--figure", metavar="FILE", default=None, help="quality against cost, as .svg, .png or .pdf"
    )
    parser.add_argument(
        "--report", metavar="FILE", default=None, help="one HTML page of the choice, the figure and every setting"
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Choose and print; 0 certified, 1 not."""
    from visual_search.formats.outputs import refuse_overwriting
    from visual_search.workflows.sweep import choose_from_file

    refuse_overwriting(
        {"--figure": arguments.figure, "--report": arguments.report}, [arguments.sweep, arguments.groups]
    )
    choice = choose_from_file(
        arguments.sweep,
        arguments.target,
        target_recall=arguments.target_recall,
        measure=arguments.measure,
        threshold=arguments.threshold,
        confidence=arguments.confidence,
        cost=arguments.cost,
        test_share=arguments.test_share,
        groups=arguments.groups,
        seed=arguments.seed,
        figure=arguments.figure,
        report=arguments.report,
    )
    if arguments.json:
        print_json(choice.as_json())
    else:
        print(choice.table())
        print()
        print(choice.words())
        for words, place in (("figure", arguments.figure), ("report", arguments.report)):
            if place is not None:
                stderr().print(f"{words}: {place}", markup=False)
    return 0 if choice.certified else 1
