"""What agreement does with holes, repeats, adjudications and cases it cannot say anything about."""

from typing import Any

import numpy as np
import pytest

from visual_search.errors import DuplicateIdError, InputError
from visual_search.evaluation.statistics.interval import Resampling
from visual_search.judging.aggregation import relevance_of_judgements
from visual_search.judging.agreement import agreement
from visual_search.judging.cohen_kappa import cohen_kappa
from visual_search.judging.fleiss_kappa import fleiss_kappa
from visual_search.judging.judgement_table import JudgementTable
from visual_search.judging.krippendorff_alpha import krippendorff_alpha
from visual_search.testing.simulated_judgements import simulated_judgements


def table_of(*rows: tuple[str, str, str, float | None], **more: list[Any]) -> JudgementTable:
    names = ("judge", "query", "item", "grade")
    columns = dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
    return JudgementTable.from_table(columns | more)


def test_one_grade_only_is_undefined_with_a_reason_and_never_0_or_1() -> None:
    found = agreement(table_of(*[(judge, "q", item, 1) for judge in "ab" for item in "xyz"]))
    assert found["percent agreement"].value == 1
    undefined = [one for one in found.overall if not one.defined]
    assert len(undefined) == 4
    assert all(np.isnan(one.value) and "one grade only" in one.reason for one in undefined)
    assert all(one.as_json()["value"] is None for one in undefined)
    assert np.isnan(found.judge_pairs[0].plain.value)
    assert len([note for note in found.notes if "undefined" in note]) == 4


def test_no_overlap_is_undefined_with_a_reason() -> None:
    found = agreement(table_of(("a", "q", "x", 1), ("b", "q", "y", 0)))
    assert all(np.isnan(one.value) and one.reason == "no pair was judged by two" for one in found.overall)
    (pair,) = found.judge_pairs
    assert pair.plain.reason == "no pair was judged by both"
    assert np.isnan(pair.shift)
    assert found.queries == ()


def test_fleiss_takes_the_pairs_with_the_usual_number_and_counts_the_others() -> None:
    counts = [[2, 0], [1, 1], [0, 2], [3, 0], [1, 0], [0, 0]]
    found = fleiss_kappa(counts)
    assert (found.pairs, found.left_out) == (3, 2)
    assert found.value == fleiss_kappa(counts[:3]).value
    assert fleiss_kappa(counts, judges=4).reason == "no pair was judged by 4"


def test_a_mark_without_a_grade_and_an_adjudication_are_no_judgements() -> None:
    plain = [("a", "q", "x", 1), ("b", "q", "x", 0), ("a", "q", "y", 0), ("b", "q", "y", 0)]
    more = [("c", "q", "x", None), ("head", "q", "x", 1)]
    found = agreement(table_of(*plain, *more, adjudicated=[False] * 5 + [True]))
    alone = agreement(table_of(*plain))
    assert [one.value for one in found.overall] == [one.value for one in alone.overall]
    assert [(one.judge, one.judged, one.could_not_tell) for one in found.judges] == [
        ("a", 2, 0),
        ("b", 2, 0),
        ("c", 0, 1),
    ]
    assert len(found.notes) == 2


def test_the_later_mark_of_a_judge_holds() -> None:
    table = table_of(
        ("a", "q", "x", 0), ("a", "q", "x", 2), ("b", "q", "x", 2), time=["2026-01-02", "2026-01-03", "2026-01-01"]
    )
    assert table.replaced == 1
    assert agreement(table)["percent agreement"].value == 1


def test_the_later_adjudication_of_a_pair_holds_whoever_made_it() -> None:
    rows = [("a", "q", "x", 0), ("head", "q", "x", 1), ("boss", "q", "x", 2)]
    table = table_of(*rows, time=[1, 3, 2], adjudicated=[False, True, True])
    assert relevance_of_judgements(table).judged("q") == {"x": 1.0}
    with pytest.raises(DuplicateIdError, match="adjudicated more than once"):
        table_of(*rows, adjudicated=[False, True, True])


