"""``visual-search judge pool``."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from visual_search.cli.options import add_json, print_json
from visual_search.errors import InputError

WORDS = (
    "what people should judge: the first items of several systems' lists, and candidates that all of them missed"
)
EXAMPLE = """\
  visual-search judge pool old.json new.json --depth 20 -o pool.json --store judgements.db
  visual-search judge pool a=a.trec b=b.trec --texts queries.tsv --gallery faces.index --random 5 -o pool.json
  visual-search judge pool third.json --grow pool.json -o pool.json --store judgements.db"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "rankings",
        metavar="RANKING",
        nargs="+",
        help="result, TREC run or Parquet file; NAME=FILE names the system",
    )
    parser.add_argument("-o", "--out", required=True, metavar="FILE", help="the pool, a name that ends in .json")
    parser.add_argument("--depth", type=int, default=20, help="items of each list")
    parser.add_argument("--dataset", metavar="FILE", help="take only its queries, with their images and texts")
    parser.add_argument("--texts", metavar="FILE", help="table of query and text, for queries that are words")
    parser.add_argument(
        "--gallery", metavar="PLACE", help="folder of an index, or vectors: for --random and --near"
    )
    parser.add_argument("--random", type=int, default=0, metavar="N", help="items drawn at random for each query")
    parser.add_argument(
        "--near", type=int, default=0, metavar="N", help="items a query that look like ones known to be relevant"
    )
    parser.add_argument("--near-cosine", type=float, default=0.9, metavar="C", help="how alike these are at least")
    parser.add_argument("--known", metavar="FILE", help="right answers for --near; else the store's judgements")
    parser.add_argument("--grow", metavar="POOL", help="take up this pool and tell what the rankings add to it")
    parser.add_argument("--store", metavar="PLACE", help="put the pool into this SQLite file or PostgreSQL URL")
    parser.add_argument(
        "--suggest",
        metavar="FILE",
        help="right answers that the page shows each judge after his own; never counted",
    )
    _add_task(parser)
    add_json(parser)


def _add_task(parser: argparse.ArgumentParser) -> None:
    task = parser.add_argument_group("what judges are asked")
    task.add_argument("--guideline", metavar="FILE", help="text that stands beside every pair")
    task.add_argument(
        "--grade", metavar="VALUE=NAME", action="append", default=[], help="a grade; give two to ten, rising"
    )
    task.add_argument("--relevant-from", type=float, default=1.0, metavar="GRADE", help="what the order goes after")
    task.add_argument("--wanted", type=int, default=1, metavar="N", help="judgements wanted per pair")
    task.add_argument("--overlap", type=float, default=0.0, metavar="SHARE", help="of pairs that several judge")
    task.add_argument("--overlap-wanted", type=int, default=2, metavar="N", help="judgements of each of these")
    task.add_argument(
        "--order",
        default="move_to_front",
        choices=["move_to_front", "max_mean", "fixed", "shuffled"],
        help="which pairs come first",
    )
    task.add_argument("--run-length", type=int, default=5, metavar="N", help="pairs of one query in a row")
    task.add_argument("--seed", type=int, default=0, help="of draws and ties")


def run(arguments: argparse.Namespace) -> int:
    """Make the pool and say what is in it."""
    from visual_search.workflows.judge_pool import PoolRequest, make_pool

    request = PoolRequest(
        depth=arguments.depth,
        dataset=arguments.dataset,
        texts=arguments.texts,
        gallery=arguments.gallery,
        random=arguments.random,
        near=arguments.near,
        near_cosine=arguments.near_cosine,
        known=arguments.known,
        task=_asked(arguments),
    )
    made = make_pool(
        arguments.rankings,
        arguments.out,
        request=request,
        grow=arguments.grow,
        store=arguments.store,
        suggest_from=arguments.suggest,
    )
    if arguments.json:
        print_json(made.as_json())
        return 0
    print(made.words())
    return 0


def _asked(arguments: argparse.Namespace) -> Any:
    from visual_search.judging.task import Grade, JudgingTask

    given: dict[str, Any] = {}
    if arguments.guideline is not None:
        given["guideline"] = _text(arguments.guideline)
    if arguments.grade:
        parts = [text.partition("=") for text in arguments.grade]
        try:
            given["grades"] = tuple(Grade(float(value), name) for value, _, name in parts)
        except ValueError:
            raise InputError(f"--grade: got {arguments.grade}; each is a number and a name, as 0=wrong") from None
    names = ("relevant_from", "wanted", "overlap", "overlap_wanted", "order", "run_length", "seed")
    return JudgingTask(**given, **{name: getattr(arguments, name) for name in names})


def _text(place: str) -> str:
    try:
        return Path(place).read_text("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError(f"--guideline: {place} is not UTF-8 text; save it as UTF-8") from None
