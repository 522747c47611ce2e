"""Every preset against the rules of its field, as written down apart from the code, and on one run worked by hand."""

import math
from typing import Any, NamedTuple

import pytest

from visual_search import Ranking, Relevance, evaluate
from visual_search.evaluation.protocols.presets import PRESETS


class Rules(NamedTuple):
    """Families and forms (at k = 2), R = 0, ties, a query that the run lacks."""

    forms: set[str]
    empty: str
    ties: str
    missing: str = "empty list"


LEFT_OUT, ZERO = "left out", "zero"
TRAPEZOID = {"AP(interpolation=trapezoid)", "Precision(denominator=last)@2"}

RULES = {
    "textbook": Rules(
        {"AP(denominator=min)@2", "HitRate@2", "Recall(denominator=all,average=micro)@2"}, "by measure", "expected"
    ),
    "guide": Rules(
        {
            "AP(denominator=all)@2",
            "Recall(denominator=all)@2",
            "Precision(denominator=k)@2",
            "RR",
            "nDCG(gain=linear)@2",
            "HitRate@2",
        },
        LEFT_OUT,
        "listed",
    ),
    "cross-modal-hashing": Rules({"AP(cut=relevant)@2"}, ZERO, "listed"),
    "trec_eval": Rules(
        {
            "AP(denominator=all,empty=zero)",
            "nDCG(gain=linear,empty=zero)",
            "nDCG(gain=linear,empty=zero)@2",
            "RR(empty=zero)",
            "Precision(denominator=k)@2",
            "Recall(denominator=all,empty=zero)@2",
            "HitRate@2",
            "RPrecision(empty=zero)",
            "Bpref(negative=unjudged,empty=zero)",
        },
        ZERO,
        "id_desc",
    ),
    "revisitop-easy": Rules(TRAPEZOID, LEFT_OUT, "listed"),
    "revisitop-medium": Rules(TRAPEZOID, LEFT_OUT, "listed"),
    "revisitop-hard": Rules(TRAPEZOID, LEFT_OUT, "listed"),
    "gldv2": Rules({"AP(denominator=min)@2"}, LEFT_OUT, "listed"),
    "market1501": Rules(
        {"AP(interpolation=trapezoid)", "AP(denominator=all)", "HitRate@2", "INP"}, LEFT_OUT, "expected"
    ),
    "deephash": Rules({"AP(denominator=found,empty=zero)@2"}, ZERO, "listed"),
    "deephash-thulab": Rules({"AP(denominator=found,unfound=undefined)@2"}, "by measure", "listed"),
    "metric-learning": Rules(
        {"AP(denominator=all)@R", "RPrecision", "Precision(denominator=k)@1", "HitRate@2"}, LEFT_OUT, "expected"
    ),
    "mteb": Rules(
        {
            "AP(denominator=all,empty=zero)@2",
            "nDCG(gain=linear,empty=zero)@2",
            "RR(empty=zero,ties=listed)@2",
            "Recall(denominator=all,empty=zero)@2",
            "Precision(denominator=k)@2",
            "HitRate@2",
        },
        ZERO,
        "id_desc",
        "left out",
    ),
    "image-text": Rules({"HitRate@2", "FirstRank(average=median)"}, ZERO, "expected"),
    "torchmetrics": Rules(
        {
            "AP(denominator=found,empty=zero)@2",
            "Recall(denominator=all,empty=zero)@2",
            "Precision(denominator=k)@2",
            "RR(empty=zero)@2",
            "nDCG(gain=linear,empty=zero,ties=expected)@2",
            "HitRate@2",
        },
        ZERO,
        "listed",
    ),
}


@pytest.mark.parametrize("name", RULES)
def test_a_preset_is_its_field_s_rules(name: str) -> None:
    preset, rules = PRESETS[name], RULES[name]
    assert {str(measure) for measure in preset.measures_at([2])} == rules.forms
    assert (preset.empty, preset.ties, preset.missing) == (rules.empty, rules.ties, rules.missing)


