"""Exact distances of chosen pairs with NumPy alone: what every other path must equal bit by bit."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.kernels.threads import in_threads, thread_count

__all__ = ["VectorMetric", "folded_sums", "pair_distances"]

AnyArray: TypeAlias = npt.NDArray[Any]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]
VectorMetric = Literal["l2", "inner_product", "cosine"]

_VALUES = 1 << 17  # of a chunk: a few arrays of this many float64 stay near the processor


def pair_distances(
    gallery: AnyArray,
    queries: AnyArray,
    rows: Int64Array,
    query_of: Int64Array,
    *,
    metric: VectorMetric,
    threads: int | None = None,
) -> FloatArray:
    """Distance of gallery row ``rows[i]`` to query ``query_of[i]``.

    Sums are folded: the upper half of the terms is added to the lower half until one is left. The order depends on the
    dimension alone, so that the distance of two vectors is the same bits whatever computes it. Integers are summed as
    integers, without rounding.

    Parameters
    ----------
    gallery, queries : arrays of shape (n, d) and (m, d)
        Of one dtype: float16, float32, float64, int8 or uint8.
    rows, query_of : int64 arrays of shape (pairs,)
    metric : {"l2", "inner_product", "cosine"}
    threads : int, optional
        All processors by default.

    Returns
    -------
    float64 array of shape (pairs,)
        Euclidean distance, or minus the product.
    """
    distances = np.empty(len(rows))
    step = max(1, _VALUES // gallery.shape[1])

    def some(number: int) -> None:
        part = slice(number * step, (number + 1) * step)
        distances[part] = _distances(gallery[rows[part]], queries[query_of[part]], metric)

    in_threads(some, -(-len(rows) // step), threads=threads or thread_count())
    return distances


def _distances(x: AnyArray, q: AnyArray, metric: VectorMetric) -> FloatArray:
    whole = x.dtype.kind != "f"
    x, q = (side.astype(np.int64 if whole else np.float64) for side in (x, q))
    if metric == "l2":
        np.subtract(x, q, out=x)
        distances: FloatArray = np.sqrt(_sums(np.multiply(x, x, out=x)))
        return distances
    dot = _sums(x * q)
    if metric == "inner_product":
        return 0.0 - dot
    own, other = _sums(x * x), _sums(q * q)
    if whole:
        # One rounded quotient of integers and then steps that keep order: rows of one direction tie.
        cosines: FloatArray = np.copysign(np.sqrt(dot * dot / own), dot) / np.sqrt(other)
    else:
        cosines = dot / (np.sqrt(own) * np.sqrt(other))
    return 0.0 - cosines


def _sums(terms: AnyArray) -> FloatArray:
    if terms.dtype.kind != "f":
        sums: FloatArray = terms.sum(axis=1).astype(np.float64)
        return sums
    return folded_sums(terms)


def folded_sums(terms: FloatArray) -> FloatArray:
    """Sum of each row in the one fixed order; the terms are overwritten.

    >>> folded_sums(np.array([[1.0, 2.0, 3.0, 4.0, 5.0]]))
    array([15.])
    """
    width = terms.shape[1]
    while width > 1:
        half = (width + 1) // 2
        terms[:, : width - half] += terms[:, half:width]
        width = half
    sums: FloatArray = terms[:, 0].copy()
    return sums
