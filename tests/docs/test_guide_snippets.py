"""Every snippet of the evaluation guide runs as it stands there, but for its paths and the elided ``[...]``."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from visual_search.evaluation.evaluator import EvaluationDataset, ModelEvaluator, create_pseudo_ground_truth
from visual_search.indexing.embedders.contract import describe
from visual_search.indexing.embedders.registry import create_embedder
from visual_search.indexing.index_table import VectorIndex
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch

DATASET = """
{
  "queries": [
    {
      "query_id": "q001",
      "image_path": "data/queries/query_001.jpg",
      "ground_truth": ["img_001", "img_002", "img_003"]
    },
    {
      "query_id": "q002",
      "image_path": "data/queries/query_002.jpg",
      "ground_truth": ["img_010", "img_011"]
    }
  ]
}
"""

BASIC_USAGE = """
from visual_search.evaluation.evaluator import ModelEvaluator, EvaluationDataset

# Load dataset
dataset = EvaluationDataset.from_json("evaluation_data.json")

# Create evaluator
evaluator = ModelEvaluator(search_service=search_service)

# Run evaluation
result = evaluator.evaluate(
    dataset=dataset,
    k_values=[1, 5, 10, 20],
    output_path="results.json",
)

# Print summary
print(result.summary())
"""

PRECOMPUTED = """
import numpy as np

# Precomputed query embeddings
precomputed = {
    "q001": np.array([...]),  # 512-dim vector
    "q002": np.array([...]),
}

result = evaluator.evaluate(
    dataset=dataset,
    k_values=[1, 5, 10],
    precomputed_embeddings=precomputed,
)
"""

CONVENIENCE = """
from visual_search.evaluation.evaluator import evaluate_model

result = evaluate_model(
    search_service=search_service,
    dataset_path="evaluation_data.json",
    k_values=[1, 5, 10],
    output_path="results.json",
)
"""

PSEUDO = """
# Use high-confidence retrievals as pseudo ground truth
def create_pseudo_ground_truth(search_service, query_images, threshold=0.8):
    dataset = {"queries": []}
    
    for query_id, query_vec in query_images.items():
        results = search_service.search(query_vec, query_id, k=100)
        
        # Filter by similarity threshold
        relevant = [r.image_id for r in results.results if r.score >= threshold]
        
        dataset["queries"].append({
            "query_id": query_id,
            "ground_truth": relevant,
        })
    
    return dataset
"""  # noqa: W293 - as it stands there

CROSS_VALIDATION = """
from sklearn.model_selection import KFold

kfold = KFold(n_splits=5, shuffle=True)

for train_idx, test_idx in kfold.split(dataset.queries):
    # Evaluate on test fold
    ...
"""

SCRIPT = '''#!/usr/bin/env python
"""Evaluate visual search model."""

import argparse
from visual_search.evaluation.evaluator import evaluate_model
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch
from visual_search.indexing.index_table import VectorIndex

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--index", required=True, help="Path to FAISS index")
    parser.add_argument("--dataset", required=True, help="Evaluation dataset JSON")
    parser.add_argument("--output", required=True, help="Output path for results")
    parser.add_argument("--k", nargs="+", type=int, default=[1, 5, 10, 20])
    args = parser.parse_args()

    # Load index
    index = VectorIndex(dimension=512)
    index.load(args.index)

    # Create search service
    search_service = NearestNeighborSearch(index=index)

    # Run evaluation
    result = evaluate_model(
        search_service=search_service,
        dataset_path=args.dataset,
        k_values=args.k,
        output_path=args.output,
    )

    print(result.summary())

if __name__ == "__main__":
    main()
'''

RUN = "python evaluate.py --index data/index --dataset eval.json --output results.json"


def picture(seed: int, hue: int) -> Image.Image:
    """Noise around one hue, so that a colour histogram tells pictures of different hues apart."""
    random = np.random.default_rng(seed)
    pixels = np.stack(
        [(hue + random.integers(-8, 9, (24, 24))) % 256, *random.integers(150, 256, (2, 24, 24))], axis=2
    )
    return Image.fromarray(pixels.astype(np.uint8), "HSV").convert("RGB")


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder as the guide has it: query images, the dataset under both its names, and a saved index."""
    hues = {f"img_{n:03d}": 40 if n < 10 else 150 for n in range(1, 25)}
    embedder = create_embedder("histogram")
    assert embedder.dimension == 512
    index = VectorIndex(embedder=describe(embedder))
    stack = np.stack([embedder.prepare(picture(row, hue)) for row, hue in enumerate(hues.values())])
    index.add(list(hues), embedder.embed(stack))
    (tmp_path / "data" / "queries").mkdir(parents=True)
    index.save(tmp_path / "data" / "index")
    for name, hue in {"query_001": 40, "query_002": 150}.items():
        picture(99, hue).save(tmp_path / "data" / "queries" / f"{name}.jpg")
    for name in ("evaluation_data.json", "eval.json"):
        (tmp_path / name).write_text(DATASET)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def service(place: Path) -> NearestNeighborSearch:
    index = VectorIndex(dimension=512)
    index.load(place / "data" / "index")
    return NearestNeighborSearch(index=index)