# Listed z, y, a with y and a level; a is relevant, and so is b, which was not found. Then a query with nothing
# relevant, and one that the run lacks.
RUN = {"q": {"z": 0.9, "y": 0.5, "a": 0.5}, "empty": {"z": 0.9}}
GRADES = {"q": {"a": 1, "b": 1}, "empty": {"z": 0}, "missing": {"a": 1}}

# By listed order, and by falling id, a is third: P = 1/3. In expectation it is (1/2 + 1/3) / 2 = 5/12.
THIRD, LEVEL = 1 / 3, 5 / 12
# The trapezoid at rank 3 is (0 + 1/3) / 2, at rank 2 (0 + 1/2) / 2.
TRAPEZOID_THIRD, TRAPEZOID_LEVEL = 1 / 6, (1 / 6 + 1 / 4) / 2

MEANS = {
    "textbook": ("AP(denominator=min)@3", (LEVEL / 2 + 0) / 2),
    "guide": ("AP(denominator=all)@3", (THIRD / 2 + 0) / 2),
    "cross-modal-hashing": ("AP(cut=relevant)@3", (THIRD / 2 + 0 + 0) / 3),
    "trec_eval": ("AP", (THIRD / 2 + 0 + 0) / 3),
    "revisitop-easy": ("AP", (TRAPEZOID_THIRD / 2 + 0) / 2),
    "revisitop-medium": ("AP", (TRAPEZOID_THIRD / 2 + 0) / 2),
    "revisitop-hard": ("AP", (TRAPEZOID_THIRD / 2 + 0) / 2),
    "gldv2": ("AP(denominator=min)@100", (THIRD / 2 + 0) / 2),
    "market1501": ("AP(interpolation=trapezoid)", (TRAPEZOID_LEVEL / 2 + 0) / 2),
    "deephash": ("AP(denominator=found)@3", (THIRD / 1 + 0 + 0) / 3),
    "deephash-thulab": ("AP(denominator=found,unfound=undefined)@3", THIRD / 1),
    # R = 2: a is inside the first two in half of the orders, at rank 2 then.
    "metric-learning": ("AP(denominator=all)@R", (1 / 2 * 1 / 2 / 2 + 0) / 2),
    "mteb": ("AP(denominator=all)@3", (THIRD / 2 + 0) / 2),
    "image-text": ("HitRate@2", (1 / 2 + 0 + 0) / 3),
    "torchmetrics": ("AP(denominator=found)@3", (THIRD / 1 + 0 + 0) / 3),
}


@pytest.mark.parametrize("name", MEANS)
def test_one_run_with_ties_an_empty_query_and_a_missing_one(name: str) -> None:
    text, wanted = MEANS[name]
    found = evaluate(Ranking.from_dict(RUN), Relevance.from_dict(GRADES), [text], preset=name)[text]
    assert found.mean == pytest.approx(wanted, abs=1e-14)
    rules = RULES[name]
    assert ("empty" in found.undefined_queries) == (math.isnan(found.values[1]))
    assert ("missing" in found.undefined_queries) == (rules.missing == "left out" or name == "deephash-thulab")


def test_both_tables_have_the_same_presets() -> None:
    assert RULES.keys() == MEANS.keys() <= PRESETS.keys()


# Scores that a field rounds or drops before it looks for ties.
@pytest.mark.parametrize(("name", "value"), [("trec_eval", 1 / 2), ("mteb", 1 / 2), ("guide", 1)])
def test_scores_that_float32_cannot_tell_apart(name: str, value: float) -> None:
    run: Any = {"q": {"a": 0.1 + 1e-10, "b": 0.1}}
    assert evaluate(run, {"q": {"a": 1}}, ["AP"], preset=name)["AP"].mean == value


@pytest.mark.parametrize(("name", "value"), [("torchmetrics", 0), ("deephash", 1)])
def test_scores_of_zero_and_below(name: str, value: float) -> None:
    run: Any = {"q": {"a": -0.1, "b": -0.2}}
    assert evaluate(run, {"q": {"a": 1}}, ["AP@2"], preset=name)["AP@2"].mean == value
