from typing import Any

import pytest

from visual_search.errors import InputError
from visual_search.evaluation.evaluator import (
    EvaluationDataset,
    EvaluationResult,
    ModelEvaluator,
    compare_baselines,
    evaluate_model,
)
from visual_search.testing.plain_search import PlainSearch

ONE = {"queries": [{"query_id": "q", "ground_truth": ["f"]}]}


def alike(items: str, **settings: Any) -> EvaluationResult:
    """Items that cannot be told apart, in this order."""
    service = PlainSearch({item: [1.0, 0.0] for item in items})
    return ModelEvaluator(service, **settings).evaluate(ONE, [1, 6], {"q": [1.0, 0.0]})


def about_ties(result: EvaluationResult) -> list[str]:
    return [line for line in result.warnings if line.startswith("equal scores")]


@pytest.mark.parametrize(("order", "value"), [("fabcde", 1.0), ("abcdef", 0.0)])
def test_a_number_that_hangs_on_the_order_of_files_is_warned_of_with_its_range(order: str, value: float) -> None:
    result = alike(order)
    assert result.hit_rate_at_1 == value
    (said,) = about_ties(result)
    assert "for 1 query the numbers hang on the order" in said
    assert "HitRate@1 lies between 0.000 and 1.000 and mAP@6 lies between 0.167 and 1.000" in said
    assert 'ties="expected"' in said
    assert result.record["ties"] == "listed"
    assert said in result.record["warnings"]


def test_the_expectation_does_not_hang_on_the_order_and_is_recorded() -> None:
    first, second = alike("fabcde", ties="expected"), alike("abcdef", ties="expected")
    assert first.hit_rate_at_1 == second.hit_rate_at_1 == pytest.approx(1 / 6)
    assert first.record["ties"] == "expected"
    assert about_ties(first) == []
    assert alike("abcdef", ties="best").map == 1.0
    assert alike("abcdef", ties="worst").map == pytest.approx(1 / 6)
    with pytest.raises(InputError, match="ties='random'"):
        alike("abcdef", ties="random")


def test_a_tie_of_items_that_count_the_same_moves_nothing() -> None:
    service = PlainSearch({"a": [1, 0], "b": [1, 0], "c": [0, 1]})
    value = {"queries": [{"query_id": "q", "ground_truth": ["a", "b"]}]}
    result = ModelEvaluator(service).evaluate(value, [1, 3], {"q": [1, 0]})
    assert about_ties(result) == []


def test_only_what_moves_is_told_and_where_the_headline_stands_the_first_that_do() -> None:
    service = PlainSearch({"a": [1, 0], "b": [1, 1], "c": [1, 1], "d": [0, 1]})
    value = {"queries": [{"query_id": "q", "ground_truth": ["a", "c"]}]}
    (said,) = about_ties(ModelEvaluator(service).evaluate(value, [1, 4], {"q": [1, 0]}))
    assert "over these orders mAP@4 lies between 0.833 and 1.000; " in said
    graded = {"queries": [{"query_id": "q", "ground_truth": {"b": 1, "c": 2}}]}
    (said,) = about_ties(ModelEvaluator(service).evaluate(graded, [4], {"q": [1, 1]}))
    assert "over these orders NDCG@4 lies between 0.860 and 1.000; " in said


def test_a_list_that_ends_inside_a_tie_is_warned_of_though_nothing_listed_moves() -> None:
    service = PlainSearch({item: [1.0, 0.0] for item in "abcdef"})
    result = ModelEvaluator(service).evaluate(ONE, [1, 3], {"q": [1.0, 0.0]})
    (said,) = about_ties(result)
    assert "the list of 1 query ends inside a run of equal scores" in said


def test_a_depth_beyond_the_gallery_is_a_warning_once() -> None:
    service = PlainSearch({item: [1.0, row] for row, item in enumerate("abcdef")})
    result = ModelEvaluator(service).evaluate(ONE, [1, 10], {"q": [1.0, 0.0]})
    line = "k = 10 exceeds the gallery of 6 items: values at 10 are those of the full ranking"
    assert result.warnings.count(line) == 1
    assert line not in result.notes


def test_a_baseline_service_is_measured_under_the_same_tie_rule(tmp_path: Any) -> None:
    vectors = {"q": [1.0, 0.0]}
    service = PlainSearch({item: [1.0, 0.0] for item in "abcdef"})
    result = ModelEvaluator(service, ties="expected").evaluate(ONE, [1, 6], vectors)
    same = ModelEvaluator(service, ties="expected").evaluate(ONE, [1, 6], vectors, tmp_path / "r.json")
    assert compare_baselines(result, {"same": same})["same"].differences["HitRate@1"].difference == 0
    assert compare_baselines(result, {"r": tmp_path / "r.json"})["r"].differences["HitRate@1"].difference == 0


def test_the_convenience_function_takes_a_tie_rule(world: Any, tmp_path: Any) -> None:
    EvaluationDataset.from_dict(world.on_disk(tmp_path), folder=tmp_path).to_json(tmp_path / "eval.json")
    result = evaluate_model(world.full(), tmp_path / "eval.json", [1], ties="expected")
    assert result.record["ties"] == "expected"
