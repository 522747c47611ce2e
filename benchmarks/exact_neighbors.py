"""Exact search against ``faiss.knn``, in turn in one process; and a mapped file larger than its memory.

Run ``python benchmarks/exact_neighbors.py`` on a quiet machine. FAISS has the thread count and the block sizes that are
quickest for it here; its float32 answers are not proven, ours are. What counts is the ratio of medians.
``--route plain`` measures the path without int8 products (``VISUAL_SEARCH_KERNELS=plain`` that without the compiled
core), ``--processor avx2`` the compiled one without VNNI. ``--mapped`` searches 10,000,000 x 128 from a file, is killed
once in the middle, goes on, and checks the answer against an undisturbed search.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import faiss
import numpy as np
import numpy.typing as npt

from visual_search.ground_truth.exact_answers import ExactAnswers
from visual_search.ground_truth.exact_search import search_exactly
from visual_search.ground_truth.packed_gallery import pack_gallery
from visual_search.kernels import compiled_exact, dispatch
from visual_search.kernels.plain_pairs import VectorMetric
from visual_search.kernels.threads import in_threads, thread_count

Vectors: TypeAlias = npt.NDArray[np.float32]

CASES: tuple[tuple[VectorMetric, int, int], ...] = (("l2", 1_000_000, 128), ("inner_product", 200_000, 768))
# Threads of BLAS and OpenMP go on turning for a while after a call, on processors that whoever comes next needs.
_REST = 0.1


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--queries", type=int, default=1_000)
    parser.add_argument("--k", type=int, nargs="+", default=[10, 100])
    parser.add_argument("--scale", type=float, default=1.0, help="share of the full gallery sizes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--clusters", type=int, default=1_000)
    parser.add_argument(
        "--vectors", type=Path, help=".npy of float32 vectors to use instead, the last ones as queries"
    )
    parser.add_argument("--route", choices=["auto", "plain"], default="auto")
    parser.add_argument("--processor", choices=compiled_exact.PROCESSORS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--mapped", action="store_true")
    parser.add_argument("--child", type=Path, help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.child is not None:
        _child(asked)
    elif asked.mapped:
        _mapped(asked)
    else:
        _compare(asked)


def _compare(asked: argparse.Namespace) -> None:
    if asked.route == "plain":
        dispatch.fast_screen = lambda: False
    if asked.processor is not None:
        number = compiled_exact.PROCESSORS.index(asked.processor)
        compiled_exact.best_processor = lambda: number
    print(f"{platform.platform()}, {thread_count()} threads, {dispatch.active()}")
    print(f"python {platform.python_version()}, numpy {np.__version__}, faiss {faiss.__version__}")
    peak = _peak()
    print(f"int8 products reach {peak:,.0f} Gop/s on {thread_count()} threads here\n")
    for metric, full, d in CASES:
        rng = np.random.default_rng(asked.seed)
        if asked.vectors is None:
            centres = rng.normal(size=(asked.clusters, d)).astype(np.float32) * 2
            gallery, queries = _around(centres, int(full * asked.scale), rng), _around(centres, asked.queries, rng)
        else:
            every = np.load(asked.vectors, allow_pickle=False).astype(np.float32)
            gallery, queries = every[: -asked.queries], every[-asked.queries :]
        for k in asked.k:
            _case(metric, gallery, queries, k, asked.rounds, peak)


def _around(centres: Vectors, count: int, rng: np.random.Generator) -> Vectors:
    made = centres[rng.integers(len(centres), size=count)]
    made += rng.standard_normal(size=made.shape, dtype=np.float32)
    return made


def _case(metric: VectorMetric, gallery: Vectors, queries: Vectors, k: int, rounds: int, peak: float) -> None:
    theirs, settings = _tuned_faiss(metric, gallery, queries, k)
    packed = pack_gallery(gallery, metric=metric)
    sides: dict[str, Callable[[], Any]] = {
        "faiss.knn": theirs,
        "exact": lambda: search_exactly(gallery, queries, k, metric=metric),
        "exact, packed before": lambda: search_exactly(packed, queries, k, metric=metric),
    }
    times: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(rounds):
        for name in list(sides)[:: 1 if turn % 2 else -1]:
            time.sleep(_REST)
            begin = time.perf_counter()
            sides[name]()
            times[name].append(time.perf_counter() - begin)
    medians = {name: statistics.median(values) for name, values in times.items()}
    answers = sides["exact"]()
    print(f"{metric}, {len(queries):,} queries x {len(gallery):,} x {gallery.shape[1]}, k = {k}; FAISS: {settings}")
    operations = 2 * len(queries) * gallery.size / 1e9
    for name, median in medians.items():
        print(
            f"  {name:21} {median:8.3f} s  {medians['faiss.knn'] / median:6.2f} x"
            f"  {operations / median:8,.0f} Gop/s  {operations / median / (peak or np.nan):5.2f} of the int8 peak"
        )
    print(
        f"  certified {answers.certified.mean():.4f}, exact evaluations a query: median "
        f"{np.median(answers.evaluations):.0f}, most {answers.evaluations.max()}; float32 sets that were wrong: "
        f"{_wrong_sets(theirs(), answers)}\n"
    )
    sys.stdout.flush()


def _tuned_faiss(
    metric: VectorMetric, gallery: Vectors, queries: Vectors, k: int
) -> tuple[Callable[[], npt.NDArray[np.int64]], str]:
    """FAISS with the quickest of a few block sizes and thread counts."""
    kind = faiss.METRIC_L2 if metric == "l2" else faiss.METRIC_INNER_PRODUCT
    tried = {}

    def search(setting: tuple[int, int, int]) -> npt.NDArray[np.int64]:
        faiss.cvar.distance_compute_blas_threshold = 20
        faiss.cvar.distance_compute_blas_query_bs, faiss.cvar.distance_compute_blas_database_bs = setting[:2]
        faiss.omp_set_num_threads(setting[2])
        found: npt.NDArray[np.int64] = faiss.knn(queries, gallery, k, metric=kind)[1]
        return found

    for setting in itertools.product((256, 1024, 4096), (1024, 4096), sorted({1, thread_count()})):
        begin = time.perf_counter()
        search(setting)
        tried[setting] = time.perf_counter() - begin
    best = min(tried, key=lambda setting: tried[setting])
    return lambda: search(best), f"{best[0]} x {best[1]} blocks, {best[2]} threads"


def _wrong_sets(rows: npt.NDArray[np.int64], answers: ExactAnswers) -> int:
    same = (np.sort(rows, axis=1) == np.sort(answers.positions, axis=1)).all(axis=1)
    return int((~same).sum())


def _peak() -> float:
    """Gop/s of int8 products on all threads: the most of several runs of the instruction alone, on registers."""
    threads, rounds, best = thread_count(), 100_000_000, 0.0

    def multiply(_part: int) -> None:
        compiled_exact.multiply_registers(rounds)

    for _ in range(7):
        begin = time.perf_counter()
        in_threads(multiply, threads)
        operations = threads * compiled_exact.multiply_registers(0) * rounds
        best = max(best, operations / (time.perf_counter() - begin) / 1e9)
    return best


class _Kill:
    """Ends the process in the middle."""

    def __init__(self) -> None:
        self._total, self._seen = 0, 0

    def start(self, total: int | None) -> None:
        self._total = total or 0

    def advance(self, count: int) -> None:
        self._seen += count
        print(f"  {self._seen:,} of {self._total:,} rows", flush=True)
        if "KILL" in os.environ and self._seen > self._total / 2:
            os.kill(os.getpid(), signal.SIGKILL)


def _child(asked: argparse.Namespace) -> None:
    """One search of the mapped file; prints the peak of resident memory."""
    gallery = np.load(asked.child / "gallery.npy", mmap_mode="r")
    queries = np.load(asked.child / "queries.npy", allow_pickle=False)
    checkpoint = asked.child / "checkpoint.npz" if "CHECKPOINT" in os.environ else None
    begin = time.perf_counter()
    answers = search_exactly(gallery, queries, asked.k[0], checkpoint=checkpoint, progress=_Kill())
    peak = _resident_peak() / (1 << 20)
    taken = time.perf_counter() - begin
    print(f"  {taken:.1f} s, {peak:.2f} GB resident at most, all certified: {answers.certified.all()}")
    np.savez(os.environ["ANSWERS"], positions=answers.positions, distances=answers.distances, allow_pickle=False)


def _resident_peak() -> int:
    """KiB. Not getrusage(), which begins with what the process had before it became this program."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmHWM:")))


