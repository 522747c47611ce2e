"""What a truth suggests is seen after one's own judgement, and counts nowhere."""

from collections.abc import Callable

import pytest
from tests.unit.judging.conftest import pool_of

from visual_search.errors import InputError
from visual_search.ground_truth.relevance import Relevance
from visual_search.judging.assignment import Assignment
from visual_search.judging.records import Verdict
from visual_search.judging.store import JudgementStore
from visual_search.judging.suggestions import suggest, suggestion_after
from visual_search.judging.task import JudgingTask

Made = Callable[..., JudgementStore]

TRUTH = Relevance.from_dict({"q0": {"d0": 2, "elsewhere": 1}, "q5": {"d0": 1}})


def test_a_suggestion_is_told_only_to_who_has_judged(made: Made) -> None:
    store = made(pool_of(1, 2, JudgingTask(wanted=2)))
    assert suggest(store, TRUTH, "exact neighbours") == 1
    pair = store.pair_number("q0", "d0")
    assert suggestion_after(store, "ann", pair) is None
    first = store.judge("bo", pair, Verdict(0))
    assert suggestion_after(store, "ann", pair) is None  # another's judgement opens nothing
    told = suggestion_after(store, "bo", pair)
    assert told is not None
    assert (told.grade, told.maker, told.own) == (2.0, "exact neighbours", 0.0)
    store.undo("bo", first.number)
    assert suggestion_after(store, "bo", pair) is None
    other = store.pair_number("q0", "d1")
    store.judge("bo", other, Verdict(0))
    assert suggestion_after(store, "bo", other) is None  # the truth says nothing of it


def test_a_suggestion_is_no_judgement_anywhere(made: Made) -> None:
    store = made(pool_of(1, 2))
    before = Assignment(store).next("ann", count=2)
    suggest(store, TRUTH, "pseudo truth")
    assert (store.log(), store.standing(), store.table(graded=False)["grade"]) == ([], [], [])
    done = store.progress()
    assert (done.judged, done.given, done.judges["ann"].judged) == (0, 0, 0)
    assert Assignment(store).next("ann", count=2) == before
    assert all(one.judgement is None for one in store.query_pairs("q0", "ann"))


def test_a_later_truth_takes_the_place_of_an_earlier_one(made: Made) -> None:
    store = made(pool_of(1, 2))
    suggest(store, TRUTH, "one")
    suggest(store, Relevance.from_dict({"q0": {"d1": 1}}), "two")
    for item in ("d0", "d1"):
        store.judge("ann", store.pair_number("q0", item), Verdict(1))
    told = [suggestion_after(store, "ann", store.pair_number("q0", item)) for item in ("d0", "d1")]
    assert told[0] is None
    assert told[1] is not None
    assert told[1].maker == "two"


def test_a_truth_of_something_else_is_refused(made: Made) -> None:
    store = made(pool_of(1, 2))
    with pytest.raises(InputError, match="none of the store's pairs"):
        suggest(store, Relevance.from_dict({"x": {"y": 1}}), "one")
    with pytest.raises(InputError, match="say which truth"):
        suggest(store, TRUTH, " ")
