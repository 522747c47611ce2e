"""A dictionary of dictionaries gives what the ranking made of it gives, under every rule, with the same notes."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from visual_search import Ranking, Relevance, evaluate
from visual_search.errors import InputError, NonFiniteError
from visual_search.evaluation.joining import join
from visual_search.evaluation.joining_dicts import join_dicts
from visual_search.evaluation.ties import TIE_RULES
from visual_search.testing.strategies import Case, cases

MEASURES = ["AP", "AP@3", "nDCG@2", "RR", "Bpref", "Judged@3", "INP", "Recall@30"]


@settings(max_examples=200, deadline=None)
@given(case=cases(max_items=9, max_queries=5))
def test_same_values_and_notes(case: Case) -> None:
    for ties in TIE_RULES:
        direct = evaluate(case.run, case.relevance, MEASURES, ties=ties)
        whole = evaluate(case.ranking, case.relevance, MEASURES, ties=ties)
        assert direct.notes == whole.notes
        assert direct.missing_queries == whole.missing_queries
        assert direct.unjudged_queries == whole.unjudged_queries
        for text in direct:
            assert np.array_equal(direct[text].values, whole[text].values, equal_nan=True), (text, ties)


def test_lists_in_any_order_and_of_very_different_lengths() -> None:
    rng = np.random.default_rng(0)
    run = {
        f"q{row}": {
            f"d{item}": float(rng.integers(0, 9)) for item in rng.permutation(900)[: 800 if row == 3 else row]
        }
        for row in range(40)
    }
    truth = {query: {f"d{item}": int(rng.integers(-1, 3)) for item in rng.integers(0, 900, 60)} for query in run}
    relevance = Relevance.from_dict(truth)
    direct, whole = join_dicts(run, relevance), join(Ranking.from_dict(run), relevance)
    for name in ("offsets", "above", "tied", "lengths", "judged_grades", "cut_ties", "gallery_size"):
        assert np.array_equal(getattr(direct, name), getattr(whole, name)), name
    for ties in TIE_RULES:
        assert np.array_equal(direct.ordered(ties).above, whole.ordered(ties).above)


def test_both_sides_may_be_dictionaries_also_under_a_preset() -> None:
    run, truth = {"q": {"a": 0.1 + 1e-10, "b": 0.1}}, {"q": {"a": 1}}
    assert evaluate(run, truth, ["RR"])["RR"].mean == 1
    assert evaluate(run, truth, ["RR"], preset="trec_eval")["RR"].mean == 0.5
    assert evaluate({"q": {"a": -1.0}}, truth, ["RR@1", "HitRate@1"], preset="torchmetrics")["RR@1"].mean == 0


@pytest.mark.parametrize(
    ("run", "error", "words"),
    [
        ({"q": {"a": float("nan"), "b": 1.0}}, NonFiniteError, r"\('q', 'a'\)"),
        ({"q": {"a": "1"}}, InputError, "1 value is no number"),
        ({"q": ["a"]}, InputError, "first: 'q' with a list"),
        ({"q": {1: 1.0}}, InputError, "item ids are str in the relevance"),
        ({1: {"a": 1.0}}, InputError, "query ids are str in the relevance"),
        ({"other": {"a": 1.0}}, InputError, "no query in common"),
    ],
)
def test_refusals(run: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        evaluate(run, {"q": {"a": 1}}, ["AP"])


def test_the_gallery_is_counted_only_for_a_k_that_no_list_reaches(monkeypatch: pytest.MonkeyPatch) -> None:
    run = {"q": {"a": 2.0, "b": 1.0}}

    def never(_run: Any) -> Any:
        raise AssertionError("the gallery was counted")

    positions = join_dicts(run, Relevance.from_dict({"q": {"a": 1}}))
    assert positions.gallery_size == 2
    result = evaluate(run, {"q": {"a": 1}}, ["AP@3"])
    assert "k = 3 exceeds the gallery of 2 items: values at 3 are those of the full ranking" in result.notes
    monkeypatch.setattr("visual_search.evaluation.joining_dicts.set", never, raising=False)
    evaluate(run, {"q": {"a": 1}}, ["AP@2"])
    with pytest.raises(AssertionError, match="the gallery was counted"):
        evaluate(run, {"q": {"a": 1}}, ["AP@3"])
