"""Counting ranks in rows of similarities with NumPy alone."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.kernels.joined import RankHits, hit_offsets

__all__ = ["count_ranks"]

Int64Array: TypeAlias = npt.NDArray[np.int64]


def count_ranks(
    similarity: npt.NDArray[np.float32],
    offsets: Int64Array,
    columns: Int64Array,
    ignored: npt.NDArray[np.bool_],
    *,
    threads: int | None = None,
) -> RankHits:
    """Count, for judged items of full rankings, the items above and level with each; no row is sorted by the caller.

    Parameters
    ----------
    similarity : float32 array of shape (rows, items)
        Higher is better; finite. Equal float32 values tie.
    offsets : int64 array of shape (rows + 1,)
        Row i has the judged pairs ``offsets[i]:offsets[i + 1]``.
    columns : int64 array of shape (pairs,)
        The item of each pair, distinct within a row.
    ignored : bool array of shape (pairs,)
        Pairs whose items are taken out of the row.
    threads : int, optional
        At most so many; all processors by default. Without the compiled kernels it is one anyway.

    Returns
    -------
    RankHits
    """
    del threads
    hits = hit_offsets(offsets, ignored)
    entry, above, tied = (np.empty(int(hits[-1]), dtype=np.int64) for _ in range(3))
    for row in range(len(similarity)):
        pairs = np.arange(offsets[row], offsets[row + 1])
        out = ignored[pairs]
        kept = pairs[~out]
        mine = similarity[row, columns[kept]]
        order = np.argsort(-mine, kind="stable")
        mine = mine[order]
        span = slice(hits[row], hits[row + 1])
        ordered = np.sort(similarity[row])
        low, high = np.searchsorted(ordered, mine), np.searchsorted(ordered, mine, side="right")
        gone = np.sort(similarity[row, columns[pairs[out]]])
        gone_low, gone_high = np.searchsorted(gone, mine), np.searchsorted(gone, mine, side="right")
        entry[span] = kept[order]
        above[span] = (len(ordered) - high) - (len(gone) - gone_high)
        tied[span] = (high - low) - (gone_high - gone_low)
    return RankHits(hits, entry, above, tied)
