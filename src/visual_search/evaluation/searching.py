"""Asks a search service for every query's list."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError, first_few
from visual_search.evaluation.search_service import SearchService, searches_in_batches
from visual_search.ids import Id, Ids
from visual_search.rankings.ranking import Ranking

__all__ = ["search_all"]

Vectors = npt.NDArray[np.float32]


def search_all(
    service: SearchService, vectors: Vectors, query_ids: Sequence[Id], k: int, gallery: Ids | None = None
) -> Ranking:
    """Search for every query, in one call where the service offers it.

    Parameters
    ----------
    service : SearchService
    vectors : float32 array of shape (n, d)
    query_ids : sequence of n ids
    k : int
        Items a query, at most.
    gallery : Ids, optional
        The gallery's ids, if known.

    Returns
    -------
    Ranking
        Queries that the service left out of a batch are missing from it.

    Raises
    ------
    InputError
        The service answered queries that were not asked, returned more than k items, or items without id or score.
    """
    if searches_in_batches(service):
        ranking = service.search_batch(vectors, query_ids, k)
        if not isinstance(ranking, Ranking):
            raise InputError(f"search_batch gave {type(ranking).__name__}; a Ranking is needed")
    else:
        ranking = _one_by_one(service, vectors, query_ids, k, gallery)
    asked = set(query_ids)
    foreign = [query for query in ranking.queries if query not in asked]
    if foreign:
        queries = counted(len(foreign), "query", "queries")
        raise InputError(f"the search service answered {queries} not asked, first {first_few(foreign)}")
    if len(ranking) and int(ranking.lengths.max()) > k:
        longest = int(ranking.lengths.argmax())
        raise InputError(
            f"the search service gave {int(ranking.lengths[longest])} items for {ranking.queries[longest]!r}; "
            f"at most k = {k} were asked for"
        )
    return ranking


def _one_by_one(
    service: SearchService, vectors: Vectors, query_ids: Sequence[Id], k: int, gallery: Ids | None
) -> Ranking:
    found: list[Id] = []
    scores: list[float] = []
    lengths: list[int] = []
    for vector, query in zip(vectors, query_ids, strict=True):
        answer = service.search(vector, query, k=k)
        try:
            results = list(answer.results)
            found.extend(item.image_id for item in results)
            scores.extend(float(item.score) for item in results)
        except (AttributeError, TypeError, ValueError) as reason:
            raise InputError(
                f"search for {query!r}: a result needs image_id and a number as score ({reason})"
            ) from None
        lengths.append(len(results))
    known = gallery is not None and all(item in gallery for item in found)
    items = gallery if known and gallery is not None else Ids(dict.fromkeys(found), what="found items")
    offsets = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    return Ranking(
        Ids(query_ids, what="queries"), items, offsets, items.rows(found), np.array(scores, dtype=np.float64)
    )
