"""What an engine found, with ids: padded arrays, and the ragged ranking made of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from visual_search.ids import Ids
from visual_search.rankings.ranking import Ranking

__all__ = ["Nearest", "ragged_ranking"]


class Nearest(NamedTuple):
    """Found items in arrays of shape (n, k); -1 and -inf where there were fewer than k.

    Parameters
    ----------
    items : Ids
        What ``places`` point into.
    places : int64 array of shape (n, k)
        Best first, padding last.
    scores : float32 array of shape (n, k)
        Higher is better.
    vectors : float32 array of shape (n, k, dimension), optional
        Of the found items, where asked for; zero where padded.
    """

    items: Ids
    places: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float32]
    vectors: npt.NDArray[np.float32] | None = None


def ragged_ranking(queries: Ids, found: Nearest, kept: npt.NDArray[np.bool_] | None = None) -> Ranking:
    """The lists of those found that are kept (all but padding where not said), without loops over results."""
    count, k = found.places.shape
    if kept is None and count and found.places[:, -1].min() < 0:  # padding stands last, so one column tells
        kept = found.places >= 0
    if kept is None or kept.all():
        offsets = np.arange(count + 1) * k
        return Ranking(queries, found.items, offsets, found.places.ravel(), found.scores.ravel())
    offsets = np.concatenate(([0], np.cumsum(kept.sum(axis=1))))
    return Ranking(queries, found.items, offsets, found.places[kept], found.scores[kept])
