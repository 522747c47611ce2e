"""Systems of differing quality on queries whose relevance is known in full, to try orders of judging on."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.scoring import evaluate
from visual_search.ground_truth.relevance import Relevance
from visual_search.judging.order import QueryOrder
from visual_search.judging.pool import Source
from visual_search.judging.task import Order
from visual_search.rankings.ranking import Ranking

__all__ = ["SimulatedPool", "judged_in_order", "kendall_tau", "simulated_pool", "system_means"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Int64Array: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedPool:
    """Lists of several systems, and what is relevant.

    Attributes
    ----------
    lists : int64 array of shape (systems, queries, depth)
        Items, best first.
    relevant : bool array of shape (queries, items)
    """

    lists: Int64Array
    relevant: BoolArray

    def pooled(self, query: int) -> tuple[Int64Array, list[list[Source]]]:
        """Items of one query's pool, and why each is there."""
        items = np.unique(self.lists[:, query])
        sources: dict[int, list[Source]] = {item: [] for item in items.tolist()}
        for system, listed in enumerate(self.lists[:, query]):
            for rank, item in enumerate(listed.tolist(), start=1):
                sources[item].append(Source("ranked", f"s{system}", rank))
        return items, list(sources.values())


def simulated_pool(
    *, systems: int = 8, queries: int = 50, items: int = 300, depth: int = 50, step: float = 0.1, seed: int = 0
) -> SimulatedPool:
    r"""Draw relevance and systems that see it through noise, part of which they share.

    .. math:: x_{qsi} = a_s\, r_{qi} + \sqrt{.4}\, c_{qi} + \sqrt{.6}\, e_{qsi}, \quad a_s = 1 + s\, \text{step}

    Between 5 and 40 items of a query are relevant.

    Parameters
    ----------
    systems, queries, items : int
        Items of the gallery.
    depth : int
        Of each list.
    step : float
        By how much a is larger from system to system.
    seed : int

    Examples
    --------
    >>> pool = simulated_pool(systems=2, queries=3, items=50, depth=10)
    >>> pool.lists.shape, bool((pool.relevant.sum(axis=1) >= 5).all())
    ((2, 3, 10), True)
    """
    random = np.random.default_rng(seed)
    share = random.integers(5, min(41, items), size=queries)
    relevant = np.argsort(np.argsort(random.random((queries, items)), axis=1), axis=1) < share[:, None]
    common = np.sqrt(0.4) * random.standard_normal((queries, items))
    strength = 1 + step * np.arange(systems)[:, None, None]
    seen = strength * relevant + common + np.sqrt(0.6) * random.standard_normal((systems, queries, items))
    return SimulatedPool(np.argsort(-seen, axis=2, kind="stable")[:, :, :depth].astype(np.int64), relevant)


def judged_in_order(pool: SimulatedPool, method: Order, share: float, *, seed: int = 0) -> Relevance:
    """Judge this share of each query's pooled pairs in an order, each judgement known to the next choice.

    Parameters
    ----------
    pool : SimulatedPool
    method : {"move_to_front", "max_mean", "fixed", "shuffled"}
    share : float in (0, 1]
        Of each query's pooled pairs.
    seed : int
        Of ties.

    Examples
    --------
    >>> pool = simulated_pool(systems=2, queries=3, items=50, depth=10)
    >>> judged_in_order(pool, "move_to_front", 0.5)
    Relevance(3 queries, 24 judged pairs, 0 ignored)
    """
    random = np.random.default_rng(seed)
    judged: dict[int, dict[int, float]] = {}
    for query in range(len(pool.relevant)):
        items, sources = pool.pooled(query)
        order = QueryOrder(sources, random.random(len(items)).tolist(), method)
        found: dict[int, bool | None] = {}
        for _ in range(round(share * len(items))):
            place = order.remaining(found)[0]
            found[place] = bool(pool.relevant[query, items[place]])
        judged[query] = {int(items[place]): float(bool(marked)) for place, marked in found.items()}
    return Relevance.from_dict(judged)


def system_means(pool: SimulatedPool, relevance: Relevance | None = None, measure: str = "AP") -> FloatArray:
    """Mean of a measure for each system, by a relevance or by all there is; float64 of shape (systems,).

    >>> system_means(simulated_pool(systems=3, queries=10)).argsort().tolist()
    [0, 1, 2]
    """
    truth = Relevance.from_matrix(pool.relevant) if relevance is None else relevance
    rankings = [Ranking.from_rank_matrix(lists) for lists in pool.lists]
    return np.array([evaluate(ranking, truth, [measure])[measure].mean for ranking in rankings])


def kendall_tau(first: FloatArray, second: FloatArray) -> float:
    """Kendall's tau of two orders, a tie in one of them counting as neither agreement nor disagreement.

    >>> kendall_tau(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
    0.3333333333333333
    """
    above = np.triu_indices(len(first), 1)
    signs = np.sign(np.subtract.outer(first, first)) * np.sign(np.subtract.outer(second, second))
    return float(signs[above].mean())
