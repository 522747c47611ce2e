"""``visual-search directions``."""

from __future__ import annotations

import argparse

from visual_search.cli.options import add_json, add_measures, print_json, stderr

SUMMARY = (
    "Measure vectors under a split in both directions, pooled over the queries of both, with intervals over groups and "
    "the paired difference of the directions."
)
EXAMPLE = """\
  visual-search directions embeddings.npy split.json
  visual-search directions photos.index split.json HitRate@1
  visual-search directions images.npy captions.split.json HitRate@1 HitRate@10 --ids images.txt --gallery-vectors texts.npy --gallery-ids texts.txt"""  # noqa: E501 - a command is one line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "vectors",
        metavar="VECTORS",
        help="file of vectors (npy, fvecs, fbin, HDF5, Parquet, ...) or index, one row an item",
    )
    parser.add_argument("split", metavar="SPLIT", help="what 'visual-search split' wrote; it is proven again")
    add_measures(parser, "text forms; a textbook's hit rates and AP where left out")
    parser.add_argument(
        "--ids",
        metavar="FILE",
        help="text file, the id of each row; the file's own, else row numbers, where left out",
    )
    parser.add_argument("--gallery-vectors", metavar="FILE", help="the gallery's vectors, where they are elsewhere")
    parser.add_argument("--gallery-ids", metavar="FILE", help="ids of their rows")
    parser.add_argument("--metric", choices=["cosine", "ip", "l2"], default="cosine", help="what similar means")
    parser.add_argument("--seed", type=int, default=0, help="seed of the intervals")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Measure and print."""
    from visual_search.workflows.directions import directions_of_files

    found = directions_of_files(
        arguments.vectors,
        arguments.split,
        [*arguments.measures, *arguments.measure] or None,
        ids=arguments.ids,
        gallery_vectors=arguments.gallery_vectors,
        gallery_ids=arguments.gallery_ids,
        metric=arguments.metric,
        seed=arguments.seed,
    )
    if arguments.json:
        print_json(found.as_json())
        return 0
    protocol = found.pooled.protocol or {}
    print(f"{protocol.get('name')}: {protocol.get('words')}")
    print(found.summary())
    say = stderr().print
    for note in dict.fromkeys((*found.there.notes, *found.back.notes, *protocol.get("warnings", ()))):
        say(note, markup=False)
    if marks := (protocol.get("proof") or {}).get("allowed"):
        say(f"NOT A PROVEN SPLIT; allowed by name: {', '.join(marks)}", markup=False)
    return 0