def test_what_a_judge_took_back_does_not_stand() -> None:
    rows = [("a", "q", "x", 0), ("b", "q", "x", 1), ("a", "q", "x", None), ("b", "q", "x", 2)]
    rows += [("head", "q", "x", 2), ("boss", "q", "x", 1), ("head", "q", "x", None)]
    table = table_of(*rows, time=[1, 2, 3, 4, 5, 4, 6], undo=[0, 0, 1, 0, 0, 0, 1], adjudicated=[0] * 4 + [1] * 3)
    assert [one.judge for one in agreement(table).judges] == ["b"]
    assert relevance_of_judgements(table, "max").judged("q") == {"x": 2.0}
    assert relevance_of_judgements(table).judged("q") == {"x": 1.0}


def test_a_mark_twice_without_a_time_is_refused_by_name() -> None:
    with pytest.raises(DuplicateIdError, match=r"1 pair was marked more than once .*\('a', 'q', 'x'\)"):
        table_of(("a", "q", "x", 0), ("a", "q", "x", 2))


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"judge": [], "query": [], "item": [], "grade": []}, "no rows"),
        ({"judge": ["a"], "query": ["q"], "item": ["x"], "grade": [None]}, "no row with a grade"),
        ({"judge": ["a"], "query": ["q"], "item": ["x"], "grade": [float("inf")]}, "infinite"),
        ({"judge": ["a"], "query": ["q"], "item": ["x"]}, "no column 'grade'"),
        ({"judge": ["a"], "query": ["q"], "item": ["x"], "grade": ["good"]}, "numbers are needed"),
    ],
)
def test_tables_that_are_none(columns: dict[str, list[Any]], said: str) -> None:
    with pytest.raises(InputError, match=said):
        JudgementTable.from_table(columns)


def test_counts_that_are_none() -> None:
    for wrong in ([[0.5, 1]], [[-1, 2]], [1, 2]):
        with pytest.raises(InputError, match="whole numbers"):
            krippendorff_alpha(wrong)
    with pytest.raises(InputError, match="rising grades"):
        krippendorff_alpha([[1, 1]], [2, 1])
    with pytest.raises(InputError, match="square"):
        cohen_kappa([[1, 1]])
    with pytest.raises(InputError, match="at most 50"):
        agreement(table_of(*[("a", "q", f"d{n}", n / 7) for n in range(60)]))


def test_a_grade_nobody_used_changes_no_weighted_kappa() -> None:
    small, wide = np.array([[5, 1], [2, 4]]), np.zeros((3, 3))
    wide[np.ix_([0, 2], [0, 2])] = small
    for weights in ("linear", "quadratic"):
        assert cohen_kappa(small, [0, 2], weights=weights).value == cohen_kappa(wide, weights=weights).value


def test_the_least_agreed_query_comes_first_and_a_lenient_judge_shows() -> None:
    rows = [("a", "q1", "x", 0), ("b", "q1", "x", 2), ("a", "q2", "x", 1), ("b", "q2", "x", 1)]
    found = agreement(table_of(*rows))
    assert [one.query for one in found.queries] == ["q1", "q2"]
    (pair,) = found.judge_pairs
    assert pair.shift == -1
    assert pair.confusion.tolist() == [[0, 0, 1], [0, 1, 0], [0, 0, 0]]


def test_intervals_cover_what_other_queries_would_give() -> None:
    # Fewer than 52 of 60 come out once in 300 where 95 % is true; benchmarks/agreement_coverage.py counts more.
    truth = {one.name: one.value for one in agreement(simulated_judgements(3000, seed=99)).overall}
    held, few = dict.fromkeys(truth, 0), Resampling(resamples=500)
    for seed in range(60):
        for one in agreement(simulated_judgements(25, seed=seed), pair_intervals=False, resampling=few).overall:
            assert one.interval is not None
            held[one.name] += truth[one.name] in one.interval
    assert all(count >= 52 for count in held.values()), held


def test_queries_of_a_group_are_drawn_together() -> None:
    table = simulated_judgements(20, seed=1)
    by_group = {query: int(str(query)[1:]) // 4 for query in table.queries}
    found = agreement(table, groups=by_group)["percent agreement"].interval
    assert found is not None
    assert found.groups == 5
    assert "over groups" in found.method
