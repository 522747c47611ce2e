"""Faults of other tools' measures, one by one, and what happens here.

Each was seen in a tool that people use. ``ELSEWHERE`` says where the others of the same list are held, so that none is
forgotten; the tests below are those that stand nowhere else.
"""

import math
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search import Ranking, Relevance, evaluate, evaluate_codes, evaluate_similarity
from visual_search.errors import DuplicateIdError, FileFormatError, InputError, NonFiniteError

TESTS = Path(__file__).parents[1]

_FAULTS = "unit/evaluation/test_measure_faults.py"
_TRUTH = "unit/ground_truth/test_relevance_sources.py"
_PAIRED = "unit/evaluation/statistics/test_paired.py"
_EVALUATOR = "unit/evaluation/evaluator/test_model_evaluator.py"

# The fault, and the test that shows what is right.
ELSEWHERE = [
    (
        "constant scores give MRR 1 and nDCG 0 on one run",
        _FAULTS,
        "constant_scores_are_one_tie_rule_for_all_measures",
    ),
    ("RR is 1/3 but RR@10 is 1", _FAULTS, "a_cut_off_beyond_the_list_changes_nothing"),
    ("renaming documents changes nDCG", _FAULTS, "renaming_items_changes_no_number"),
    ("scores of 0 and below are dropped from some measures", _FAULTS, "negative_scores_are_scores"),
    ("bpref is NaN", _FAULTS, "bpref_is_a_number_where_nothing_is_judged_bad"),
    ("graded RBP exceeds 1", _FAULTS, "graded_rbp_stays_below_one"),
    ("fractional relevance is truncated", _FAULTS, "fractional_grades_are_not_truncated"),
    ("a randomisation test gives p = 0 and ignores its seed", _PAIRED, "p_is_never_zero_and_the_seed_decides"),
    ("gains below 1 give nDCG 0", _FAULTS, "gains_below_one_make_a_defined_ndcg"),
    ("the ideal ranking holds retrieved items only", _FAULTS, "the_ideal_ranking_holds_what_was_not_retrieved"),
    ("nDCG exceeds 1", _FAULTS, "ndcg_stays_within_one"),
    ("negative relevance explodes", _FAULTS, "negative_grades_gain_nothing"),
    ("labels as float32 collide from 2^24 on", _TRUTH, "integer_classes_beyond_two_to_24_stay_apart"),
    ("k beyond the gallery gives mAP above 1", _FAULTS, "k_beyond_the_gallery_is_the_full_ranking_and_is_noted"),
    ("one more relevant item lowers AP", _FAULTS, "one_more_relevant_item_found_never_lowers_ap_over_all"),
    ("a shortened list raises precision", _FAULTS, "a_shortened_list_does_not_raise_precision"),
    ("a query without relevant items vanishes", _FAULTS, "queries_without_relevant_items_are_counted_and_named"),
    ("judged negative only ends the run", _FAULTS, "all_judged_negative_is_no_crash"),
    (
        "CMC depends on the order of queries where junk leaves short rows",
        _FAULTS,
        "hit_rate_does_not_depend_on_the_order_of_queries_where_junk_leaves_short_lists",
    ),
    ("one camera id: identities do not appear in the gallery", _TRUTH, "one_camera_only_names_the_column"),
    ("the query is removed by position", _FAULTS, "the_query_itself_is_taken_out_by_id_wherever_it_ranks"),
    ("ids that only look alike are taken for one", _TRUTH, "ids_that_meet_must_be_said_to_be_one_set_or_two"),
    ("the query is not removed at all", _EVALUATOR, "queries_that_find_themselves_are_told_of_exclude_self"),
    ("collapsed codes score 1 in a sorted gallery", _FAULTS, "collapsed_codes_do_not_profit_from_a_sorted_gallery"),
    ("the caller's labels are overwritten", _TRUTH, "the_callers_labels_are_not_changed"),
]


@pytest.mark.parametrize(("path", "name"), [row[1:] for row in ELSEWHERE], ids=[row[0] for row in ELSEWHERE])
def test_the_fault_is_held_where_the_list_says(path: str, name: str) -> None:
    assert f"def test_{name}(" in (TESTS / path).read_text("utf-8")


