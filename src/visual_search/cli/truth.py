"""``visual-search truth``."""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from visual_search.cli.options import add_json, byte_count, print_json, stderr
from visual_search.errors import InputError

SUMMARY = (
    "The exact nearest neighbours of queries, certified and kept in one file: build it, verify that it belongs to some "
    "vectors (exit code 1 where not), hold an index's answers against it, tell what is in it."
)
EXAMPLE = """\
  visual-search truth build gallery.npy queries.npy --k 100 --metric cosine -o truth.npz
  visual-search truth build faces.index queries.npy --k 10 -o truth.npz
  visual-search truth build gallery.npy queries.npy --allowed filters.json -o filtered.npz
  visual-search truth build base.fbin queries.fbin --adopt groundtruth.ibin --metric l2 -o truth.npz
  visual-search truth verify truth.npz gallery.npy queries.npy --recompute 20
  visual-search truth recall run.trec truth.npz -k 1 10
  visual-search truth recall returned.npy truth.npz -k 10 --qrels qrels.trec --report recall.html
  visual-search truth info truth.npz"""

_VECTORS = "vectors: npy, fvecs, fbin, u8bin, Parquet..., data.hdf5:train, or the folder of an index"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the four verbs and their options."""
    verbs = parser.add_subparsers(dest="task", metavar="TASK", required=True)
    build = _task(verbs, "build", "compute the truth, or take over another's with --adopt")
    build.add_argument("gallery", metavar="GALLERY", help=_VECTORS)
    build.add_argument("queries", metavar="QUERIES", nargs="+", help="one set of queries, or several")
    build.add_argument("-o", "--out", required=True, metavar="FILE", help="the file; of several sets the folder")
    build.add_argument("-k", "--k", type=int, default=None, help="neighbours of each query; 100 where left out")
    build.add_argument(
        "--metric",
        default=None,
        choices=["l2", "ip", "inner_product", "cosine", "hamming", "jaccard"],
        help="what is near; that of the index or file where left out, else l2",
    )
    build.add_argument(
        "--sample", type=int, default=None, metavar="N", help="look only among N items drawn at random"
    )
    build.add_argument("--seed", type=int, default=0, help="of the sample")
    build.add_argument(
        "--allowed",
        metavar="FILE",
        help="which items each query may find: JSON of query id to item ids, or npy of bool (queries, gallery)",
    )
    build.add_argument("--memory", default="1GB", metavar="SIZE", help="for blocks of the gallery, as 512MB or 2GB")
    build.add_argument(
        "--checkpoint", metavar="DIR", help="where a killed search goes on from; beside the output where left out"
    )
    build.add_argument("--adopt", metavar="FILE", help="another's truth: ivecs, ibin, HDF5 or npy")
    build.add_argument("--holds-ids", action="store_true", help="the adopted file has ids and not row numbers")
    add_json(build)
    verify = _task(verbs, "verify", "whether a truth is of these vectors, and right")
    verify.add_argument("truth", metavar="TRUTH", help="file written by truth build")
    verify.add_argument("gallery", metavar="GALLERY", help=_VECTORS)
    verify.add_argument("queries", metavar="QUERIES", help="the queries")
    verify.add_argument(
        "--recompute",
        type=int,
        default=0,
        metavar="N",
        help="compute N queries again, by every distance in float64",
    )
    verify.add_argument("--seed", type=int, default=0, help="of the queries that are computed again")
    add_json(verify)
    _add_recall(_task(verbs, "recall", "the recall of what an index returned, query by query, and whom it fails"))
    info = _task(verbs, "info", "what is in a truth")
    info.add_argument("truth", metavar="TRUTH", help="file written by truth build")
    add_json(info)


def _add_recall(recall: argparse.ArgumentParser) -> None:
    recall.add_argument(
        "returned", metavar="RUN", help="TREC, Parquet or JSON run, or ids as npy, ivecs or ibin, a line a query"
    )
    recall.add_argument("truth", metavar="TRUTH", help="file written by truth build")
    recall.add_argument("-k", "--k", nargs="+", type=int, default=[10], metavar="K", help="depths")
    recall.add_argument(
        "--qrels", metavar="FILE", help="right answers: tells the index's loss apart from its vectors'"
    )
    recall.add_argument("--worst", type=int, default=10, metavar="N", help="so many queries are named")
    recall.add_argument("--threshold", type=float, default=0.9, help="the share of queries below it is told")
    recall.add_argument("--report", metavar="FILE", help="HTML page of all this")
    add_json(recall)


def _task(verbs: Any, name: str, words: str) -> argparse.ArgumentParser:
    example = "\n".join(line for line in EXAMPLE.splitlines() if f"truth {name}" in line)
    made: argparse.ArgumentParser = verbs.add_parser(
        name,
        help=words,
        description=f"{words[:1].upper()}{words[1:]}.",
        epilog=f"example:\n{example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    return made


def run(arguments: argparse.Namespace) -> int:
    """Build, verify, hold against, or tell."""
    return {"build": _build, "verify": _verify, "recall": _recall, "info": _info}[arguments.task](arguments)


def _bar(arguments: argparse.Namespace) -> Any:
    from visual_search.cli.progress import work_progress

    return partial(work_progress, unit="rows", quiet=arguments.json)


def _build(arguments: argparse.Namespace) -> int:
    from visual_search.formats.outputs import refuse_overwriting
    from visual_search.ground_truth.truth_facts import truth_words
    from visual_search.workflows.truth_build import adopt_truth, build_truths

    several = len(arguments.queries) > 1
    # Other files, and folders where one file goes, are refused where they are met.
    refuse_overwriting({"--out": arguments.out}, [arguments.adopt], folders=True)
    if arguments.adopt:
        if several or arguments.sample is not None or arguments.allowed or arguments.checkpoint:
            raise InputError("--adopt: takes one set of queries and none of --sample, --allowed, --checkpoint")
        built = [
            adopt_truth(
                arguments.adopt,
                arguments.gallery,
                arguments.queries[0],
                arguments.out,
                k=arguments.k,
                metric=arguments.metric,
                holds_ids=arguments.holds_ids,
            )
        ]
    else:
        from visual_search.ground_truth.gallery_sample import GallerySample

        if arguments.holds_ids:
            raise InputError("--holds-ids: says what an adopted file has; give it with --adopt")
        built = build_truths(
            arguments.gallery,
            arguments.queries,
            arguments.out,
            k=100 if arguments.k is None else arguments.k,
            metric=arguments.metric,
            sample=None if arguments.sample is None else GallerySample(arguments.sample, arguments.seed),
            allowed=arguments.allowed,
            memory_bytes=byte_count(arguments.memory, "--memory"),
            checkpoint=arguments.checkpoint,
            bar=_bar(arguments),
        )
    if arguments.json:
        print_json([one.as_json() for one in built])
        return 0
    for one in built:
        if one.meaning is not None:
            stderr().print(
                f"{arguments.adopt}: its distances are: {one.meaning.meaning or 'none'}, under {one.meaning.metric}",
                markup=False,
            )
        print(truth_words(one.truth))
        print(f"{one.path} ({one.origin})")
    return 0


def _verify(arguments: argparse.Namespace) -> int:
    from visual_search.workflows.truth_verify import verify_truth

    with _bar(arguments)("computing again") as progress:
        check = verify_truth(
            arguments.truth,
            arguments.gallery,
            arguments.queries,
            recompute=arguments.recompute,
            seed=arguments.seed,
            progress=progress,
        )
    if arguments.json:
        print_json(check.as_json())
    else:
        print(check.words())
    return 0 if check.passed else 1


def _recall(arguments: argparse.Namespace) -> int:
    from visual_search.workflows.truth_recall import recall_of_file

    found = recall_of_file(
        arguments.returned,
        arguments.truth,
        k=arguments.k,
        qrels=arguments.qrels,
        report=arguments.report,
        threshold=arguments.threshold,
        worst=arguments.worst,
    )
    shown = {"threshold": arguments.threshold, "worst": arguments.worst}
    if arguments.json:
        print_json(found.as_json(**shown))
    else:
        print(found.text(**shown))
        if arguments.report is not None:
            stderr().print(f"report: {arguments.report}", markup=False)
    return 0


def _info(arguments: argparse.Namespace) -> int:
    from visual_search.ground_truth.exact_neighbors import ExactNeighbors
    from visual_search.ground_truth.truth_facts import truth_facts, truth_words

    truth = ExactNeighbors.load(arguments.truth)
    if arguments.json:
        print_json(truth_facts(truth))
    else:
        print(truth_words(truth))
    return 0
