"""Every measure passes the shipped contract, and the contract finds what does not."""

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pytest

from visual_search import parse_measure
from visual_search.evaluation.measures.list_measure import ListMeasure
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.neighbor_measure import NeighborMeasure
from visual_search.evaluation.measures.parameters import cutoff
from visual_search.evaluation.measures.registry import BUILT_IN, measure_class
from visual_search.evaluation.positions import Positions
from visual_search.testing.measure_contract import check_measure

FORMS = [
    "HitRate@2",
    "Recall@3",
    "Recall",
    "Recall(denominator=min)@2",
    "Precision@3",
    "Precision(denominator=retrieved)@3",
    "Precision(denominator=last)@3",
    "RPrecision",
    "AP",
    "AP@3",
    "AP@R",
    "AP(denominator=min)@3",
    "AP(denominator=found)",
    "AP(denominator=found,unfound=undefined)@3",
    "AP(cut=relevant)",
    "AP(cut=relevant)@2",
    "AP(interpolation=trapezoid)",
    "RR",
    "RR(rel=2)@3",
    "DCG@3",
    "nDCG",
    "nDCG(gain=exponential)@3",
    "nDCG(gain=binary)@2",
    "ERR(max_grade=3)",
    "ERR(max_grade=3)@2",
    "RBP",
    "RBP(p=0.5)@2",
    "Bpref",
    "Bpref(negative=unjudged)",
    "F1@2",
    "INP",
    "FirstRank",
    "Judged@2",
]


def test_every_family_is_among_the_forms() -> None:
    # Measures of an index read exact neighbours; their properties are in test_neighbor_recall.py.
    of_relevance = {name for name in BUILT_IN if not issubclass(measure_class(name), NeighborMeasure)}
    assert {parse_measure(form).name for form in FORMS} == of_relevance


@pytest.mark.parametrize("form", FORMS)
def test_contract(form: str) -> None:
    check_measure(parse_measure(form), examples=30)


@dataclass(frozen=True, kw_only=True)
class NotAShare(ListMeasure):
    """Counts hits but claims to stay below 1."""

    perfect: ClassVar[float | None] = None

    def of_list(self, grades: Any, judged: Any) -> float:
        return float((grades >= 1).sum())


@dataclass(frozen=True, kw_only=True)
class ReadsOrderWithinTies(Measure):
    """Takes ties for an order, so that best and worst are not its extremes."""

    perfect: ClassVar[float | None] = None

    def expectation(self, positions: Positions) -> tuple[Any, Any]:
        last = positions.above + positions.tied
        first = np.full(len(positions), np.inf)
        np.minimum.at(first, positions.query_of_hit[positions.grades >= 1], last[positions.grades >= 1])
        return np.where(np.isinf(first), 0, 1 / first), positions.relevant_counts() > 0

    def pairs(self, positions: Positions, ties: Any) -> tuple[Any, Any]:
        return self.expectation(positions if ties in ("best", "expected") else positions.ordered(ties))


@dataclass(frozen=True, kw_only=True)
class FallsAsKGrows(ListMeasure):
    """A precision that claims to grow."""

    never_falls_with_k: ClassVar[bool] = True
    perfect: ClassVar[float | None] = None
    k: int | str | None = cutoff()

    def of_list(self, grades: Any, judged: Any) -> float:
        assert isinstance(self.k, int)
        return float((grades[: self.k] >= 1).sum() / self.k)


@dataclass(frozen=True, kw_only=True)
class NeverFull(ListMeasure):
    """A precision that says it never gets beyond a half."""

    perfect: ClassVar[float | None] = None
    k: int | str | None = cutoff()

    def of_list(self, grades: Any, judged: Any) -> float:
        assert isinstance(self.k, int)
        return float((grades[: self.k] >= 1).sum() / self.k)

    def largest(self, relevant: Any) -> Any:
        return np.full(len(relevant), 0.5)


@pytest.mark.parametrize(
    ("measure", "words"),
    [
        (NotAShare(), "outside"),
        (ReadsOrderWithinTies(), "not between worst"),
        (FallsAsKGrows(k=2), "falls as k grows"),
        (NeverFull(k=2), "above 0.5, the largest"),
    ],
    ids=["bounds", "ties", "k", "largest"],
)
def test_contract_finds_faults(measure: Measure, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    registered = {type(measure).__name__: type(measure)}
    monkeypatch.setattr("visual_search.evaluation.measures.registry._registered", registered)
    with pytest.raises(AssertionError, match=words):
        check_measure(measure, examples=200)


def test_contract_needs_a_registered_measure() -> None:
    with pytest.raises(ValueError, match="no measure 'FallsAsKGrows'"):
        check_measure(replace(FallsAsKGrows(k=2)), examples=1)
