"""Pools made: from what systems returned to a depth, and candidates for what all of them missed."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, Problems, ZeroVectorError, first_few
from visual_search.formats.results import ImageLocation
from visual_search.ids import Id, Ids
from visual_search.judging.pool import Pair, Pool, PooledSystem, PoolQuery, Source
from visual_search.judging.task import JudgingTask
from visual_search.rankings.ranking import Ranking

__all__ = ["ItemVectors", "near_duplicate_candidates", "pool_of_rankings", "random_candidates"]


def pool_of_rankings(
    rankings: Mapping[str, Ranking],
    depth: int,
    *,
    queries: Iterable[PoolQuery] | None = None,
    items: Mapping[Any, ImageLocation | None] | None = None,
    ignored: Mapping[Any, Iterable[Id]] | None = None,
    fingerprints: Mapping[str, str | None] | None = None,
    task: JudgingTask | None = None,
) -> Pool:
    """Take the union of the first items of several systems' lists.

    Parameters
    ----------
    rankings : mapping of str to Ranking
        By the systems' names.
    depth : int
        Items of each list that go in, from 1.
    queries : iterable of PoolQuery, optional
        Which queries, with their images and texts; all of the rankings, without either, where None.
    items : mapping of id to ImageLocation, optional
        Where items' images are.
    ignored : mapping of id to ids, optional
        Per query the items that count neither way, such as the query itself; ranks are counted without them.
    fingerprints : mapping of str to str, optional
        Of each ranking.
    task : JudgingTask, optional

    Returns
    -------
    Pool

    Raises
    ------
    InputError
        No rankings, a depth below 1, or queries that no ranking has.

    Convention
    ----------
    Rank is the place as returned, from 1, ignored items left out; of items that tie at the depth those that came
    first go in.

    Examples
    --------
    >>> one = Ranking.from_dict({"q": {"a": 0.9, "b": 0.8, "c": 0.7}})
    >>> two = Ranking.from_dict({"q": {"d": 0.9, "a": 0.8, "c": 0.7}})
    >>> pool = pool_of_rankings({"one": one, "two": two}, depth=2)
    >>> sorted(pool.items_of("q")), [source.rank for source in pool.sources["q", "a"]]
    (['a', 'b', 'd'], [1, 2])
    """
    there = dict.fromkeys(query for ranking in rankings.values() for query in ranking)
    chosen = (
        {one.query_id: one for one in queries} if queries is not None else {one: PoolQuery(one) for one in there}
    )
    problems = Problems("pool")
    if not rankings:
        problems.add("rankings: none; at least one system is needed")
    if isinstance(depth, bool) or depth < 1:
        problems.add(f"depth is {depth}; it must be a whole number from 1")
    foreign = [query for query in chosen if query not in there]
    if foreign and len(foreign) == len(chosen):
        problems.add(f"no query is in any ranking: {first_few(foreign, 3)} against {first_few(there, 3)}")
    problems.raise_if_any(InputError)
    sources: dict[Pair, list[Source]] = {}
    for name, ranking in rankings.items():
        for query in chosen:
            skipped = set((ignored or {}).get(query, ()))
            for rank, item in enumerate(_first(ranking, query, depth, skipped), start=1):
                sources.setdefault((query, item), []).append(Source("ranked", name, rank))
    named = {item: (items or {}).get(item) for _, item in sources}
    systems = {name: PooledSystem(depth, (fingerprints or {}).get(name)) for name in rankings}
    frozen = {pair: tuple(found) for pair, found in sources.items()}
    return Pool(chosen, frozen, named, systems, task or JudgingTask())


def _first(ranking: Ranking, query: Id, depth: int, skipped: set[Id]) -> list[Id]:
    if query not in ranking.queries:
        return []
    row = ranking.queries.row(query)
    start, stop = int(ranking.offsets[row]), int(ranking.offsets[row + 1])
    rows = ranking.rows[start : min(stop, start + depth + len(skipped))].tolist()
    return [item for item in ranking.items.take(rows) if item not in skipped][:depth]


def random_candidates(
    pool: Pool, gallery: Ids, per_query: int, *, seed: int = 0, ignored: Mapping[Any, Iterable[Id]] | None = None
) -> Iterator[tuple[Pair, Source]]:
    """Draw items outside the pool for each query, each item with equal chance; for `Pool.with_pairs`.

    They tell how much all systems missed: the share relevant among them, times what was not pooled, estimates it.

    Examples
    --------
    >>> pool = pool_of_rankings({"one": Ranking.from_dict({"q": {"a": 0.9}})}, depth=1)
    >>> more = pool.with_pairs(random_candidates(pool, Ids(["a", "b", "c"]), 1))
    >>> len(more), more.counts()["random"]
    (2, 1)
    """
    if per_query < 0:
        raise InputError(f"per_query is {per_query}; it must be a whole number from 0")
    rng = np.random.default_rng(seed)
    mine = _rows_of(pool, gallery)
    for query in pool.queries:
        taken = mine.get(query, set()) | {
            gallery.row(item) for item in (ignored or {}).get(query, ()) if item in gallery
        }
        wanted = min(per_query, len(gallery) - len(taken))
        if wanted <= 0:
            continue
        # A draw without repeats of more than is taken and wanted holds enough that are free.
        drawn = rng.choice(len(gallery), size=min(len(gallery), wanted + len(taken)), replace=False)
        free = [int(row) for row in drawn if int(row) not in taken][:wanted]
        for rank, item in enumerate(gallery.take(free), start=1):
            yield (query, item), Source("random", rank=rank)


def _rows_of(pool: Pool, gallery: Ids) -> dict[Id, set[int]]:
    rows: dict[Id, set[int]] = {}
    for query, item in pool.sources:
        if item in gallery:
            rows.setdefault(query, set()).add(gallery.row(item))
    return rows


@dataclass(frozen=True)
class ItemVectors:
    """Vectors of gallery items, by which items are near-duplicates.

    Parameters
    ----------
    ids : Ids
        One id a row.
    vectors : float array of shape (items, d)
        Finite and not zero; compared by cosine.

    Raises
    ------
    InputError, ZeroVectorError
        Not one row an id, values that are not finite, or a row of zeros.
    """

    ids: Ids
    vectors: npt.NDArray[Any]

    def __post_init__(self) -> None:
        if self.vectors.ndim != 2 or len(self.vectors) != len(self.ids):
            raise InputError(
                f"vectors: shape {self.vectors.shape} for {len(self.ids)} ids; one row an id is needed"
            )
        if not np.isfinite(self.vectors).all():
            raise InputError("vectors: NaN or infinite values; leave out items without a vector")
        zero = np.flatnonzero(~self.vectors.any(axis=1))
        if zero.size:
            raise ZeroVectorError(
                f"vectors: rows of zeros have no direction, first {first_few(self.ids.take(zero[:5]))}"
            )

    def nearest(self, items: Sequence[Id], k: int) -> list[list[tuple[Id, float]]]:
        """For each item its k nearest others by cosine, nearest first."""
        unit = self.vectors / np.linalg.norm(self.vectors, axis=1, keepdims=True)
        found = []
        for start in range(0, len(items), 256):
            rows = self.ids.rows(items[start : start + 256])
            cosines = np.array(unit[rows] @ unit.T, dtype=np.float64)
            cosines[np.arange(len(rows)), rows] = -np.inf
            kept = min(k, len(self.ids) - 1)
            order = np.argsort(-cosines, axis=1, kind="stable")[:, :kept]
            for line, best in enumerate(order):
                found.append(list(zip(self.ids.take(best.tolist()), cosines[line, best].tolist(), strict=True)))
        return found


def near_duplicate_candidates(
    pool: Pool,
    relevant: Mapping[Any, Iterable[Id]],
    vectors: ItemVectors,
    *,
    per_query: int,
    at_least: float = 0.9,
    ignored: Mapping[Any, Iterable[Id]] | None = None,
) -> Iterator[tuple[Pair, Source]]:
    """Find items outside the pool that look like items known to be relevant; for `Pool.with_pairs`.

    Parameters
    ----------
    pool : Pool
    relevant : mapping of id to ids
        Per query the items known to be relevant.
    vectors : ItemVectors
    per_query : int
        At most so many a query, those of the highest cosine; from 0.
    at_least : float
        Lowest cosine, -1 to 1.
    ignored : mapping of id to ids, optional

    Raises
    ------
    InputError
        Numbers out of range.

    Examples
    --------
    >>> pool = pool_of_rankings({"one": Ranking.from_dict({"q": {"a": 0.9}})}, depth=1)
    >>> vectors = ItemVectors(Ids(["a", "b", "c"]), np.array([[1.0, 0.0], [0.99, 0.1], [0.0, 1.0]]))
    >>> [pair for pair, _ in near_duplicate_candidates(pool, {"q": ["a"]}, vectors, per_query=5)]
    [('q', 'b')]
    """
    if per_query < 0 or not -1 <= at_least <= 1:
        raise InputError(f"per_query is {per_query}, from 0; at_least is {at_least}, a cosine from -1 to 1")
    pooled: dict[Id, set[Id]] = {}
    for query, item in pool.sources:
        pooled.setdefault(query, set()).add(item)
    for query, known in relevant.items():
        if query not in pool.queries:
            continue
        taken = pooled.get(query, set()) | set((ignored or {}).get(query, ())) | set(known)
        anchors = [item for item in known if item in vectors.ids]
        best: dict[Id, tuple[float, Id]] = {}
        for anchor, near in zip(anchors, vectors.nearest(anchors, per_query + len(taken)), strict=True):
            for item, cosine in near:
                if item not in taken and cosine >= at_least and cosine > best.get(item, (-np.inf, ""))[0]:
                    best[item] = (cosine, anchor)
        ranked = sorted(best.items(), key=lambda pair: -pair[1][0])[:per_query]
        for rank, (item, (cosine, anchor)) in enumerate(ranked, start=1):
            yield (query, item), Source("near_duplicate", rank=rank, near=anchor, likeness=min(cosine, 1.0))
