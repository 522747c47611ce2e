"""Precision: which share of the first k is relevant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.evaluation.measures.draws import classes_of, last_relevant_chances, weighted_inverse_ranks
from visual_search.evaluation.measures.extreme_ranks import last_groups
from visual_search.evaluation.measures.hits import expected_hits
from visual_search.evaluation.measures.measure import EmptyRule, Measure
from visual_search.evaluation.measures.parameters import choice, cutoff, threshold
from visual_search.evaluation.measures.recall import Recall
from visual_search.evaluation.positions import Positions

__all__ = ["Precision"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class Precision(Measure):
    """Share of the first k that is relevant.

    ::

        Precision(denominator=k)@k         = h_k / k
        Precision(denominator=retrieved)@k = h_k / min(k, list length)
        Precision(denominator=last)@k      = h_j / j, j = min(k, rank of the last relevant item)

    Parameters
    ----------
    denominator : {"k", "retrieved", "last"}
        k, so that a short list is padded with items that are not relevant; what the list really has; or the list
        only down to its last relevant item, where that comes before k.
    k : int
        The rank down to which the list is read, from 1.
    rel : float
        An item is relevant when its grade is at least this.

    Convention
    ----------
    A query without relevant items scores 0 and is counted. Over ``retrieved`` an empty list scores 0 and is
    counted too, though it is 0 of 0: what returns nothing has shown nothing relevant. A micro average, which sums
    what was retrieved, gets nothing from it.
    Over ``last``, a relevant item that is not in the list counts as beyond k.
    ``Precision(denominator=min)@k`` reads as ``Recall(denominator=min)@k``, whose formula it is.

    How to read it
    --------------
    Cannot reach 1 where a query has fewer than k relevant items; read it beside R. Over ``retrieved`` a system
    gains by returning less.

    References
    ----------
    Manning, Raghavan and Schuetze, "Introduction to Information Retrieval", section 8.4; trec_eval's ``P_k``.
    ``last``: Radenovic et al., "Revisiting Oxford and Paris", CVPR 2018, as their evaluation code has it.

    Examples
    --------
    >>> str(Precision(k=5))
    'Precision(denominator=k)@5'
    """

    averages: ClassVar[tuple[str, ...]] = ("macro", "micro", "median")

    denominator: str = choice("k", "k", "retrieved", "last", about="what the hits are divided by", named=True)
    k: int | str | None = cutoff()
    rel: float = threshold()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.denominator == "last" and self.average == "micro":
            raise InputError("Precision: average=micro needs a divisor that no order changes; last has none")

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any]) -> Measure:
        """One formula, one name: hits over min(R, k) is a recall."""
        return Recall(**values) if values.get("denominator") == "min" else cls(**values)

    @property
    def on_empty(self) -> EmptyRule:
        """What a query without relevant items is."""
        return "zero"

    @property
    def words(self) -> str:
        """What the number is."""
        if self.denominator == "last":
            return f"share of relevant items among the first min({self.k}, rank of the last relevant item)"
        below = str(self.k) if self.denominator == "k" else f"min({self.k}, list length)"
        return f"relevant items among the first {self.k}, divided by {below}"

    def largest(self, relevant: Int64Array) -> FloatArray:
        """min(R, k) / k; 1 over a list that may be shorter, and 0 without relevant items."""
        if self.denominator == "k" and isinstance(self.k, int):
            return self.places(relevant) / self.k
        return (relevant > 0).astype(np.float64)

    def expectation(self, positions: Positions) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Expected hits over the denominator."""
        limits = self.limits(positions)
        if self.denominator == "last":
            return _down_to_last(positions, limits, self.rel), np.ones(len(positions))
        below = limits if self.denominator == "k" else self.retrieved(positions)
        return expected_hits(positions, limits, self.rel), below


def _down_to_last(positions: Positions, limits: Int64Array, rel: float) -> FloatArray:
    """Expected h_j / j with j = min(k, rank of the last relevant item).

    Where the last relevant item is at L <= k the value is R / L, else h_k / k; so the second is taken everywhere
    and the orders with L <= k are exchanged for the first.
    """
    value = expected_hits(positions, limits, rel) / limits
    groups = last_groups(positions, rel)
    total = groups.before + groups.relevant
    room = limits[groups.query] - groups.above
    for (n, r), chosen in classes_of(groups.size, groups.relevant):
        depth = np.clip(room[chosen], 0, n)
        reached = np.concatenate(([0.0], np.cumsum(last_relevant_chances(n, r, n))))[depth]
        nearer = weighted_inverse_ranks(last_relevant_chances(n, r, n), groups.above[chosen], depth)
        query = groups.query[chosen]
        value[query] += total[chosen] * (nearer - reached / limits[query])
    return value
