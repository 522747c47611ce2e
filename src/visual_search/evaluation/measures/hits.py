"""Expected number of relevant items among the first k."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.positions import Positions

__all__ = ["expected_hits"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]


def expected_hits(positions: Positions, limits: Int64Array, rel: float) -> FloatArray:
    """h_k per query, in expectation over tied orders: m r / n summed over groups, m of whose n items are inside.

    Parameters
    ----------
    positions : Positions
        Where the judged items stand.
    limits : int64 array of shape (n,)
        k for each query.
    rel : float
        Grade from which an item is relevant.

    Returns
    -------
    float64 array of shape (n,)
    """
    groups = positions.relevant_groups(rel)
    reached = limits[groups.query] > groups.above
    if not reached.all():
        groups = groups.where(reached)
    inside = np.minimum(limits[groups.query] - groups.above, groups.size)
    return positions.sum_by_query(groups.query, inside * groups.relevant / groups.size)
