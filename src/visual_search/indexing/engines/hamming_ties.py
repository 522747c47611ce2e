"""Nearest codes with all ties at the cut settled by row: what lies within the k-th distance is fetched and sorted."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.indexing.engines.faiss_rows import FaissRows

__all__ = ["lowest_rows_at_cut"]

Int64Array = npt.NDArray[np.int64]
Int32Array = npt.NDArray[np.int32]
Codes = npt.NDArray[np.uint8]

_PLACES = 1 << 22  # that a block of queries may fetch, were every code tied with the k-th


def lowest_rows_at_cut(structure: Any, rows: FaissRows, queries: Codes, k: int) -> tuple[Int64Array, Int32Array]:
    """The k nearest rows of each query by rising distance, then rising row; at the cut too.

    FAISS keeps some k of the nearest; which of those at the k-th distance is its own affair, and its usual way out, a
    deeper search, is a poor one among codes, where thousands may tie. Their distance is a whole number, though, so that
    all within it can be asked for.

    Parameters
    ----------
    structure : faiss.IndexBinaryFlat
    rows : FaissRows
        Row at each position.
    queries : uint8 array of shape (n, bytes)
    k : int
        At most the number of codes.

    Returns
    -------
    (int64 array, int32 array), both of shape (n, k)
        Rows and distances.
    """
    count = len(rows)
    more = min(k + 1, count)
    distances, positions = structure.search(queries, more)
    found = rows.at(positions)
    # Positions rise with rows unless the caller chose other rows: a sort settles both.
    order = np.lexsort((found, distances), axis=-1)
    found, distances = np.take_along_axis(found, order, axis=1), np.take_along_axis(distances, order, axis=1)
    cut = distances[:, k - 1].copy()
    tied = np.flatnonzero(distances[:, -1] == cut) if more > k else np.zeros(0, dtype=np.int64)
    found, distances = np.ascontiguousarray(found[:, :k]), np.ascontiguousarray(distances[:, :k])
    step = max(1, _PLACES // count)
    for radius in np.unique(cut[tied]).tolist():
        lines = tied[cut[tied] == radius]
        for start in range(0, len(lines), step):
            block = lines[start : start + step]
            found[block], distances[block] = _within(structure, rows, queries[block], radius, k)
    return found, distances


def _within(structure: Any, rows: FaissRows, queries: Codes, radius: int, k: int) -> tuple[Int64Array, Int32Array]:
    """The k nearest of each query among the codes at most ``radius`` away, of which each has k or more."""
    limits, apart, positions = structure.range_search(queries, radius + 1)  # FAISS's radius is not included
    offsets = limits.astype(np.int64)
    line = np.repeat(np.arange(len(queries)), np.diff(offsets))
    there = rows.at(positions.astype(np.int64))
    order = np.lexsort((there, apart, line))
    first = order[offsets[:-1, None] + np.arange(k)]
    return there[first], apart[first].astype(np.int32)
