"""Twenty measures of one run beside pytrec_eval, ir_measures and ranx, and full rankings beside their matrix product.

Ours and a peer run in turn; printed are medians, the ratio of the medians, peak memory, and beside each line the limit:
the time that reading the bytes once, or the product alone, takes here. Ours gives the exact expectation under ties, the
peers one order.

    python benchmarks/measures.py [--only arrays dicts files cold similarity] [--queries 10000] [--depth 1000] ...

``files`` and ``cold`` start a process for each tool (``benchmarks/peers/from_files.py``); ranx is run by the
interpreter that ``--ranx-python`` names, by default this one, and left out where it is not installed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytrec_eval
from peers.from_files import OURS, PYTREC_EVAL

from visual_search import IdLists, Relevance, evaluate, evaluate_similarity
from visual_search.evaluation.provenance import machine, versions
from visual_search.kernels.dispatch import active

WORKER = Path(__file__).parent / "peers" / "from_files.py"
Arrays = tuple[npt.NDArray[Any], ...]
SIMILARITY_MEASURES = ("AP", "nDCG@10", "RR", "HitRate@1", "Recall@100")


def made(options: argparse.Namespace) -> Arrays:
    """Item ids and falling scores of every list, some equal; judged items of each query with grades 0 to 2."""
    random = np.random.default_rng(0)
    stride = options.gallery // options.depth
    items = random.integers(0, stride, (options.queries, options.depth))
    items += random.permutation(options.depth)[None] * stride  # distinct within a list
    scores = -np.sort(-random.random((options.queries, options.depth)).round(4), axis=1)
    places = np.argsort(random.random((options.queries, options.depth)), axis=1)[:, : options.judged]
    judged = np.take_along_axis(items, places, axis=1)
    return items, scores, judged, random.integers(0, 3, judged.shape)


def in_turn(runs: int, *works: Callable[[], float]) -> list[float]:
    """Median seconds of each work, which tells its own; one after the other, so many times."""
    seconds = [[work() for work in works] for _ in range(runs)]
    return [statistics.median(column) for column in zip(*seconds, strict=True)]


def timed(work: Callable[[], object]) -> Callable[[], float]:
    """The work as one that tells its wall time."""

    def measured() -> float:
        start = time.perf_counter()
        work()
        return time.perf_counter() - start

    return measured


def line(name: str, ours: float, theirs: float, peer: str, limit: str = "") -> None:
    """Print one comparison."""
    print(f"{name:34s} ours {ours:8.3f} s  {peer} {theirs:8.3f} s  ratio {theirs / ours:6.2f}  {limit}", flush=True)


def seconds_to_read(array_bytes: int) -> float:
    """How long this machine takes to look at so many bytes once, one thread."""
    block = np.zeros(1 << 25, dtype=np.uint8)
    fastest = min(timed(lambda: np.bitwise_or.reduce(block))() for _ in range(5))
    return fastest * array_bytes / block.nbytes


def in_memory(options: argparse.Namespace, data: Arrays) -> None:
    """From arrays of integer ids, and from dictionaries of dictionaries."""
    items, scores, judged, grades = data
    queries = [f"q{row}" for row in range(options.queries)]
    run = {
        query: dict(zip(map(str, mine), values, strict=True))
        for query, mine, values in zip(queries, items.tolist(), scores.tolist(), strict=True)
    }
    qrels = {
        query: dict(zip(map(str, mine), values, strict=True))
        for query, mine, values in zip(queries, judged.tolist(), grades.tolist(), strict=True)
    }
    pairs = np.repeat(np.arange(options.queries), options.judged)

    def from_arrays() -> object:
        relevance = Relevance.from_arrays(pairs, judged.ravel(), grades.ravel())
        return evaluate(IdLists(items, scores), relevance, OURS)

    peer = timed(lambda: pytrec_eval.RelevanceEvaluator(qrels, PYTREC_EVAL).evaluate(run))
    if "arrays" in options.only:
        ours, theirs = in_turn(options.runs, timed(from_arrays), peer)
        limit = seconds_to_read(items.nbytes + scores.nbytes)
        line("arrays of integer ids", ours, theirs, "pytrec_eval", f"reading the arrays {limit:.3f} s")
    if "dicts" in options.only:
        ours, theirs = in_turn(options.runs, timed(lambda: evaluate(run, qrels, OURS)), peer)
        walk = timed(lambda: [np.fromiter(scored.values(), float, len(scored)) for scored in run.values()])()
        line("dictionaries of dictionaries", ours, theirs, "pytrec_eval", f"walking the scores {walk:.3f} s")


def written(folder: Path, data: Arrays) -> tuple[Path, Path]:
    """The same as TREC files."""
    items, scores, judged, grades = data
    run, qrels = folder / "run", folder / "qrels"
    with run.open("w") as stream:
        for row, (mine, values) in enumerate(zip(items.tolist(), scores.tolist(), strict=True)):
            stream.writelines(
                f"q{row} Q0 d{item} {rank} {score!r} t\n"
                for rank, (item, score) in enumerate(zip(mine, values, strict=True), 1)
            )
    with qrels.open("w") as stream:
        for row, (mine, values) in enumerate(zip(judged.tolist(), grades.tolist(), strict=True)):
            stream.writelines(f"q{row} 0 d{item} {grade}\n" for item, grade in zip(mine, values, strict=True))
    return run, qrels


def worker(tool: str, run: Path, qrels: Path, python: str = sys.executable, **environment: str) -> dict[str, float]:
    """One tool on two files in a process of its own: seconds from start to end, and its peak memory."""
    start = time.perf_counter()
    command = [python, str(WORKER), tool, str(run), str(qrels)]
    done = subprocess.run(command, check=True, capture_output=True, env=os.environ | environment)
    seconds = time.perf_counter() - start
    found: dict[str, float] = json.loads(done.stdout)
    return found | {"seconds": seconds}


def has_ranx(python: str) -> bool:
    """Whether that interpreter has ranx."""
    return subprocess.run([python, "-c", "import ranx"], capture_output=True, check=False).returncode == 0


def from_files(options: argparse.Namespace, data: Arrays) -> None:
    """From TREC files, each tool in a fresh process."""
    with tempfile.TemporaryDirectory() as folder:
        run, qrels = written(Path(folder), data)
        tools: dict[str, Callable[[], dict[str, float]]] = {
            "ours": lambda: worker("ours", run, qrels),
            "ours, plain": lambda: worker("ours", run, qrels, VISUAL_SEARCH_KERNELS="plain"),
            "pytrec_eval": lambda: worker("pytrec_eval", run, qrels),
            "ir_measures": lambda: worker("ir_measures", run, qrels),
        }
        if has_ranx(options.ranx_python):
            cache = {"NUMBA_CACHE_DIR": folder}
            tools["ranx, warm cache"] = lambda: worker("ranx", run, qrels, options.ranx_python, **cache)
            tools["ranx, warm cache"]()
        found = {tool: [start() for _ in range(options.runs)] for tool, start in tools.items()}
        limit = f"reading the file {seconds_to_read(run.stat().st_size):.3f} s"
    seconds = {tool: statistics.median(each["seconds"] for each in runs) for tool, runs in found.items()}
    memory = {tool: max(each["mb"] for each in runs) for tool, runs in found.items()}
    for tool in tools:
        if not tool.startswith("ours"):
            line("TREC files, fresh process", seconds["ours"], seconds[tool], tool, limit)
            line("  the plain path", seconds["ours, plain"], seconds[tool], tool)
    shares = ", ".join(f"{tool} {mb:.0f} MB ({mb / memory['pytrec_eval']:.2f})" for tool, mb in memory.items())
    print(f"  peak memory, and share of pytrec_eval's: {shares}")
    print(f"  AP: ours {found['ours'][0]['ap']:.6f} (expected), pytrec_eval {found['pytrec_eval'][0]['ap']:.6f}")


def cold(options: argparse.Namespace) -> None:
    """A small run, from the start of a process that has nothing cached."""
    small = argparse.Namespace(queries=50, depth=100, gallery=10_000, judged=16)
    with tempfile.TemporaryDirectory() as folder:
        run, qrels = written(Path(folder), made(small))
        score = [sys.executable, "-m", "visual_search", "score", str(run), str(qrels), "nDCG@10", "AP"]
        works = [timed(lambda: subprocess.run(score, check=True, capture_output=True))]
        if subprocess.run([*score[:4], "--help"], capture_output=True, check=False).returncode:
            works = [lambda: worker("ours", run, qrels)["seconds"]]
        ours, theirs = in_turn(options.runs, *works, lambda: worker("pytrec_eval", run, qrels)["seconds"])
        line("small run, cold", ours, theirs, "pytrec_eval")
        if has_ranx(options.ranx_python):
            with tempfile.TemporaryDirectory() as empty:
                first = worker("ranx", run, qrels, options.ranx_python, NUMBA_CACHE_DIR=empty)["seconds"]
            line("small run, cold", ours, first, "ranx, first call")


def similarity(options: argparse.Namespace) -> None:
    """Full rankings by label, beside the matrix product alone."""
    for relevant in options.relevant:
        against_the_product(options, relevant)


def against_the_product(options: argparse.Namespace, relevant: int) -> None:
    """So many relevant items a query."""
    n, size, d = options.similarity
    random = np.random.default_rng(0)
    classes = size // relevant
    labels, wanted = np.arange(size) % classes, random.integers(0, classes, n)
    centres = random.standard_normal((classes, d), dtype=np.float32) * np.float32(0.1)
    gallery, queries = (random.standard_normal((rows, d), dtype=np.float32) for rows in (size, n))
    gallery += centres[labels]
    queries += centres[wanted]
    relevance = Relevance.from_labels(wanted, labels)
    room = np.empty((512, size), dtype=np.float32)

    def product() -> None:
        for first in range(0, len(queries), 512):
            part = queries[first : first + 512]
            np.matmul(part, gallery.T, out=room[: len(part)])

    def ours() -> None:
        evaluate_similarity(queries, gallery, relevance, SIMILARITY_MEASURES)

    alone, mine = in_turn(options.runs, timed(product), timed(ours))
    flops = 2 * n * size * d
    print(
        f"{n} x {size} at d = {d}, {relevant:5d} relevant   ours {mine:7.3f} s  product alone {alone:7.3f} s "
        f"({flops / alone / 1e9:.0f} GFLOP/s, {gallery.nbytes / 1e6:.0f} MB gallery)  times the product "
        f"{mine / alone:.2f}  peak memory so far {peak_megabytes() - room.nbytes / 2**20:.0f} MiB beside its own",
        flush=True,
    )


def peak_megabytes() -> float:
    """Most memory this process has held."""
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024


def main() -> None:
    """Run what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    lines = ("similarity", "cold", "files", "arrays", "dicts")
    parser.add_argument("--only", nargs="+", choices=lines, default=lines, help="which lines (default: all)")
    for name, default in (
        ("queries", 10_000),
        ("depth", 1_000),
        ("gallery", 1_000_000),
        ("judged", 16),
        ("runs", 5),
    ):
        parser.add_argument(f"--{name}", type=int, default=default, help=f"default: {default}")
    parser.add_argument("--similarity", type=int, nargs=3, default=(5_000, 50_000, 512), metavar=("N", "SIZE", "D"))
    parser.add_argument("--relevant", type=int, nargs="+", default=(50, 5_000), help="relevant items a query")
    parser.add_argument("--ranx-python", default=sys.executable, help="an interpreter that has ranx")
    options = parser.parse_args()
    print(json.dumps({**machine(), **versions(), "kernels": active().name}))
    print(f"{options.queries} queries x {options.depth} results, {options.judged} judged, {len(OURS)} measures")
    if "similarity" in options.only:
        similarity(options)
    if "cold" in options.only:
        cold(options)
    data = made(options) if {"arrays", "dicts", "files"} & set(options.only) else ()
    if "files" in options.only:
        from_files(options, data)
    if {"arrays", "dicts"} & set(options.only):
        in_memory(options, data)


if __name__ == "__main__":
    main()
