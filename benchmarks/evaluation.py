"""Evaluation of 10,000 queries x the first 100 items: seconds beyond the search, and what they are spent on.

The search itself is replaced by a service that hands out a ranking made beforehand, so that all that is timed is
evaluation: checks, join, measures with intervals, random baseline, ceilings, audit. Writing is timed apart.

    python benchmarks/evaluation.py [--queries 10000] [--depth 100] [--gallery 100000] [--relevant 10] [--runs 5]
"""

from __future__ import annotations

import argparse
import cProfile
import json
import os
import pstats
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.evaluator import EvaluationDataset, ModelEvaluator
from visual_search.evaluation.provenance import machine, versions
from visual_search.ids import Id, Ids
from visual_search.rankings.ranking import Ranking


class ReadyService:
    """Gives the same ranking whatever is asked."""

    def __init__(self, ranking: Ranking) -> None:
        self.gallery_ids = ranking.items
        self.ranking = ranking

    def search(self, query_vec: Any, query_id: Any, k: int) -> Any:
        """Never called, since batches are offered."""
        raise AssertionError((query_vec, query_id, k))

    def search_batch(self, vectors: npt.NDArray[np.float32], query_ids: Sequence[Id], k: int) -> Ranking:
        """Give the ranking made beforehand."""
        assert len(vectors) == len(query_ids) == len(self.ranking)
        assert k >= int(self.ranking.lengths.max())
        return self.ranking


def made(options: argparse.Namespace) -> tuple[EvaluationDataset, ReadyService, dict[Id, Any]]:
    """Random lists, half of each query's relevant items in its list."""
    random = np.random.default_rng(0)
    gallery = Ids([f"folder/img_{row:07d}.jpg" for row in range(options.gallery)], what="gallery")
    queries = Ids([f"q{row:06d}" for row in range(options.queries)], what="queries")
    stride = options.gallery // options.depth
    rows = random.integers(0, stride, size=(options.queries, options.depth))
    rows += random.permutation(options.depth)[None, :] * stride  # distinct within a list
    scores = np.sort(random.random((options.queries, options.depth), dtype=np.float32), axis=1)[:, ::-1]
    offsets = np.arange(options.queries + 1) * options.depth
    ranking = Ranking(queries, gallery, offsets, rows.ravel(), np.ascontiguousarray(scores).ravel())
    half = options.relevant // 2
    found = rows[:, random.permutation(options.depth)[:half]]
    elsewhere = random.integers(0, options.gallery, size=(options.queries, options.relevant - half))
    truth = [list(dict.fromkeys(gallery.take(row.tolist()))) for row in np.hstack((found, elsewhere))]
    dataset = EvaluationDataset.from_dict(
        {"queries": [{"query_id": q, "ground_truth": items} for q, items in zip(queries, truth, strict=True)]}
    )
    vectors = random.random((options.queries, 8), dtype=np.float32)
    return dataset, ReadyService(ranking), dict(zip(queries, vectors, strict=True))


def timed(work: Callable[[], object], runs: int) -> str:
    """Seconds of some runs after a first one that is not counted; CPU seconds tell what a busy machine hides."""
    work()
    wall, cpu = [], []
    for _ in range(runs):
        start, start_cpu = time.perf_counter(), time.process_time()
        work()
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - start_cpu)
    between = f"{min(wall):.3f}-{max(wall):.3f}"
    return f"{statistics.median(wall):.3f} s ({between}), {statistics.median(cpu):.3f} CPU s"


def main() -> None:
    """Time and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (("queries", 10_000), ("depth", 100), ("gallery", 100_000), ("relevant", 10), ("runs", 5)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--profile", action="store_true", help="print where the time goes")
    options = parser.parse_args()
    dataset, service, vectors = made(options)
    evaluator = ModelEvaluator(service, model_name="ready")
    k_values = sorted({1, 5, 10, 20, options.depth})

    def evaluate() -> Any:
        return evaluator.evaluate(dataset, k_values, vectors)

    with tempfile.TemporaryDirectory() as folder:
        seconds = {
            "evaluate": timed(evaluate, options.runs),
            "record": timed(lambda: evaluate().record, options.runs),
            "evaluate, record and write all files": timed(
                lambda: evaluate().to_json(Path(folder) / "results.json"), options.runs
            ),
        }
    load = os.getloadavg()[0]
    print(json.dumps({"machine": machine(), "versions": versions()}), f"load of the machine: {load:.1f}", sep="\n")
    print(
        f"{options.queries} queries x {options.depth} of {options.gallery} items, {options.relevant} relevant each"
    )
    print(f"median of {options.runs} runs (least-most)")
    for what, spent in seconds.items():
        print(f"  {what:40} {spent}")
    if options.profile:
        profile = cProfile.Profile()
        profile.runcall(evaluate)
        pstats.Stats(profile).sort_stats("cumulative").print_stats(35)


if __name__ == "__main__":
    main()
