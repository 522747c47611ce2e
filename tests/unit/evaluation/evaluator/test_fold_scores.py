from typing import Any

import numpy as np
import pytest

from visual_search.evaluation.evaluator import EvaluationDataset, ModelEvaluator


def test_each_fold_has_the_number_that_its_queries_alone_give(world: Any) -> None:
    dataset = EvaluationDataset.from_dict(world.dataset)
    evaluator = ModelEvaluator(world.plain(), measures=["Recall(average=micro)@2"])
    result = evaluator.evaluate(dataset, [1, 3], world.vectors)
    scores = result.over_folds(n_splits=3, seed=5)
    for number, fold in enumerate(dataset.folds(3, 5)):
        alone = evaluator.evaluate(dataset.subset(fold.test), [1, 3], world.vectors)
        for text, found in alone.measures.items():
            assert scores.scores[text][number] == pytest.approx(found.mean)
    assert scores.sizes == (4, 4, 4)
    assert scores.seed == 5


def test_mean_and_spread_are_over_folds_that_have_a_number(world: Any) -> None:
    queries = [{"query_id": query["query_id"], "ground_truth": []} for query in world.dataset["queries"][:4]]
    queries += world.dataset["queries"][4:8]
    # One query that asks for another colour than its own, so that the folds differ.
    queries[5] = queries[5] | {
        "ground_truth": ["green_0.jpg" if "red_0.jpg" in queries[5]["ground_truth"] else "red_0.jpg"]
    }
    dataset = EvaluationDataset.from_dict({"queries": queries})
    result = ModelEvaluator(world.plain()).evaluate(dataset, [1], world.vectors)
    scores = result.over_folds(n_splits=8)
    values = scores.scores["RR@1"]
    assert int(np.isnan(values).sum()) == 4
    assert scores.mean("RR@1") == pytest.approx(np.nanmean(values))
    assert 0 < scores.mean("RR@1") < 1
    assert scores.spread("RR@1") == pytest.approx(np.nanstd(values, ddof=1))
    as_json = scores.as_json()
    assert as_json["measures"]["RR@1"]["folds"].count(None) == 4
    header, *rows = scores.summary().splitlines()
    assert header.split()[:2] == ["mean", "spread"]
    assert rows[0].startswith("Recall@1")
