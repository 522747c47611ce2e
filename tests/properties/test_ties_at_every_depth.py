"""Exhaustive search of vectors with many ties is the whole order cut at k, for every k, metric and batch size."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from visual_search.indexing.engines.contract import Engine
from visual_search.indexing.engines.registry import create_engine

Vectors = npt.NDArray[np.float32]


def whole_order(metric: str, queries: Vectors, vectors: Vectors) -> npt.NDArray[np.int64]:
    wide, stored = queries.astype(np.float64), vectors.astype(np.float64)
    scores = wide @ stored.T if metric != "l2" else -np.square(wide[:, None] - stored[None]).sum(axis=2)
    return np.argsort(-scores, axis=1, kind="stable")


def filled(name: str, metric: str, vectors: Vectors, **chosen: int) -> Engine:
    engine = create_engine(name, vectors.shape[1], metric, chosen)  # type: ignore[arg-type]
    if engine.needs_training:
        engine.train(vectors)
    engine.add(np.arange(len(vectors)), vectors)
    return engine


def of_integers(rng: np.random.Generator, count: int, dimension: int, metric: str) -> Vectors:
    if metric == "cosine":  # unit vectors whose products are exact: the axes
        return np.eye(dimension, dtype=np.float32)[rng.integers(0, dimension, count)]
    return rng.integers(-1, 2, (count, dimension)).astype(np.float32)


@pytest.mark.parametrize("metric", ["cosine", "ip", "l2"])
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(1, 60), dimension=st.integers(1, 4))
@settings(max_examples=25, deadline=None)
def test_every_depth_is_a_beginning_of_the_whole_order(metric: str, seed: int, count: int, dimension: int) -> None:
    rng = np.random.default_rng(seed)
    vectors, queries = (of_integers(rng, size, dimension, metric) for size in (count, 5))
    engine, expected = filled("flat", metric, vectors), whole_order(metric, queries, vectors)
    for k in range(1, count + 1):
        assert engine.search(queries, k)[0].tolist() == expected[:, :k].tolist(), k


@pytest.mark.parametrize("metric", ["cosine", "ip", "l2"])
@pytest.mark.parametrize("k", [1, 2, 99, 150, 999])
def test_large_batches_are_in_that_order_too(metric: str, k: int) -> None:
    rng = np.random.default_rng(3)
    vectors, queries = (of_integers(rng, size, 256, metric) for size in (1000, 600))  # a matrix product in FAISS
    vectors[300:700] = vectors[0]
    found = filled("flat", metric, vectors).search(queries, k)[0]
    assert (found == whole_order(metric, queries, vectors)[:, :k]).all()


@pytest.mark.parametrize("k", [1, 3, 40, 77])
def test_inverted_lists_that_are_all_looked_into_give_that_order(k: int) -> None:
    rng = np.random.default_rng(4)
    vectors, queries = (of_integers(rng, size, 3, "l2") for size in (200, 7))
    found = filled("ivf", "l2", vectors, nlist=3, nprobe=3).search(queries, k)[0]
    assert found.tolist() == whole_order("l2", queries, vectors)[:, :k].tolist()


@pytest.mark.parametrize("k", [1, 3, 9, 19])
def test_a_graph_orders_ties_across_the_cut_within_one_walk(k: int) -> None:
    vectors = np.array([[1]] * 19 + [[2]], dtype=np.float32)
    found = filled("hnsw", "ip", vectors).search(np.ones((1, 1), dtype=np.float32), k)[0]
    assert found.tolist() == [[19, *range(k - 1)]]
