"""Faults seen in other tools, and what happens here instead."""

import math
from typing import Any

import numpy as np
import pytest

from visual_search import Ranking, Relevance, evaluate, recall_at_k
from visual_search.errors import DepthError, DuplicateIdError, InputError, NonFiniteError
from visual_search.ids import Ids


def value(run: Any, grades: Any, text: str, **options: Any) -> float:
    ranking = run if isinstance(run, Ranking) else Ranking.from_dict({"q": run})
    relevance = grades if isinstance(grades, Relevance) else Relevance.from_dict({"q": grades})
    return evaluate(ranking, relevance, [text], **options)[text].mean


def test_constant_scores_are_one_tie_rule_for_all_measures() -> None:
    # Elsewhere: RR 1.0 and nDCG 0 on one run.
    run, grades = dict.fromkeys("abcd", 0.5), {"c": 1}
    assert value(run, grades, "RR") == pytest.approx((1 + 1 / 2 + 1 / 3 + 1 / 4) / 4)
    assert value(run, grades, "nDCG") == pytest.approx(sum(1 / math.log2(r + 1) for r in range(1, 5)) / 4)


def test_a_cut_off_beyond_the_list_changes_nothing() -> None:
    # Elsewhere: RR .333 but RR@10 1.0.
    run, grades = {"a": 3.0, "b": 2.0, "c": 1.0}, {"c": 1}
    assert value(run, grades, "RR") == value(run, grades, "RR@10") == pytest.approx(1 / 3)


def test_renaming_items_changes_no_number() -> None:
    run, grades = {"a": 1.0, "b": 1.0, "c": 0.5}, {"b": 2, "c": 1}
    new = {"a": "z", "b": "m", "c": "0"}
    renamed = (
        {new[item]: score for item, score in run.items()},
        {new[item]: grade for item, grade in grades.items()},
    )
    for text in ("nDCG", "AP", "RR", "Bpref"):
        assert value(run, grades, text) == value(*renamed, text)


def test_negative_scores_are_scores() -> None:
    # Elsewhere: items that score 0 or below are dropped from AP but not from the hit rate.
    below = {"a": -0.1, "b": -0.5}
    above = {"a": 0.9, "b": 0.5}
    for text in ("AP", "Precision@1", "Recall@1", "HitRate@1", "RR", "nDCG"):
        assert value(below, {"a": 1}, text) == value(above, {"a": 1}, text) == 1


def test_that_convention_stands_in_a_preset_only() -> None:
    run, grades = {"a": -0.1, "b": -0.5}, {"a": 1}
    assert value(run, grades, "AP(denominator=found)@2", preset="torchmetrics") == 0
    assert value(run, grades, "HitRate@1", preset="torchmetrics") == 1


def test_bpref_is_a_number_where_nothing_is_judged_bad() -> None:
    assert value({"a": 1.0}, {"a": 1}, "Bpref") == 1


def test_graded_rbp_stays_below_one() -> None:
    run = {f"d{number}": -float(number) for number in range(200)}
    assert value(run, dict.fromkeys(run, 3), "RBP(p=0.8)") <= 1


def test_fractional_grades_are_not_truncated() -> None:
    run, grades = {"a": 1.0, "b": 0.5}, {"a": 0.4, "b": 0.9}
    assert value(run, grades, "nDCG") == pytest.approx((0.4 + 0.9 / math.log2(3)) / (0.9 + 0.4 / math.log2(3)))
    assert value(run, grades, "HitRate(rel=0.5)@1") == 0
    assert math.isnan(value(run, grades, "AP"))


def test_gains_below_one_make_a_defined_ndcg() -> None:
    assert value({"a": 1.0}, {"a": 0.25}, "nDCG@5") == 1


def test_the_ideal_ranking_holds_what_was_not_retrieved() -> None:
    assert value({"a": 1.0}, {"a": 1, "missed": 3}, "nDCG") == pytest.approx(1 / (3 + 1 / math.log2(3)))
    with pytest.raises(InputError, match="one of all"):
        value({"a": 1.0}, {"a": 1}, "nDCG(ideal=retrieved)")


def test_ndcg_stays_within_one() -> None:
    rng = np.random.default_rng(0)
    for gain in ("linear", "exponential", "binary"):
        ranking = Ranking.from_similarity(rng.integers(0, 5, (200, 12)))
        relevance = Relevance.from_matrix(rng.integers(-2, 6, (200, 12)))
        values = evaluate(ranking, relevance, [f"nDCG(gain={gain})@7"], ties="best")[f"nDCG(gain={gain})@7"].values
        assert np.nanmin(values) >= 0
        assert np.nanmax(values) <= 1 + 1e-12


def test_negative_grades_gain_nothing() -> None:
    run = {"a": 1.0, "b": 0.5}
    for gain in ("linear", "exponential", "binary"):
        text = f"nDCG(gain={gain})"
        assert value(run, {"a": -50, "b": 1}, text) == value(run, {"a": 0, "b": 1}, text)


