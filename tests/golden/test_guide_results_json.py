"""Keys, their order and their types in the evaluation guide's sample results JSON."""

import json
import re
from pathlib import Path
from typing import Any

from visual_search.evaluation.evaluator import ModelEvaluator
from visual_search.testing.plain_search import PlainSearch

SAMPLE: dict[str, Any] = json.loads("""
{
  "num_queries": 100,
  "k_values": [1, 5, 10, 20],
  "recall_at_1": 0.45,
  "recall_at_5": 0.72,
  "recall_at_10": 0.85,
  "recall_at_20": 0.93,
  "precision_at_1": 0.45,
  "precision_at_5": 0.28,
  "precision_at_10": 0.18,
  "precision_at_20": 0.12,
  "map": 0.52,
  "mrr": 0.61,
  "per_query_results": [
    {
      "query_id": "q001",
      "recall_at_k": {"1": 1.0, "5": 1.0, "10": 1.0},
      "precision_at_k": {"1": 1.0, "5": 0.6, "10": 0.3},
      "average_precision": 0.85,
      "reciprocal_rank": 1.0
    }
  ],
  "timestamp": "2024-01-15T10:30:00Z",
  "model_name": "clip-ViT-B-32"
}
""")


def written(tmp_path: Path) -> dict[str, Any]:
    service = PlainSearch({f"img_{n:03d}": [n, 30 - n] for n in range(30)})
    value = {
        "queries": [{"query_id": f"q{n:03d}", "ground_truth": ["img_001", f"img_{n:03d}"]} for n in range(2, 8)]
    }
    vectors = {f"q{n:03d}": [n + 0.25, 30 - n] for n in range(2, 8)}
    evaluator = ModelEvaluator(service, model_name="clip-ViT-B-32")
    evaluator.evaluate(value, [1, 5, 10, 20], vectors, tmp_path / "results.json")
    found: dict[str, Any] = json.loads((tmp_path / "results.json").read_text())
    return found


def test_the_samples_keys_come_first_and_in_its_order(tmp_path: Path) -> None:
    found = written(tmp_path)
    assert list(found)[: len(SAMPLE)] == list(SAMPLE)
    theirs, ours = SAMPLE["per_query_results"][0], found["per_query_results"][0]
    assert list(ours)[: len(theirs)] == list(theirs)


def test_values_have_the_samples_types(tmp_path: Path) -> None:
    found = written(tmp_path)
    for key, value in SAMPLE.items():
        assert type(found[key]) is type(value), key
    entry = found["per_query_results"][0]
    for key, value in SAMPLE["per_query_results"][0].items():
        assert type(entry[key]) is type(value), key
    assert all(type(k) is int for k in found["k_values"])
    for key in ("recall_at_k", "precision_at_k"):
        assert list(entry[key]) == ["1", "5", "10", "20"]
        assert all(type(value) is float for value in entry[key].values())
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", found["timestamp"])
    assert found["model_name"] == "clip-ViT-B-32"
