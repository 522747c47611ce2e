import numpy as np
import pytest

from visual_search import Relevance, evaluate
from visual_search.errors import InputError
from visual_search.evaluation.comparison import compare
from visual_search.evaluation.gate import gate
from visual_search.evaluation.protocols.measured import evaluate_split_vectors
from visual_search.evaluation.protocols.query_gallery import by_view
from visual_search.evaluation.protocols.random_images import random_images
from visual_search.evaluation.result import Result


def measured(places: list[int], text: str = "RR") -> Result:
    truth = Relevance.from_dict({f"q{n}": {"right": 1} for n in range(len(places))})
    run = {
        f"q{n}": {"right": 0.5, **{f"wrong{m}": 1.0 for m in range(place - 1)}} for n, place in enumerate(places)
    }
    return evaluate(run, truth, [text])


def test_the_margin_decides_between_the_ends_of_the_interval() -> None:
    random = np.random.default_rng(0)
    before, after = random.integers(1, 4, 80).tolist(), random.integers(1, 4, 80).tolist()
    interval = gate(measured(after), measured(before), "RR", 0.5).contrast.interval
    assert interval is not None
    assert interval.resamples == 10_000
    verdicts = [
        gate(measured(after), measured(before), "RR", margin).verdict
        for margin in (-interval.low - 1e-6, -interval.low + 1e-6)
    ]
    assert verdicts == ["not decided", "passed"]
    worse = gate(measured([4] * 80), measured(before), "RR", 0.01)
    assert (worse.verdict, worse.passed) == ("failed", False)
    assert "worse by more than the margin" in worse.reason


def test_what_would_decide_is_told_and_decides() -> None:
    """With as many queries as are said to be needed, equal systems pass about four times in five."""
    random = np.random.default_rng(1)

    def pair(count: int) -> tuple[Result, Result]:
        first, second = (measured(random.integers(1, 4, count).tolist()) for _ in range(2))
        return first, second

    undecided = gate(*pair(30), "RR", 0.12)
    assert undecided.verdict == "not decided"
    assert undecided.queries_needed is not None
    assert f"about {undecided.queries_needed:,} queries in {undecided.groups_needed:,} groups" in undecided.reason
    passed = sum(gate(*pair(undecided.queries_needed), "RR", 0.12).passed for _ in range(40))
    # Binomial(40, .8) lies in 23..39 with probability .998; the spread was estimated on 30 queries.
    assert 20 <= passed <= 40


def test_few_groups_decide_nothing_however_clear() -> None:
    found = gate(measured([1] * 9), measured([2] * 9), "RR", 0.01)
    assert found.verdict == "not decided"
    assert "only 9 independent groups" in found.reason
    assert gate(measured([1] * 10), measured([2] * 10), "RR", 0.01).passed


def test_where_less_is_better_the_signs_are_turned() -> None:
    text = "FirstRank(average=macro)"
    near, far = [1, 2] * 20, [3, 5] * 20
    assert gate(measured(near, text), measured(far, text), text, 0.5).passed
    assert gate(measured(far, text), measured(near, text), text, 0.5).verdict == "failed"


def test_a_margin_of_nothing_and_one_that_is_none() -> None:
    same = measured([1, 2] * 10)
    found = gate(same, same, "RR", 0)
    assert found.verdict == "not decided"
    assert "a margin of 0" in found.reason
    assert gate(same, same, "RR", 0.2).passed
    few = gate(same, same, "RR", 0.01)
    assert few.verdict == "not decided"
    assert few.groups_needed == 368
    assert "if none were worse, 368 groups" in few.reason
    many = measured([1, 2] * 200)
    assert gate(many, many, "RR", 0.01).passed
    for wrong in (-0.1, float("nan"), float("inf")):
        with pytest.raises(InputError, match="margin"):
            gate(same, same, "RR", wrong)


def test_few_groups_that_differ_fail_nothing_and_let_nothing_through() -> None:
    before = measured([1] * 40)
    after = measured([1] * 37 + [2] * 3)
    found = gate(after, before, "RR", 0.001)
    assert found.verdict == "not decided"
    assert "3 of 40 groups differ" in found.reason
    assert found.contrast.p_value == 0.25
    assert found.contrast.interval is not None
    assert 0 in found.contrast.interval
    assert found.contrast.as_json()["detectable"] is None
    assert "only 3 of 40" in str(found.contrast.caution)


def test_a_verdict_against_its_own_p_is_none() -> None:
    before = measured([1] * 58 + [2] * 2, "HitRate@1")
    after = measured([2] * 9 + [1] * 51, "HitRate@1")
    found = gate(after, before, "HitRate@1", 0.001)
    assert found.contrast.interval is not None
    assert found.contrast.interval.high < -0.001
    assert found.contrast.p_value > 0.05
    assert found.verdict == "not decided"
    assert "disagree" in found.reason


def test_a_measure_without_limit_is_not_decided_where_few_groups_differ() -> None:
    text = "FirstRank(average=macro)"
    found = gate(measured([1] * 37 + [2] * 3, text), measured([1] * 40, text), text, 0.5)
    assert found.verdict == "not decided"
    assert "too narrow to be relied on" in found.reason


def test_a_split_that_is_not_proven_is_flagged_in_comparison_and_gate() -> None:
    table: dict[str, list[int]] = {"scene": [scene for scene in range(30) for _ in (0, 1)], "view": [0, 1] * 30}
    allowed = random_images(table, group="scene", view="view", queries=30, seed=0, allow_shared_groups=True)
    proven = by_view(table, group="scene", view="view", query=0, gallery=1)
    vectors = np.repeat(np.eye(30), 2, axis=0)
    for split, flagged in ((allowed, True), (proven, False)):
        asked, searched = (vectors[np.array(ids[:], dtype=int)] for ids in (split.query_ids, split.gallery_ids))
        result = evaluate_split_vectors(split, asked, searched, ["HitRate@1"])
        compared = compare({"before": result, "after": result})
        assert compared.unproven == (("before", "after") if flagged else ())
        assert any("is not proven (groups: " in note for note in compared.notes) is flagged
        assert compared.as_json()["unproven"] == list(compared.unproven)
        found = gate(result, result, "HitRate@1", 0.02)
        assert ("the split is not proven" in found.reason) is flagged
        assert bool(found.as_json()["unproven"]) is flagged
