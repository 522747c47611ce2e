"""Near-duplicates by embedding: cosines in blocks, the close ones decided in float64."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from visual_search.errors import ZeroVectorError, first_few
from visual_search.indexing.progress import Progress
from visual_search.leaks.distinct_pictures import Int64Array
from visual_search.leaks.picture_pairs import PicturePairs, Wanted
from visual_search.leaks.roles import Vectors

__all__ = ["embedding_duplicates"]

_BLOCK = 2048
# What rounding can do to a cosine of float32 vectors of a few thousand dimensions, with room to spare.
_ROUNDING = 1e-4


def embedding_duplicates(
    vectors: Vectors,
    wanted: Wanted,
    threshold: float,
    *,
    progress: Progress | None = None,
) -> Iterator[PicturePairs]:
    """Find pairs of distinct pictures whose vectors have a cosine of at least the threshold; each pair once.

    Parameters
    ----------
    vectors : float32 array of shape (pictures, d)
    wanted : Wanted
        Which pairs count.
    threshold : float
        Above 0, at most 1. A cosine within 1e-12 below it counts as reached, so that copies have a cosine of 1.
    progress : Progress, optional

    Yields
    ------
    PicturePairs
        Of a block of pictures.

    Raises
    ------
    ZeroVectorError
        A vector without direction.

    Convention
    ----------
    Memory beside a normalised copy of the vectors: 2048 x 2048 cosines, 17 MB, and what is found.
    """
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors, dtype=np.float64))
    if not lengths.all():
        raise ZeroVectorError(f"cosine: zero vectors in rows {first_few(np.flatnonzero(lengths == 0).tolist())}")
    unit = (vectors / lengths[:, None]).astype(np.float32)
    everything = np.arange(len(vectors), dtype=np.int64)
    searching = wanted.searching(everything)
    is_searched = np.zeros(len(vectors), dtype=np.bool_)
    is_searched[searching] = True
    for start in range(0, len(searching), _BLOCK):
        block = searching[start : start + _BLOCK]
        for column in range(0, len(unit), _BLOCK):
            ours, theirs = np.nonzero(
                unit[block] @ unit[column : column + _BLOCK].T >= np.float32(threshold - _ROUNDING)
            )
            first, second = block[ours], theirs.astype(np.int64) + column
            once = (second != first) & (~is_searched[second] | (first < second))
            first, second = first[once], second[once]
            kept = wanted.pairs(first, second)
            yield _decided(vectors, first[kept], second[kept], threshold)
        if progress is not None:
            progress.advance(len(block))


def _decided(vectors: Vectors, first: Int64Array, second: Int64Array, threshold: float) -> PicturePairs:
    cosine = np.empty(len(first), dtype=np.float64)
    for start in range(0, len(first), _BLOCK):
        part = slice(start, start + _BLOCK)
        a, b = vectors[first[part]].astype(np.float64), vectors[second[part]].astype(np.float64)
        product = np.einsum("ij,ij->i", a, b)
        cosine[part] = product / np.sqrt(np.einsum("ij,ij->i", a, a) * np.einsum("ij,ij->i", b, b))
    reached = cosine >= threshold - 1e-12
    return PicturePairs("embedding", first[reached], second[reached], cosine=np.minimum(cosine[reached], 1.0))
