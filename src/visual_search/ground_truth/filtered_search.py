"""Exact answers where each query sees only a part of the gallery."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.formats.ragged import offsets_of
from visual_search.ground_truth.exact_answers import ExactAnswers
from visual_search.ground_truth.exact_merge import merge
from visual_search.ground_truth.exact_search import SearchProgress, search_exactly
from visual_search.ground_truth.query_filters import FilteredRows
from visual_search.ground_truth.vector_checks import ExactMetric

__all__ = ["search_filtered"]

AnyArray: TypeAlias = npt.NDArray[Any]
Int64Array: TypeAlias = npt.NDArray[np.int64]


def search_filtered(
    gallery: AnyArray,
    queries: AnyArray,
    k: int,
    allowed: FilteredRows,
    *,
    metric: ExactMetric,
    memory_bytes: int = 1 << 30,
    tie_cap: int = 100,
    progress: SearchProgress | None = None,
) -> ExactAnswers:
    """The k nearest of each query among the rows that pass its filter, with proof.

    Queries with one filter are searched together. An answer is as long as its filter allows; the places after its end
    have position -1 and distance infinity. Other parameters and errors as for `search_exactly`; ``progress`` is told
    queries.

    Examples
    --------
    >>> from visual_search.ground_truth.gallery_ids import GalleryIds
    >>> from visual_search.ground_truth.query_filters import filtered_rows
    >>> gallery, queries = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [0.0]])
    >>> allowed = filtered_rows([[1, 2], [2]], GalleryIds(3), 2)
    >>> search_filtered(gallery, queries, 2, allowed, metric="l2").positions.tolist()
    [[1, 2], [2, -1]]
    """
    count = len(queries)
    positions = np.full((count, k), -1, dtype=np.int64)
    distances = np.full((count, k), np.inf)
    ties: list[Int64Array] = [np.empty(0, dtype=np.int64)] * count
    capped, evaluations = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.int64)
    certified = np.ones(count, dtype=np.bool_)  # where nothing is allowed, nothing is missed
    if progress is not None:
        progress.start(count)
    for numbers, rows in allowed.groups():
        depth = min(k, len(rows))
        if depth:
            found = _search_rows(gallery, queries[numbers], depth, rows, metric, memory_bytes, tie_cap)
            positions[numbers, :depth] = rows[found.positions]
            distances[numbers, :depth] = found.distances
            evaluations[numbers], certified[numbers] = found.evaluations, found.certified
            if depth == k:
                capped[numbers] = found.ties_capped
                for place, number in enumerate(numbers.tolist()):
                    ties[number] = rows[found.tied(place)]
        if progress is not None:
            progress.advance(len(numbers))
    return ExactAnswers(
        positions=positions,
        distances=distances,
        certified=certified,
        tie_offsets=offsets_of(np.array([len(tied) for tied in ties], dtype=np.int64)),
        tie_positions=np.concatenate(ties) if ties else np.empty(0, dtype=np.int64),
        ties_capped=capped,
        evaluations=evaluations,
    )


def _search_rows(
    gallery: AnyArray,
    queries: AnyArray,
    k: int,
    rows: Int64Array,
    metric: ExactMetric,
    memory_bytes: int,
    tie_cap: int,
) -> ExactAnswers:
    """Search chosen rows in parts that fit into half of the memory, and join what was found."""
    step = max(1, memory_bytes // 2 // max(1, gallery.shape[1] * gallery.dtype.itemsize))
    parts = [rows[first : first + step] for first in range(0, len(rows), step)]
    answers = [
        search_exactly(
            np.ascontiguousarray(gallery[part]),
            queries,
            min(k, len(part)),
            metric=metric,
            memory_bytes=max(memory_bytes // 2, 1 << 24),
            tie_cap=tie_cap,
        )
        for part in parts
    ]
    return answers[0] if len(answers) == 1 else merge(answers, [len(part) for part in parts], k, tie_cap=tie_cap)
