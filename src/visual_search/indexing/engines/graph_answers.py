"""Answers of graph libraries made whole: rows with -1 where there are none, scores, and no list short by the walk."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.indexing.engines.contract import Metric
from visual_search.indexing.engines.faiss_answers import in_order

__all__ = ["answers_from", "made_whole"]

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]
Walk: TypeAlias = Callable[[Vectors, int], tuple[Int64Array, Vectors]]


def answers_from(metric: Metric, rows: Int64Array, distances: Vectors) -> tuple[Int64Array, Vectors]:
    """Rows and scores in order, from what hnswlib and usearch return.

    Both give 1 - product for inner products, and squared distances; a row of -1 has no score.
    """
    wide = distances.astype(np.float64)
    wide = 0 - np.sqrt(np.maximum(wide, 0)) if metric == "l2" else 1 - wide
    if metric == "cosine":
        wide = np.clip(wide, -1, 1)
    scores = np.where(rows < 0, -np.inf, wide).astype(np.float32)
    return in_order(rows, scores)


def made_whole(
    rows: Int64Array, scores: Vectors, queries: Vectors, live: int, look_at_all: Walk
) -> tuple[Int64Array, Vectors]:
    """Look at every live vector for the queries whose walk found fewer than there are."""
    k = rows.shape[1]
    short = np.flatnonzero((rows >= 0).sum(axis=1) < min(k, live))
    if short.size:
        rows[short], scores[short] = look_at_all(queries[short], k)
    return rows, scores