def _mapped(asked: argparse.Namespace) -> None:
    count = int(10_000_000 * asked.scale)
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as name:
        folder = Path(name)
        rng = np.random.default_rng(asked.seed)
        centres = rng.normal(size=(asked.clusters, 128)).astype(np.float32) * 2
        gallery = np.lib.format.open_memmap(folder / "gallery.npy", mode="w+", dtype=np.float32, shape=(count, 128))
        for first in range(0, count, 100_000):
            gallery[first : first + 100_000] = _around(centres, min(100_000, count - first), rng)
        gallery.flush()
        del gallery
        np.save(folder / "queries.npy", _around(centres, asked.queries, rng))
        again = [sys.executable, __file__, "--child", name, "--k", str(asked.k[0])]
        for what, settings in (
            ("killed in the middle", {"CHECKPOINT": "1", "KILL": "1", "ANSWERS": f"{name}/none"}),
            ("resumed", {"CHECKPOINT": "1", "ANSWERS": f"{name}/resumed"}),
            ("undisturbed", {"ANSWERS": f"{name}/whole"}),
        ):
            print(what, flush=True)
            ended = subprocess.run(again, env=os.environ | settings, check=False).returncode
            assert ended == (-signal.SIGKILL if "KILL" in settings else 0), ended
        with np.load(folder / "resumed.npz") as resumed, np.load(folder / "whole.npz") as whole:
            same = all(np.array_equal(resumed[part], whole[part]) for part in ("positions", "distances"))
        print(f"{count:,} x 128, {asked.queries:,} queries, k = {asked.k[0]}: same answer: {same}")


if __name__ == "__main__":
    main()
