"""evaluate and its result: means, counts, names, notes, groups and intervals."""

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from visual_search import Ranking, Relevance, evaluate, parse_measure
from visual_search.errors import InputError, UnknownNameError
from visual_search.evaluation.joining import join
from visual_search.evaluation.measures.measure import Measure, MeasureValues
from visual_search.evaluation.scoring import evaluate_positions

RUN = {"q1": {"a": 0.9, "b": 0.5, "c": 0.5}, "q2": {"a": 0.9}, "q3": {"b": 0.7, "a": 0.1}}
GRADES = {"q1": {"b": 1, "c": 2}, "q2": {"z": 0}, "q3": {"a": 1}}


@pytest.fixture
def ranking() -> Ranking:
    return Ranking.from_dict(RUN)


@pytest.fixture
def relevance() -> Relevance:
    return Relevance.from_dict(GRADES)


def test_one_value_per_query_in_the_order_of_the_relevance(ranking: Ranking, relevance: Relevance) -> None:
    result = evaluate(ranking, relevance, ["RR", "AP@10"])
    assert list(result.queries) == ["q1", "q2", "q3"]
    rr = result["RR"]
    assert rr.values.dtype == np.float64
    assert rr.values[[0, 2]].tolist() == [0.5, 0.5]
    assert math.isnan(rr.values[1])
    assert (rr.mean, rr.counted, rr.undefined, rr.undefined_queries, rr.interval) == (0.5, 2, 1, ("q2",), None)


def test_any_spelling_finds_a_measure(ranking: Ranking, relevance: Relevance) -> None:
    result = evaluate(ranking, relevance, ["nDCG@10"])
    for spelling in ("nDCG@10", "nDCG(gain=linear)@10", "nDCG( gain = linear )@10", parse_measure("nDCG@10")):
        assert result[spelling] is result["nDCG@10"]
        assert spelling in result
    assert list(result) == ["nDCG(gain=linear)@10"]
    assert len(result) == 1
    assert object() not in result
    assert "AP" not in result
    with pytest.raises(UnknownNameError, match="AP was not measured; there are nDCG"):
        result["AP"]


def test_micro_macro_and_median(ranking: Ranking) -> None:
    relevance = Relevance.from_dict({"q1": {"a": 1}, "q2": {"a": 1, "x": 1, "y": 1}, "q3": {"zz": 1}})
    result = evaluate(ranking, relevance, ["Recall@1", "Recall(average=micro)@1", "Recall(average=median)@1"])
    assert result["Recall@1"].mean == pytest.approx((1 + 1 / 3 + 0) / 3)
    assert result["Recall(average=micro)@1"].mean == pytest.approx(2 / 5)
    assert result["Recall(average=median)@1"].mean == pytest.approx(1 / 3)


def test_a_measures_own_ties_go_first_and_are_noted(ranking: Ranking, relevance: Relevance) -> None:
    result = evaluate(ranking, relevance, ["AP", "AP(ties=worst)"], ties="best")
    assert result["AP"].ties == "best"
    assert result["AP(ties=worst)"].ties == "worst"
    assert any("ties=best does not reach 'AP(denominator=all,ties=worst)'" in note for note in result.notes)


def test_no_query_defined_is_nan_not_zero(ranking: Ranking) -> None:
    result = evaluate(ranking, Relevance.from_dict({"q1": {"a": 0}}), ["AP"])
    assert math.isnan(result["AP"].mean)
    assert result["AP"].counted == 0
    assert result["AP"].as_json()["mean"] is None


def test_result_says_itself_in_json_and_words(ranking: Ranking, relevance: Relevance) -> None:
    result = evaluate(ranking, relevance, ["AP(denominator=min)@2"])
    record = json.loads(json.dumps(result.as_json(), allow_nan=False))
    assert record["measures"]["AP(denominator=min)@2"]["undefined_queries"] == ["q2"]
    assert record["ties"] == "expected"
    words = result["AP(denominator=min)@2"].words
    assert words == (
        "precision at each relevant item among the first 2, summed, divided by min(R, 2); macro over 2 queries; "
        "exact expectation over all orders of items with equal scores"
    )
    assert repr(result).splitlines()[0] == "Result over 3 queries, ties expected"


