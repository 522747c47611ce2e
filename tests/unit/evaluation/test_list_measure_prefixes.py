"""A measure of one's own on long ties: with a k only the first places are gone through."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from visual_search import Ranking, Relevance, evaluate
from visual_search.errors import InputError
from visual_search.evaluation.measures import list_measure
from visual_search.evaluation.measures.list_measure import ListMeasure
from visual_search.evaluation.measures.parameters import cutoff
from visual_search.evaluation.ties import TieRule


@dataclass(frozen=True, kw_only=True)
class GradesInOrder(ListMeasure):
    """Grades of the first k, each weighed by its place; undefined where the first item is unjudged."""

    bounds = (0.0, float("inf"))
    k: int | str | None = cutoff()

    def of_list(self, grades: Any, judged: Any) -> Any:
        first = grades[: self.k]
        return None if np.isnan(first[0]) else float((np.nan_to_num(first) / np.arange(1, len(first) + 1)).sum())


@dataclass(frozen=True, kw_only=True)
class AllHits(ListMeasure):
    """Whether the first k are all relevant."""

    k: int | str | None = cutoff()

    def of_list(self, grades: Any, judged: Any) -> Any:
        return bool((grades[: self.k] >= 1).all())


def tied(size: int, grades: dict[str, float]) -> tuple[Ranking, Relevance]:
    scores = {"top": 2.0, **{f"i{n}": 1.0 for n in range(size)}, "low": 0.5}
    return Ranking.from_dict({"q": scores}), Relevance.from_dict({"q": {"top": 1, "low": 1, **grades}})


@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
@pytest.mark.parametrize("depth", [1, 2, 3, 5])
def test_first_places_give_what_all_orders_give(monkeypatch: pytest.MonkeyPatch, depth: int, ties: TieRule) -> None:
    ranking, relevance = tied(6, {"i0": 1, "i1": 2, "i2": 2, "i3": 0})
    measure = GradesInOrder(k=depth)
    whole = evaluate(ranking, relevance, [measure], ties=ties)[measure].mean
    # 6! / 2! / 2! = 180 orders, of the first four of the tie at most 102.
    monkeypatch.setattr(list_measure, "MAX_ORDERS", 150)
    assert evaluate(ranking, relevance, [measure], ties=ties)[measure].mean == pytest.approx(whole, abs=1e-12)


def test_a_tie_of_many_orders_is_exact_within_the_depth() -> None:
    # Two of three places after the first are drawn from 16 items, 6 of them relevant.
    ranking, relevance = tied(16, {f"i{n}": 1 for n in range(6)})
    measure = AllHits(k=3)
    assert evaluate(ranking, relevance, [measure])[measure].mean == pytest.approx(6 / 16 * 5 / 15)


def test_too_many_first_places_are_told() -> None:
    ranking, relevance = tied(30, {f"i{n}": n for n in range(30)})
    with pytest.raises(InputError, match="more than so many of the first 12 places"):
        evaluate(ranking, relevance, [GradesInOrder(k=12)])
