"""Ground truth that others computed, made one's own: checked against its vectors, its distances made exact."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, first_few
from visual_search.formats.neighbors import NeighborFile, read_neighbors
from visual_search.ground_truth.distance_meaning import DistanceMeaning, distance_meaning
from visual_search.ground_truth.distance_readings import pair_readings
from visual_search.ground_truth.exact_answers import ExactAnswers
from visual_search.ground_truth.exact_neighbors import ExactNeighbors, neighbors_of
from visual_search.ground_truth.metric_names import MetricName, metric_name, searched_metric
from visual_search.ground_truth.provenance import installed_versions
from visual_search.ground_truth.truth_vectors import truth_vectors
from visual_search.ids import Ids
from visual_search.kernels.plain_pairs import pair_distances

__all__ = ["adopt_neighbors"]

AnyArray: TypeAlias = npt.NDArray[Any]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]

_PAIRS = 1 << 16


def adopt_neighbors(
    path: str | os.PathLike[str],
    gallery: Any,
    queries: Any,
    *,
    k: int | None = None,
    metric: MetricName | None = None,
    gallery_ids: Any = None,
    query_ids: Iterable[Any] | None = None,
    holds_ids: bool = False,
    sample: int = 100,
    seed: int = 0,
) -> tuple[ExactNeighbors, DistanceMeaning]:
    """Take ground truth from a file of ``ivecs``, ``ibin``, ann-benchmarks HDF5 or ``npy``.

    What the file's distances mean is found out on a sample of queries (`distance_meaning`), which also shows whether
    the file is of these vectors. Then every distance is computed again in float64 and the lists are put in order.

    Parameters
    ----------
    path : path
    gallery, queries : array-like, memmap or path
        The vectors it was made for.
    k : int, optional
        Depth to keep; all there is by default. More than there is is refused.
    metric : str, optional
        What it will be used for; by default what the file says or its distances show.
    gallery_ids, query_ids : optional
        As for `exact_neighbors`.
    holds_ids : bool
        Whether the file has the gallery's ids, and not row numbers.
    sample, seed : int
        Queries that are looked at, and the seed that draws them.

    Returns
    -------
    truth : ExactNeighbors
        Not certified: that no nearer item was left out is likely and not proven. Ties beyond the lists are unknown, so
        that every query counts as capped.
    meaning : DistanceMeaning

    Raises
    ------
    FingerprintError
        The file is of other vectors or of another metric.
    InputError, DepthError, FileFormatError
        Lists with empty places (a filtered truth, whose filters the file does not have); too shallow; not whole.
    """
    items = truth_vectors(gallery, gallery_ids, what="gallery")
    asked = truth_vectors(queries, query_ids, what="queries")
    known = Ids(items.ids.take(range(len(items))), what="gallery_ids") if holds_ids else len(items)
    file = read_neighbors(path, k=k, gallery=known)
    short = np.flatnonzero((file.positions < 0).any(axis=1))
    if short.size:
        raise InputError(
            f"{file.path}: {short.size} lists are shorter than {file.depth}, first {first_few(short.tolist())}: a "
            "filtered truth, whose filters the file does not have; compute it with exact_neighbors(..., allowed=)"
        )
    asked_for = None if metric is None else metric_name(metric)
    meaning = distance_meaning(file, items.vectors, asked.vectors, metric=asked_for, sample=sample, seed=seed)
    truth = neighbors_of(
        _answers(file, items.vectors, asked.vectors, meaning.metric),
        gallery_ids=items.ids,
        query_ids=asked.ids.take(range(len(asked))),
        metric=meaning.metric,
        gallery_fingerprint=items.fingerprint,
        queries_fingerprint=asked.fingerprint,
        versions={
            **installed_versions(),
            "adopted from": f"{file.path.name} ({meaning.meaning or 'no distances'})",
        },
    )
    return truth, meaning


def _answers(file: NeighborFile, gallery: AnyArray, queries: AnyArray, metric: str) -> ExactAnswers:
    count, depth = file.positions.shape
    distances = np.empty((count, depth))
    step = max(1, _PAIRS // depth)
    for first in range(0, count, step):
        part = slice(first, first + step)
        distances[part] = _distances(gallery, queries[part], file.positions[part], metric)
    order = np.lexsort((file.positions, distances), axis=1)
    return ExactAnswers(
        positions=np.take_along_axis(file.positions, order, axis=1),
        distances=np.take_along_axis(distances, order, axis=1),
        certified=np.zeros(count, dtype=np.bool_),
        tie_offsets=np.zeros(count + 1, dtype=np.int64),
        tie_positions=np.empty(0, dtype=np.int64),
        ties_capped=np.ones(count, dtype=np.bool_),
        evaluations=np.full(count, depth, dtype=np.int64),
    )


def _distances(gallery: AnyArray, queries: AnyArray, positions: Int64Array, metric: str) -> FloatArray:
    asked = np.asarray(queries)
    if metric in ("hamming", "jaccard"):
        pairs = pair_readings(
            asked[:, None, :], np.asarray(gallery[positions.ravel()]).reshape(*positions.shape, -1)
        )
        return pairs.differing if metric == "hamming" else np.nan_to_num(pairs.jaccard, nan=0.0)
    rows, place = np.unique(positions, return_inverse=True)
    found = np.asarray(gallery[rows])
    query_of = np.repeat(np.arange(len(asked)), positions.shape[1])
    flat = pair_distances(
        found,
        asked,
        place.ravel().astype(np.int64),
        query_of,
        metric=searched_metric(metric),  # type: ignore[arg-type]
    )
    return flat.reshape(positions.shape)
