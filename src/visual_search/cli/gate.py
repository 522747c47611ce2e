"""``visual-search gate``."""

from __future__ import annotations

import argparse

from visual_search.cli.options import add_json, print_json, stderr

SUMMARY = (
    "Let a change pass only if it is not worse than a baseline by more than a margin; exit code 1 if it is not."
)
EXAMPLE = """\
  visual-search gate candidate.json baseline.json --measure nDCG@10 --margin 0.01
  visual-search gate candidate.json baseline.json --measure HitRate@1 --margin 0.02 --confidence 0.9 --json"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("candidate", metavar="CANDIDATE", help="results JSON of the change")
    parser.add_argument("baseline", metavar="BASELINE", help="results JSON of what it is held against")
    parser.add_argument("--measure", required=True, metavar="MEASURE", help="text form of the measure that decides")
    parser.add_argument(
        "--margin", type=float, required=True, help="how much worse is good enough, in the measure's own unit"
    )
    parser.add_argument("--confidence", type=float, default=0.95, help="of the two-sided interval")
    parser.add_argument("--seed", type=int, default=0, help="of the resamples")
    parser.add_argument(
        "--despite",
        metavar="REASON",
        default=None,
        help="compare the common queries of results whose data differ; the reason is printed with the verdict",
    )
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Decide, print why, and tell by the exit code."""
    from visual_search.workflows.compare import gate_files

    found = gate_files(
        arguments.candidate,
        arguments.baseline,
        arguments.measure,
        arguments.margin,
        confidence=arguments.confidence,
        seed=arguments.seed,
        despite=arguments.despite,
    )
    if arguments.json:
        print_json(found.as_json())
    else:
        print(f"{found.verdict}: {found.reason}")
        say = stderr().print
        if found.comparison.despite is not None:
            say(f"not comparable, compared nevertheless because: {found.comparison.despite}", markup=False)
        for line in (*(f"differs: {one}" for one in found.comparison.differences), *found.comparison.notes):
            say(line, markup=False)
    return 0 if found.passed else 1