def test_lists_shorter_than_k_are_noted(ranking: Ranking, relevance: Relevance) -> None:
    notes = evaluate(ranking, relevance, ["AP@2"]).notes
    assert "k = 2 exceeds the list of 1 query, whose value is that of the whole list" in notes


@dataclass(frozen=True)
class Extremes:
    low: float
    high: float
    confidence: float = 1.0
    groups: int = 0

    def as_json(self) -> dict[str, Any]:
        return {"low": self.low, "high": self.high}


def extremes(_measure: Measure, values: MeasureValues, groups: Any) -> Extremes:
    kept = values.value[values.defined]
    return Extremes(kept.min(), kept.max(), groups=0 if groups is None else len(set(groups.tolist())))


def test_intervals_come_from_the_callers_maker(ranking: Ranking, relevance: Relevance) -> None:
    alone = evaluate(ranking, relevance, ["RR"], interval=extremes)["RR"].interval
    assert isinstance(alone, Extremes)
    assert (alone.low, alone.high, alone.groups) == (0.5, 0.5, 0)
    groups: list[Any] = [{"q1": "s", "q2": "t", "q3": "s"}, ["s", "t", "s"], np.array([4, 5, 4])]
    for given in groups:
        found = evaluate(ranking, relevance, ["RR"], groups=given, interval=extremes)["RR"].interval
        assert isinstance(found, Extremes)
        assert found.groups == 2


def test_groups_that_do_not_fit(ranking: Ranking, relevance: Relevance) -> None:
    with pytest.raises(InputError, match="1 query has none, first: 'q3'"):
        evaluate(ranking, relevance, ["RR"], groups={"q1": 1, "q2": 2})
    with pytest.raises(InputError, match="2 given for 3 queries"):
        evaluate(ranking, relevance, ["RR"], groups=[1, 2])


def test_positions_once_joined_serve_again(ranking: Ranking, relevance: Relevance) -> None:
    positions = join(ranking, relevance)
    for ties in ("expected", "worst"):
        again = evaluate_positions(positions, ["AP", "RR"], ties=ties)
        whole = evaluate(ranking, relevance, ["AP", "RR"], ties=ties)
        for text in again:
            assert np.array_equal(again[text].values, whole[text].values, equal_nan=True)


def test_what_evaluate_refuses(ranking: Ranking, relevance: Relevance) -> None:
    with pytest.raises(InputError, match="give a list of them"):
        evaluate(ranking, relevance, "AP")
    with pytest.raises(InputError, match="none given"):
        evaluate(ranking, relevance, [])
    with pytest.raises(InputError, match="none given"):
        evaluate(ranking, relevance)
    with pytest.raises(InputError, match="ties='random'"):
        evaluate(ranking, relevance, ["AP"], ties="random")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="2 grades are above max_grade, up to 2"):
        evaluate(ranking, Relevance.from_dict({"q1": {"a": 2, "b": 2}}), ["ERR(max_grade=1)"])


def test_arguments_in_the_wrong_order_and_scores_that_are_no_numbers_are_told() -> None:
    one: dict[str, dict[str, float]] = {"q": {"a": 1.0}}
    ranking, relevance = Ranking.from_dict(one), Relevance.from_dict(one)
    for first, second in ((relevance, ranking), (relevance, relevance), (ranking, ranking)):
        with pytest.raises(InputError, match="the ranking comes first and the relevance second; got R"):
            evaluate(first, second, ["RR"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"1 value is no number, first \(query, item, value\): \('q', 'a', 'x'\)"):
        evaluate({"q": {"a": "x"}}, one, ["RR"])  # type: ignore[dict-item]


def test_one_query_is_spoken_of_as_one() -> None:
    result = evaluate({"q": {"a": 1.0}}, {"q": {"a": 1.0}}, ["RR"])
    assert "over 1 query;" in result["RR"].words
    assert repr(result).startswith("Result over 1 query, ties expected")