def test_the_first_call_compiles_nothing() -> None:
    # Elsewhere the first evaluation takes tens of seconds, for a compiler runs in it.
    code = (
        "import sys, visual_search as vs\n"
        "vs.evaluate({'q': {'a': 1.0}}, {'q': {'a': 1}}, ['AP', 'nDCG@10'])\n"
        "print(*(name for name in ('numba', 'llvmlite', 'torch', 'pandas', 'scipy') if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""


@pytest.mark.parametrize("first", ["a", "b"])
def test_nan_scores_do_not_depend_on_insertion_order(first: str) -> None:
    # Elsewhere a NaN is sorted to wherever it stood; here either order is refused, by the item's name.
    run = {first: 0.5, "b" if first == "a" else "a": 0.4, "c": math.nan, "d": 0.3}
    with pytest.raises(NonFiniteError, match="query 'q', item 'c'"):
        Ranking.from_dict({"q": run})
    turned = dict(reversed(run.items()))
    with pytest.raises(NonFiniteError, match=r"'q', 'c'"):
        evaluate({"q": turned}, {"q": {"a": 1}}, ["AP"])


def test_nan_similarities_and_vectors_are_refused_too() -> None:
    with pytest.raises(NonFiniteError):
        Ranking.from_similarity([[0.1, math.nan]])
    with pytest.raises(NonFiniteError, match="query_vectors"):
        evaluate_similarity([[math.nan, 1.0]], [[0.0, 1.0]], Relevance.from_matrix([[1]]), ["AP"])


def test_repeated_ids_cannot_push_recall_and_ndcg_above_one(tmp_path: Path) -> None:
    relevance = Relevance.from_dict({"q": {"a": 1}})
    with pytest.raises(DuplicateIdError, match="'a'"):
        Ranking.from_arrays([["a", "a"]], query_ids=["q"])
    with pytest.raises(DuplicateIdError):
        Ranking.from_rank_matrix([[0, 0]])
    path = tmp_path / "run.trec"
    path.write_text("q Q0 a 1 2.0 t\nq Q0 a 2 1.0 t\n", "utf-8")
    with pytest.raises(FileFormatError, match="was on line 1 already"):
        evaluate(Ranking.from_trec(path), relevance, ["Recall@2"])
    path.write_text("q 0 a 1\nq 0 a 1\n", "utf-8")
    with pytest.raises(FileFormatError, match="was on line 1 already"):
        Relevance.from_trec(path)


def test_a_query_without_relevant_items_neither_ends_nor_spoils_a_mean() -> None:
    # Elsewhere it is dropped, 0, 1, or turns the whole mean to NaN.
    run = {"q1": {"a": 1.0}, "q2": {"a": 1.0}}
    forms = ["AP", "RR", "nDCG", "Recall@1", "RPrecision", "Bpref", "INP", "F1@1"]
    result = evaluate(run, {"q1": {"a": 1}, "q2": {"a": 0}}, forms)
    for form in forms:
        assert result[form].mean == 1
        assert (result[form].counted, result[form].undefined_queries) == (1, ("q2",))


def test_junk_that_leaves_a_list_empty_is_no_crash_and_is_named() -> None:
    # Elsewhere a row shorter than the others stops the CMC curve.
    run = {"q1": {"junk": 2.0, "a": 1.0}, "q2": {"junk": 1.0}}
    relevance = Relevance.from_dict({"q1": {"a": 1}, "q2": {"a": 1}}, ignored={"q1": ["junk"], "q2": ["junk"]})
    result = evaluate(Ranking.from_dict(run), relevance, ["HitRate@1", "HitRate@5", "AP"])
    assert [result[form].values.tolist() for form in result] == [[1, 0], [1, 0], [1, 0]]
    assert any("1 list is empty" in note and "'q2'" in note for note in result.notes)


def test_signs_of_zero_make_no_half_bit_distances() -> None:
    # sign(0) is 0: half a bit from either side where distances are (bits - product) / 2.
    query, gallery = np.array([[1, 1, -1]]), np.array([[1, 0, -1], [1, 1, -1]])
    assert ((3 - gallery @ query[0]) / 2).tolist() == [0.5, 0]
    with pytest.raises(
        InputError, match=r"gallery_codes: 1 code holds other values than -1 and 1, first 0; .*sign of 0"
    ):
        evaluate_codes(query, gallery, Relevance.from_labels([0], [0, 1]), ["AP"])
    with pytest.raises(InputError, match="query_codes: 1 code holds"):
        evaluate_codes(gallery[:1], gallery[1:], Relevance.from_labels([0], [0]), ["AP"])


def test_collapsed_codes_score_as_chance_in_any_order_of_the_gallery() -> None:
    labels = np.repeat(np.arange(4), 5)
    codes: Any = np.ones((20, 8), dtype=int)
    chance = np.mean([(1 + r * 4 / 19) / (r + 1) for r in range(20)])
    for order in (np.arange(20), np.random.default_rng(0).permutation(20)):
        result = evaluate_codes(codes[:1], codes, Relevance.from_labels([2], labels[order]), ["AP"])
        assert result["AP"].mean == pytest.approx(chance, abs=1e-12)


def test_an_empty_hamming_ball_is_counted_and_named_and_weighs_nothing_in_a_micro_average() -> None:
    # Elsewhere it is a silent 0 among the precisions, or dropped without a word.
    codes = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [1, 1, 1, 1]])
    gallery = np.array([[0, 0, 0, 0], [0, 0, 1, 1], [0, 1, 1, 0]])
    distance = (codes[:, None] != gallery).sum(axis=2)
    ball = {
        row: {item: -float(distance[row, item]) for item in range(3) if distance[row, item] <= 1}
        for row in range(3)
    }
    truth = {0: {0: 1}, 1: {0: 1}, 2: {2: 1}}
    forms = [f"Precision(denominator=retrieved{average})@3" for average in ("", ",average=micro")]
    result = evaluate(Ranking.from_dict(ball), Relevance.from_dict(truth), forms)
    macro, micro = (result[form] for form in forms)
    assert macro.values.tolist() == [1, 0.5, 0]
    assert (macro.mean, macro.counted) == (0.5, 3)
    assert micro.mean == pytest.approx(2 / 3)  # 2 of the 3 items that any ball holds
    assert any(note.startswith("1 list is empty") and note.endswith(": 2") for note in result.notes)
