"""What an engine found, with ids: padded arrays, and the ragged ranking made of them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.formats.binary_codes import BinaryCodes
from visual_search.ids import Id, Ids
from visual_search.indexing.engines.contract import Engine
from visual_search.indexing.id_table import IdTable
from visual_search.rankings.ranking import Ranking

__all__ = ["Moment", "Nearest", "ragged_ranking"]

Kept: TypeAlias = npt.NDArray[np.bool_]


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
        Of the found items, where asked for; codes as -1 and 1; zero where padded.
    """

    items: Ids
    places: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float32]
    vectors: npt.NDArray[np.float32] | None = None


class Moment:
    """An index as it is while its readers' lock is held: what ``VectorIndex.moment`` hands out.

    Parameters
    ----------
    engine : Engine
    table : IdTable
    """

    __slots__ = ("_engine", "_table")

    def __init__(self, engine: Engine, table: IdTable) -> None:
        self._engine = engine
        self._table = table

    def __len__(self) -> int:
        return len(self._table)

    @property
    def engine(self) -> Engine:
        """What searches; to be looked at, not to be changed."""
        return self._engine

    def rows(self, ids: Iterable[Id]) -> npt.NDArray[np.int64]:
        """The engine's rows of items, int64 of shape (n,); -1 where one is not in the index."""
        return self._table.rows(ids)

    @property
    def items(self) -> Ids:
        """What places point into."""
        return self._table.vocabulary

    def in_use(self, places: npt.NDArray[np.int64]) -> npt.NDArray[np.bool_]:
        """Whether the item at each place is in the index; False for one that was removed."""
        return self._table.in_use(places)

    def nearest(self, vectors: npt.NDArray[Any], k: int, *, with_vectors: bool = False) -> Nearest:
        """The k nearest of each vector, which ``VectorIndex.ready`` has checked; padded where there are fewer."""
        rows, scores = self._engine.search(vectors, max(1, min(k, len(self))))
        found = Nearest(self._table.vocabulary, self._table.terms(rows), scores)
        if not with_vectors:
            return found
        of_found = np.zeros((*rows.shape, self._engine.dimension), dtype=np.float32)
        stored = self._engine.vectors(rows[rows >= 0])
        if self._engine.metric == "hamming":
            stored = BinaryCodes.of(stored, packed=True, bits=self._engine.dimension).signs()
        of_found[rows >= 0] = stored
        return found._replace(vectors=of_found)


def ragged_ranking(queries: Ids, items: Ids, parts: Iterable[tuple[Nearest, Kept | None]]) -> Ranking:
    """Lists of what was found and kept, without loops over results.

    Parameters
    ----------
    queries, items : Ids
        Of the ranking.
    parts : iterable of (Nearest, bool array of shape (n, k) or None)
        Blocks of queries in order, and which of the found are kept: all but padding where None.
    """
    lengths: list[npt.NDArray[np.int64]] = []
    places: list[npt.NDArray[np.int64]] = []
    scores: list[npt.NDArray[np.float32]] = []
    for found, asked in parts:
        count, k = found.places.shape
        kept = asked
        if kept is None and count and found.places[:, -1].min() < 0:  # padding stands last: one column tells
            kept = found.places >= 0
        if kept is None or kept.all():
            lengths.append(np.full(count, k))
            places.append(found.places.ravel())
            scores.append(found.scores.ravel())
        else:
            lengths.append(kept.sum(axis=1))
            places.append(found.places[kept])
            scores.append(found.scores[kept])
    offsets = np.concatenate(([0], np.cumsum(_joined(lengths, np.int64))))
    return Ranking(queries, items, offsets, _joined(places, np.int64), _joined(scores, np.float32))


def _joined(arrays: list[npt.NDArray[Any]], dtype: type) -> npt.NDArray[Any]:
    if len(arrays) == 1:
        return arrays[0]
    return np.concatenate(arrays) if arrays else np.empty(0, dtype=dtype)
