"""Evaluation of a service and ``evaluate(preset="guide")`` on its ranking are one convention."""

from typing import Any

import pytest

from visual_search.evaluation.evaluator import EvaluationDataset, ModelEvaluator
from visual_search.evaluation.scoring import evaluate


def test_a_service_and_its_ranking_under_the_preset_give_the_same_numbers(world: Any) -> None:
    queries = [*world.dataset["queries"], {"query_id": "empty", "ground_truth": []}]
    dataset = EvaluationDataset.from_dict({"queries": queries})
    vectors = world.vectors | {"empty": [1, 0, 0]}
    result = ModelEvaluator(world.plain()).evaluate(dataset, [1, 5, 10, 20], vectors)
    other = evaluate(result.ranking, dataset.relevance(), preset="guide")
    assert (result.measures.preset, result.measures.ties) == (other.preset, other.ties) == ("guide", "listed")
    shared = [text for text in other if text in result.measures]
    assert len(shared) == len(result.measures) - 1
    for text in shared:
        assert result.measures[text].mean == pytest.approx(other[text].mean)
        assert result.measures[text].undefined_queries == other[text].undefined_queries == ("empty",)
    # The service's lists end at the largest k, so the preset's reciprocal rank of the whole list is the same too.
    assert result.mrr == other["RR"].mean
