"""``visual-search judge import``."""

from __future__ import annotations

import argparse

from visual_search.cli.options import add_json, print_json

WORDS = "take judgements made elsewhere into a store, all of a file or nothing"
EXAMPLE = """\
  visual-search judge import judgements.db others.csv
  visual-search judge import judgements.db qrels.trec --judge assessor --add-pairs"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("store", metavar="STORE", help="SQLite file or PostgreSQL URL, made by judge pool --store")
    parser.add_argument("file", metavar="FILE", help="CSV, TSV, Parquet, qrels, or a dataset's JSON")
    parser.add_argument("--judge", metavar="NAME", help="who judged, where the file does not say")
    parser.add_argument("--add-pairs", action="store_true", help="add pairs that no pool has")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Take them in and say how many."""
    from dataclasses import asdict

    from visual_search.workflows.judge_export import import_judgement_file

    taken = import_judgement_file(
        arguments.store, arguments.file, judge=arguments.judge, add_pairs=arguments.add_pairs
    )
    if arguments.json:
        print_json(asdict(taken))
    else:
        print(taken.words())
    return 0
