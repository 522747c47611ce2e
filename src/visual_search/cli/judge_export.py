"""``visual-search judge export``."""

from __future__ import annotations

import argparse

from visual_search.cli.options import add_json, print_json

WORDS = "what judges said: every judgement, or one grade a pair by a stated rule"
EXAMPLE = """\
  visual-search judge export judgements.db -o judgements.csv
  visual-search judge export judgements.db -o judged.json --rule median
  visual-search judge export judgements.db -o qrels.trec"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("store", metavar="STORE", help="SQLite file or PostgreSQL URL")
    parser.add_argument(
        "-o",
        "--out",
        required=True,
        metavar="FILE",
        help=".csv, .tsv, .parquet: a row a judgement; .json: an evaluation dataset; .trec, .qrels, .txt: qrels",
    )
    parser.add_argument(
        "--rule",
        default=None,
        choices=["adjudicated", "majority", "median", "mean", "min", "max", "agreed"],
        help="how several grades become one; adjudicated, else the majority, where left out",
    )
    parser.add_argument("--log", action="store_true", help="all records, also those taken back or replaced")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Write the file and say what is in it."""
    from visual_search.formats.outputs import refuse_overwriting
    from visual_search.workflows.judge_export import export_judgements

    refuse_overwriting({"--out": arguments.out}, [arguments.store])
    written = export_judgements(arguments.store, arguments.out, rule=arguments.rule, log=arguments.log)
    if arguments.json:
        print_json(written.as_json())
    else:
        print(written.words())
    return 0