def run(code: str, **names: Any) -> dict[str, Any]:
    exec(compile(code, "the evaluation guide", "exec"), names)
    return names


def test_basic_usage(place: Path, service: NearestNeighborSearch, capsys: pytest.CaptureFixture[str]) -> None:
    names = run(BASIC_USAGE, search_service=service)
    stored = json.loads((place / "results.json").read_text())
    assert stored["num_queries"] == 2
    assert stored["model_name"] == "histogram"
    assert stored["recall_at_20"] == names["result"].recall_at_k[20]
    assert stored["recall_at_20"] > stored["random_baseline"]["Recall(denominator=all)@20"] / 2
    assert stored["mrr"] > 0
    assert "Recall@20" in capsys.readouterr().out


def test_with_precomputed_embeddings(service: NearestNeighborSearch) -> None:
    names = run(BASIC_USAGE, search_service=service)
    vectors = service.embed_images(["data/queries/query_001.jpg", "data/queries/query_002.jpg"])
    code = re.sub(r"np\.array\(\[\.\.\.\]\)", "np.array(next(given))", PRECOMPUTED)
    assert code.count("next(given)") == 2
    found = run(code, **names, given=iter(vectors))["result"]
    assert found.k_values == [1, 5, 10]
    assert [found.recall_at_k[k] for k in (1, 5, 10)] == [names["result"].recall_at_k[k] for k in (1, 5, 10)]


def test_the_convenience_function(place: Path, service: NearestNeighborSearch) -> None:
    names = run(CONVENIENCE, search_service=service)
    by_steps = run(BASIC_USAGE.replace("[1, 5, 10, 20]", "[1, 5, 10]"), search_service=service)
    ours, theirs = names["result"].record, by_steps["result"].record
    assert ours | {"timestamp": None} == theirs | {"timestamp": None}
    assert json.loads((place / "results.json").read_text())["k_values"] == [1, 5, 10]


def test_pseudo_ground_truth_is_that_of_the_guides_own_function(service: NearestNeighborSearch) -> None:
    vectors = service.embed_images(["data/queries/query_001.jpg", "data/queries/query_002.jpg"])
    query_images = dict(zip(["q001", "q002"], vectors, strict=True))
    theirs = run(PSEUDO)["create_pseudo_ground_truth"](service, query_images, threshold=0.5)
    ours = create_pseudo_ground_truth(service, query_images, threshold=0.5)
    assert ours["queries"] == theirs["queries"]
    assert any(query["ground_truth"] for query in theirs["queries"])
    for value in (theirs, ours):
        result = ModelEvaluator(service).evaluate(EvaluationDataset.from_dict(value), [1, 100], query_images)
        assert result.recall_at_k[100] == 1.0


def test_cross_validation(service: NearestNeighborSearch) -> None:
    queries = [{"query_id": f"q{n}", "ground_truth": [f"img_{n + 1:03d}"]} for n in range(20)]
    dataset = EvaluationDataset.from_dict({"queries": queries})
    vectors = {f"q{n}": service.index.vector(f"img_{n + 1:03d}") for n in range(20)}
    code = CROSS_VALIDATION.replace("    ...\n", "    scores.append(evaluate(dataset.subset(test_idx)))\n")
    assert "scores.append" in code

    def evaluate(fold: EvaluationDataset) -> float:
        return ModelEvaluator(service).evaluate(fold, [1], vectors).mrr

    scores: list[float] = []
    run(code, dataset=dataset, scores=scores, evaluate=evaluate)
    assert scores == [1.0] * 5


@pytest.mark.parametrize("script", ["guide", "example"])
def test_the_script_runs_from_the_command_line(place: Path, script: str) -> None:
    example = Path(__file__).parents[2] / "examples" / "evaluate.py"
    (place / "evaluate.py").write_text(SCRIPT if script == "guide" else example.read_text("utf-8"))
    command = [sys.executable, *RUN.split()[1:]]
    done = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False, timeout=300)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("histogram: 2 queries against 24 items")
    assert json.loads((place / "results.json").read_text())["k_values"] == [1, 5, 10, 20]


def test_the_example_is_the_guides_script() -> None:
    """The same statements; only the order of imports, an annotation and a docstring are ours."""

    def statements(text: str) -> list[str]:
        lines = [line.strip() for line in text.replace("def main() -> None:", "def main():").splitlines()]
        return sorted(line for line in lines if line and not line.startswith('"""Load an index'))

    example = Path(__file__).parents[2] / "examples" / "evaluate.py"
    assert statements(example.read_text("utf-8")) == statements(SCRIPT)
