"""How often what the fast screen supposes is wrong, and how many exact distances it saves, on many kinds of data.

Run ``python benchmarks/supposed_limits.py``. For each kind of data, dimension, metric and k it tells how many queries
needed another way because of what was supposed, and the median of exact distances a query: with the share of the reach
that is supposed, and with all of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.ground_truth import fast_screen
from visual_search.ground_truth.exact_search import search_exactly
from visual_search.ground_truth.plain_screen import PlainScreen
from visual_search.kernels.plain_pairs import VectorMetric

Vectors: TypeAlias = npt.NDArray[np.float64]
Make: TypeAlias = Callable[[np.random.Generator, int, int], Vectors]

METRICS: tuple[VectorMetric, ...] = ("l2", "inner_product", "cosine")


def _clusters(rng: np.random.Generator, n: int, d: int) -> Vectors:
    centres = rng.normal(size=(100, d)) * 2
    return np.asarray(centres[rng.integers(100, size=n)] + rng.normal(size=(n, d)))


def _one_hot(rng: np.random.Generator, n: int, d: int) -> Vectors:
    made = rng.normal(size=(n, d)) * 1e-3
    made[np.arange(n), rng.integers(d, size=n)] += 1
    return made


KINDS: dict[str, Make] = {
    "Gaussian": lambda rng, n, d: rng.normal(size=(n, d)),
    "clusters": _clusters,
    "positive, sparse": lambda rng, n, d: np.maximum(rng.normal(size=(n, d)) - 1, 0) + 1e-6,
    "positive clusters": lambda rng, n, d: np.maximum(_clusters(rng, n, d), 0) + 1e-6,
    "eight dimensions": lambda rng, n, d: rng.normal(size=(n, 8)) @ rng.normal(size=(8, d)),
    "histograms": lambda rng, n, d: rng.dirichlet(np.full(d, 0.05), size=n),
    "one-hot and noise": _one_hot,
    "bytes": lambda rng, n, d: np.rint(np.clip(rng.normal(size=(n, d)) * 40 + 100, 0, 255)),
    "heavy tails": lambda rng, n, d: rng.standard_t(2, size=(n, d)),
    "zeros and ones": lambda rng, n, d: np.maximum(rng.random((n, d)) < 0.2, np.arange(d) == 0).astype(float),
}


class _Counted:
    """Counts queries that take the plain path."""

    def __init__(self) -> None:
        self.queries = 0
        search = PlainScreen.search

        def counted(screen: PlainScreen, block: Any, queries: Any, nearest: Any, chosen: Any) -> None:
            self.queries += len(chosen)
            search(screen, block, queries, nearest, chosen)

        PlainScreen.search = counted  # type: ignore[method-assign, assignment]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--gallery", type=int, default=20_000)
    parser.add_argument("--queries", type=int, default=500)
    parser.add_argument("--dimensions", type=int, nargs="+", default=[32, 128, 512])
    parser.add_argument("--k", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--deviations", type=float, default=fast_screen.SUPPOSED)
    asked = parser.parse_args()
    counted, rng, all_failed, searches = _Counted(), np.random.default_rng(0), 0, 0
    for name, make in KINDS.items():
        for d in asked.dimensions:
            vectors = make(rng, asked.gallery + asked.queries, d).astype(np.float32)
            gallery, queries = vectors[: asked.gallery], vectors[asked.gallery :]
            print(f"{name}, {d} dimensions")
            for metric in METRICS:
                told = []
                for k in asked.k:
                    plain, medians = [], []
                    for fast_screen.SUPPOSED in (asked.deviations, float("inf")):
                        counted.queries = 0
                        answers = search_exactly(gallery, queries, k, metric=metric)
                        plain.append(counted.queries)
                        medians.append(float(np.median(answers.evaluations)))
                    failed = max(plain[0] - plain[1], 0)
                    all_failed, searches = all_failed + failed, searches + asked.queries
                    told.append(f"k = {k}: {failed} failed, {medians[0]:.0f} distances for {medians[1]:.0f}")
                print(f"  {metric:14}", "; ".join(told), flush=True)
    print(f"{all_failed} of {searches:,} searches of a query failed")


if __name__ == "__main__":
    main()
