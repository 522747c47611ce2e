r"""Euclidean distances of exhaustive search that survive cancellation.

For large batches FAISS computes :math:`|q - x|^2 = |q|^2 + |x|^2 - 2 q \cdot x` in float32. Where the norms are
large against the distance (data with an offset, near-duplicates) the difference keeps few correct digits or none,
and the nearest neighbours come out wrong. FAISS's other path sums :math:`(q_i - x_i)^2` pair by pair, whose error
is relative to the distance itself.

The rule here: the error of the first form is taken as

.. math:: e = 4 \sqrt{d}\, u\, (|q|^2 + \max |x|^2), \qquad u = 2^{-24}

(rounding errors of a sum of d terms add up like a random walk; 4 is a margin). A query whose k-th squared distance
is below :math:`10^4 e` is searched again pair by pair; for the others each returned distance below that bound is
computed again in float64. What remains is right to one part in 10,000 of the squared distance, mostly far better.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.indexing.engines.faiss_search import search_with

__all__ = ["nearest_by_distance", "squared_norms", "stored_vectors"]

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]

_ROUNDING = 2.0**-24
_MARGIN = 4.0
_TRUSTED_PART = 1e-4
_BLOCK_BYTES = 1 << 25


def stored_vectors(structure: Any) -> Vectors:
    """All vectors of an ``IndexFlat`` as a view of shape (n, d); valid until the next add or remove."""
    import faiss

    if not structure.ntotal:
        return np.empty((0, structure.d), dtype=np.float32)
    flat: Vectors = faiss.rev_swig_ptr(structure.get_xb(), structure.ntotal * structure.d)
    return flat.reshape(structure.ntotal, structure.d)


def squared_norms(vectors: Vectors) -> Floats:
    """Squared length of each vector, float64 of shape (n,)."""
    norms = np.empty(len(vectors), dtype=np.float64)
    step = max(1, _BLOCK_BYTES // (8 * vectors.shape[1]))
    for start in range(0, len(vectors), step):
        block = vectors[start : start + step].astype(np.float64)
        norms[start : start + step] = np.square(block, out=block).sum(axis=1)
    return norms


def nearest_by_distance(
    structure: Any, largest_norm: float, queries: Vectors, k: int
) -> tuple[Vectors, Int64Array]:
    """Squared distances and positions of the k nearest, as FAISS returns them but free of cancellation.

    Lines may be out of order where a distance was computed again; the caller sorts.
    """
    import faiss

    values, positions = structure.search(queries, k)
    sizes = squared_norms(queries) + largest_norm
    trusted_from = _MARGIN * np.sqrt(structure.d) * _ROUNDING * sizes / _TRUSTED_PART
    found = positions >= 0
    farthest = np.where(found, values, -np.inf).max(axis=1)
    # A list that holds the whole gallery has no boundary to get wrong.
    again = np.flatnonzero((farthest < trusted_from) & (min(k, structure.ntotal) < structure.ntotal))
    if again.size:
        # A selector, even one that takes all, sends FAISS down the path that sums pair by pair.
        everything = faiss.SearchParameters(sel=faiss.IDSelectorAll())
        values[again], positions[again] = search_with(structure, queries[again], k, everything)
    doubtful = found & (values < trusted_from[:, None])
    doubtful[again] = False
    _compute_again(stored_vectors(structure), queries, values, positions, doubtful)
    return values, positions


def _compute_again(
    stored: Vectors, queries: Vectors, values: Vectors, positions: Int64Array, doubtful: npt.NDArray[np.bool_]
) -> None:
    lines, columns = np.nonzero(doubtful)
    step = max(1, _BLOCK_BYTES // (8 * stored.shape[1]))
    for start in range(0, len(lines), step):
        line, column = lines[start : start + step], columns[start : start + step]
        apart = queries[line].astype(np.float64) - stored[positions[line, column]]
        values[line, column] = np.square(apart).sum(axis=1)
