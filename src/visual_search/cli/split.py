"""``visual-search split``."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from visual_search.cli.command_words import command_words
from visual_search.cli.options import add_json, print_json, stderr
from visual_search.errors import FileFormatError, InputError, ProofError

if TYPE_CHECKING:
    from visual_search.workflows.split import AnySplit

SUMMARY = (
    "Split a metadata table into queries and gallery, or into parts, by a named protocol, and prove what it promises; "
    "'split check FILE' proves a written split again. Exit code 1 where the proof fails."
)
EXAMPLE = """\
  visual-search split metadata.csv --protocol by-view --group scene_id --view view_id --query 0 --gallery 1 --where split=test -o split.json
  visual-search split metadata.csv --protocol parts-by-group --group scene_id --shares train=.7,test=.3 -o parts.json
  visual-search split check split.json"""  # noqa: E501 - a command is one line

_NAMES = (
    "by-view",
    "leave-one-out",
    "one-query-per-group",
    "re-identification",
    "landmarks",
    "within-radius",
    "image-text",
    "random-images",
    "parts-by-group",
    "parts-by-column",
    "parts-of-random-images",
    "group-folds",
)
_OWN = (
    *("metadata", "protocol", "out", "json", "dataset", "image"),
    *("where", "shares", "junk"),
    "allow_shared_groups",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "metadata", metavar="METADATA", nargs="+", help="CSV or Parquet, one row an item; or: check FILE"
    )
    parser.add_argument(
        "--protocol",
        choices=_NAMES,
        default=None,
        help="how queries and gallery are chosen, or "
        "parts are made; by scene or person: parts-by-group; one view against another: by-view",
    )
    for name, what in (
        ("item", "column of ids; row numbers where left out"),
        ("group", "column of the scene or identity; of the caption's image"),
        ("view", "column of the view or camera"),
        ("label", "column of classes"),
        ("partition", "column of the part: query and gallery, train and test"),
        ("difficulty", "column of easy, hard and junk"),
        ("query-column", "column of the query of a pair (landmarks)"),
    ):
        parser.add_argument(f"--{name}", metavar="COLUMN", default=None, help=what)
    parser.add_argument("--query", metavar="VALUE", default=None, help="view or part that asks")
    parser.add_argument("--gallery", metavar="VALUE", default=None, help="view or part that is searched")
    parser.add_argument(
        "--where", metavar="COLUMN=VALUE", action="append", default=[], help="rows to look at; may repeat"
    )
    parser.add_argument(
        "--relevant",
        choices=["same-group", "same-class-other-group", "shared-label"],
        default=None,
        help="what a right answer is; the group where left out",
    )
    parser.add_argument(
        "--label-separator", metavar="TEXT", default=None, help="what parts several labels of an item"
    )
    parser.add_argument(
        "--unanswered",
        choices=["fail", "leave out"],
        default=None,
        help="what is done with queries without a right answer; the protocol's own rule where left out",
    )
    parser.add_argument(
        "--junk", metavar="VALUE", action="append", default=[], help="identity that is nobody; may repeat"
    )
    parser.add_argument("--level", choices=["easy", "medium", "hard"], default=None, help="difficulty of landmarks")
    parser.add_argument(
        "--places", metavar="COLUMN", nargs=2, default=None, help="columns of latitude and longitude, or of metres"
    )
    parser.add_argument("--coordinates", choices=["degrees", "metres"], default=None, help="what the places are in")
    parser.add_argument("--metres", type=float, default=None, help="radius of right answers; 25 where left out")
    parser.add_argument(
        "--shares", metavar="NAME=SHARE,...", default=None, help="parts and their shares of the items"
    )
    parser.add_argument("--folds", type=int, default=None, help="number of folds; 5 where left out")
    parser.add_argument("--queries", type=int, default=None, help="number of queries drawn (random-images)")
    parser.add_argument("--seed", type=int, default=None, help="seed of what is drawn")
    parser.add_argument(
        "--allow-shared-groups", action="store_true", help="make a random split nevertheless, and mark it"
    )
    parser.add_argument(
        "--dataset",
        metavar="FILE",
        help="write queries and right answers for 'visual-search evaluate --split' as well",
    )
    parser.add_argument("--image", metavar="COLUMN", help="column of image paths, for the dataset's queries")
    parser.add_argument("-o", "--out", metavar="FILE", help="write the split; .parquet, else JSON")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Make or check a split, and show its proof."""
    words = arguments.metadata
    checking = len(words) == 2 and words[0] == "check"
    if not checking and (len(words) != 1 or arguments.protocol is None):
        raise InputError("give METADATA and --protocol, or: check FILE")
    from visual_search.workflows.split import make_splits, save_splits, write_dataset

    try:
        splits = (
            [_checked(words[1])] if checking else make_splits(words[0], arguments.protocol, _options(arguments))
        )
    except ProofError as refused:
        return _refused(command_words(str(refused)), as_json=arguments.json)
    holds = all(split.proof.holds for split in splits)
    written = save_splits(splits, arguments.out) if arguments.out and holds and not checking else []
    if arguments.dataset and holds:
        made = write_dataset(
            splits, arguments.dataset, None if checking else words[0], arguments.item, arguments.image
        )
        written.append(made)
    if arguments.json:
        records = [split.record() for split in splits]
        print_json({"holds": holds, "splits": records, "files": [str(path) for path in written]})
    else:
        print("\n\n".join(split.summary() for split in splits))
    say = stderr().print
    for path in written:
        say(f"written: {path}", markup=False)
    if not holds:
        say("the proof fails; nothing was written", markup=False)
    return 0 if holds else 1


def _checked(path: str) -> AnySplit:
    from visual_search.evaluation.protocols.split_files import read_split

    try:
        return read_split(path)
    except FileFormatError as problem:
        # To find that a file no longer proves what it says is what the check is for.
        raise ProofError(str(problem)) from problem


def _refused(message: str, *, as_json: bool) -> int:
    if as_json:
        print_json({"holds": False, "error": {"verb": "split", "type": "ProofError", "message": message}})
    else:
        stderr().print(message, markup=False)
    return 1


def _options(arguments: argparse.Namespace) -> dict[str, Any]:
    options = {name: value for name, value in vars(arguments).items() if name not in _OWN}
    options["where"] = _pairs(arguments.where, "--where COLUMN=VALUE") or None
    options["junk"] = arguments.junk or None
    options["allow_shared_groups"] = arguments.allow_shared_groups or None
    options["places"] = tuple(arguments.places) if arguments.places else None
    if arguments.shares is not None:
        options["shares"] = _shares(arguments.shares)
    return options


def _pairs(texts: list[str], form: str) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for text in texts:
        name, equal, value = text.partition("=")
        if not (name and equal and value):
            raise InputError(f"{text!r}: write it as {form}")
        found.setdefault(name, []).append(value)
    return found


def _shares(text: str) -> dict[str, float]:
    pairs = _pairs(text.split(","), "--shares NAME=SHARE,NAME=SHARE")
    try:
        return {name: sum(map(float, values)) for name, values in pairs.items()}
    except ValueError:
        raise InputError(f"--shares {text}: shares are numbers, as in train=.7,test=.3") from None
