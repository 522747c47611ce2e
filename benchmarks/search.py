"""Searches per second of the service against bare FAISS on the same structure, in turn in one process.

Run ``python benchmarks/search.py`` on a quiet machine. Both sides take turns, so that a slow moment hits both, and
the ratio of medians is what counts; above .9 for batches is the aim.
"""

from __future__ import annotations

import argparse
import platform
import statistics
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any, TypeAlias

import faiss
import numpy as np
import numpy.typing as npt

from visual_search.indexing.index_table import VectorIndex
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch

Vectors: TypeAlias = npt.NDArray[np.float32]
Turn: TypeAlias = tuple[str, int, Callable[[], object], Callable[[], object]]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--dimension", type=int, default=512)
    parser.add_argument("--queries", type=int, default=2_000, help="queries per batch")
    parser.add_argument("--singles", type=int, default=200, help="single searches per turn")
    parser.add_argument("--k", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--metric", choices=["cosine", "ip", "l2"], default="cosine")
    parser.add_argument("--engine", nargs="+", default=["flat"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()

    machine = platform.processor() or platform.machine()
    print(f"{platform.platform()}, {machine}, {faiss.omp_get_max_threads()} threads")
    print(
        f"python {platform.python_version()}, numpy {np.__version__}, faiss {faiss.__version__}, "
        f"visual-search {version('visual-search')}"
    )
    print(f"{asked.items:,} items x {asked.dimension}, {asked.metric}, seed {asked.seed}, {asked.rounds} rounds\n")
    print(f"{'engine':8} {'k':>4}  {'what':28} {'service/s':>11} {'bare FAISS/s':>13} {'ratio':>6}")
    rng = np.random.default_rng(asked.seed)
    # Clustered, as embeddings are; uniform noise has no neighbours.
    centres = rng.normal(size=(200, asked.dimension)) * 2
    gallery = _around(centres, asked.items, rng)
    queries = _around(centres, asked.queries, rng)
    for engine in asked.engine:
        _measure(engine, gallery, queries, asked)


def _around(centres: npt.NDArray[np.float64], count: int, rng: np.random.Generator) -> Vectors:
    chosen = centres[rng.integers(len(centres), size=count)]
    return (chosen + rng.normal(size=chosen.shape)).astype(np.float32)


def _measure(engine: str, gallery: Vectors, queries: Vectors, asked: argparse.Namespace) -> None:
    index = VectorIndex(gallery.shape[1], asked.metric, engine)
    index.add([f"img_{number:07d}.jpg" for number in range(len(gallery))], gallery)
    service = NearestNeighborSearch(index=index)
    names = [f"img_{number:07d}.jpg" for number in range(len(queries))]
    # The bare side gets what its user would have made once: unit vectors, contiguous.
    ready = np.ascontiguousarray(queries / np.linalg.norm(queries, axis=1, keepdims=True))
    ready = ready.astype(np.float32) if asked.metric == "cosine" else queries
    few = min(asked.singles, len(queries))
    for k in asked.k:
        bare_search = _bare_search(index, k)
        turns: list[Turn] = [
            (
                f"batch of {len(queries):,}",
                len(queries),
                partial(service.search_batch, queries, names, k),
                partial(bare_search, ready, k),
            ),
            (
                "the same, itself excluded",
                len(queries),
                partial(service.search_batch, queries, names, k, exclude="self"),
                partial(bare_search, ready, k + 1),
            ),
            (
                "one by one",
                few,
                partial(_each, service.search, [(queries[i], names[i], k) for i in range(few)]),
                partial(_each, bare_search, [(ready[i : i + 1], k) for i in range(few)]),
            ),
        ]
        for what, count, ours, theirs in turns:
            service_rate, bare_rate = _in_turn(count, ours, theirs, asked.rounds)
            print(
                f"{engine:8} {k:>4}  {what:28} {service_rate:>11,.0f} {bare_rate:>13,.0f} "
                f"{service_rate / bare_rate:>6.3f}"
            )
            sys.stdout.flush()


def _each(search: Callable[..., object], calls: Sequence[tuple[Any, ...]]) -> None:
    for call in calls:
        search(*call)


def _bare_search(index: VectorIndex, k: int) -> Callable[..., object]:
    """Search of the very structure that the index holds, with the settings it searches with."""
    structure: Any = index._engine._structure  # type: ignore[attr-defined]  # noqa: SLF001 - the same data
    if index.engine == "hnsw":
        asked = faiss.SearchParametersHNSW(efSearch=max(int(index.settings["ef_search"]), k))
        return partial(structure.search, params=asked)
    if index.engine == "ivf":
        return partial(structure.search, params=faiss.SearchParametersIVF(nprobe=index.settings["nprobe"]))
    return structure.search  # type: ignore[no-any-return]


def _in_turn(
    count: int, ours: Callable[[], object], theirs: Callable[[], object], rounds: int
) -> tuple[float, float]:
    times: tuple[list[float], list[float]] = ([], [])
    ours()
    theirs()
    for turn in range(rounds):
        for side in (0, 1) if turn % 2 else (1, 0):
            start = time.perf_counter()
            (ours, theirs)[side]()
            times[side].append(time.perf_counter() - start)
    return count / statistics.median(times[0]), count / statistics.median(times[1])


if __name__ == "__main__":
    main()
