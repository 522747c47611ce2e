"""``visual-search judge agreement``."""

from __future__ import annotations

import argparse

from visual_search.cli.options import add_json, print_json

WORDS = "how far judges agree, what they differ on, and what that does to scores"
EXAMPLE = """\
  visual-search judge agreement judgements.db
  visual-search judge agreement judgements.db old=old.json new=new.json --measure nDCG@10 --rule median
  visual-search judge agreement marks.csv run.trec --measure AP@20 --measure Precision@5 --groups groups.tsv --json"""

# The library's own list stands in judging/aggregation.py, whose import takes NumPy; a test holds them equal.
RULES = ["adjudicated", "majority", "median", "mean", "min", "max", "agreed"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "judgements",
        metavar="JUDGEMENTS",
        help="store (SQLite file or PostgreSQL URL), Parquet, or CSV with judge, query, item, grade",
    )
    parser.add_argument(
        "runs", metavar="RANKING", nargs="*", help="result, TREC run or Parquet file; NAME=FILE names the system"
    )
    parser.add_argument(
        "--measure", metavar="MEASURE", action="append", default=[], help="text form; may be given several times"
    )
    parser.add_argument("--rule", choices=RULES, default="adjudicated", help="how several grades become one")
    parser.add_argument(
        "--ties", choices=["expected", "listed", "id_desc", "id_asc"], default=None, help="what is done with ties"
    )
    parser.add_argument("--groups", metavar="FILE", help="table of query and group: intervals over groups")
    parser.add_argument("--disagreements", type=int, default=10, metavar="N", help="so many are shown")
    parser.add_argument(
        "--judges-per-pair", type=int, default=1, metavar="N", help="for the forecast of judgements needed"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the resamples")
    parser.add_argument("--report", metavar="FILE", help="write it as an HTML page as well")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Look at the judgements and print what there is to say."""
    from visual_search.evaluation.statistics.interval import Resampling
    from visual_search.formats.outputs import refuse_overwriting
    from visual_search.workflows.judge_agreement import judge_agreement, study_words, write_agreement_page

    refuse_overwriting({"--report": arguments.report}, [arguments.judgements, *arguments.runs, arguments.groups])
    study = judge_agreement(
        arguments.judgements,
        arguments.runs,
        arguments.measure,
        rule=arguments.rule,
        ties=arguments.ties,
        groups=arguments.groups,
        judges_per_pair=arguments.judges_per_pair,
        resampling=Resampling(seed=arguments.seed),
    )
    if arguments.report:
        write_agreement_page(study, arguments.report)
    if arguments.json:
        print_json(study.as_json())
    else:
        print(study_words(study, listed=arguments.disagreements))
    return 0
