"""Twenty measures of one run, beside pytrec_eval on the same numbers: from arrays, from dictionaries, from TREC files.

Each pair runs in turn in one process and the medians' ratio is printed; the file routes run in fresh processes, with
their peak memory. Ours gives the exact expectation under ties, theirs one order.

    python benchmarks/measures.py [--queries 10000] [--depth 1000] [--gallery 1000000] [--judged 16] [--runs 3]
"""

from __future__ import annotations

import argparse
import json
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

from visual_search import Ranking, Relevance, evaluate
from visual_search.evaluation.provenance import machine, versions

THEIRS = {
    "map",
    "map_cut.10,100",
    "ndcg",
    "ndcg_cut.10,100",
    "P.5,10,100",
    "recall.10,100,1000",
    "recip_rank",
    "Rprec",
    "bpref",
    "success.1,5,10",
}
OURS = [
    *("AP", "AP@10", "AP@100", "nDCG", "nDCG@10", "nDCG@100", "Precision@5", "Precision@10", "Precision@100"),
    *(
        "Recall@10",
        "Recall@100",
        "Recall@1000",
        "RR",
        "RPrecision",
        "Bpref",
        "HitRate@1",
        "HitRate@5",
        "HitRate@10",
    ),
    *("RR@10", "nDCG(gain=exponential)@10"),
]


def made(options: argparse.Namespace) -> tuple[npt.NDArray[Any], ...]:
    """Item ids and falling scores of every list, some equal; judged items of each query with grades 0 to 2."""
    random = np.random.default_rng(0)
    stride = options.gallery // options.depth
    items = random.integers(0, stride, (options.queries, options.depth))
    items += random.permutation(options.depth)[None] * stride  # distinct within a list
    scores = -np.sort(-random.random((options.queries, options.depth)).round(4), axis=1)
    places = np.argsort(random.random((options.queries, options.depth)), axis=1)[:, : options.judged]
    judged = np.take_along_axis(items, places, axis=1)
    return items, scores, judged, random.integers(0, 3, judged.shape)


def median_seconds(work: Callable[[], object], runs: int) -> float:
    """Median wall time of some runs."""
    seconds = []
    for _ in range(runs):
        start = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def compared(name: str, ours: float, theirs: float) -> None:
    """Print one line."""
    print(f"{name:46s} ours {ours:7.3f} s   pytrec_eval {theirs:7.3f} s   {theirs / ours:5.2f} times faster")


def in_memory(options: argparse.Namespace, data: tuple[npt.NDArray[Any], ...]) -> None:
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
    theirs = median_seconds(lambda: pytrec_eval.RelevanceEvaluator(qrels, THEIRS).evaluate(run), options.runs)
    pairs = np.repeat(np.arange(options.queries), options.judged)

    def from_arrays() -> object:
        relevance = Relevance.from_arrays(pairs, judged.ravel(), grades.ravel())
        return evaluate(Ranking.from_arrays(items, scores), relevance, OURS)

    ranking = Ranking.from_arrays(items, scores)
    relevance = Relevance.from_arrays(pairs, judged.ravel(), grades.ravel())
    compared(
        "ranking and relevance made: evaluate",
        median_seconds(lambda: evaluate(ranking, relevance, OURS), options.runs),
        theirs,
    )
    compared("arrays of integer ids", median_seconds(from_arrays, options.runs), theirs)

    compared(
        "dictionaries of dictionaries",
        median_seconds(lambda: evaluate(run, qrels, OURS), options.runs),
        theirs,
    )


def in_fresh_processes(data: tuple[npt.NDArray[Any], ...]) -> None:
    """From TREC files, each tool in a process of its own."""
    items, scores, judged, grades = data
    with tempfile.TemporaryDirectory() as folder:
        run, qrels = Path(folder, "run"), Path(folder, "qrels")
        with run.open("w") as stream:
            for row, (mine, values) in enumerate(zip(items.tolist(), scores.tolist(), strict=True)):
                lines = (
                    f"q{row} Q0 d{item} {rank} {s!r} t\n"
                    for rank, (item, s) in enumerate(zip(mine, values, strict=True), 1)
                )
                stream.writelines(lines)
        with qrels.open("w") as stream:
            for row, (mine, values) in enumerate(zip(judged.tolist(), grades.tolist(), strict=True)):
                stream.writelines(f"q{row} 0 d{item} {grade}\n" for item, grade in zip(mine, values, strict=True))
        found = {tool: _fresh(tool, run, qrels) for tool in ("ours", "theirs")}
    compared("TREC files, fresh process", found["ours"]["seconds"], found["theirs"]["seconds"])
    print(f"  peak memory: ours {found['ours']['mb']:.0f} MB, pytrec_eval {found['theirs']['mb']:.0f} MB")
    print(f"  mean AP: ours {found['ours']['ap']:.6f} (expected), pytrec_eval {found['theirs']['ap']:.6f}")


def _fresh(tool: str, run: Path, qrels: Path) -> dict[str, float]:
    start = time.perf_counter()
    done = subprocess.run([sys.executable, __file__, "--only", tool, run, qrels], check=True, capture_output=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found | {"seconds": time.perf_counter() - start}


def only(tool: str, run: str, qrels: str) -> None:
    """One tool on two files; prints what it found."""
    if tool == "ours":
        ap = evaluate(Ranking.from_trec(run), Relevance.from_trec(qrels), OURS)["AP"].mean
    else:
        with Path(run).open() as run_lines, Path(qrels).open() as qrel_lines:
            evaluator = pytrec_eval.RelevanceEvaluator(pytrec_eval.parse_qrel(qrel_lines), THEIRS)
            values = evaluator.evaluate(pytrec_eval.parse_run(run_lines))
        ap = sum(found["map"] for found in values.values()) / len(values)
    print(json.dumps({"ap": ap, "mb": peak_megabytes()}))


def peak_megabytes() -> float:
    """Most memory this process has held; the kernel's other count goes on from the process it was started by."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmHWM:")[1].split()[0]) / 1024


def main() -> None:
    """Run all of it."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name, default in (
        ("queries", 10_000),
        ("depth", 1_000),
        ("gallery", 1_000_000),
        ("judged", 16),
        ("runs", 3),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--only", nargs=3, metavar=("TOOL", "RUN", "QRELS"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.only:
        only(*options.only)
        return
    print(json.dumps({**machine(), **versions()}))
    print(
        f"{options.queries} queries x {options.depth} results, {options.judged} judged each, {len(OURS)} measures"
    )
    data = made(options)
    in_memory(options, data)
    in_fresh_processes(data)


if __name__ == "__main__":
    main()
