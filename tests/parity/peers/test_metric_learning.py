"""pytorch-metric-learning's AccuracyCalculator, under the preset of metric learning."""

from typing import Any

import faiss
import numpy as np
import pytest
import torch
from pytorch_metric_learning.utils.accuracy_calculator import AccuracyCalculator

from visual_search import Ranking, Relevance, evaluate, evaluate_similarity
from visual_search.errors import InputError
from visual_search.evaluation.slices import slices
from visual_search.indexing.index_table import VectorIndex

# Its name -> the text form that computes the same. Its reciprocal ranks are float32, all else float64.
SHARED = {
    "precision_at_1": "Precision@1",
    "r_precision": "RPrecision",
    "mean_average_precision_at_r": "AP(denominator=all)@R",
    "mean_average_precision": "AP(denominator=all)",
    "mean_reciprocal_rank": "RR",
}


def theirs(*arrays: Any, k: Any = None, **options: Any) -> dict[str, float]:
    calculator = AccuracyCalculator(include=tuple(SHARED), k=k, device=torch.device("cpu"))
    found: dict[str, float] = calculator.get_accuracy(*arrays, **options)
    return found


def vectors(seed: int, count: int) -> Any:
    return np.random.default_rng(seed).normal(size=(count, 6)).astype(np.float32)


@pytest.mark.parametrize("seed", range(8))
def test_every_image_a_query_against_all_others(seed: int) -> None:
    points = vectors(seed, 40)
    # The last class has one member, so that its query has nothing to find.
    labels = np.append(np.random.default_rng(seed).integers(0, 5, 39), 99)
    wanted = theirs(points, labels)
    relevance = Relevance.from_labels(labels, query_ids=range(40))
    result = evaluate_similarity(points, points, relevance, SHARED.values(), metric="l2", preset="metric-learning")
    for name, text in SHARED.items():
        assert result[text].mean == pytest.approx(
            wanted[name], abs=1e-6 if name == "mean_reciprocal_rank" else 1e-12
        )
        assert 39 in result[text].undefined_queries


@pytest.mark.parametrize("seed", range(8))
def test_queries_against_a_gallery_of_its_own(seed: int) -> None:
    queries, gallery = vectors(seed, 15), vectors(seed + 100, 50)
    rng = np.random.default_rng(seed)
    mine, others = rng.integers(0, 6, 15), rng.integers(0, 5, 50)
    wanted = theirs(queries, mine, gallery, others)
    relevance = Relevance.from_labels(mine, others)
    result = evaluate_similarity(
        queries, gallery, relevance, SHARED.values(), metric="l2", preset="metric-learning"
    )
    for name, text in SHARED.items():
        assert result[text].mean == pytest.approx(
            wanted[name], abs=1e-6 if name == "mean_reciprocal_rank" else 1e-12
        )


def test_a_depth_below_the_largest_class_makes_its_map_at_r_wrong() -> None:
    # It warns in its log, and gives a number: relevant items beyond k are taken for not found.
    points, labels = vectors(1, 40), np.arange(40) % 4
    shallow, deep = theirs(points, labels, k=3), theirs(points, labels, k="max_bin_count")
    name = "mean_average_precision_at_r"
    assert shallow[name] < deep[name]
    relevance = Relevance.from_labels(labels, query_ids=range(40))
    text = SHARED[name]
    result = evaluate_similarity(points, points, relevance, [text], metric="l2")
    assert result[text].mean == pytest.approx(deep[name], abs=1e-12)


def test_labels_beyond_two_to_24_collide_there_and_stay_apart_here() -> None:
    # Labels are cast to float32 there, where 2^24 + 1 is 2^24.
    labels = np.array([2**24, 2**24, 2**24 + 1, 2**24 + 1])
    points = np.array([[0, 0], [0, 3], [0, 1], [0, 5]], dtype=np.float32)
    assert theirs(points, labels)["precision_at_1"] == 1
    assert theirs(points, labels - 2**24)["precision_at_1"] == 0
    relevance = Relevance.from_labels(labels, query_ids=range(4))
    assert evaluate_similarity(points, points, relevance, ["Precision@1"], metric="l2")["Precision@1"].mean == 0


