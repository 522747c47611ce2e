"""What the run join gives, for both twins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["GALLERY_LIMIT", "RunHits"]

Int64Array: TypeAlias = npt.NDArray[np.int64]

# Distinct items of a run are counted up to here; beyond, that it has more is all anyone asks.
GALLERY_LIMIT = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class RunHits:
    """The judged items of each query that are in its list of a run.

    Attributes
    ----------
    lengths : int64 array of shape (n,)
        List length of each query, ignored items taken out.
    ignored : int64 array of shape (n,)
        How many ignored items were in the list.
    listed : int64 array of shape (n,)
        List length with the ignored items; -1 for a query the run does not have.
    ends_tied : bool array of shape (n,)
        Whether the last two scores of the list are equal.
    offsets : int64 array of shape (n + 1,)
        Query i owns the hits ``offsets[i]:offsets[i + 1]``, by falling score and then as in the file.
    entry : int64 array of shape (hits,)
        Which judged pair the hit is.
    above : int64 array of shape (hits,)
        How many items of the list score strictly higher.
    tied : int64 array of shape (hits,)
        How many have the same score, the hit included.
    listed_place : int64 array of shape (hits,)
        How many of these come earlier in the file.
    falling_place : int64 array of shape (hits,)
        How many of these have a greater id, by the bytes of its UTF-8.
    unjudged_queries : tuple of str
        Queries of the run without judgements, as they came.
    gallery_size : int or None
        Distinct items of the run; None where there are more than `GALLERY_LIMIT`.
    lists : int
        Queries of the run.
    against_rank : int
        In how many of them an item has a better rank and a lower score than the next one in rank; 0 where the rank
        column is not made of whole numbers.
    """

    lengths: Int64Array
    ignored: Int64Array
    listed: Int64Array
    ends_tied: npt.NDArray[np.bool_]
    offsets: Int64Array
    entry: Int64Array
    above: Int64Array
    tied: Int64Array
    listed_place: Int64Array
    falling_place: Int64Array
    unjudged_queries: tuple[str, ...]
    gallery_size: int | None
    lists: int
    against_rank: int

