"""Counting ranks by Hamming distance with NumPy alone."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.kernels.joined import RankHits, hit_offsets

__all__ = ["bits_in", "count_code_ranks"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
Codes: TypeAlias = npt.NDArray[np.uint64]

_BITS_OF_BYTE = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)


def count_code_ranks(
    queries: Codes,
    gallery: Codes,
    offsets: Int64Array,
    columns: Int64Array,
    ignored: npt.NDArray[np.bool_],
    *,
    threads: int | None = None,
) -> RankHits:
    """Count, for judged codes, those of the gallery that are nearer to the query and as near, in Hamming distance.

    Parameters
    ----------
    queries, gallery : uint64 arrays of shape (n, words) and (m, words)
        Codes, 64 bits a word.
    offsets : int64 array of shape (n + 1,)
        Query i has the judged pairs ``offsets[i]:offsets[i + 1]``.
    columns : int64 array of shape (pairs,)
        The gallery row of each pair, distinct within a query.
    ignored : bool array of shape (pairs,)
        Pairs whose codes are taken out of the gallery.
    threads : int, optional
        At most so many; all processors by default. Without the compiled kernels it is one anyway.

    Returns
    -------
    RankHits
        By rising distance and then as the pairs were given; ``above`` counts the nearer ones.
    """
    del threads
    hits = hit_offsets(offsets, ignored)
    entry, above, tied = (np.empty(int(hits[-1]), dtype=np.int64) for _ in range(3))
    bits = 64 * gallery.shape[1]
    for row in range(len(queries)):
        distances = bits_in(gallery ^ queries[row])
        pairs = np.arange(offsets[row], offsets[row + 1])
        out = ignored[pairs]
        counts = np.bincount(distances, minlength=bits + 1)
        counts -= np.bincount(distances[columns[pairs[out]]], minlength=bits + 1)
        kept = pairs[~out]
        mine = distances[columns[kept]]
        order = np.argsort(mine, kind="stable")
        span = slice(hits[row], hits[row + 1])
        entry[span] = kept[order]
        above[span] = (np.cumsum(counts) - counts)[mine[order]]
        tied[span] = counts[mine[order]]
    return RankHits(hits, entry, above, tied)


def bits_in(words: Codes, kind: type[np.integer[Any]] = np.int64) -> npt.NDArray[Any]:
    """How many bits are set in each row of words, in integers of a kind that holds them.

    >>> bits_in(np.array([[7, 1], [0, 8]], dtype=np.uint64)).tolist()
    [4, 1]
    """
    if hasattr(np, "bitwise_count"):
        bits = np.bitwise_count(words)
    else:  # NumPy 1
        bits = _BITS_OF_BYTE[np.ascontiguousarray(words).view(np.uint8)]
    counts: npt.NDArray[Any] = bits[:, 0].astype(kind) if bits.shape[1] == 1 else bits.sum(axis=1, dtype=kind)
    return counts