def test_scores_that_are_not_numbers_are_refused_by_name() -> None:
    with pytest.raises(NonFiniteError, match="query 'q', item 'b'"):
        value({"a": 1.0, "b": math.nan}, {"a": 1}, "AP")
    with pytest.raises(NonFiniteError, match="item 'a'"):
        value({"a": math.inf, "b": 1.0}, {"a": 1}, "AP")


def test_k_beyond_the_gallery_is_the_full_ranking_and_is_noted() -> None:
    # Elsewhere: mAP 7.07.
    ranking, relevance = Ranking.from_similarity([[3.0, 2.0, 1.0]]), Relevance.from_matrix([[1, 1, 0]])
    result = evaluate(ranking, relevance, ["AP@50", "AP@3", "Precision@6"])
    assert result["AP@50"].mean == result["AP@3"].mean == 1
    assert result["Precision@6"].mean == pytest.approx(2 / 6)
    assert any("k = 50 exceeds the gallery of 3 items" in note for note in result.notes)


def test_one_more_relevant_item_found_never_lowers_ap_over_all() -> None:
    fewer, more = {"a": 3.0, "x": 2.0, "y": 1.0}, {"a": 3.0, "x": 2.0, "b": 1.0}
    grades = {"a": 1, "b": 1}
    assert value(more, grades, "AP@3") > value(fewer, grades, "AP@3")
    # The convention that falls has its own name, and its documentation says so.
    assert value(more, grades, "AP(denominator=found)@3") < value(fewer, grades, "AP(denominator=found)@3")


def test_a_shortened_list_does_not_raise_precision() -> None:
    whole, short = {"a": 2.0, "x": 1.0}, {"a": 2.0}
    assert value(short, {"a": 1}, "Precision@5") == value(whole, {"a": 1}, "Precision@5") == 0.2
    assert value(short, {"a": 1}, "Precision(denominator=retrieved)@5") == 1


def test_repeated_items_are_refused_by_name() -> None:
    with pytest.raises(DuplicateIdError, match=r"\('q', 'a'\)"):
        Ranking.from_arrays([["a", "b", "a"]], [[3, 2, 1]], query_ids=["q"])


def test_queries_without_relevant_items_are_counted_and_named() -> None:
    ranking = Ranking.from_dict({"q1": {"a": 1.0}, "q2": {"a": 1.0}, "q3": {"a": 1.0}})
    relevance = Relevance.from_dict({"q1": {"a": 1}, "q2": {"a": 0}, "q3": {}})
    result = evaluate(ranking, relevance, ["AP", "AP(empty=zero)", "HitRate@1"])
    assert (result["AP"].mean, result["AP"].undefined_queries) == (1, ("q2", "q3"))
    assert result["AP(empty=zero)"].mean == pytest.approx(1 / 3)
    assert result["AP(empty=zero)"].counted == 3
    assert result["HitRate@1"].mean == pytest.approx(1 / 3)
    assert result["HitRate@1"].undefined == 0


def test_all_judged_negative_is_no_crash() -> None:
    result = evaluate(
        Ranking.from_dict({"q": {"a": 1.0}}), Relevance.from_dict({"q": {"a": -2}}), ["AP", "Judged@1"]
    )
    assert math.isnan(result["AP"].mean)
    assert result["Judged@1"].mean == 1


def test_hit_rate_does_not_depend_on_the_order_of_queries_where_junk_leaves_short_lists() -> None:
    run = {"q1": {"a": 3.0, "b": 2.0, "c": 1.0}, "q2": {"a": 3.0, "b": 2.0}}
    grades = {"q1": {"c": 1}, "q2": {"b": 1}}
    junk = {"q1": ["a"], "q2": ["a"]}
    values = []
    for order in (["q1", "q2"], ["q2", "q1"]):
        relevance = Relevance.from_dict({q: grades[q] for q in order}, ignored=junk)
        values.append(
            [value(Ranking.from_dict({q: run[q] for q in order}), relevance, f"HitRate@{k}") for k in (1, 2, 3)]
        )
    assert values[0] == values[1] == [0.5, 1, 1]


def test_the_query_itself_is_taken_out_by_id_wherever_it_ranks() -> None:
    # Removing the first place instead would take out "b" for the first query.
    similarity = np.array([[0.8, 0.9, 0.1], [0.2, 1.0, 0.7], [0.6, 0.5, 1.0]])
    ids = Ids(["a", "b", "c"])
    relevance = Relevance.from_labels([0, 0, 1], query_ids=ids)
    ranking = Ranking.from_similarity(similarity, query_ids=ids, gallery_ids=ids)
    result = evaluate(ranking, relevance, ["HitRate@1"])
    assert result["HitRate@1"].values.tolist() == [1, 0, 0]


