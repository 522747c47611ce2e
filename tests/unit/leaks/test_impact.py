"""What leaks are worth, against counting by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from visual_search import Ranking, Relevance
from visual_search.errors import InputError
from visual_search.leaks.ignored_items import ignoring
from visual_search.leaks.impact import impact_of_values, leak_impact


@pytest.fixture
def ranking() -> Ranking:
    lists = {
        "leaks": ["copy", "x", "a", "b"],
        "only": ["copy", "a", "x", "b"],
        "clean": ["x", "a", "copy", "b"],
        "other": ["a", "x", "b", "copy"],
    }
    return Ranking.from_arrays(list(lists.values()), query_ids=list(lists))


@pytest.fixture
def relevance() -> Relevance:
    return Relevance.from_dict(
        {"leaks": {"copy": 1, "a": 1}, "only": {"copy": 1}, "clean": {"a": 1}, "other": {"a": 1, "b": 1}}
    )


def test_by_hand(ranking: Ranking, relevance: Relevance) -> None:
    impact = leak_impact(ranking, relevance, {"leaks": ["copy"], "only": ["copy"]}, ["RR", "Precision@1"])
    assert (impact.queries, impact.flagged) == (4, 2)
    row = impact["RR"]
    # RR as it is: 1, 1, 1/2, 1. Without copies: 1/2, undefined, 1/2, 1.
    assert row.all_queries == pytest.approx(3.5 / 4)
    assert row.without_flagged == pytest.approx(1.5 / 2)
    assert row.flagged_only == 1
    assert row.items_ignored == pytest.approx(2 / 3)
    assert row.difference is not None
    assert row.difference.difference == pytest.approx((0.5 + 0 + 0) / 3)
    assert (row.difference.wins, row.difference.ties, row.difference.only_first) == (1, 2, 1)
    assert (row.counted, row.counted_without, row.counted_flagged) == (4, 2, 2)
    assert impact["P@1"].items_ignored == pytest.approx((0 + 0 + 0 + 1) / 4)
    assert "2 of 4 queries are flagged" in impact.words()
    assert "1 queries have no other right answer" in impact.words()


def test_queries_that_leak_into_the_training_set_are_left_out_too(ranking: Ranking, relevance: Relevance) -> None:
    impact = leak_impact(ranking, relevance, {"leaks": ["copy"]}, ["RR"], flagged=["leaks", "only", "clean"])
    assert impact.flagged == 3
    assert impact["RR"].without_flagged == 1
    # "only" keeps its copy, which is not among the matches.
    assert impact["RR"].items_ignored == pytest.approx((0.5 + 1 + 0.5 + 1) / 4)


def test_all_flagged_or_none(ranking: Ranking, relevance: Relevance) -> None:
    every = leak_impact(ranking, relevance, {q: ["copy"] for q in ranking.queries}, ["RR"])["RR"]
    assert math.isnan(every.without_flagged)
    assert every.as_json()["without_flagged"] is None
    none = leak_impact(ranking, relevance, {}, ["RR"])["RR"]
    assert none.all_queries == none.without_flagged == none.items_ignored
    assert none.difference is not None
    assert none.difference.difference == 0
    with pytest.raises(InputError, match="none of the flagged queries is among those evaluated"):
        leak_impact(ranking, relevance, {"elsewhere": ["copy"]}, ["RR"])


def test_lists_too_short_to_tell_are_not_told() -> None:
    cut = Ranking.from_dict({"q": {"copy": 3.0, "x": 2.0}, "p": {"a": 3.0, "b": 2.0}})
    truth = Relevance.from_dict({"q": {"copy": 1, "a": 1}, "p": {"a": 1}})
    impact = leak_impact(cut, truth, {"q": ["copy"]}, ["Precision@1", "Precision@2"])
    assert impact["P@1"].items_ignored == 0.5
    assert impact["P@2"].items_ignored is None
    assert impact["P@2"].difference is None
    assert impact["P@2"].without_flagged == 0.5
    assert "search deeper than the largest k" in impact.notes[0]


def test_ignored_pairs_join_those_that_were_there() -> None:
    relevance = Relevance.from_dict({"q": {"a": 2, "b": 1}, "p": {"b": 1}, "r": {}})
    changed = ignoring(relevance, {"q": ["b", "new"], "r": ["a"], "unknown": ["a"]})
    assert changed.judged("q") == {"a": 2.0}
    assert changed.judged("p") == {"b": 1.0}
    assert changed.judged("r") == {}
    assert int(changed.ignored.sum()) == 3
    assert list(changed.queries) == ["q", "p", "r"]
    again = ignoring(changed, {"q": ["b"]})
    assert int(again.ignored.sum()) == 3
    assert int(relevance.ignored.sum()) == 0


def test_from_stored_values() -> None:
    values = {
        "RR": np.array([1.0, np.nan, 0.5, 0.0]),
        "FirstRank(average=median)": np.array([1.0, 4.0, 2.0, 9.0]),
        "Recall(average=micro)@5": np.array([1.0, 1.0, 1.0, 1.0]),
    }
    impact = impact_of_values(values, ["a", "b", "c", "d"], ["a", "b"], note="as stored")
    row = impact["RR"]
    assert (row.all_queries, row.without_flagged, row.flagged_only) == (0.5, 0.25, 1.0)
    assert (row.counted, row.counted_without, row.counted_flagged) == (3, 2, 1)
    assert row.items_ignored is None
    assert impact["FirstRank"].without_flagged == 5.5
    assert impact.notes == (
        "as stored",
        "left out, since values per query do not give their mean: Recall(average=micro)@5",
    )
    with pytest.raises(InputError, match="was not measured"):
        impact["nDCG@5"]
