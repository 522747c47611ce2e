"""``visual-search judge serve``."""

from __future__ import annotations

import argparse

from visual_search.cli.listening import add_listening, check_served, listen, token_of
from visual_search.cli.options import add_json

WORDS = "pages on which people judge a pool, several at once"
EXAMPLE = """\
  visual-search judge serve pool.json --judgements judgements.db --guideline guideline.md --open
  visual-search judge serve --judgements postgresql://judge@db.lan/faces --host 0.0.0.0 --token auto --name db.lan"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "pool", metavar="POOL", nargs="?", help="what is judged; left out where the store has its pairs already"
    )
    parser.add_argument(
        "--judgements",
        "--store",
        required=True,
        metavar="PLACE",
        help="SQLite file, made where it is not there, or PostgreSQL URL",
    )
    parser.add_argument("--guideline", metavar="FILE", help="text or Markdown beside every pair; else the pool's")
    parser.add_argument(
        "--judges-per-pair", type=int, metavar="N", help="judgements wanted per pair, from a store's first pool on"
    )
    parser.add_argument(
        "--overlap", type=float, metavar="SHARE", help="of the pairs that several judge, for agreement"
    )
    parser.add_argument("--overlap-judges", type=int, metavar="N", help="judgements of each of these")
    parser.add_argument(
        "--suggest",
        metavar="FILE",
        help="right answers shown to a judge after his own judgement, and never counted",
    )
    parser.add_argument("--suggested-by", metavar="WORDS", help="what judges read of where these come from")
    add_listening(parser)
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Serve until stopped."""
    check_served("judging", "sqlalchemy", "alembic")
    from visual_search.web.judging.app import create_judging_app
    from visual_search.web.judging.room import JudgingRoom
    from visual_search.web.settings import ExplorerSettings
    from visual_search.workflows.open_judging import add_suggestions, open_judging, read_guideline

    settings = ExplorerSettings(host=arguments.host, token=token_of(arguments), names=tuple(arguments.name))
    guideline = None if arguments.guideline is None else read_guideline(arguments.guideline)
    store = open_judging(
        arguments.judgements,
        arguments.pool,
        wanted=arguments.judges_per_pair,
        overlap=arguments.overlap,
        overlap_wanted=arguments.overlap_judges,
    )
    with store:
        if arguments.suggest is not None:
            add_suggestions(store, arguments.suggest, arguments.suggested_by)
        listen(create_judging_app(JudgingRoom(store, guideline=guideline), settings), settings, arguments)
    return 0
