"""HitRate: whether anything relevant is among the first k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.measures.draws import miss_chance
from visual_search.evaluation.measures.measure import EmptyRule, Measure
from visual_search.evaluation.measures.parameters import cutoff, threshold
from visual_search.evaluation.positions import Positions

__all__ = ["HitRate"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class HitRate(Measure):
    """1 if at least one of the first k items is relevant, else 0.

    ::

        HitRate@k = 1 if h_k >= 1 else 0
        expected over a tied group of n items, r relevant, cut after m of them:
            1 - C(n - r, m) / C(n, m)

    Parameters
    ----------
    k : int
        The rank down to which the list is read, from 1.
    rel : float
        An item is relevant when its grade is at least this.

    Convention
    ----------
    A query without relevant items scores 0 and is counted. A list shorter than k is read to its end. Never falls as
    k grows.

    How to read it
    --------------
    The share of queries whose first k results show something right. Also called Success@k, CMC@k, query-level
    Recall@k, and plainly "Recall@k" in metric learning. It equals ``Recall(average=micro)@k`` where every query has
    one relevant item.

    References
    ----------
    Musgrave, Belongie and Lim, "A Metric Learning Reality Check", ECCV 2020, for its use as "Recall@k".

    Examples
    --------
    >>> from visual_search.evaluation.scoring import evaluate
    >>> from visual_search import Ranking, Relevance
    >>> result = evaluate(
    ...     Ranking.from_dict({"q": {"a": 0.9, "b": 0.5, "c": 0.5}}),
    ...     Relevance.from_dict({"q": {"b": 1}}),
    ...     ["HitRate@1", "HitRate@2", "HitRate@3"],
    ... )
    >>> [m.mean for m in result.values()]
    [0.0, 0.5, 1.0]
    """

    k: int | str | None = cutoff()
    rel: float = threshold()

    @property
    def on_empty(self) -> EmptyRule:
        """What a query without relevant items is."""
        return "zero"

    @property
    def never_falls_with_k(self) -> bool:
        """Whether a deeper cut-off never gives less."""
        return True

    @property
    def words(self) -> str:
        """What the number is."""
        return f"share of queries with a relevant item among the first {self.k}"

    def largest(self, relevant: Int64Array) -> FloatArray:
        """1; 0 without relevant items."""
        return (relevant > 0).astype(np.float64)

    def expectation(self, positions: Positions) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """One minus the chance that the first group with relevant items shows none before the cut."""
        groups = positions.relevant_groups(self.rel)
        groups = groups.where(groups.before == 0)
        inside = np.clip(self.limits(positions)[groups.query] - groups.above, 0, groups.size)
        hit = np.zeros(len(positions))
        hit[groups.query] = 1 - miss_chance(groups.size, groups.relevant, inside)
        return hit, np.ones(len(positions))
