"""Exhaustive distances that survive cancellation, where FAISS's own do not."""

import faiss
import numpy as np
import numpy.typing as npt
import pytest

from visual_search.indexing.engines.flat import FlatEngine
from visual_search.indexing.engines.flat_distances import nearest_by_distance, squared_norms, stored_vectors

Vectors = npt.NDArray[np.float32]

# Enough queries x dimension for FAISS to take its matrix product.
MANY = 3000


def truth(queries: Vectors, gallery: Vectors) -> npt.NDArray[np.float64]:
    wide = gallery.astype(np.float64)
    return np.array([np.square(query.astype(np.float64) - wide).sum(axis=1) for query in queries])


def shifted(offset: float, dimension: int = 64) -> tuple[Vectors, Vectors]:
    rng = np.random.default_rng(0)
    gallery = (rng.normal(size=(800, dimension)) + offset).astype(np.float32)
    queries = (rng.normal(size=(MANY, dimension)) + offset).astype(np.float32)
    return gallery, queries


def share_found(positions: npt.NDArray[np.int64], squared: npt.NDArray[np.float64], k: int) -> float:
    least = np.partition(squared, k - 1, axis=1)[:, k - 1 : k]
    found = np.take_along_axis(squared, positions, axis=1)
    return float((found <= least * (1 + 1e-4)).mean())


def test_faiss_alone_loses_the_neighbours_of_shifted_data() -> None:
    gallery, queries = shifted(1000)
    plain = faiss.IndexFlatL2(64)
    plain.add(gallery)
    squared = truth(queries[:100], gallery)
    assert share_found(plain.search(queries, 10)[1][:100], squared, 10) < 0.7


@pytest.mark.parametrize("offset", [0, 1, 10, 100, 1000, 10_000])
def test_shifted_data_keep_their_neighbours(offset: float) -> None:
    gallery, queries = shifted(offset)
    engine = FlatEngine(dimension=64, metric="l2")
    engine.add(np.arange(800), gallery)
    rows, scores = engine.search(queries, 10)
    squared = truth(queries[:100], gallery)
    assert share_found(rows[:100], squared, 10) == 1
    expected = -np.sqrt(np.take_along_axis(squared, rows[:100], axis=1))
    assert np.allclose(scores[:100], expected, rtol=1e-4)


def test_near_duplicates_of_unit_length_keep_their_distances() -> None:
    rng = np.random.default_rng(1)
    centre = rng.normal(size=256)
    gallery = centre + 1e-3 * rng.normal(size=(500, 256))
    gallery = (gallery / np.linalg.norm(gallery, axis=1, keepdims=True)).astype(np.float32)
    engine = FlatEngine(dimension=256, metric="l2")
    engine.add(np.arange(500), gallery)
    rows, scores = engine.search(np.tile(gallery, (2, 1)), 10)
    assert np.array_equal(rows[:, 0], np.tile(np.arange(500), 2)), "each is nearest to itself"
    assert (scores[:, 0] == 0).all()
    squared = truth(gallery[:100], gallery)
    assert share_found(rows[:100], squared, 10) == 1
    expected = -np.sqrt(np.take_along_axis(squared, rows[:100], axis=1))
    assert np.allclose(scores[:100], expected, rtol=1e-4)


def test_ordinary_data_are_searched_once(monkeypatch: pytest.MonkeyPatch) -> None:
    gallery, queries = shifted(0)
    index = faiss.IndexFlatL2(64)
    index.add(gallery)
    calls = []
    # Where faiss.contrib.torch_utils was imported into this process, all searches end here.
    name = "search_numpy" if hasattr(faiss.IndexFlatL2, "search_numpy") else "search"
    plain = getattr(faiss.IndexFlatL2, name)

    def counted(self: faiss.IndexFlatL2, *args: object, **options: object) -> object:
        calls.append(len(args[0]))  # type: ignore[arg-type]
        return plain(self, *args, **options)

    monkeypatch.setattr(faiss.IndexFlatL2, name, counted)
    nearest_by_distance(index, float(squared_norms(gallery).max()), queries, 10)
    assert calls == [MANY]
    # Only the queries in need are searched again: here those beside a cluster of near-duplicates.
    close = (gallery[:1] + 1e-5 * np.random.default_rng(2).normal(size=(50, 64))).astype(np.float32)
    index.add(close)
    calls.clear()
    mixed = np.vstack([queries, close[:7]])
    nearest_by_distance(index, float(squared_norms(gallery).max()), mixed, 10)
    assert calls == [MANY + 7, 7]


def test_the_bound_covers_the_error_of_the_product() -> None:
    # The margin in the rule must stay above what FAISS's product really errs, for data of one sign too.
    rng = np.random.default_rng(3)
    for dimension in (16, 128, 768):
        gallery = np.abs(rng.normal(size=(500, dimension))).astype(np.float32) * 30
        queries = np.abs(rng.normal(size=(-(-200_000 // dimension), dimension))).astype(np.float32) * 30
        index = faiss.IndexFlatL2(dimension)
        index.add(gallery)
        values, positions = index.search(queries, 500)
        exact = np.take_along_axis(truth(queries[:50], gallery), positions[:50], axis=1)
        error = np.abs(values[:50] - exact).max()
        bound = (
            4 * np.sqrt(dimension) * 2.0**-24 * (squared_norms(queries[:50]).max() + squared_norms(gallery).max())
        )
        assert error < bound / 2


def test_stored_vectors_are_a_view() -> None:
    index = faiss.IndexFlatL2(3)
    assert stored_vectors(index).shape == (0, 3)
    index.add(np.eye(3, dtype=np.float32))
    assert np.array_equal(stored_vectors(index), np.eye(3))
    assert stored_vectors(index).base is not None
