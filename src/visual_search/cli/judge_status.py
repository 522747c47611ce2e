"""``visual-search judge status``."""

from __future__ import annotations

import argparse

from visual_search.cli.options import add_json, print_json

WORDS = "how far judging is: in all, per judge, per query"
EXAMPLE = "  visual-search judge status judgements.db --queries"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument("store", metavar="STORE", help="SQLite file or PostgreSQL URL")
    parser.add_argument("--queries", action="store_true", help="a row a query as well")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Print how far it is."""
    from visual_search.workflows.judge_status import judging_status

    status = judging_status(arguments.store)
    if arguments.json:
        print_json(status.as_json())
    else:
        print(status.words(queries=arguments.queries))
    return 0
