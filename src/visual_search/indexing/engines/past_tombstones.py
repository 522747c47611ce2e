"""The best that are alive, from a structure that returns the dead too: search deeper until there are enough."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["live_candidates"]

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]

_DEEPER = 4


def live_candidates(
    search: Callable[[Vectors, int], tuple[Any, Any]], alive: npt.NDArray[np.bool_], queries: Vectors, count: int
) -> tuple[Int64Array, Vectors]:
    """Positions of the best live vectors and the structure's values, both of shape (n, count); -1 where there are none.

    Parameters
    ----------
    search : callable
        FAISS's: from queries and a depth to values and positions, -1 at the end of short lists.
    alive : bool array
        By position.
    queries : float32 array of shape (n, d)
    count : int
        The first depth is raised by the share of the dead; where it does not do, it is four times as deep, and so on.
    """
    total, live = len(alive), int(alive.sum())
    positions = np.full((len(queries), count), -1, dtype=np.int64)
    values = np.zeros((len(queries), count), dtype=np.float32)
    lines, depth = np.arange(len(queries)), math.ceil(count * total / live)
    while lines.size:
        depth = min(depth, total)
        apart, found = search(queries[lines], depth)
        exhausted = (found[:, -1] < 0) | (depth == total)
        found = np.where((found >= 0) & alive[found], found, -1)
        # The living to the front, in the order they have.
        order = np.argsort(found < 0, axis=1, kind="stable")[:, :count]
        width = order.shape[1]
        positions[lines, :width] = np.take_along_axis(found, order, axis=1)
        values[lines, :width] = np.take_along_axis(apart, order, axis=1)
        short = (positions[lines] >= 0).sum(axis=1) < min(count, live)
        lines, depth = lines[short & ~exhausted], depth * _DEEPER
    return positions, values
