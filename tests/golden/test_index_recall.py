"""The simulation of a text on measuring recall: 800 points in eight clusters, four or two of them searched."""

import faiss
import numpy as np
import numpy.typing as npt
import pytest

from visual_search import evaluate, neighbor_recall, neighbor_recall_table
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.rankings.ranking import Ranking
from visual_search.testing.exact_answers import exact_by_brute_force

K = 10

# Recall@10 of each query as the text prints it.
PRINTED = {
    4: [1.0, 1.0, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.9, 0.9, 1.0, 1.0, 1.0, 1.0, 1.0, 0.9],
    2: [1.0, 0.9, 0.7, 1.0, 1.0, 0.8, 1.0, 0.9, 0.9, 0.9, 1.0, 1.0, 0.8, 0.9, 1.0, 0.8, 0.8, 1.0, 0.5, 0.9],
}
MEAN, FOUND, MINIMUM, MISSED = {4: 0.98, 2: 0.89}, {4: 196, 2: 178}, {4: 0.9, 2: 0.5}, {4: 0.2, 2: 1.1}

FloatArray = npt.NDArray[np.float64]


@pytest.fixture(scope="module")
def data() -> tuple[FloatArray, FloatArray, FloatArray]:
    """Centres, points and queries, as the text draws them."""
    rng = np.random.default_rng(7)
    centres = rng.standard_normal((8, 16)) * 3.0
    points = np.concatenate([centres[c] + 2.0 * rng.standard_normal((100, 16)) for c in range(8)])
    return centres, points, rng.standard_normal((20, 16)) * 3.0


@pytest.fixture(scope="module")
def truth(data: tuple[FloatArray, FloatArray, FloatArray]) -> ExactNeighbors:
    _, points, queries = data
    return exact_by_brute_force(points, queries, K)


@pytest.fixture(scope="module")
def index(data: tuple[FloatArray, FloatArray, FloatArray]) -> faiss.IndexIVFFlat:
    """An inverted file on the true centres, each point in its own cluster's list whatever centre is nearest."""
    centres, points, _ = data
    quantizer = faiss.IndexFlatL2(16)
    quantizer.add(centres.astype(np.float32))
    index = faiss.IndexIVFFlat(quantizer, 16, 8)
    vectors = np.ascontiguousarray(points, dtype=np.float32)
    rows, lists = np.arange(800, dtype=np.int64), np.repeat(np.arange(8, dtype=np.int64), 100)
    pointers = faiss.swig_ptr(vectors), faiss.swig_ptr(rows), faiss.swig_ptr(lists)
    faiss.IndexIVFFlat.add_core(index, 800, *pointers)
    return index


def searched(
    index: faiss.IndexIVFFlat, queries: FloatArray, probes: int
) -> tuple[FloatArray, npt.NDArray[np.int64]]:
    index.nprobe = probes
    found: tuple[FloatArray, npt.NDArray[np.int64]] = index.search(queries.astype(np.float32), K)
    return found


@pytest.mark.parametrize("probes", [4, 2])
def test_every_printed_value(
    probes: int,
    data: tuple[FloatArray, FloatArray, FloatArray],
    truth: ExactNeighbors,
    index: faiss.IndexIVFFlat,
) -> None:
    squares, found = searched(index, data[2], probes)
    for ties in ("exact", "strict", "ids"):
        assert neighbor_recall(found, truth, K, ties=ties).tolist() == PRINTED[probes]
    table = neighbor_recall_table(found, truth, K)
    assert table.recall.tolist() == PRINTED[probes]
    assert round(table.mean, 3) == MEAN[probes]
    assert 200 - int(table.missed.sum()) == FOUND[probes]
    assert table.minimum == MINIMUM[probes]
    assert table.mean_missed == pytest.approx(MISSED[probes])
    result = evaluate(Ranking.from_arrays(found, -np.sqrt(squares)), truth, preset="ann")
    assert result["NeighborRecall@10"].mean == pytest.approx(MEAN[probes])
    assert result["NeighborRecall(average=minimum)@10"].mean == MINIMUM[probes]
    assert result["LowNeighborRecall@10"].mean == np.mean(np.array(PRINTED[probes]) < 0.9)


def test_lists_of_the_nearest_centre_are_another_index(
    data: tuple[FloatArray, FloatArray, FloatArray], truth: ExactNeighbors
) -> None:
    """Some points are nearer to another cluster's centre; filed there, two lists find 177 of 200."""
    centres, points, queries = data
    quantizer = faiss.IndexFlatL2(16)
    quantizer.add(centres.astype(np.float32))
    index = faiss.IndexIVFFlat(quantizer, 16, 8)
    index.add(points.astype(np.float32))
    assert neighbor_recall(searched(index, queries, 2)[1], truth, K).mean() == pytest.approx(0.885)


def test_explicit_probing_gives_the_same(
    data: tuple[FloatArray, FloatArray, FloatArray], truth: ExactNeighbors
) -> None:
    centres, points, queries = data
    for probes, printed in PRINTED.items():
        lists = []
        for query in queries:
            chosen = np.sort(np.argsort(np.linalg.norm(centres - query, axis=1))[:probes])
            candidates = np.concatenate([np.arange(c * 100, (c + 1) * 100) for c in chosen])
            lists.append(candidates[np.argsort(np.linalg.norm(points[candidates] - query, axis=1))[:K]])
        assert neighbor_recall(lists, truth, K).tolist() == printed
