"""ranx where it shares a convention, and the difference where it does not."""

from typing import Any

import numba
import numpy as np
import pytest

# ranx's own functions, run by the interpreter: compiling them takes most of a minute and changes no number. This must
# stand before the import, which is where they would be compiled.
numba.config.DISABLE_JIT = True

import ranx  # noqa: E402

from visual_search import Ranking, Relevance, evaluate  # noqa: E402

# ranx's name -> the text form that computes the same. It counts a query without relevant items as 0.
SHARED = {
    "map": "AP(denominator=all,empty=zero)",
    "map@5": "AP(denominator=all,empty=zero)@5",
    "map-l2": "AP(denominator=all,empty=zero,rel=2)",
    "mrr": "RR(empty=zero)",
    "mrr@3": "RR(empty=zero)@3",
    "precision@5": "Precision(denominator=k)@5",
    "recall@5": "Recall(denominator=all,empty=zero)@5",
    "hit_rate@3": "HitRate@3",
    "r-precision": "RPrecision(empty=zero)",
    "f1@5": "F1(empty=zero)@5",
    "ndcg": "nDCG(gain=linear,empty=zero)",
    "ndcg@5": "nDCG(gain=linear,empty=zero)@5",
    "ndcg_burges@5": "nDCG(gain=exponential,empty=zero)@5",
    "dcg@5": "DCG(gain=linear)@5",
    "dcg_burges@5": "DCG(gain=exponential)@5",
}


def theirs(name: str, run: Any, grades: Any) -> list[float]:
    # Asked for one name with a cut-off and no mean it raises KeyError, so a second name goes with it.
    found = ranx.evaluate(grades, run, [name, "hits"], return_mean=False)[name]
    return [float(value) for value in found]


def ours(text: str, run: Any, grades: Any, **options: Any) -> list[float]:
    found = evaluate(Ranking.from_dict(run), Relevance.from_dict(grades), [text], **options)[text]
    return [float(value) for value in found.values]


@pytest.mark.parametrize("top", [1, 3], ids=["binary", "graded"])
@pytest.mark.parametrize("name", SHARED)
def test_shared_names(name: str, top: int, generated: Any) -> None:
    for seed in range(6):
        case = generated(seed, top=top)
        wanted = theirs(name, case.run, case.grades)
        assert ours(SHARED[name], case.run, case.grades) == pytest.approx(wanted, abs=1e-12)


def test_binary_rbp(generated: Any) -> None:
    case = generated(9, top=1)
    assert ours("RBP(p=0.8)", case.run, case.grades) == pytest.approx(
        theirs("rbp.80", case.run, case.grades), abs=1e-12
    )


def test_precision_without_a_cut_off_is_over_what_was_retrieved(generated: Any) -> None:
    case = generated(2)
    wanted = theirs("precision", case.run, case.grades)
    assert ours("Precision(denominator=retrieved)@1000", case.run, case.grades) == pytest.approx(wanted, abs=1e-12)


def test_a_query_missing_from_the_run_counts_zero_where_both_are_made_comparable() -> None:
    grades, run = {"q1": {"a": 1, "b": 2}, "q2": {"c": 1}}, {"q1": {"a": 0.5, "c": 0.4, "b": 0.3}}
    with pytest.raises(AssertionError, match="query ids do not match"):
        ranx.evaluate(ranx.Qrels(grades), ranx.Run(run), "map")
    made = ranx.evaluate(ranx.Qrels(grades), ranx.Run(run), "map", make_comparable=True)
    result = evaluate(Ranking.from_dict(run), Relevance.from_dict(grades), ["AP"])
    assert result["AP"].mean == pytest.approx(made, abs=1e-12)
    assert result.missing_queries == ("q2",)


def test_graded_rbp_exceeds_one_there_where_gains_here_are_zero_or_one() -> None:
    grades, run = {"q": dict.fromkeys("abc", 3)}, {"q": {"a": 1.0, "b": 0.5, "c": 0.4}}
    assert theirs("rbp.80", run, grades) == [pytest.approx(3 * 0.2 * (1 + 0.8 + 0.64))]
    assert ours("RBP(p=0.8)", run, grades) == [pytest.approx(0.2 * (1 + 0.8 + 0.64))]


@pytest.mark.filterwarnings(
    # Its bpref divides 0 by 0 where nothing is judged bad, which is what this test shows.
    "ignore:invalid value encountered:RuntimeWarning:ranx.metrics.bpref"
)
def test_bpref_agrees_but_is_nan_there_where_nothing_is_judged_bad_or_good(generated: Any) -> None:
    case = generated(11)
    bad = {query: any(grade < 1 for grade in grades.values()) for query, grades in case.grades.items()}
    good = {query: any(grade >= 1 for grade in grades.values()) for query, grades in case.grades.items()}
    found = dict(zip(case.run, theirs("bpref", case.run, case.grades), strict=True))
    here = dict(zip(case.run, ours("Bpref", case.run, case.grades), strict=True))
    assert sum(bad[query] and good[query] for query in case.run) > 8
    for query in case.run:
        if bad[query] and good[query]:
            assert here[query] == pytest.approx(found[query], abs=1e-12)
    one = {"q": {"a": 1.0, "b": 0.5}}
    assert np.isnan(theirs("bpref", one, {"q": {"a": 1}}))
    assert ours("Bpref", one, {"q": {"a": 1}}) == [1]
    assert np.isnan(theirs("bpref", one, {"q": {"a": 0}}))
    assert np.isnan(ours("Bpref", one, {"q": {"a": 0}}))  # undefined, which is counted and left out of the mean


def test_gains_below_one_are_dropped_there_and_are_gains_here() -> None:
    grades, run = {"q": {"a": 0.25}}, {"q": {"a": 1.0, "b": 0.5}}
    assert theirs("ndcg", run, grades) == [0]
    assert ours("nDCG", run, grades) == [1]


def test_equal_scores_are_the_accident_of_a_sort_there_and_an_expectation_here() -> None:
    # Only the order of the dictionary differs between the two runs.
    first, second = {"q": {"a": 1.0, "b": 1.0, "c": 1.0}}, {"q": {"c": 1.0, "b": 1.0, "a": 1.0}}
    grades = {"q": {"a": 1}}
    assert theirs("mrr", first, grades) != theirs("mrr", second, grades)
    for ties, value in (("expected", (1 + 1 / 2 + 1 / 3) / 3), ("best", 1), ("worst", 1 / 3)):
        assert (
            ours("RR", first, grades, ties=ties) == ours("RR", second, grades, ties=ties) == [pytest.approx(value)]
        )


def test_tied_numbers_there_lie_between_our_worst_and_best(generated: Any) -> None:
    for name in ("map", "mrr", "ndcg@5", "recall@5"):
        case = generated(4, ties=True)
        lowest, highest = (ours(SHARED[name], case.run, case.grades, ties=ties) for ties in ("worst", "best"))
        found = theirs(name, case.run, case.grades)
        assert all(
            low - 1e-12 <= value <= high + 1e-12 for low, value, high in zip(lowest, found, highest, strict=True)
        )
        assert lowest != pytest.approx(highest)
