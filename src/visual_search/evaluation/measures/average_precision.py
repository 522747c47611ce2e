"""AP: precision averaged over the places where something relevant is found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.evaluation.measures.found_precision import precision_over_found
from visual_search.evaluation.measures.measure import EmptyRule, Measure
from visual_search.evaluation.measures.parameters import choice, cutoff, threshold
from visual_search.evaluation.measures.precision_sums import leading_precision_sums, precision_sums, trapezoid_sums
from visual_search.evaluation.positions import Positions
from visual_search.evaluation.ties import TieRule

__all__ = ["AP"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Pairs = tuple[npt.NDArray[Any], npt.NDArray[Any]]


@dataclass(frozen=True, kw_only=True)
class AP(Measure):
    """Average precision: the precision at each relevant item, summed, divided by what a convention says.

    ::

        AP(denominator=all)[@k]   = sum of P(r) over the relevant items at ranks r <= k, / R
        AP(denominator=min)@k     = the same sum / min(R, k)
        AP(denominator=found)[@k] = the same sum / h_k; 0 when h_k = 0
        AP(denominator=all)@R     = the same sum cut at R, / R           (MAP@R)
        AP(cut=relevant)[@k]      = mean of j / rank_j over the first min(k, R) relevant items, wherever they rank
        AP(interpolation=trapezoid) = sum of (P before + P at)/2 per relevant item, / R; P before rank 1 is 1

    Parameters
    ----------
    denominator : {"all", "min", "found"}
        What the sum is divided by: R, min(R, k), or the number of relevant items found.
    cut : {"rank", "relevant"}
        Whether k counts ranks, or relevant items.
    interpolation : {"none", "trapezoid"}
        Whether the area under the precision-recall curve is summed in steps or in trapezoids.
    unfound : {"zero", "undefined"}
        Under ``denominator=found``, what a query is that has relevant items but none among the first k.
    k : int or "R", optional
        The rank down to which the list is read; without it the whole list.
    rel : float
        An item is relevant when its grade is at least this.

    Convention
    ----------
    Undefined for a query without relevant items, except ``cut=relevant``, where it scores 0 and is counted.
    Relevant items that are not in the list add 0 and stay in R. Its mean over queries is mAP. Unjudged items are
    not relevant. Under ``unfound=undefined`` the value is conditional on finding something, in expectation too.

    How to read it
    --------------
    1 when all relevant items come first. ``all`` cannot reach 1 while k < R; ``min`` can. ``found`` does not punish
    what was missed: finding one more relevant item far down lowers it. Differences between papers' mAP are mostly
    differences of these choices.

    References
    ----------
    ``all``: trec_eval's ``map`` and ``map_cut``. ``min``: Weyand et al., "Google Landmarks Dataset v2", CVPR 2020.
    ``@R``: Musgrave, Belongie and Lim, ECCV 2020. ``trapezoid``: Philbin et al., CVPR 2007, and Radenovic et al.,
    CVPR 2018. Expectation under ties: McSherry and Najork, ECIR 2008.

    Examples
    --------
    >>> str(AP()), str(AP(denominator="min", k=10)), str(AP(cut="relevant") @ 2), str(AP() @ "R")
    ('AP(denominator=all)', 'AP(denominator=min)@10', 'AP(cut=relevant)@2', 'AP(denominator=all)@R')
    """

    denominator: str = choice("all", "all", "min", "found", about="what the sum is divided by", named=True)
    cut: str = choice("rank", "rank", "relevant", about="whether k counts ranks or relevant items")
    interpolation: str = choice("none", "none", "trapezoid", about="steps or trapezoids under the curve")
    unfound: str = choice("zero", "zero", "undefined", about="under denominator=found, a query with none found")
    k: int | str | None = cutoff(required=False, or_r=True)
    rel: float = threshold()

    def __post_init__(self) -> None:
        super().__post_init__()
        clashes = {
            "denominator=min needs a k that is a number; without one R is never capped": self.denominator == "min"
            and not isinstance(self.k, int),
            "cut=relevant has its own denominator, min(k, R)": self.cut == "relevant" and self.denominator != "all",
            "cut=relevant counts relevant items, so that @R is all of them; leave it out": self.cut == "relevant"
            and self.k == "R",
            "interpolation=trapezoid divides by R and reads the whole list": self.interpolation == "trapezoid"
            and (self.denominator, self.cut, self.k) != ("all", "rank", None),
            "unfound=undefined says something only under denominator=found": self.unfound == "undefined"
            and self.denominator != "found",
        }
        for problem, is_one in clashes.items():
            if is_one:
                raise InputError(f"AP: {problem}")

    def _implied(self) -> tuple[str, ...]:
        return ("denominator",) if self.cut == "relevant" or self.interpolation == "trapezoid" else ()

    @property
    def on_empty(self) -> EmptyRule:
        """What a query without relevant items is."""
        return "zero" if self.cut == "relevant" else "undefined"

    @property
    def never_falls_with_k(self) -> bool:
        """Whether a deeper cut-off never gives less."""
        return (self.denominator, self.cut, self.interpolation) == ("all", "rank", "none")

    @property
    def words(self) -> str:
        """What the number is."""
        if self.cut == "relevant":
            some, below = ("the", "R") if self.k is None else (f"the first min({self.k}, R)", f"min({self.k}, R)")
            return f"precision at each of {some} relevant items, wherever they rank, divided by {below}"
        if self.interpolation == "trapezoid":
            return "area under the precision-recall curve in trapezoids, precision before rank 1 being 1"
        divisors = {"all": "R", "min": f"min(R, {self.k})", "found": "the number of relevant items found"}
        within = "" if self.k is None else f" among the first {self.k}"
        left_out = ", queries with none found left out" if self.unfound == "undefined" else ""
        return f"precision at each relevant item{within}, summed, divided by {divisors[self.denominator]}{left_out}"

    def largest(self, relevant: Int64Array) -> FloatArray:
        """min(R, k) / R where ranks are cut and all relevant items are asked for; 0 without any."""
        if self.denominator == "all" and self.cut == "rank":
            return self.places(relevant) / np.maximum(relevant, 1)
        return (relevant > 0).astype(np.float64)

    def expectation(self, positions: Positions) -> Pairs:
        """Expected sum of precisions over the denominator."""
        total = positions.relevant_counts(self.rel)
        groups = positions.relevant_groups(self.rel)
        if self.cut == "relevant":
            wanted = total if self.k is None else np.minimum(total, self.limits(positions))
            here = np.clip(wanted[groups.query] - groups.before, 0, groups.relevant)
            sums = positions.sum_by_query(groups.query, leading_precision_sums(groups, here))
            return sums, np.maximum(wanted, 1)
        if self.interpolation == "trapezoid":
            return positions.sum_by_query(groups.query, trapezoid_sums(groups)), total
        limits = self.limits(positions)
        if self.denominator == "found":
            return self._found(positions, "expected")
        reached = limits[groups.query] > groups.above
        if not reached.all():
            groups = groups.where(reached)
        inside = np.minimum(limits[groups.query] - groups.above, groups.size)
        sums = positions.sum_by_query(groups.query, precision_sums(groups, inside))
        return sums, np.minimum(total, limits) if self.denominator == "min" else total

    def pairs(self, positions: Positions, ties: TieRule) -> Pairs:
        """As the order says; over ``found`` the cut group is taken apart, since no one order is extreme there."""
        if self.denominator == "found" and ties in ("best", "worst"):
            return self._found(positions, ties)
        return super().pairs(positions, ties)

    def _found(self, positions: Positions, ties: TieRule) -> Pairs:
        groups = positions.relevant_groups(self.rel)
        inside = np.clip(self.limits(positions)[groups.query] - groups.above, 0, groups.size)
        skip_none = self.unfound == "undefined"
        value, chance = precision_over_found(positions, groups, inside, ties, skip_none=skip_none)
        return value, chance if skip_none else positions.relevant_counts(self.rel) > 0
