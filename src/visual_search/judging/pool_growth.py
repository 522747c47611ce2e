"""What a new system adds to an old pool: pairs that nobody pooled, and how much of its lists is judged."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from visual_search.counted import counted
from visual_search.errors import InputError
from visual_search.ids import Id
from visual_search.judging.pool import Pair, Pool

__all__ = ["PoolGrowth", "SystemGrowth", "pool_growth"]


@dataclass(frozen=True, slots=True)
class SystemGrowth:
    """What one system adds.

    Attributes
    ----------
    new : int
        Pairs of its own that were not in the pool.
    only : int
        Of these, how many no other new system returned.
    judged_at : mapping of int to float
        For each k the mean over queries of judged items among the first min(k, depth), over how many there are.
    """

    new: int
    only: int
    judged_at: Mapping[int, float]


@dataclass(frozen=True, slots=True)
class PoolGrowth:
    """What new rankings add to an old pool.

    Attributes
    ----------
    pairs : int
        New ones, each once.
    queries : mapping of id to int
        New pairs of each query that has any.
    systems : mapping of str to SystemGrowth

    How to read it
    --------------
    A system whose ``judged_at`` is low had no hand in the pool: its unjudged items count as not relevant, and its
    scores are too low until they are judged.
    """

    pairs: int
    queries: Mapping[Id, int]
    systems: Mapping[str, SystemGrowth]

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        systems = {
            name: {"new": one.new, "only": one.only, "judged_at": {str(k): v for k, v in one.judged_at.items()}}
            for name, one in self.systems.items()
        }
        queries = [{"query": query, "new": count} for query, count in self.queries.items()]
        return {"pairs": self.pairs, "queries": queries, "systems": systems}

    def words(self) -> str:
        """In lines."""
        lines = [
            f"{counted(self.pairs, 'new pair', 'new pairs')} in {counted(len(self.queries), 'query', 'queries')}"
        ]
        for name, one in self.systems.items():
            shares = ", ".join(f"{share:.0%} of the first {k}" for k, share in one.judged_at.items())
            before = f"; judged before: {shares}" if shares else ""
            lines.append(f"{name}: {one.new:,} new, {one.only:,} by it alone{before}")
        return "\n".join(lines)


def pool_growth(
    old: Pool, new: Pool, judged: Collection[Pair] | None, k_values: Sequence[int] = (1, 5, 10, 20)
) -> PoolGrowth:
    """Tell what the systems of one pool add to another.

    Parameters
    ----------
    old : Pool
        What was pooled before.
    new : Pool
        Of the new rankings alone.
    judged : collection of (query, item) or None
        Pairs with a judgement; None where that is not known, and no share is told.
    k_values : sequence of int
        From 1; those beyond a system's depth are left out.

    Raises
    ------
    InputError
        A k below 1.

    Examples
    --------
    >>> from visual_search.judging.pooling import pool_of_rankings
    >>> from visual_search.rankings.ranking import Ranking
    >>> old = pool_of_rankings({"one": Ranking.from_dict({"q": {"a": 0.9, "b": 0.8}})}, depth=2)
    >>> new = pool_of_rankings({"two": Ranking.from_dict({"q": {"b": 0.9, "c": 0.8}})}, depth=2)
    >>> print(pool_growth(old, new, judged={("q", "b")}, k_values=[1, 2]).words())
    1 new pair in 1 query
    two: 1 new, 1 by it alone; judged before: 100% of the first 1, 50% of the first 2
    """
    if any(k < 1 for k in k_values):
        raise InputError(f"k_values are {list(k_values)}; whole numbers from 1 are needed")
    fresh = {pair: {source.system for source in found} for pair, found in new.sources.items() if pair not in old}
    per_query: dict[Id, int] = {}
    for query, _ in fresh:
        per_query[query] = per_query.get(query, 0) + 1
    systems = {}
    for name, system in new.systems.items():
        own = [makers for makers in fresh.values() if name in makers]
        depths = [k for k in k_values if k <= system.depth and judged is not None]
        shares = {k: _judged_share(new, name, k, judged or ()) for k in depths}
        systems[name] = SystemGrowth(len(own), sum(makers == {name} for makers in own), shares)
    return PoolGrowth(len(fresh), per_query, systems)


def _judged_share(pool: Pool, system: str, k: int, judged: Collection[Pair]) -> float:
    listed: dict[Id, list[bool]] = {}
    for pair, found in pool.sources.items():
        if any(source.system == system and (source.rank or 0) <= k for source in found):
            listed.setdefault(pair[0], []).append(pair in judged)
    # As Judged@k counts it: a query without a list is 0 of 0, counted as 0.
    return sum(sum(mine) / len(mine) for mine in listed.values()) / max(len(pool.queries), 1)
