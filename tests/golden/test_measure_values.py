"""Every measure on one run, worked by hand from its definition."""

import math
from math import log2

import numpy as np
import pytest

from visual_search import Ranking, Relevance, evaluate, parse_measure

# Down the list: u (unjudged), a (2), bad (0), b (1), v (unjudged), worse (-1); c (1) was not found. So R = 3, hits at
# ranks 2 and 4, and two items are judged not relevant.
RUN = {"q": {"u": 6.0, "a": 5.0, "bad": 4.0, "b": 3.0, "v": 2.0, "worse": 1.0}}
GRADES = {"q": {"a": 2, "b": 1, "c": 1, "bad": 0, "worse": -1}}

UNDEFINED = math.nan

# Text form: value for that query; value where nothing is relevant (R = 0); value of an empty list.
VALUES = {
    "HitRate@1": (0, 0, 0),
    "HitRate@2": (1, 0, 0),
    "Recall(denominator=all)@4": (2 / 3, UNDEFINED, 0),
    "Recall(denominator=min)@2": (1 / 2, UNDEFINED, 0),
    "Recall(denominator=all,average=micro)@4": (2 / 3, UNDEFINED, 0),
    "Precision(denominator=k)@4": (2 / 4, 0, 0),
    "Precision(denominator=k)@10": (2 / 10, 0, 0),
    "Precision(denominator=retrieved)@10": (2 / 6, 0, 0),
    "Precision(denominator=last)@10": (2 / 10, 0, 0),
    "AP(denominator=all)": ((1 / 2 + 2 / 4) / 3, UNDEFINED, 0),
    "AP(denominator=all)@3": ((1 / 2) / 3, UNDEFINED, 0),
    "AP(denominator=min)@2": ((1 / 2) / 2, UNDEFINED, 0),
    "AP(denominator=found)@4": ((1 / 2 + 2 / 4) / 2, UNDEFINED, 0),
    "AP(denominator=found)@1": (0, UNDEFINED, 0),
    "AP(denominator=found,unfound=undefined)@1": (UNDEFINED, UNDEFINED, UNDEFINED),
    "AP(denominator=all)@R": ((1 / 2) / 3, UNDEFINED, 0),
    "AP(cut=relevant)@2": ((1 / 2 + 2 / 4) / 2, 0, 0),
    "AP(cut=relevant)@3": ((1 / 2 + 2 / 4 + 0) / 3, 0, 0),
    # Precision is 0 before rank 2 and 1/3 before rank 4.
    "AP(interpolation=trapezoid)": (((0 + 1 / 2) / 2 + (1 / 3 + 2 / 4) / 2) / 3, UNDEFINED, 0),
    "RPrecision": (1 / 3, UNDEFINED, 0),
    "RR": (1 / 2, UNDEFINED, 0),
    "RR@1": (0, UNDEFINED, 0),
    "nDCG(gain=linear)@4": ((2 / log2(3) + 1 / log2(5)) / (2 + 1 / log2(3) + 1 / log2(4)), UNDEFINED, 0),
    "nDCG(gain=exponential)@4": ((3 / log2(3) + 1 / log2(5)) / (3 + 1 / log2(3) + 1 / log2(4)), UNDEFINED, 0),
    "nDCG(gain=binary)@4": ((1 / log2(3) + 1 / log2(5)) / (1 + 1 / log2(3) + 1 / log2(4)), UNDEFINED, 0),
    "DCG(gain=linear)@4": (2 / log2(3) + 1 / log2(5), 0, 0),
    "DCG(gain=exponential)@4": (3 / log2(3) + 1 / log2(5), 0, 0),
    # A reader stops at a with chance 3/4, and else at b with 1/4.
    "ERR(max_grade=2)@4": (3 / 4 / 2 + 1 / 4 * 1 / 4 / 4, 0, 0),
    "RBP(p=0.5)": (0.5 * (0.5 + 0.5**3), 0, 0),
    # bad stands above b alone; min(N, R) = min(2, 3).
    "Bpref": ((1 + (1 - 1 / 2)) / 3, UNDEFINED, 0),
    "Bpref(negative=unjudged)": ((1 + (1 - 1 / 1)) / 3, UNDEFINED, 0),
    "F1@4": (2 * 2 / (4 + 3), UNDEFINED, 0),
    "INP": (0, UNDEFINED, 0),  # c has no rank
    "FirstRank(average=median)": (2, UNDEFINED, UNDEFINED),
    "Judged@4": (3 / 4, 1 / 4, 0),
    "Judged@10": (4 / 6, 1 / 6, 0),
}


