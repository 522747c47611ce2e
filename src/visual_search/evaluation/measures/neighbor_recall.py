"""NeighborRecall: which share of the exact neighbours an index returned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError, first_few
from visual_search.evaluation.measures.neighbor_measure import NeighborMeasure, refuse_depth
from visual_search.evaluation.measures.parameters import choice, count, cutoff, number, number_text
from visual_search.evaluation.neighbor_positions import NeighborPositions

__all__ = ["LowNeighborRecall", "NeighborRecall", "recall_pairs"]

AnyArray: TypeAlias = npt.NDArray[Any]


def recall_pairs(table: NeighborPositions, *, k: int, nearest: int, ties: str) -> tuple[AnyArray, AnyArray]:
    """Neighbours found and neighbours asked for, per query, under a rule for ties at the boundary."""
    counts = table.counts(k, nearest)
    if ties == "ids":
        return counts.listed, counts.wanted
    if ties == "strict":
        sure = np.where(counts.fits, counts.tied, 0)
        return counts.strict + sure, counts.nearer + np.where(counts.fits, counts.level, 0)
    return counts.found, counts.wanted


@dataclass(frozen=True, kw_only=True)
class _Recall(NeighborMeasure):
    """What both measures of this file share."""

    ties: str = choice(
        "exact",
        "exact",
        "strict",
        "ids",
        about="which items as far as the last neighbour count: any, up to the places left; all, where they all fit, or "
        "none; only those written down",
        named=True,
    )
    truth: int | None = count(about="how many nearest neighbours are looked for; without it k")
    k: int | str | None = cutoff()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.truth == self.k:
            object.__setattr__(self, "truth", None)  # one formula, one name
        if self.truth is not None and self.truth > self.k_number:
            raise InputError(
                f"{self.name}: truth={self.truth} neighbours cannot all be among k={self.k}; give truth up to k"
            )

    @property
    def nearest(self) -> int:
        """How many neighbours are looked for."""
        return self.k_number if self.truth is None else int(self.truth)

    @property
    def _what(self) -> str:
        which = "exact nearest neighbour" if self.nearest == 1 else f"{self.nearest} exact nearest neighbours"
        share = f"the {which} found among the first {self.k}"
        rule = {
            "exact": "any item as far as the last of them counts as one of them",
            "strict": "items as far as the last of them are left out where they do not all fit",
            "ids": "by id alone, whatever else is as far",
        }[self.ties]
        return f"{share}; {rule}"

    def check(self, table: NeighborPositions) -> None:
        """Refuse a truth that is not deep enough, and k beyond the gallery."""
        refuse_depth(self, table, k=self.k_number, nearest=self.nearest)

    def remarks(self, table: NeighborPositions) -> list[str]:
        """Queries where ties that were not kept might have counted."""
        if self.ties != "exact":
            return []
        undecided = np.flatnonzero(table.counts(self.k_number, self.nearest).undecided)
        if not undecided.size:
            return []
        who = counted(undecided.size, "query is a lower bound", "queries are lower bounds")
        named = first_few(table.queries.take(undecided.tolist()))
        said = (
            f"{self}: the values of {who}, since more items tie with the last neighbour than the truth kept, and "
            f"returned ones may be among them: {named}; make the truth with a higher cap on ties"
        )
        return [said]


@dataclass(frozen=True, kw_only=True)
class NeighborRecall(_Recall):
    """Share of the exact nearest neighbours that are among the first k returned; the recall@k of an index.

    ::

        NeighborRecall@k          = (strict + min(tied, quota)) / k
        NeighborRecall(truth=m)@k = the same for the m nearest among the k returned, over m

    With d the distance of the last neighbour asked for: strict = returned items with distance < d, tied = returned
    items at d, quota = neighbours asked for - exact neighbours with distance < d.

    Parameters
    ----------
    truth : int
        How many nearest neighbours are looked for, up to k; k where it is not given. 1 is FAISS's 1-recall@k.
    ties : {"exact", "strict", "ids"}
        ``exact``: any item at distance d may take one of the quota's places. ``strict``: only neighbours that belong to
        every exact answer count, found over all of these; undefined where there are none. ``ids``: plain overlap with
        the ids that the truth has written down, |A intersect E| / k, as most tools compute it.
    average : {"macro", "micro", "median", "minimum"}
        How the queries become one number.
    k : int
        The place down to which the list is read, from 1; what is returned beyond it is not looked at.

    Convention
    ----------
    Needs exact neighbours at least as deep as k (or m). Distances are compared exactly, in float64, never within an
    epsilon. Empty places (-1) and repeated ids are misses. A list shorter than k is read to its end, its missing
    places being misses; a query without a list scores 0 and is named. Where a filter leaves a query fewer than k
    items, they are what is asked for and divided by; where it leaves none, the query is undefined. An id that the
    truth's gallery does not have is an error.

    How to read it
    --------------
    Faithfulness to the metric, not relevance: 1 means that the index returned what a full scan would. May fall as k
    grows; with a fixed ``truth`` it never does. The mean hides the worst query: read it beside ``average=minimum``
    and `LowNeighborRecall`.

    References
    ----------
    Jegou, Douze and Schmid, "Product Quantization for Nearest Neighbor Search", TPAMI 2011, for m = 1; Aumueller,
    Bernhardsson and Faithfull, "ANN-Benchmarks", Information Systems 2020, for recall by distance.

    Examples
    --------
    >>> str(NeighborRecall(k=10)), str(NeighborRecall(truth=1, k=10))
    ('NeighborRecall(ties=exact)@10', 'NeighborRecall(truth=1,ties=exact)@10')
    """

    @property
    def never_falls_with_k(self) -> bool:
        """Whether a deeper cut-off never gives less."""
        return self.truth is not None

    @property
    def words(self) -> str:
        """What the number is."""
        return f"share of {self._what}"

    @classmethod
    def from_parameters(cls, values: Mapping[str, Any]) -> NeighborRecall:
        """Make the measure a text form names."""
        return cls(**values)

    def neighbor_pairs(self, table: NeighborPositions) -> tuple[AnyArray, AnyArray]:
        """Neighbours found over neighbours asked for."""
        return recall_pairs(table, k=self.k_number, nearest=self.nearest, ties=self.ties)


@dataclass(frozen=True, kw_only=True)
class LowNeighborRecall(_Recall):
    """1 where a query's `NeighborRecall` is below a threshold, else 0; its mean is the share of such queries.

    ::

        LowNeighborRecall(below=t)@k = 1 if NeighborRecall@k < t else 0

    Parameters
    ----------
    below : float
        The threshold, from 0 to 1; a query exactly at it is not below.
    truth, ties, k
        As for `NeighborRecall`.

    Convention
    ----------
    Undefined where `NeighborRecall` is.

    How to read it
    --------------
    The share of queries an index serves badly; 0 is best. ``below=1`` is the share with any neighbour missed.

    References
    ----------
    The spread over queries beside the mean, as index documentation asks for it; there is no settled name.

    Examples
    --------
    >>> str(LowNeighborRecall(below=0.9, k=10))
    'LowNeighborRecall(below=0.9,ties=exact)@10'
    """

    higher_is_better: ClassVar[bool] = False
    perfect: ClassVar[float | None] = 0.0
    averages: ClassVar[tuple[str, ...]] = ("macro",)

    average: str = choice("macro", "macro", about="how the queries become one number")
    below: float = number(0.9, about="a query is low when its recall is below this", high=1, named=True)

    @property
    def words(self) -> str:
        """What the number is."""
        return f"share of queries with less than {number_text(self.below)} of {self._what}"

    def neighbor_pairs(self, table: NeighborPositions) -> tuple[AnyArray, AnyArray]:
        """Whether found / asked for is below the threshold, where anything is asked for."""
        found, wanted = recall_pairs(table, k=self.k_number, nearest=self.nearest, ties=self.ties)
        share = np.divide(found, wanted, out=np.ones(len(table)), where=wanted > 0)
        return share < self.below, wanted > 0
