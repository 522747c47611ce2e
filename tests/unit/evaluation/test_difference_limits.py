"""How far apart two systems can be, and intervals that do not reach beyond it."""

from pathlib import Path

import numpy as np
import pytest

from visual_search import Ranking, Relevance, evaluate
from visual_search.evaluation.comparison import compare
from visual_search.evaluation.difference_limits import largest_difference
from visual_search.evaluation.gate import gate
from visual_search.evaluation.result import Result
from visual_search.evaluation.run_record import write_run_result
from visual_search.evaluation.statistics.interval import Resampling
from visual_search.evaluation.statistics.sparse_differences import sparse_interval

MEASURES = ["Precision@20", "HitRate@1", "RBP(p=0.8)", "F1@19", "DCG(gain=binary)", "RR"]


def answers(right: int = 1, count: int = 40) -> Relevance:
    return Relevance.from_dict({f"q{n}": {f"a{j}": 1 for j in range(right)} for n in range(count)})


def run(missed: int, count: int = 40) -> Ranking:
    return Ranking.from_dict({f"q{n}": {"b" if n < missed else "a0": 1.0} for n in range(count)})


def result(missed: int, right: int = 1) -> Result:
    return evaluate(run(missed), answers(right), MEASURES)


@pytest.mark.parametrize(
    ("text", "relevant", "expected"),
    [
        ("Precision@20", [1, 1], 0.05),
        ("Precision@20", [1, 3], 0.15),
        ("Precision@20", [40], 1),
        ("Precision(denominator=retrieved)@20", [1], 1),
        ("Precision@20", [0], 0),
        ("Recall@5", [20, 10], 0.5),
        ("Recall(denominator=min)@5", [20], 1),
        ("AP@5", [20], 0.25),
        ("AP@R", [20], 1),
        ("AP(denominator=min)@5", [20], 1),
        ("F1@9", [1], 0.2),
        ("RBP(p=0.8)", [1, 2], 0.36),
        ("RBP(p=0.8)@1", [7], 0.2),
        ("DCG(gain=binary)@1", [7], 1),
        ("DCG(gain=binary)", [2], 1 + 1 / np.log2(3)),
        ("ERR(max_grade=1)@1", [5], 0.5),
        ("ERR(max_grade=1)", [5], np.log(2)),
        ("ERR(max_grade=1000)", [5], 1),
        ("DCG@10", [1], np.inf),
        ("FirstRank(average=median)", [1], np.inf),
        ("Precision(rel=0.5)@20", [1], 1),
        ("share of happy users", [1], np.inf),
    ],
)
def test_right_answers_and_cut_off_limit_a_difference(text: str, relevant: list[int], expected: float) -> None:
    assert largest_difference(text, np.array(relevant)) == pytest.approx(expected)


@pytest.mark.parametrize("missed", [0, 1, 5])
def test_no_interval_reaches_beyond_what_is_possible(missed: int, tmp_path: Path) -> None:
    limits = dict(zip(MEASURES, (0.05, 1, 0.2, 0.1, 1, 1), strict=True))
    sides = {"before": result(0), "after": result(missed)}
    paths = [
        write_run_result(
            tmp_path / f"{name}.json", sides[name], run(n), answers(), name=name, dataset="numbers"
        ).path
        for name, n in (("before", 0), ("after", missed))
    ]
    for found in (compare(sides, MEASURES), compare(dict(zip(sides, paths, strict=True)), MEASURES)):
        rate = found.contrast("after", measure="HitRate@1").interval
        assert rate is not None
        for text, limit in limits.items():
            contrast = found.contrast("after", measure=text)
            assert contrast.largest == pytest.approx(limit), text
            assert contrast.interval is not None
            assert contrast.interval.low == pytest.approx(limit * rate.low), text
            assert contrast.interval.high == pytest.approx(limit * rate.high), text
            assert contrast.interval.low <= contrast.difference <= contrast.interval.high


def test_more_right_answers_widen_it_to_theirs() -> None:
    found = compare({"before": result(0, 4), "after": result(1, 4)}, ["Precision@20"]).contrasts[0]
    assert found.largest == pytest.approx(0.2)


def test_a_gate_asks_for_as_many_groups_as_the_limit_needs() -> None:
    rate, precision = (gate(result(0), result(0), text, 0.01) for text in ("HitRate@1", "Precision@20"))
    assert (rate.verdict, rate.groups_needed) == ("not decided", 368)
    # 0 of 40 differ: at most 8.8 % do, each by .05.
    assert precision.verdict == "passed"
    assert precision.groups_needed == 17


def test_where_no_query_has_a_right_answer_nothing_can_differ() -> None:
    none = Relevance.from_dict({f"q{n}": {"a0": 0} for n in range(40)})
    first, second = (evaluate(run(missed), none, ["HitRate@1"]) for missed in (0, 3))
    found = gate(second, first, "HitRate@1", 0.01)
    assert found.verdict == "passed"
    assert found.contrast.interval is not None
    assert (found.contrast.interval.low, found.contrast.interval.high) == (0, 0)


def test_a_difference_above_what_the_files_allow_is_not_cut_off(tmp_path: Path) -> None:
    # A result written by hand may say of its right answers what its values contradict.
    paths = []
    for name, n in (("before", 0), ("after", 1)):
        ranked = Ranking.from_dict(
            {f"q{q}": {f"a{j}": 1.0 - j / 10 for j in range(4)} if q >= n else {"b": 1.0} for q in range(40)}
        )
        measured = evaluate(ranked, answers(4), ["Precision@20"])
        written = tmp_path / f"{name}.json"
        paths.append(write_run_result(written, measured, ranked, answers(1), name=name, dataset="by hand").path)
    found = compare(paths, ["Precision@20"], despite="made by hand").contrasts[0]
    assert found.largest == pytest.approx(0.2)


@pytest.mark.parametrize("share", [0.02, 0.05, 0.1])
@pytest.mark.parametrize("right", [1, 3])
def test_the_interval_holds_as_often_as_it_says(share: float, right: int) -> None:
    # Two systems apart by the most there can be on a known share of queries: Precision@20 with so many right answers.
    rng = np.random.default_rng(3)
    limit = largest_difference("Precision@20", np.full(40, right))
    held = tried = 0
    for lost in rng.binomial(40, share, 2_000).tolist():
        tops = np.r_[np.full(lost, -limit), np.zeros(40 - lost)]
        found = sparse_interval(tops, np.ones(40), limit, Resampling())
        assert found is not None
        tried += 1
        held += -share * limit in found
        assert found.high <= limit
        assert found.low >= -limit
    assert held / tried >= 0.975 - 3 * np.sqrt(0.025 * 0.975 / tried)
