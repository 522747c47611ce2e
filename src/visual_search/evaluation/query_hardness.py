"""How hard a query is for any index, from the distances of its exact neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import DepthError, InputError
from visual_search.evaluation.seeds import seeded
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.ground_truth.metric_names import searched_metric
from visual_search.ground_truth.truth_vectors import truth_vectors
from visual_search.kernels.plain_pairs import pair_distances

__all__ = ["QueryHardness", "query_hardness"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class QueryHardness:
    """Two numbers a query; NaN where one is not defined.

    Attributes
    ----------
    dimension : float64 array of shape (n,)
        Local intrinsic dimension around the query: as in how many dimensions its neighbours' distances grow. Larger
        is harder.
    contrast : float64 array of shape (n,)
        Relative contrast: how many times farther the mean item is than the k-th neighbour, at least about 1. Smaller
        is harder.
    k : int
        How many neighbours they come from.
    """

    dimension: FloatArray
    contrast: FloatArray
    k: int


def query_hardness(
    truth: ExactNeighbors,
    *,
    k: int | None = None,
    gallery: Any = None,
    queries: Any = None,
    sample: int = 1000,
    seed: int = 0,
) -> QueryHardness:
    r"""Estimate how hard each query is.

    .. math:: \text{dimension} = -\Big(\frac{1}{k - 1} \sum_{r < k} \ln \frac{d_r}{d_k}\Big)^{-1},
        \qquad \text{contrast} = \bar d / d_k

    The first is a maximum likelihood estimate, the second a contrast of distances taken at the k-th neighbour.

    Parameters
    ----------
    truth : ExactNeighbors
    k : int, optional
        Neighbours to use, the truth's by default; estimates of fewer than about 20 scatter widely.
    gallery, queries : array-like or path, optional
        The truth's vectors. Without them there is no contrast, which needs the distance of the mean item.
    sample, seed : int
        Items drawn for that mean.

    Returns
    -------
    QueryHardness

    Raises
    ------
    DepthError
        k beyond the truth.
    InputError
        One of gallery and queries without the other, or of other sizes than the truth's.

    Convention
    ----------
    Distances are those of the metric; under cosine the chord sqrt(2 - 2 cos), which is a distance where 1 - cos is
    none. Neighbours at distance 0 are left out of the sum. Undefined under inner product, where all k are equally far,
    with fewer than two neighbours, and where the k-th is at distance 0; contrast is for vectors, not for bits.

    How to read it
    --------------
    Compare queries of one truth. An index mostly loses where the dimension is high and the contrast low; where it loses
    on easy queries, its settings or its data are at fault.

    References
    ----------
    E. Levina, P. Bickel, "Maximum likelihood estimation of intrinsic dimension", NIPS 2004.

    L. Amsaleg, O. Chelly, T. Furon, S. Girard, M. Houle, K. Kawarabayashi, M. Nett, "Estimating local intrinsic
    dimensionality", KDD 2015.

    J. He, S. Kumar, S. Chang, "On the difficulty of nearest neighbor search", ICML 2012.

    Examples
    --------
    >>> from visual_search.ground_truth.truth_building import exact_neighbors
    >>> line = exact_neighbors(np.arange(101.0)[:, None], [[0.4]], 50)
    >>> plane = np.array([[x, y] for x in range(21) for y in range(21)], dtype=float)
    >>> square = exact_neighbors(plane, [[10.4, 10.3]], 50)
    >>> round(query_hardness(line).dimension.item()), round(query_hardness(square).dimension.item())
    (1, 2)
    """
    depth = truth.k if k is None else k
    if not 1 <= depth <= truth.k:
        raise DepthError(f"k is {depth}, and the truth is {truth.k} deep")
    if (gallery is None) != (queries is None):
        raise InputError("gallery and queries belong together; give both, or neither")
    distances = _plain(truth.distances[:, :depth], truth.metric)
    contrast = np.full(len(truth), np.nan)
    if gallery is not None and truth.metric in ("l2", "cosine"):
        mean = _mean_distance(truth, gallery, queries, sample, seed)
        last = distances[:, -1]
        fits = np.isfinite(last) & (last > 0)
        contrast[fits] = mean[fits] / last[fits]
    return QueryHardness(_dimension(distances), contrast, depth)


def _plain(distances: FloatArray, metric: str) -> FloatArray:
    """Distances that are such; NaN where there are none."""
    if metric == "ip":
        return np.full(distances.shape, np.nan)
    if metric != "cosine":
        return distances
    chord: FloatArray = np.sqrt(np.maximum(2 + 2 * distances, 0))
    return chord


def _dimension(distances: FloatArray) -> FloatArray:
    there = np.isfinite(distances) & (distances > 0)
    last = np.where(there, distances, 0).max(axis=1, initial=0)
    counts = there.sum(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.where(there, np.log(distances / last[:, None]), 0).sum(axis=1)
        dimension: FloatArray = -(counts - 1) / logs
    dimension[(counts < 2) | (logs == 0)] = np.nan
    return dimension


def _mean_distance(truth: ExactNeighbors, gallery: Any, queries: Any, sample: int, seed: int) -> FloatArray:
    items = truth_vectors(gallery, truth.gallery, what="gallery").vectors
    asked = np.asarray(truth_vectors(queries, None, what="queries").vectors)
    if len(asked) != len(truth):
        raise InputError(f"queries: {len(asked)} vectors, and the truth has {len(truth)} queries")
    rows = np.sort(seeded(seed).choice(len(items), size=min(sample, len(items)), replace=False))
    drawn = np.ascontiguousarray(items[rows])
    metric = searched_metric(truth.metric)
    every = np.arange(len(drawn))
    means = np.empty(len(asked))
    for place in range(len(asked)):
        found = pair_distances(drawn, asked[[place]], every, np.zeros_like(every), metric=metric)  # type: ignore[arg-type]
        means[place] = _plain(found, truth.metric).mean()
    return means
