"""Which of several equal scores stand above the cut at k: those of the lowest rows, whatever k was asked.

FAISS keeps some k of the best; which of those tied at the cut is its heap's affair. One place more is fetched, so
that a tie across the cut shows, and the few queries that have one are searched deeper until it ends.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["nearest_past_ties"]

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]
Search: TypeAlias = Callable[[Vectors, int], tuple[Int64Array, Vectors]]

_DEEPER = 16
_PLACES = 1 << 22  # fetched at once while ties are followed


def nearest_past_ties(
    search: Search, queries: Vectors, k: int, most: int, *, least_queries: int = 1
) -> tuple[Int64Array, Vectors]:
    """The k best rows and scores of each query, the lowest rows among equals at the cut too.

    Parameters
    ----------
    search : callable
        From queries and a depth to rows and scores in order, padded with -1 and -inf.
    queries : float32 array of shape (n, d)
    k : int
    most : int
        Depth at which there is nothing more to find.
    least_queries : int
        Queries searched again come in batches of at least so many where memory allows, by repetition: an engine that
        sums large batches in another way would else give other last bits.

    Returns
    -------
    (int64 array, float32 array), both of shape (n, k)
    """
    if most <= k:
        return search(queries, k)
    rows, scores = search(queries, k + 1)
    tied = np.flatnonzero((scores[:, k - 1] == scores[:, k]) & (rows[:, k] >= 0))
    rows, scores = np.ascontiguousarray(rows[:, :k]), np.ascontiguousarray(scores[:, :k])
    depth = k + 1
    while tied.size and depth < most:
        depth = min(_DEEPER * depth, most)
        step = max(1, _PLACES // depth)
        unsettled = []
        for start in range(0, len(tied), step):
            lines = tied[start : start + step]
            asked = np.resize(lines, max(len(lines), min(least_queries, step)))
            found = search(queries[asked], depth)
            deep_rows, deep_scores = (part[: len(lines)] for part in found)
            rows[lines], scores[lines] = deep_rows[:, :k], deep_scores[:, :k]
            on = (deep_scores[:, k - 1] == deep_scores[:, -1]) & (deep_rows[:, -1] >= 0)
            unsettled.append(lines[on])
        tied = np.concatenate(unsettled)
    return rows, scores