@pytest.mark.parametrize("text", VALUES)
def test_value_and_what_nothing_relevant_and_an_empty_list_are(text: str) -> None:
    assert str(parse_measure(text)) == text
    run = {**RUN, "nothing relevant": RUN["q"], "empty list": {}}
    grades = {**GRADES, "nothing relevant": {"bad": 0}, "empty list": {"a": 1}}
    for ties in ("expected", "best", "worst", "listed", "id_desc", "id_asc"):
        found = evaluate(run, grades, [text], ties=ties)[text]
        assert found.values == pytest.approx(VALUES[text], abs=1e-14, nan_ok=True)
        assert found.undefined == sum(map(math.isnan, VALUES[text]))


def test_whole_list_found() -> None:
    # Relevant items at ranks 2 and 4 of 5, all there are.
    ranking = Ranking.from_arrays([["x", "a", "y", "b", "z"]])
    relevance = Relevance.from_dict({0: {"a": 1, "b": 1}})
    result = evaluate(ranking, relevance, ["INP", "Precision(denominator=last)@5", "FirstRank"])
    assert result["INP"].mean == 2 / 4
    assert result["Precision(denominator=last)@5"].mean == 2 / 4
    assert result["FirstRank"].mean == 2


def test_names_that_are_one_formula() -> None:
    pairs = {
        "Precision(denominator=min)@10": "Recall(denominator=min)@10",
        "Success@10": "HitRate@10",
        "CMC@10": "HitRate@10",
        "R@10": "Recall(denominator=all)@10",
        "P@10": "Precision(denominator=k)@10",
        "mAP": "AP(denominator=all)",
        "MRR": "RR",
        "mINP": "INP",
    }
    assert {name: str(parse_measure(name)) for name in pairs} == pairs


def test_micro_sums_before_it_divides_and_the_median_is_of_defined_values() -> None:
    run = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"x": 2.0, "y": 1.0}, "q3": {"a": 1.0}}
    grades: dict[str, dict[str, int]] = {"q1": {"a": 1}, "q2": {"c": 1, "d": 1, "x": 1}, "q3": {}}
    forms = ["Recall@2", "Recall(average=micro)@2", "Recall(average=median)@2"]
    result = evaluate(run, grades, forms)
    assert result["Recall@2"].mean == pytest.approx((1 + 1 / 3) / 2)
    assert result["Recall(average=micro)@2"].mean == 2 / 4
    assert result["Recall(average=median)@2"].mean == pytest.approx((1 + 1 / 3) / 2)
    assert all(result[form].undefined_queries == ("q3",) for form in forms)


def test_ndcg_of_grades_below_one_is_defined_though_nothing_is_relevant() -> None:
    # R counts grades from 1; gains begin above 0. A preset that leaves out R = 0 leaves it out here as well.
    run, grades = {"q": {"x": 2.0, "a": 1.0}}, {"q": {"a": 0.5}}
    result = evaluate(
        run, grades, ["nDCG", "nDCG(gain=exponential)", "nDCG(gain=binary)", "AP", "DCG", "HitRate@2"]
    )
    assert result["nDCG"].mean == result["nDCG(gain=exponential)"].mean == pytest.approx(1 / log2(3))
    assert np.isnan(result["nDCG(gain=binary)"].mean)
    assert np.isnan(result["AP"].mean)
    assert result["DCG"].mean == pytest.approx(0.5 / log2(3))
    assert result["HitRate@2"].mean == 0
    assert evaluate(run, grades, ["nDCG"], preset="guide")["nDCG"].undefined == 1
    assert evaluate(run, grades, ["nDCG"], preset="trec_eval")["nDCG"].mean == pytest.approx(1 / log2(3))
