"""One grade of several: the rules, adjudication, the queue, and what a rule does to a score."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from visual_search import Ranking, Relevance, evaluate
from visual_search.errors import InputError
from visual_search.judging.aggregation import RULES, relevance_of_judgements
from visual_search.judging.disagreements import disagreements
from visual_search.judging.judgement_table import JudgementTable
from visual_search.judging.rule_effects import rule_effects
from visual_search.testing.simulated_judgements import simulated_judgements

MARKS: dict[str, list[Any]] = {
    "judge": ["a", "b", "c", "a", "b", "a", "b", "a", "b", "head", "a"],
    "query": ["q1"] * 3 + ["q1"] * 2 + ["q2"] * 2 + ["q2"] * 3 + ["q3"],
    "item": ["x"] * 3 + ["y"] * 2 + ["x"] * 2 + ["y"] * 3 + ["z"],
    "grade": [0, 2, 2, 0, 1, 1, 2, 0, 2, 1, None],
    "adjudicated": [False] * 9 + [True, False],
}


def table() -> JudgementTable:
    return JudgementTable.from_table(MARKS)


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.integers(0, 3)), min_size=1, max_size=20))
def test_rules_are_those_of_from_judgements(marks: list[tuple[str, int]]) -> None:
    rows = {
        "judge": [f"j{number}" for number in range(len(marks))],
        "query": ["q"] * len(marks),
        "item": [item for item, _ in marks],
        "grade": [grade for _, grade in marks],
    }
    for rule in ("mean", "median", "max", "min", "majority"):
        ours = relevance_of_judgements(JudgementTable.from_table(rows), rule).judged("q")
        theirs = Relevance.from_judgements(rows, combine=rule).judged("q")
        assert ours == pytest.approx(theirs)


def test_an_adjudicated_grade_decides_under_its_own_rule_only() -> None:
    assert relevance_of_judgements(table()).judged("q2") == {"x": 1.0, "y": 1.0}
    assert relevance_of_judgements(table(), "majority").judged("q2") == {"x": 1.0, "y": 0.0}
    assert relevance_of_judgements(table(), "mean").judged("q2") == {"x": 1.5, "y": 1.0}
    assert relevance_of_judgements(table(), "agreed").judged("q2") == {}


def test_an_adjudication_without_a_grade_leaves_the_pair_unjudged() -> None:
    rows = {**MARKS, "grade": [*MARKS["grade"][:9], None, None]}
    assert relevance_of_judgements(JudgementTable.from_table(rows)).judged("q2") == {"x": 1.0}


def test_no_such_rule() -> None:
    with pytest.raises(InputError, match="rule='vote': one of adjudicated, majority"):
        relevance_of_judgements(table(), "vote")


def test_the_queue_has_the_most_disputed_first_and_says_who_said_what() -> None:
    found = disagreements(table())
    assert [(one.query, one.item) for one in found] == [("q1", "x"), ("q1", "y"), ("q2", "x"), ("q3", "z")]
    assert [one.matters for one in found] == [True, True, False, False]
    assert found[0].words() == "a 0, b 2, c 2"
    assert found[0].majority == 2
    assert (found[3].words(), found[3].majority) == ("a cannot tell", None)
    every = disagreements(table(), decided=True)
    assert [one.decided for one in every] == [False] * 4 + [True]
    assert (every[-1].majority, every[-1].adjudicated) == (0, 1)


def test_the_effect_of_a_rule_is_the_difference_of_two_scorings() -> None:
    marks = simulated_judgements(30, seed=4)
    rng = np.random.default_rng(0)
    ranking = Ranking.from_similarity(rng.normal(size=(30, 8)), query_ids=marks.queries, gallery_ids=marks.items)
    found = rule_effects(ranking, marks, ["nDCG@5", "Precision@3"], rule="median")
    assert [one.rule for one in found[: len(RULES)]] == ["median", *(rule for rule in RULES if rule != "median")]
    for one in found:
        result = evaluate(ranking, relevance_of_judgements(marks, one.rule), [one.measure])[one.measure]
        assert one.mean == result.mean
        if one.rule == "median":
            assert one.difference is None
            continue
        base = evaluate(ranking, relevance_of_judgements(marks, "median"), [one.measure])[one.measure]
        assert one.difference is not None
        assert one.difference.difference == pytest.approx(np.nanmean(result.values - base.values))
        assert one.difference.interval is not None


def test_a_rule_that_gives_the_same_grades_has_no_difference_to_guess_at() -> None:
    marks = {"judge": ["a", "b", "a"], "query": ["q"] * 3, "item": ["x", "x", "y"], "grade": [1, 1, 0]}
    found = rule_effects(Ranking.from_dict({"q": {"x": 1.0}}), JudgementTable.from_table(marks), ["RR"])
    assert all(one.same and one.difference is None for one in found)
