"""Nearest rows by FAISS's float32 products, with its process-wide settings put back afterwards."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["nearest_by_products"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
Vectors: TypeAlias = npt.NDArray[np.float32]

_settings = Lock()
_LEAST_QUERIES = 16  # from here on a matrix product is worth its preparation
_BLOCK = 1024, 4096  # queries and rows that are multiplied together; up to a tenth quicker than FAISS's own


def nearest_by_products(
    queries: Vectors, rows: Vectors, k: int, *, products: bool, threads: int
) -> tuple[Vectors, Int64Array]:
    """Values and places of the k rows nearest to each query, nearest first; smaller is nearer.

    Parameters
    ----------
    queries, rows : float32 arrays of shape (n, d) and (m, d)
    k : int
        At most m.
    products : bool
        Whether nearness is the inner product, whose negative is the value; else squared distance.
    threads : int
    """
    import faiss

    metric = faiss.METRIC_INNER_PRODUCT if products else faiss.METRIC_L2
    with _settings, _tuned(queries.shape[1], threads):
        values, places = faiss.knn(queries, rows, k, metric=metric)
    return -values if products else values, places


@contextmanager
def _tuned(d: int, threads: int) -> Iterator[None]:
    """FAISS multiplies matrices only from 128,000 numbers on, and is four times slower below; another search of this
    process that runs meanwhile may differ in its last bits, as it may between batches of two sizes.
    """  # noqa: D205 - one sentence
    import faiss

    settings, threads_before = faiss.cvar, faiss.omp_get_max_threads()
    names = "threshold", "query_bs", "database_bs"
    before = [getattr(settings, f"distance_compute_blas_{name}") for name in names]
    wanted = min(before[0], _LEAST_QUERIES * d), *_BLOCK
    try:
        for name, value in zip(names, wanted, strict=True):
            setattr(settings, f"distance_compute_blas_{name}", value)
        faiss.omp_set_num_threads(threads)
        yield
    finally:
        for name, value in zip(names, before, strict=True):
            setattr(settings, f"distance_compute_blas_{name}", value)
        faiss.omp_set_num_threads(threads_before)
