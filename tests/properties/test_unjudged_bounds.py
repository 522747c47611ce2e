"""The bounds are the extremes over all completions of the judgements, every one of which is scored here."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from visual_search import Ranking, Relevance, evaluate, parse_measure
from visual_search.errors import InputError
from visual_search.evaluation.measures.measure import MeasureValues
from visual_search.evaluation.ties import TieRule
from visual_search.evaluation.unjudged_bounds import MOST_OPEN, Scope, unjudged_bounds

ITEMS = "abcde"
SCORES = (0.9, 0.5, 0.5, 0.2)
MEASURES = [
    *("HitRate@1", "HitRate@2", "RR", "RR@2", "FirstRank", "FirstRank(average=macro)", "Precision@2"),
    *("Precision(denominator=retrieved)@3", "Precision(average=micro)@2", "RBP", "ERR(max_grade=2)@3", "DCG@2"),
    *("DCG(gain=exponential)", "Recall(denominator=all)@2", "Recall(denominator=min)@2", "Recall@3", "F1@2"),
    *("Recall(average=micro)@2", "F1(average=micro)@2", "AP", "AP@2", "AP(denominator=min)@2", "AP(rel=2)", "INP"),
    *("AP(cut=relevant)", "AP(cut=relevant)@2", "AP(interpolation=trapezoid)", "AP(average=median)"),
    *("nDCG", "nDCG@2", "nDCG@1", "nDCG(gain=exponential)@3", "nDCG(gain=binary)@2", "nDCG(gain=exponential)"),
    *("AP(empty=zero)@2", "nDCG(average=median)@2"),
]

Run = dict[str, dict[str, float]]
Grades = dict[str, dict[str, int]]


@st.composite
def cases(draw: st.DrawFn) -> tuple[Run, Grades]:
    queries = draw(st.integers(1, 2))
    items = ITEMS[: 5 if queries == 1 else 3]
    run, grades = {}, {}
    for name in ("p", "q")[:queries]:
        listed = draw(st.permutations(items))[: draw(st.integers(1, len(items)))]
        scores = sorted(draw(st.lists(st.sampled_from(SCORES), min_size=len(listed), max_size=len(listed))))[::-1]
        run[name] = dict(zip(listed, scores, strict=True))
        judged = draw(st.lists(st.sampled_from(items), unique=True, max_size=3))
        grades[name] = {item: draw(st.integers(0, 2)) for item in judged}
    return run, grades


def completions(
    listed: dict[str, float], known: dict[str, int], allowed: list[int], unjudged: Scope, gallery: list[str]
) -> list[dict[str, int]]:
    open_items = [item for item in (gallery if unjudged == "gallery" else listed) if item not in known]
    given_grades = product([0, *allowed], repeat=len(open_items))
    return [known | dict(zip(open_items, grades, strict=True)) for grades in given_grades]


@settings(max_examples=60)
@given(
    cases(),
    st.sampled_from(["gallery", "listed"]),
    st.sampled_from(["expected", "listed"]),
    st.sampled_from([None, [1], [2], [1, 2]]),
)
def test_bounds_are_the_extremes_over_all_completions(
    case: tuple[Run, Grades], unjudged: Scope, ties: TieRule, grades_allowed: list[int] | None
) -> None:
    run, grades = case
    ranking, relevance = Ranking.from_dict(run), Relevance.from_dict(grades)
    gallery = list(map(str, ranking.items))
    given_grades = sorted({grade for known in grades.values() for grade in known.values() if grade}) or [1]
    allowed = grades_allowed or given_grades
    found = unjudged_bounds(ranking, relevance, MEASURES, unjudged=unjudged, ties=ties, grades=grades_allowed)
    scored = []
    for name, listed in run.items():
        # Each completion of the query as a query of its own, with the same list.
        made = completions(listed, grades[name], allowed, unjudged, gallery)
        lists = {f"{name}{number}": listed for number in range(len(made))}
        truth = Relevance.from_dict({f"{name}{number}": one for number, one in enumerate(made)})
        scored.append(evaluate(Ranking.from_dict(lists), truth, MEASURES, ties=ties))
    for text in MEASURES:
        measure, ours = parse_measure(text), found[parse_measure(text)]
        assert not ours.reason
        parts = [result[text].parts for result in scored]
        for place, one in enumerate(parts):
            defined = one.value[one.defined]
            extremes = (defined.min(), defined.max()) if len(defined) else (np.nan, np.nan)
            assert (ours.lows[place], ours.highs[place]) == pytest.approx(extremes, abs=1e-12, nan_ok=True), text
        means = [
            measure.mean(MeasureValues.of(*np.array(chosen).T))
            for chosen in product(*(zip(one.numerator, one.denominator, strict=True) for one in parts))
        ]
        known = [mean for mean in means if not np.isnan(mean)] or [np.nan]
        assert (ours.low, ours.high) == pytest.approx((min(known), max(known)), abs=1e-12, nan_ok=True), text


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Bpref", "passes unjudged items over"),
        ("Judged@3", "how much is judged"),
        ("RPrecision", "not proven here"),
        ("AP@R", "cut moves"),
        ("AP(denominator=found)@3", "what was found"),
        ("nDCG(average=micro)@3", "quotient of sums"),
        ("AP(ties=best)", "a bound of its own"),
    ],
)
def test_what_has_no_bound_says_why(text: str, why: str) -> None:
    ranking, relevance = Ranking.from_dict({"q": {"a": 1.0}}), Relevance.from_dict({"q": {"a": 1}})
    (found,) = unjudged_bounds(ranking, relevance, [text]).values()
    assert why in found.reason
    assert np.isnan([found.low, found.high]).all()
    assert found.as_json()["low"] is None


def test_a_list_with_too_many_unjudged_items_says_so_unless_the_measure_is_cut() -> None:
    ranking = Ranking.from_dict({"q": {f"d{place}": -float(place) for place in range(MOST_OPEN + 2)}})
    found = unjudged_bounds(ranking, Relevance.from_dict({"q": {"d0": 1}}), ["AP", "AP@10", "RR"])
    assert "301 unjudged items in one list" in found[parse_measure("AP")].reason
    assert found[parse_measure("AP@10")].high == found[parse_measure("RR")].high == 1


def test_a_bound_of_nothing_is_zero_without_a_sign() -> None:
    ranking, relevance = Ranking.from_dict({"q": {"a": 1.0}}), Relevance.from_dict({"q": {"b": 1}})
    (found,) = unjudged_bounds(ranking, relevance, ["Precision@1"]).values()
    assert f"{found.low:.1f}" == "0.0"


def test_wrong_use() -> None:
    ranking, relevance = Ranking.from_dict({"q": {"a": 1.0}}), Relevance.from_dict({"q": {"a": 1}})
    with pytest.raises(InputError, match="ties='best'"):
        unjudged_bounds(ranking, relevance, ["RR"], ties="best")
    with pytest.raises(InputError, match="one of gallery, listed"):
        unjudged_bounds(ranking, relevance, ["RR"], unjudged="all")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least one finite grade"):
        unjudged_bounds(ranking, relevance, ["RR"], grades=[0])
