"""Exact neighbours of small data by the definition: every distance, every tie; for tests and examples."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.formats.ragged import offsets_of
from visual_search.ground_truth.exact_answers import ExactAnswers
from visual_search.ground_truth.exact_neighbors import ExactNeighbors, neighbors_of
from visual_search.ground_truth.gallery_ids import GalleryIds
from visual_search.ground_truth.truth_scope import TruthScope

__all__ = ["exact_by_brute_force"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


def exact_by_brute_force(
    gallery: Any,
    queries: Any,
    k: int,
    *,
    metric: Literal["l2", "ip", "cosine"] = "l2",
    gallery_ids: Any = None,
    query_ids: Iterable[Any] | None = None,
    allowed: Sequence[Sequence[int]] | None = None,
    tie_cap: int | None = None,
    scope: TruthScope | None = None,
) -> ExactNeighbors:
    """Compare every query with every item, in float64, one difference at a time.

    Parameters
    ----------
    gallery, queries : array-like of shape (rows, dimension)
    k : int
        From 1 to the gallery's size.
    metric : {"l2", "ip", "cosine"}
    gallery_ids, query_ids : optional
        Row numbers by default.
    allowed : sequence of sequences of int, optional
        For each query the gallery rows that pass its filter; makes a filtered truth.
    tie_cap : int, optional
        Ties beyond the answer that are kept.
    scope : TruthScope, optional
        As for `neighbors_of`.

    Examples
    --------
    >>> truth = exact_by_brute_force([[0.0], [2.0], [2.0], [9.0]], [[1.0]], 2)
    >>> truth.ids.tolist(), truth.ties, truth.distances.tolist()
    ([[0, 1]], [[2]], [[1.0, 1.0]])
    """
    items, asked = np.asarray(gallery), np.asarray(queries)
    ids = GalleryIds(len(items) if gallery_ids is None else gallery_ids)
    distances = _distances(items.astype(np.float64), asked.astype(np.float64), metric)
    if allowed is not None:
        outside = np.ones(distances.shape, dtype=np.bool_)
        for row, rows in enumerate(allowed):
            outside[row, list(rows)] = False
        distances[outside] = np.inf
        scope = TruthScope.filtered([len(rows) for rows in allowed])
    order = np.argsort(distances, axis=1, kind="stable")
    answer, last = order[:, :k], np.take_along_axis(distances, order, axis=1)[:, k - 1]
    beyond = [
        [row for row in np.sort(order[i, k:]).tolist() if np.isfinite(last[i]) and distances[i, row] == last[i]]
        for i in range(len(asked))
    ]
    kept = [rows if tie_cap is None else rows[:tie_cap] for rows in beyond]
    nearest = np.take_along_axis(distances, answer, axis=1)
    answers = ExactAnswers(
        positions=np.where(np.isinf(nearest), -1, answer).astype(np.int64),
        distances=nearest,
        certified=np.ones(len(asked), dtype=np.bool_),
        tie_offsets=offsets_of(np.array([len(rows) for rows in kept], dtype=np.int64)),
        tie_positions=np.array([row for rows in kept for row in rows], dtype=np.int64),
        ties_capped=np.array(
            [len(some) < len(rows) for some, rows in zip(kept, beyond, strict=True)], dtype=np.bool_
        ),
        evaluations=np.full(len(asked), len(items), dtype=np.int64),
    )
    names = list(range(len(asked)) if query_ids is None else query_ids)
    return neighbors_of(
        answers,
        gallery_ids=ids,
        query_ids=names,
        metric=metric,
        gallery_fingerprint=ids.fingerprint_with(items),
        queries_fingerprint=GalleryIds(names).fingerprint_with(asked),
        scope=scope,
    )


def _distances(items: FloatArray, queries: FloatArray, metric: str) -> FloatArray:
    if metric == "l2":
        return np.stack([np.sqrt(((items - query) ** 2).sum(axis=1)) for query in queries])
    if metric == "cosine":
        items = items / np.linalg.norm(items, axis=1, keepdims=True)
        queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    return np.stack([-(items * query).sum(axis=1) for query in queries])
