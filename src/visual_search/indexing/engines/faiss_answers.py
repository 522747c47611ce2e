"""FAISS's distances and positions made into scores and rows, in one stated order."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from visual_search.indexing.engines.contract import Metric

__all__ = ["in_order", "nothing_found", "scores_from"]

Int64Array = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float32]


def scores_from(metric: Metric, values: Scores, positions: Int64Array) -> Scores:
    """Scores, higher is better, from what FAISS returns; -inf where the position is -1.

    Under ``l2`` FAISS returns squared distances, which rounding may leave a little below zero: the score is minus
    the root of what is clipped at zero. Under ``cosine`` the inner product of unit vectors is clipped to [-1, 1].
    """
    if metric == "l2":
        scores = np.maximum(values, np.float32(0))
        np.sqrt(scores, out=scores)
        np.subtract(np.float32(0), scores, out=scores)  # 0 - 0 is 0, where -(0) would print as -0.0
    elif metric == "cosine":
        scores = np.clip(values, np.float32(-1), np.float32(1))
    else:
        scores = values
    padded = positions < 0
    if padded[:, -1].any():  # FAISS pads at the end, so the last column tells
        scores[padded] = -np.inf
    return scores


def in_order(rows: Int64Array, scores: Scores) -> tuple[Int64Array, Scores]:
    """Sort each line by falling score and, among equal scores, by rising row.

    Lines that are in order already (nearly all) cost two comparisons; only the others are sorted.
    """
    if rows.shape[1] < 2:
        return rows, scores
    left, right = scores[:, :-1], scores[:, 1:]
    wrong = right > left
    wrong |= (right == left) & (rows[:, 1:] < rows[:, :-1]) & (rows[:, 1:] >= 0)
    lines = np.flatnonzero(wrong.any(axis=1))
    if lines.size:
        some_rows, some_scores = rows[lines], scores[lines]
        # Padding carries -inf, below every score, so it stays at the end.
        order = np.lexsort((some_rows, -some_scores), axis=-1)
        rows[lines] = np.take_along_axis(some_rows, order, axis=1)
        scores[lines] = np.take_along_axis(some_scores, order, axis=1)
    return rows, scores


def nothing_found(queries: int, k: int) -> tuple[Int64Array, Scores]:
    """The answer of an empty engine."""
    return np.full((queries, k), -1, dtype=np.int64), np.full((queries, k), -np.inf, dtype=np.float32)
