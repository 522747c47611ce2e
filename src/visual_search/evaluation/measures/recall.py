"""Recall: which share of the relevant items is among the first k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.evaluation.measures.hits import expected_hits
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.parameters import choice, cutoff, threshold
from visual_search.evaluation.positions import Positions

__all__ = ["RPrecision", "Recall"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True)
class Recall(Measure):
    """Share of the relevant items that the first k hold.

    ::

        Recall(denominator=all)@k = h_k / R
        Recall(denominator=min)@k = h_k / min(R, k)
        Recall(average=micro)@k   = sum of h_k / sum of R over the queries

    Parameters
    ----------
    denominator : {"all", "min"}
        All relevant items, or as many of them as k places can hold.
    k : int, optional
        The rank down to which the list is read; without it the whole list.
    rel : float
        An item is relevant when its grade is at least this.

    Convention
    ----------
    Undefined for a query without relevant items. Relevant items that are not in the list stay in R. Over ``all`` it
    never falls as k grows; over ``min`` it may.

    How to read it
    --------------
    Over ``all`` it cannot reach 1 while k < R; ``min`` can, and is what some tools call precision. The micro
    average weighs a query by its number of relevant items: the item-level Recall@k.

    References
    ----------
    Manning, Raghavan and Schuetze, "Introduction to Information Retrieval", section 8.3; trec_eval's ``recall_k``.

    Examples
    --------
    >>> str(Recall(k=5)), str(Recall(denominator="min", k=10))
    ('Recall(denominator=all)@5', 'Recall(denominator=min)@10')
    """

    averages: ClassVar[tuple[str, ...]] = ("macro", "micro", "median")

    denominator: str = choice(
        "all", "all", "min", about="what the hits are divided by: R, or min(R, k)", named=True
    )
    k: int | str | None = cutoff(required=False)
    rel: float = threshold()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.denominator == "min" and self.k is None:
            raise InputError("Recall: denominator=min needs a k; without one R is never capped")

    @property
    def never_falls_with_k(self) -> bool:
        """Whether a deeper cut-off never gives less."""
        return self.denominator == "all"

    @property
    def words(self) -> str:
        """What the number is."""
        whole = "" if self.k is None else f" among the first {self.k}"
        if self.average == "micro":
            return f"relevant items found{whole}, of all queries together, over all that there are"
        capped = self.denominator == "min"
        return f"relevant items found{whole}, divided by " + (f"min(R, {self.k})" if capped else "R")

    def largest(self, relevant: Int64Array) -> FloatArray:
        """min(R, k) / R over all relevant items; 0 without any."""
        below = relevant if self.denominator == "all" else self.places(relevant)
        return self.places(relevant) / np.maximum(below, 1)

    def expectation(self, positions: Positions) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Expected hits over R or min(R, k)."""
        total = positions.relevant_counts(self.rel)
        limits = self.limits(positions)
        capped = self.denominator == "min"
        return expected_hits(positions, limits, self.rel), np.minimum(total, limits) if capped else total


@dataclass(frozen=True, kw_only=True)
class RPrecision(Measure):
    """Precision among the first R, where R is the query's number of relevant items.

    ::

        RPrecision = h_R / R

    Parameters
    ----------
    rel : float
        An item is relevant when its grade is at least this.

    Convention
    ----------
    Undefined for a query without relevant items.

    How to read it
    --------------
    Precision and recall are the same number there, so that one value serves both; 1 when the R relevant items come
    first.

    References
    ----------
    Manning, Raghavan and Schuetze, "Introduction to Information Retrieval", section 8.4; trec_eval's ``Rprec``.

    Examples
    --------
    >>> str(RPrecision())
    'RPrecision'
    """

    rel: float = threshold()

    @property
    def words(self) -> str:
        """What the number is."""
        return "relevant items among the first R, divided by R"

    def largest(self, relevant: Int64Array) -> FloatArray:
        """1; 0 without relevant items."""
        return (relevant > 0).astype(np.float64)

    def expectation(self, positions: Positions) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Expected hits among the first R over R."""
        total = positions.relevant_counts(self.rel)
        return expected_hits(positions, total, self.rel), total