def test_a_query_is_taken_out_by_id_here_and_by_its_row_there_at_any_rank() -> None:
    # Two images are copies of each other. There k + 1 are searched for and the own row is taken out, or, where copies
    # pushed it beyond the list, the last of the list.
    points = np.array([[0, 0], [0, 0], [0, 1], [5, 5]], dtype=np.float32)
    labels = np.array([0, 1, 1, 0])
    relevance = Relevance.from_labels(labels, query_ids=range(4))
    similarity = -((points[:, None] - points) ** 2).sum(axis=2)
    ranking = Ranking.from_similarity(similarity, query_ids=range(4), gallery_ids=range(4))
    found = evaluate(ranking, relevance, ["Precision@1"])["Precision@1"].values.tolist()
    # Query 0 sees its copy of another class first; query 1 likewise; query 2 finds two level, one of them right.
    assert found == [0, 0, 0.5, 0]
    # The whole-number tie at query 2 is broken by row there.
    assert theirs(points, labels)["precision_at_1"] == 0


def test_where_no_query_has_anything_to_find_there_is_no_number_on_either_side() -> None:
    points, labels = vectors(3, 6), np.arange(6)
    assert all(np.isnan(value) for value in theirs(points, labels).values())
    relevance = Relevance.from_labels(labels, query_ids=range(6))
    result = evaluate_similarity(points, points, relevance, ["AP@R"], metric="l2")
    assert np.isnan(result["AP@R"].mean)
    assert result["AP@R"].undefined == 6


def test_a_mean_over_classes_is_a_slice_here() -> None:
    points, labels = vectors(4, 30), np.arange(30) % 3
    labels[:9] = 0  # classes of unlike sizes, so that the two means differ
    calculator = AccuracyCalculator(include=("precision_at_1",), avg_of_avgs=True, device=torch.device("cpu"))
    wanted = calculator.get_accuracy(points, labels)["precision_at_1"]
    relevance = Relevance.from_labels(labels, query_ids=range(30))
    result = evaluate_similarity(points, points, relevance, ["Precision@1"], metric="l2")
    by_class = slices(result, labels.tolist())
    assert by_class.macro_mean("Precision@1") == pytest.approx(wanted, abs=1e-12)
    assert result["Precision@1"].mean != pytest.approx(wanted)


def test_only_reciprocal_ranks_asked_for_crashes_there() -> None:
    calculator = AccuracyCalculator(include=("mean_reciprocal_rank",), device=torch.device("cpu"))
    with pytest.raises(TypeError, match="missing 3 required positional arguments"):
        calculator.get_accuracy(vectors(5, 6), np.arange(6) % 2)
    with pytest.raises(InputError):
        evaluate_similarity(vectors(5, 6), vectors(6, 6), Relevance.from_labels([0] * 6, [0] * 6), [])


@pytest.mark.parametrize(
    ("engine", "settings"),
    [("flat", {}), ("hnsw", {"ef_search": 256}), ("ivf", {"nlist": 4, "nprobe": 4})],
)
def test_its_search_in_place_of_faiss_s_own_leaves_our_engines_as_they_were(engine: str, settings: Any) -> None:
    # Importing it puts a search that knows no parameters into every FAISS class of the process.
    assert hasattr(faiss.IndexFlat, "search_numpy")
    points = np.random.default_rng(7).normal(size=(200, 8)).astype(np.float32)
    index = VectorIndex(metric="l2", engine=engine, **settings)
    if engine == "ivf":
        index.train(points)
    index.add(range(200), points)
    index.remove([199])
    ranking = index.search(points[:20], 5)
    wanted = np.argsort(((points[:20, None] - points[:199]) ** 2).sum(axis=2), axis=1)[:, :5]
    found = [ranking.items.take(ranking.rows[place : place + 5].tolist()) for place in range(0, 100, 5)]
    assert [list(line) for line in found] == wanted.tolist()
