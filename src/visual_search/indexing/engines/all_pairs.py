"""Every stored vector looked at, in blocks: what an approximate engine falls back on for a few queries."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from visual_search.indexing.engines.contract import Metric
from visual_search.indexing.engines.faiss_answers import in_order

__all__ = ["nearest_of_all"]

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]

_BLOCK_BYTES = 1 << 24


def nearest_of_all(
    metric: Metric, queries: Vectors, k: int, rows: Int64Array, vectors: Callable[[Int64Array], Vectors]
) -> tuple[Int64Array, Vectors]:
    """The k best of all rows, scores summed in float64; of equal ones the lower rows.

    Parameters
    ----------
    metric : "cosine", "ip" or "l2"
    queries : float32 array of shape (n, d)
    k : int
    rows : int64 array
        All that may be returned.
    vectors : callable
        Gives the vectors of some rows.
    """
    found = np.full((len(queries), k), -1, dtype=np.int64)
    scores = np.full((len(queries), k), -np.inf, dtype=np.float32)
    asked = queries.astype(np.float64)
    step = max(1, _BLOCK_BYTES // (8 * queries.shape[1]))
    for start in range(0, len(rows), step):
        block = rows[start : start + step]
        there = vectors(block).astype(np.float64)
        for line, query in enumerate(asked):
            values = 0 - np.sqrt(np.square(query - there).sum(axis=1)) if metric == "l2" else there @ query
            together = np.concatenate([scores[line], values.astype(np.float32)])
            names = np.concatenate([found[line], block])
            order = np.lexsort((np.where(names < 0, np.iinfo(np.int64).max, names), -together))[:k]
            found[line], scores[line] = names[order], together[order]
    return in_order(found, scores)
