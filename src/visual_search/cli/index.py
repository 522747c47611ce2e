"""``visual-search index``."""

from __future__ import annotations

import argparse

from visual_search.cli.options import add_json, print_json, stderr
from visual_search.errors import InputError

SUMMARY = "Turn images into an index. Every file seen is accounted for; a killed run goes on where it was."
EXAMPLE = """\
  visual-search index photos/ --out photos.index
  visual-search index 'shoes/**/*.jpg' --out shoes.index --embedder histogram --ids stem
  visual-search index pictures.zip --out pictures.index --engine hnsw --set ef_search=128"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "images",
        nargs="*",
        help="folder, glob, zip or tar, a list (txt, csv, json) of images, or several files and folders",
    )
    parser.add_argument("--out", metavar="INDEX", help="folder of the index")
    parser.add_argument("--embedder", default="efficientnet-lite0", help="see --list-embedders")
    parser.add_argument("--metric", default="cosine", choices=["cosine", "ip", "l2"], help="what a score means")
    parser.add_argument(
        "--engine",
        default="flat",
        help="flat (exact), hnsw, ivf, faiss, hnswlib, usearch, pgvector, or a plug-in's",
    )
    parser.add_argument(
        "--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the engine; may be repeated"
    )
    parser.add_argument(
        "--ids", default="relative", choices=["relative", "stem"], help="call images by relative path or by stem"
    )
    parser.add_argument("--background", default="#ffffff", help="colour behind transparent pictures")
    parser.add_argument("--max-pixels", type=int, default=None, help="pictures with more pixels are left out")
    parser.add_argument("--batch-size", type=int, default=None, help="images a call of the embedder")
    parser.add_argument("--list-embedders", action="store_true", help="list the embedders there are, and stop")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Index and say what became of each file."""
    if arguments.list_embedders:
        return _list_embedders(as_json=arguments.json)
    if not arguments.images or arguments.out is None:
        raise InputError("images and --out are needed: visual-search index photos/ --out photos.index")
    from visual_search.cli.progress import image_progress
    from visual_search.images.decoding import DecodingRules
    from visual_search.workflows.index_images import index_images

    limits = {} if arguments.max_pixels is None else {"max_pixels": arguments.max_pixels}
    with image_progress("indexing", quiet=arguments.json) as progress:
        report = index_images(
            arguments.images[0] if len(arguments.images) == 1 else arguments.images,
            arguments.out,
            embedder=arguments.embedder,
            metric=arguments.metric,
            engine=arguments.engine,
            settings=_settings(arguments.set),
            ids=arguments.ids,
            rules=DecodingRules(background=_colour(arguments.background), **limits),
            batch_size=arguments.batch_size,
            progress=progress,
        )
    if arguments.json:
        print_json(report.as_json())
        return 0
    say = stderr().print
    say(report.ledger.summary(), markup=False)
    for entry in report.ledger.left_out[:20]:
        say(f"  left out {entry.id}: {entry.reason}", markup=False)
    if len(report.ledger.left_out) > 20:
        say(
            f"  ... and {len(report.ledger.left_out) - 20} more; all are in the ledger in {report.path}",
            markup=False,
        )
    print(report.words())
    return 0


def _list_embedders(*, as_json: bool) -> int:
    from visual_search.indexing.embedders.registry import available_embedders

    embedders = available_embedders()
    if as_json:
        print_json(embedders)
    else:
        for name, line in embedders.items():
            print(f"{name:<22} {line}")
    return 0


def _settings(pairs: list[str]) -> dict[str, int | float | str | bool]:
    settings: dict[str, int | float | str | bool] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not name or not equals or not text:
            raise InputError(f"--set {pair!r}: give NAME=VALUE, such as --set ef_search=128")
        settings[name.replace("-", "_")] = _value(text)
    return settings


def _value(text: str) -> int | float | str | bool:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return {"true": True, "false": False}.get(text.lower(), text)


def _colour(text: str) -> tuple[int, int, int]:
    digits = text.removeprefix("#")
    try:
        red, green, blue = bytes.fromhex(digits)
    except ValueError:
        raise InputError(f"--background {text!r}: give a colour as #rrggbb, such as #ffffff") from None
    return red, green, blue
