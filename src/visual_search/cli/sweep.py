"""``visual-search sweep``."""

from __future__ import annotations

import argparse
from functools import partial

from visual_search.cli.options import add_json, print_json, stderr

SUMMARY = (
    "Measure engines under many settings on the same vectors: quality per query, latency, throughput, memory. "
    "Each point is stored as it finishes; run again, a killed sweep goes on."
)
EXAMPLE = """\
  visual-search sweep --vectors base.npy --queries q.npy --truth truth.npz --engine 'hnsw(m=16)' \
--set ef_search=16,32,64 -o sweep.jsonl
  visual-search sweep --vectors base.fvecs --queries q.fvecs --truth truth.npz --engine hnsw --engine 'ivf(nlist=256)' \
--set ef_search=16,64 --set nprobe=1,4,16 -o sweeps/
  visual-search sweep --vectors g.parquet --queries q.parquet --qrels qrels.txt --metric cosine --engine hnsw \
--set ef_search=16,64 --measure HitRate@10 --rate 200 -o sweep.jsonl
  visual-search sweep --vectors base.npy --queries q.npy --truth truth.npz --engine hnsw --engine usearch \
--set ef_search=64,4096 --time-limit 600 -o sweep.jsonl"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options."""
    parser.add_argument(
        "--vectors", required=True, metavar="FILE", help="the gallery: npy, fvecs, fbin, HDF5, Parquet"
    )
    parser.add_argument("--queries", required=True, metavar="FILE", help="the queries, likewise")
    parser.add_argument("--truth", metavar="FILE", help="exact neighbours; used only if they are of these vectors")
    parser.add_argument("--qrels", metavar="FILE", help="right answers: TREC qrels, Parquet or JSON")
    parser.add_argument(
        "--engine",
        action="append",
        required=True,
        metavar="ENGINE",
        default=None,
        help="text form, as in 'hnsw(m=16)' or 'faiss(factory=IVF64,PQ8np)'; may be given several times",
    )
    parser.add_argument(
        "--set",
        action="append",
        metavar="SETTING=VALUES",
        default=[],
        help="values to try, as in ef_search=16,32 for every structure that has a use for them, or ivf.nprobe=1,4 for "
        "one engine; all combinations",
    )
    parser.add_argument(
        "-o",
        "--out",
        required=True,
        metavar="FILE",
        help="file of the points; in a folder (sweeps/), a name is made",
    )
    parser.add_argument("-k", "--k", type=int, default=10, help="neighbours a query")
    parser.add_argument(
        "--metric", choices=["cosine", "ip", "l2"], default=None, help="that of the truth if left out"
    )
    parser.add_argument(
        "--measure",
        action="append",
        metavar="MEASURE",
        default=[],
        help="text form, may be given several times; NeighborRecall@k and HitRate@k where left out",
    )
    parser.add_argument("--threads", type=int, default=1, help="threads of a search")
    parser.add_argument("--no-costs", action="store_true", help="measure quality alone, and no time")
    parser.add_argument(
        "--rate", type=float, metavar="QPS", help="measure latency at this many queries a second, too"
    )
    parser.add_argument(
        "--time-limit",
        type=float,
        metavar="SECONDS",
        help="give a setting up whose build, or what is measured under it, takes longer, and go on with the next; no "
        "limit if left out",
    )
    parser.add_argument("--seed", type=int, default=0, help="of the order of points and queries")
    add_json(parser)


def run(arguments: argparse.Namespace) -> int:
    """Sweep and print the table."""
    from visual_search.cli.progress import count_progress
    from visual_search.formats.outputs import refuse_overwriting
    from visual_search.workflows.sweep import read_sweep_data, sweep_files

    refuse_overwriting(
        {"--out": arguments.out},
        [arguments.vectors, arguments.queries, arguments.truth, arguments.qrels],
        folders=True,
    )
    data = read_sweep_data(
        arguments.vectors,
        arguments.queries,
        k=arguments.k,
        metric=arguments.metric,
        truth=arguments.truth,
        relevance=arguments.qrels,
        measures=arguments.measure,
    )
    try:
        found = sweep_files(
            data,
            arguments.engine,
            arguments.set,
            out=arguments.out,
            threads=arguments.threads,
            costs=not arguments.no_costs,
            rate=arguments.rate,
            seed=arguments.seed,
            time_limit=arguments.time_limit,
            bar=partial(count_progress, quiet=arguments.json),
            tell=None if arguments.json else partial(stderr().print, markup=False),
        )
    except KeyboardInterrupt:
        kept = f"what is measured stands in {arguments.out}; the same command again goes on from there"
        stderr().print(kept, markup=False, soft_wrap=True)
        raise
    if arguments.json:
        print_json(found.as_json() | {"file": str(found.file)})
        return 0
    for measure in found.measures:
        print(found.table(measure))
    if arguments.rate is not None:
        for point in found.points:
            print(f"{point.label}: {point.loaded_words()}")
    for note in found.notes:
        stderr().print(note, markup=False)
    stderr().print(f"sweep: {found.file}", markup=False)
    return 0
