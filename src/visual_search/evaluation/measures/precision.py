"""Precision: which share of the first k is relevant."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.measures.hits import expected_hits
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.parameters import choice, cutoff, threshold
from visual_search.evaluation.measures.recall import Recall
from visual_search.evaluation.positions import Positions

__all__ = ["Precision"]


@dataclass(frozen=True, kw_only=True)
class Precision(Measure):
    """Share of the first k that is relevant.

    ::

        Precision(denominator=k)@k         = h_k / k
        Precision(denominator=retrieved)@k = h_k / min(k, list length)

    Parameters
    ----------
    denominator : {"k", "retrieved"}
        k, so that a short list is padded with items that are not relevant; or what the list really has.
    k : int
        The rank down to which the list is read, from 1.
    rel : float
        An item is relevant when its grade is at least this.

    Convention
    ----------
    A query without relevant items scores 0 and is counted. Over ``retrieved`` an empty list is undefined (0 of 0).
    ``Precision(denominator=min)@k`` reads as ``Recall(denominator=min)@k``, whose formula it is.

    How to read it
    --------------
    Cannot reach 1 where a query has fewer than k relevant items; read it beside R. Over ``retrieved`` a system
    gains by returning less.

    References
    ----------
    Manning, Raghavan and Schuetze, "Introduction to Information Retrieval", section 8.4; trec_eval's ``P_k``.

    Examples
    --------
    >>> str(Precision(k=5))
    'Precision(denominator=k)@5'
    """

    averages: ClassVar[tuple[str, ...]] = ("macro", "micro", "median")

    denominator: str = choice(
        "k", "k", "retrieved", about="what the hits are divided by: k, or min(k, list length)", named=True
    )
    k: int | str | None = cutoff()
    rel: float = threshold()

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any]) -> Measure:
        """One formula, one name: hits over min(R, k) is a recall."""
        return Recall(**values) if values.get("denominator") == "min" else cls(**values)

    @property
    def words(self) -> str:
        """What the number is."""
        below = str(self.k) if self.denominator == "k" else f"min({self.k}, list length)"
        return f"relevant items among the first {self.k}, divided by {below}"

    def expectation(self, positions: Positions) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Expected hits over the denominator."""
        limits = self.limits(positions)
        below = limits if self.denominator == "k" else np.minimum(limits, positions.lengths)
        return expected_hits(positions, limits, self.rel), below
