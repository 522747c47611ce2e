"""Whether an index holds what a truth was made of, and is asked what the truth was asked."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import FingerprintError, InputError, first_few
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.ground_truth.metric_names import searched_metric
from visual_search.indexing.index_table import VectorIndex
from visual_search.kernels.plain_pairs import pair_distances

__all__ = ["check_index"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_QUERIES, _NEIGHBORS = 200, 10
# An engine may keep vectors in half precision; other vectors are farther off than this.
_APART, _ROUNDING = 0.01, 2e-3


def check_index(index: VectorIndex, queries: Any, truth: ExactNeighbors) -> npt.NDArray[Any]:
    """Refuse an index, or queries, of another truth, and give the queries as the engine takes them.

    Parameters
    ----------
    index : VectorIndex
    queries : array-like of shape (n, dimension)
        The truth's, in its order.
    truth : ExactNeighbors

    Returns
    -------
    array of shape (n, dimension)
        float32, or packed codes.

    Raises
    ------
    FingerprintError
        Other ids, another metric, another number of queries; or distances from queries to their neighbours, of up to
        200 queries and 10 neighbours, that are not the truth's: other vectors under the same ids, or in another order.
    InputError
        A filtered truth: the index searches all it holds.
    """
    if truth.kind == "filtered":
        raise InputError(
            "truth: it is of a subset for each query, and the index searches all it holds; give the truth of all of it"
        )
    truth.verify(metric=index.metric, gallery_ids=index.ids)
    ready = index.ready(queries)
    if len(ready) != len(truth):
        raise FingerprintError(f"queries: {len(ready)} vectors, and the truth has {len(truth)} queries")
    lines = np.unique(np.linspace(0, len(truth) - 1, min(_QUERIES, len(truth))).astype(np.int64))
    positions = truth.positions[lines, :_NEIGHBORS]
    needed, place = np.unique(positions, return_inverse=True)
    held = index.vectors(truth.gallery.take(needed.tolist()))
    found, allowed = _distances(held, ready[lines], place.reshape(positions.shape), truth.metric)
    exact = truth.distances[lines, :_NEIGHBORS]
    wrong = np.abs(found - exact) > _APART * np.abs(exact) * (truth.metric == "l2") + allowed
    if wrong.any():
        named = first_few(truth.queries.take(lines[wrong.any(axis=1)].tolist()))
        raise FingerprintError(
            f"index: {int(wrong.sum())} of {wrong.size} distances between queries and their exact neighbours are not "
            f"those of the truth, first of queries {named}; the vectors of the index or the queries are others than "
            "the truth was made of, or in another order under the same ids"
        )
    return ready


def _distances(
    held: npt.NDArray[Any], asked: npt.NDArray[Any], place: npt.NDArray[np.int64], metric: str
) -> tuple[FloatArray, FloatArray]:
    """Distances of shape (queries, neighbours), and what rounding of the vectors may change of each."""
    if metric == "hamming":
        bits = np.bitwise_count(asked[:, None, :] ^ held[place]).sum(axis=2)
        return bits.astype(np.float64), np.zeros(place.shape)
    query_of = np.repeat(np.arange(len(asked)), place.shape[1])
    flat = pair_distances(held, asked, place.ravel(), query_of, metric=searched_metric(metric))  # type: ignore[arg-type]
    lengths, own = np.linalg.norm(held, axis=1)[place], np.linalg.norm(asked, axis=1)[:, None]
    scale = {"l2": np.maximum(lengths, own), "ip": lengths * own}.get(metric, np.ones(place.shape))
    return flat.reshape(place.shape), _ROUNDING * scale.astype(np.float64)
