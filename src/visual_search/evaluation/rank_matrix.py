"""Query-level Recall@k straight from a matrix of ranks and a matrix of relevance."""

from __future__ import annotations

from typing import Any

import numpy as np

from visual_search.counted import counted
from visual_search.errors import DepthError, InputError, Problems, first_few
from visual_search.formats.arrays import AnyArray, as_matrix

__all__ = ["recall_at_k"]


def recall_at_k(rank_matrix: Any, rel_matrix: Any, k: int) -> float:
    """Share of the queries with a relevant item among their first k.

    ::

        R@k = (1/Nq) * sum over i of [Rel(i) and Top_k(i) have an item in common]

    Parameters
    ----------
    rank_matrix : integer array-like of shape (Nq, K), K <= Ng
        Each row holds distinct gallery rows, best first; with K = Ng a permutation.
    rel_matrix : array-like of shape (Nq, Ng)
        1 or True where the gallery item is relevant for the query, else 0.
    k : int
        From 1 to K.

    Returns
    -------
    float
        Between 0 and 1. A query without relevant items counts 0.

    Raises
    ------
    DepthError
        k below 1 or beyond K.
    InputError
        Shapes that do not fit, ranks that are not distinct gallery rows, relevance other than 0 and 1.

    Convention
    ----------
    `HitRate` with the order as given; the denominator is the number of queries, not of relevant items.

    How to read it
    --------------
    Never falls as k grows, so that a value says something only beside its k.

    Examples
    --------
    >>> rank = [[2, 0, 1, 3, 4], [1, 4, 0, 2, 3], [3, 2, 0, 1, 4], [0, 1, 2, 3, 4]]
    >>> rel = [[0, 1, 0, 0, 0], [1, 0, 1, 0, 0], [0, 0, 0, 1, 0], [0, 0, 0, 0, 0]]
    >>> [recall_at_k(rank, rel, k) for k in (1, 2, 3)]
    [0.25, 0.25, 0.75]
    """
    ranks = as_matrix(rank_matrix, what="rank_matrix")
    relevant = as_matrix(rel_matrix, what="rel_matrix")
    _check(ranks, relevant)
    if type(k) is bool or not hasattr(k, "__index__") or not 1 <= k <= ranks.shape[1]:
        raise DepthError(f"k={k!r}: a whole number from 1 to {ranks.shape[1]}, the depth of rank_matrix")
    return float(np.take_along_axis(relevant, ranks[:, :k], axis=1).astype(np.bool_).any(axis=1).mean())


def _check(ranks: AnyArray, relevant: AnyArray) -> None:
    problems = Problems("recall_at_k")
    if ranks.dtype.kind not in "iu":
        problems.add(f"rank_matrix has dtype {ranks.dtype}; gallery rows are integers")
    if not len(ranks) or len(ranks) != len(relevant):
        problems.add(
            f"rank_matrix has {counted(len(ranks), 'query', 'queries')} and rel_matrix "
            f"{len(relevant)}; both need the same, from 1"
        )
    strange = (relevant != 0) & (relevant != 1)
    if strange.any():
        problems.add(
            f"rel_matrix has values other than 0 and 1, first: {first_few(relevant[strange][:5].tolist())}"
        )
    problems.raise_if_any(InputError)
    size = relevant.shape[1]
    outside = ((ranks < 0) | (ranks >= size)).any(axis=1)
    if outside.any():
        rows = np.flatnonzero(outside)
        problems.add(
            f"rank_matrix must hold gallery rows 0..{size - 1}; query rows that do not: {first_few(rows.tolist())}"
        )
    sorted_ranks = np.sort(ranks, axis=1)
    repeated = np.flatnonzero((sorted_ranks[:, 1:] == sorted_ranks[:, :-1]).any(axis=1))
    if repeated.size:
        problems.add(f"rank_matrix repeats a gallery row within query rows {first_few(repeated.tolist())}")
    problems.raise_if_any(InputError)
