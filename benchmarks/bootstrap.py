"""Intervals of 10 measures on 10,000 queries in 1,000 groups, 10,000 resamples, against ten calls of SciPy's bootstrap.

SciPy's (percentile, vectorised) knows no groups: it resamples the 10,000 query values of one measure at a time. Both
run in turn in one process; the ratio, the machine and the versions are printed, and the peak memory of each.

    python benchmarks/bootstrap.py [--queries 10000] [--groups 1000] [--measures 10] [--resamples 10000] [--runs 3]
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy
from scipy.stats import bootstrap

from visual_search.evaluation.provenance import machine, versions
from visual_search.evaluation.statistics.bootstrap import bootstrap_ratios
from visual_search.evaluation.statistics.interval import Resampling

# Resamples of SciPy in memory at a time; all at once would take 800 MB a measure.
SCIPY_BATCH = 100


def timed(work: Callable[[], Any]) -> float:
    """Seconds of one run."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def peak(work: Callable[[], Any]) -> float:
    """Most memory that arrays took during a run, in MB."""
    tracemalloc.start()
    work()
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / 1e6


def main() -> None:
    """Time both in turn and print the ratio."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in (
        ("queries", 10_000),
        ("groups", 1000),
        ("measures", 10),
        ("resamples", 10_000),
        ("runs", 3),
    ):
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    random = np.random.default_rng(0)
    values = random.random((options.queries, options.measures))
    groups = (np.arange(options.queries) % options.groups).tolist()
    ones = np.ones_like(values)

    def ours(method: Any) -> Callable[[], Any]:
        settings = Resampling(resamples=options.resamples, method=method, widened=method == "bca")
        return lambda: bootstrap_ratios(values, ones, groups=groups, resampling=settings)

    def theirs() -> None:
        for column in values.T:
            bootstrap(
                (column,), np.mean, n_resamples=options.resamples, batch=SCIPY_BATCH, vectorized=True,
                method="percentile", rng=np.random.default_rng(0),
            )  # fmt: skip

    ways = {"percentile over groups": ours("percentile"), "widened BCa over groups": ours("bca"), "SciPy": theirs}
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(options.runs):
        for name, work in ways.items():
            taken[name].append(timed(work))
    print(json.dumps({"machine": machine(), "versions": versions() | {"scipy": scipy.__version__}}))
    print(f"load of the machine: {os.getloadavg()[0]:.1f}")
    print(f"{options.queries} queries, {options.groups} groups, {options.measures} measures, "
          f"{options.resamples} resamples; median of {options.runs} runs")  # fmt: skip
    slowest = statistics.median(taken["SciPy"])
    for name, work in ways.items():
        middle = statistics.median(taken[name])
        memory = peak(work)
        print(f"  {name:<26} {middle:8.3f} s   {slowest / middle:6.1f} x   {memory:6.0f} MB")


if __name__ == "__main__":
    main()
