"""``visual-search leaks``."""

from __future__ import annotations

import argparse
from functools import partial
from typing import TYPE_CHECKING

from visual_search.cli.options import add_json, print_json
from visual_search.errors import InputError

if TYPE_CHECKING:
    from visual_search.leaks.roles import RoleName

SUMMARY = (
    "Find pictures that stand in two of query, gallery and train: copies, near-duplicates, mirror images. "
    "Exit code 1 when there are any."
)
EXAMPLE = """\
  visual-search leaks --query queries/ --gallery gallery/ -o leaks.html
  visual-search leaks --query q.index --gallery g.index --train train/ --mirrored --save leaks.json
  visual-search leaks --query queries/ --gallery gallery/ --result results.json --qrels dataset.json
  visual-search leaks --gallery gallery/ --within"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    for role, words in (("query", "the queries"), ("gallery", "what is searched"), ("train", "training pictures")):
        parser.add_argument(
            f"--{role}", metavar="IMAGES", help=f"{words}: folder, glob, archive, list, or the folder of an index"
        )
    parser.add_argument("-o", "--out", default="leaks.html", metavar="FILE", help="page with every pair")
    parser.add_argument("--save", metavar="FILE", help="the report as JSON")
    parser.add_argument("--result", metavar="RESULT", help="results JSON: tell its measures without what leaked")
    parser.add_argument(
        "--qrels", metavar="FILE", help="right answers of the result: tell measures with leaked items ignored, too"
    )
    parser.add_argument("--metadata", metavar="TABLE", help="CSV or Parquet of item and group or view or both")
    parser.add_argument("--mirrored", action="store_true", help="look for mirror images, too")
    parser.add_argument("--within", action="store_true", help="look within each role, too")
    parser.add_argument("--radius64", type=int, default=6, metavar="BITS", help="bits of 64 that may differ")
    parser.add_argument("--radius256", type=int, default=32, metavar="BITS", help="bits of 256 that may differ")
    parser.add_argument("--detail", type=float, default=0.975, help="lowest correlation of detail")
    parser.add_argument("--color", type=float, default=16.0, help="largest difference of colour, in levels of 255")
    parser.add_argument("--cosine", type=float, default=None, help="lowest cosine of embeddings; needs indexes")
    parser.add_argument("--max-pairs", type=int, default=20_000, metavar="N", help="pairs listed; all are counted")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Look for leaks; 0 none, 1 some."""
    names: tuple[RoleName, ...] = ("query", "gallery", "train")
    roles = {name: getattr(arguments, name) for name in names if getattr(arguments, name) is not None}
    if not roles:
        raise InputError(
            "--query, --gallery, --train: give two of them, as in visual-search leaks --query queries/ --gallery "
            "gallery/; or one with --within"
        )
    from visual_search.cli.progress import image_progress
    from visual_search.leaks.thresholds import LeakThresholds
    from visual_search.workflows.leaks import check_leaks

    check = check_leaks(
        roles,
        out=arguments.out,
        saved=arguments.save,
        result=arguments.result,
        relevance=arguments.qrels,
        metadata=arguments.metadata,
        thresholds=LeakThresholds(
            arguments.radius64, arguments.radius256, arguments.detail, arguments.color, arguments.cosine
        ),
        mirrored=arguments.mirrored,
        within=arguments.within,
        max_pairs=arguments.max_pairs,
        bar=partial(image_progress, quiet=arguments.json),
    )
    if arguments.json:
        print_json(check.as_json())
    else:
        print(check.words())
    return 0 if check.report.clean else 1
