"""Which exact neighbours a setting did not return, query by query."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.ground_truth.exact_neighbors import ExactNeighbors

__all__ = ["missed_neighbors"]

Int64Array: TypeAlias = npt.NDArray[np.int64]


def missed_neighbors(returned: Int64Array, truth: ExactNeighbors, k: int) -> list[list[int]]:
    """Places in the exact answer of the neighbours that are not among those returned.

    Parameters
    ----------
    returned : int64 array of shape (n, m)
        Gallery rows that a search returned for each query of the truth, in its order; -1 where a list is shorter.
    truth : ExactNeighbors
    k : int
        How many neighbours are wanted, at most ``truth.k``.

    Returns
    -------
    list of n lists of int
        Places from 1, rising.

    Convention
    ----------
    As many as NeighborRecall@k says are missing: any item exactly as far as the k-th may stand for it, so of those that
    stand level with it only as many are missed as places stay empty, the first ones not returned.

    Examples
    --------
    >>> from visual_search.testing.exact_answers import exact_by_brute_force
    >>> truth = exact_by_brute_force(np.array([[0.0], [1.0], [2.0], [3.0]]), np.array([[0.0]]), 3)
    >>> missed_neighbors(np.array([[0, 3, -1]]), truth, 3)
    [[2, 3]]
    """
    missed = []
    offsets = truth.answers.tie_offsets
    for query, rows in enumerate(returned):
        place = truth.positions[query]
        wanted = min(k, int((place >= 0).sum()))
        distance = truth.distances[query]
        last = distance[wanted - 1] if wanted else np.inf
        found = np.isin(place[:wanted], rows[rows >= 0])
        level = distance[:wanted] == last
        # Level items that took a place of the answer though they are not written in it.
        beyond = place[wanted:][distance[wanted:] == last]
        if wanted and distance[-1] == last:
            beyond = np.concatenate((beyond, truth.answers.tie_positions[offsets[query] : offsets[query + 1]]))
        spare = int(np.isin(beyond, rows).sum())
        lacking = np.flatnonzero(~found)
        of_level = lacking[level[lacking]]
        strict = lacking[~level[lacking]]
        kept = of_level[: max(len(of_level) - spare, 0)]
        missed.append([int(one) + 1 for one in (*strict.tolist(), *kept.tolist())])
    return missed
