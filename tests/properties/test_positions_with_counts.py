"""Hits that stand for several items give what the items give one by one, for every measure and tie rule."""

from dataclasses import replace
from typing import Any, Literal

import numpy as np
import pytest
from hypothesis import given, settings

from visual_search import parse_measure
from visual_search.errors import InputError
from visual_search.evaluation.joining import join
from visual_search.evaluation.positions import Positions
from visual_search.formats.ragged import offsets_of
from visual_search.testing.strategies import Case, cases

Array = np.ndarray[Any, Any]
MEASURES = [
    *("HitRate@1", "HitRate@3", "Recall@2", "Recall(denominator=min)@2", "Recall(average=micro)@3", "Precision@2"),
    *("Precision(denominator=retrieved)@9", "AP", "AP@2", "AP(denominator=min)@3", "AP(denominator=found)@2"),
    *("AP(cut=relevant)@2", "AP(interpolation=trapezoid)", "AP@R", "RPrecision", "RR", "RR@2", "nDCG", "nDCG@3"),
    *("nDCG(gain=exponential)@2", "nDCG(gain=binary)", "DCG@3", "ERR(max_grade=3)", "ERR(max_grade=3)@2", "RBP"),
    *("Bpref", "Bpref(negative=unjudged)", "F1@2", "INP", "FirstRank", "Judged@2", "AP(rel=2)", "Recall(rel=2)@3"),
]


def runs(key: list[Array]) -> tuple[Array, Array]:
    """First row of each run of equal rows, and how long it is."""
    if not len(key[0]):
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    new = np.any([column[1:] != column[:-1] for column in key], axis=0)
    starts = np.concatenate(([0], np.flatnonzero(new) + 1)).astype(np.int64)
    return starts, np.diff(starts, append=len(key[0]))


def with_counts(one: Positions) -> Positions:
    order = np.lexsort((one.grades, one.above, one.query_of_hit))
    query, grades, above, tied = one.query_of_hit[order], one.grades[order], one.above[order], one.tied[order]
    starts, counts = runs([query, above, grades])
    judged, judged_counts = runs([one.query_of_judged, one.judged_grades])
    n = len(one)
    return replace(
        one,
        offsets=offsets_of(np.bincount(query[starts], minlength=n)),
        grades=grades[starts],
        above=above[starts],
        tied=tied[starts],
        judged_offsets=offsets_of(np.bincount(one.query_of_judged[judged], minlength=n)),
        judged_grades=one.judged_grades[judged],
        counts=counts,
        judged_counts=judged_counts,
        places=None,
    )


@pytest.mark.parametrize("ties", ["expected", "best", "worst"])
@settings(max_examples=60, deadline=None)
@given(case=cases(max_items=9, max_queries=3))
def test_as_one_by_one(ties: Literal["expected", "best", "worst"], case: Case) -> None:
    one = join(case.ranking, case.relevance)
    several = with_counts(one)
    assert repr(several) == repr(one)
    for text in MEASURES:
        measure = parse_measure(text)
        mine, theirs = measure.values(several, ties), measure.values(one, ties)
        for name in ("numerator", "denominator", "value"):
            found, expected = getattr(mine, name), getattr(theirs, name)
            assert np.allclose(found, expected, rtol=0, atol=1e-12, equal_nan=True), (text, name)


@settings(max_examples=60)
@given(case=cases(max_items=6))
def test_taken_apart_again(case: Case) -> None:
    one = join(case.ranking, case.relevance)
    again = with_counts(one).one_by_one()
    for name in ("offsets", "above", "tied", "judged_offsets", "judged_grades", "lengths"):
        assert np.array_equal(getattr(again, name), getattr(one, name)), name
    assert one.one_by_one() is one


def test_there_is_no_order_to_read() -> None:
    case = Case({"q": {"a": 1.0, "b": 1.0}}, {"q": {"a": 1, "b": 1}}, {})
    several = with_counts(join(case.ranking, case.relevance))
    with pytest.raises(InputError, match="no order within these ties"):
        parse_measure("RR").values(several, "listed")
