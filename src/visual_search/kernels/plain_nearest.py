"""Rows and their exact distances join the nearest of their queries, with NumPy alone."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["merge_nearest"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]


def merge_nearest(
    nearest: tuple[FloatArray, Int64Array],
    k: int,
    query_of: Int64Array,
    rows: Int64Array,
    distances: FloatArray,
    *,
    threads: int | None = None,
) -> FloatArray:
    """Put pairs into the order of the nearest of each query, by distance and then row.

    Parameters
    ----------
    nearest : float64 and int64 array of shape (queries, width)
        Distances and rows that are changed in place: the k nearest and those that tie with the k-th; empty places, at
        infinity and called -1, are the last.
    k : int
    query_of : int64 array of shape (pairs,)
        Never falling.
    rows : int64 array of shape (pairs,)
        Not among the nearest.
    distances : float64 array of shape (pairs,)
    threads : int, optional
        Without the compiled kernels it is one anyway.

    Returns
    -------
    float64 array of shape (queries,)
        Distance of the k-th where rows that tie with it had no place; else infinity.

    Examples
    --------
    >>> nearest = np.array([[1.0, np.inf]]), np.array([[5, -1]])
    >>> merge_nearest(nearest, 1, np.zeros(2, np.int64), np.array([7, 4]), np.array([1.0, 1.0]))
    array([1.])
    >>> nearest[1].tolist()
    [[4, 5]]
    """
    del threads
    near = distances <= nearest[0][query_of, k - 1]
    query_of, rows, distances = query_of[near], rows[near], distances[near]
    queries, begins, counts = np.unique(query_of, return_index=True, return_counts=True)
    width = nearest[0].shape[1]
    known = int((nearest[1][queries] >= 0).sum(axis=1).max(initial=0))
    filled = known + int(counts.max(initial=0))
    all_distances = np.full((len(queries), max(filled, width)), np.inf)
    all_rows = np.full(all_distances.shape, -1, dtype=np.int64)
    all_distances[:, :known], all_rows[:, :known] = (part[queries, :known] for part in nearest)
    local = np.repeat(np.arange(len(queries)), counts)
    place = known + np.arange(len(query_of)) - np.repeat(begins, counts)
    all_distances[local, place], all_rows[local, place] = distances, rows
    order = _order(all_distances[:, :filled], all_rows[:, :filled])
    for values in (all_distances, all_rows):
        values[:, :filled] = np.take_along_axis(values[:, :filled], order, axis=1)
    dropped = np.full(len(nearest[0]), np.inf)
    if filled > width:
        least, kth = all_distances[:, width], all_distances[:, k - 1]
        dropped[queries] = np.where(least == kth, kth, np.inf)
    further = all_distances > all_distances[:, [k - 1]]
    all_distances[further], all_rows[further] = np.inf, -1
    nearest[0][queries], nearest[1][queries] = all_distances[:, :width], all_rows[:, :width]
    return dropped


def _order(distances: FloatArray, rows: Int64Array) -> Int64Array:
    """By distance and then row, each query for itself; the slower sort by both only where distances are equal."""
    order = np.argsort(distances, axis=1)
    sorted_distances = np.take_along_axis(distances, order, axis=1)
    equal = (sorted_distances[:, 1:] == sorted_distances[:, :-1]) & (sorted_distances[:, 1:] < np.inf)
    tied = np.flatnonzero(equal.any(axis=1))
    if len(tied):
        order[tied] = np.lexsort((rows[tied], distances[tied]), axis=1)
    return order