def test_collapsed_codes_do_not_profit_from_a_sorted_gallery() -> None:
    ranking = Ranking.from_similarity(np.zeros((1, 100)))
    relevance = Relevance.from_labels([0], np.arange(100) // 10)
    assert value(ranking, relevance, "AP", ties="listed") == 1
    assert value(ranking, relevance, "AP") == pytest.approx(0.13807, abs=5e-6)


@pytest.mark.parametrize("text", ["Precision(denominator=retrieved)@5", "Precision@5", "Judged@5", "AP"])
def test_an_empty_list_is_zero_and_counted(text: str) -> None:
    ranking = Ranking.from_dict({"empty": {}, "full": {"a": 1.0}})
    relevance = Relevance.from_dict({query: {"a": 1} for query in ("empty", "full", "missing")})
    found = evaluate(ranking, relevance, [text])[text]
    full = 0.2 if text == "Precision@5" else 1
    assert found.values.tolist() == [0, full, 0]
    assert (found.counted, found.undefined) == (3, 0)
    assert found.mean == pytest.approx(full / 3)


@pytest.mark.parametrize("family", ["Precision(denominator=retrieved,average=micro)", "Judged(average=micro)"])
def test_an_empty_list_adds_nothing_to_a_micro_average(family: str) -> None:
    # What was retrieved is summed: 1 of 3, and 0 of 0.
    ranking = Ranking.from_dict({"empty": {}, "full": {"a": 3.0, "x": 2.0, "y": 1.0}})
    relevance = Relevance.from_dict({"empty": {"a": 1}, "full": {"a": 1}})
    assert value(ranking, relevance, f"{family}@5") == pytest.approx(1 / 3)


def test_ids_of_two_kinds_are_refused_instead_of_scoring_zero() -> None:
    with pytest.raises(InputError, match=r"item ids are int in the relevance \(1\) and str in the ranking \('1'\)"):
        evaluate(Ranking.from_dict({"q": {"1": 1.0}}), Relevance.from_dict({"q": {1: 1}}), ["AP"])
    with pytest.raises(InputError, match="no query in common"):
        evaluate(Ranking.from_dict({"q1": {"a": 1.0}}), Relevance.from_dict({"q01": {"a": 1}}), ["AP"])


def test_no_judged_item_found_at_all_is_noted() -> None:
    result = evaluate(
        Ranking.from_dict({"q": {"img_1.jpg": 1.0}}), Relevance.from_dict({"q": {"img_1": 1}}), ["AP"]
    )
    assert any("no judged item is in any list" in note for note in result.notes)


def test_missing_and_unknown_queries_are_named_in_the_result() -> None:
    ranking = Ranking.from_dict({"q1": {"a": 1.0}, "extra": {"a": 1.0}})
    relevance = Relevance.from_dict({"q1": {"a": 1}, "q2": {"a": 1}})
    result = evaluate(ranking, relevance, ["AP"])
    assert (result.missing_queries, result.unjudged_queries) == (("q2",), ("extra",))
    assert result["AP"].values.tolist() == [1, 0]
    assert sum("'q2'" in note or "'extra'" in note for note in result.notes) == 2


def test_a_list_cut_inside_a_tie_is_noted() -> None:
    relevance = Relevance.from_matrix([[0, 1, 0]])
    cut = evaluate(Ranking.from_similarity([[1.0, 1.0, 1.0]], k=2), relevance, ["AP"])
    assert any("cut inside a tie" in note for note in cut.notes)
    apart = evaluate(Ranking.from_similarity([[1.0, 1.0, 0.5]], k=2), relevance, ["AP"])
    assert not any("cut inside a tie" in note for note in apart.notes)


@pytest.mark.parametrize("k", [0, -1, 6, 1.0, True, "2"])
def test_recall_at_k_guards_its_k(k: Any) -> None:
    with pytest.raises(DepthError, match="from 1 to 5"):
        recall_at_k([[0, 1, 2, 3, 4]], [[0, 1, 0, 0, 0]], k)


@pytest.mark.parametrize(
    ("ranks", "relevant", "words"),
    [
        ([[0, 0]], [[0, 1]], "repeats"),
        ([[0, 2]], [[0, 1]], r"0\.\.1"),
        ([[0.0, 1.0]], [[0, 1]], "integers"),
        ([[0, 1]], [[0, 2]], "other than 0 and 1, first: 2"),
        ([[0, 1]], [[0, 1], [1, 0]], "1 query and rel_matrix 2"),
        ([0, 1], [[0, 1]], "matrix"),
    ],
)
def test_recall_at_k_refuses_what_is_no_ranking(ranks: Any, relevant: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        recall_at_k(ranks, relevant, 1)


def test_recall_at_k_takes_booleans_and_shallow_ranks() -> None:
    assert recall_at_k(np.array([[1], [0]], dtype=np.int32), np.array([[False, True], [False, True]]), 1) == 0.5
