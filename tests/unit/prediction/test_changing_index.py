"""An index that changes or is loaded again under a search service."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from visual_search.errors import (
    DimensionError,
)
from visual_search.images.decoding import DecodingRules
from visual_search.images.ledger import Ledger, LedgerEntry
from visual_search.indexing.embedders.contract import describe
from visual_search.indexing.embedders.pixels import PixelEmbedder
from visual_search.indexing.index_table import VectorIndex
from visual_search.indexing.item_images import attach_images
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch

Array = npt.NDArray[np.float64]


def gaussian(count: int, dimension: int = 8, seed: int = 0) -> Array:
    return np.random.default_rng(seed).normal(size=(count, dimension))


def names(count: int) -> list[str]:
    return [f"img_{number:03d}" for number in range(count)]


def service_over(vectors: Array, **options: Any) -> NearestNeighborSearch:
    index = VectorIndex(**options)
    index.add(names(len(vectors)), vectors)
    return NearestNeighborSearch(index=index)


@pytest.mark.parametrize("engine", ["flat", "hnsw", "ivf"])
def test_many_threads_search_while_one_writes(engine: str) -> None:
    """Every answer is right for some moment: whole, in order, and of items that were there."""
    vectors = gaussian(600, 16)
    service = service_over(vectors[:300], engine=engine)
    index = service.index
    wrong: list[str] = []
    done = threading.Event()

    def read(seed: int) -> int:
        rounds = 0
        rng = np.random.default_rng(seed)
        while not done.is_set():
            line = int(rng.integers(100, 300))  # never removed
            response = service.search(vectors[line], f"img_{line:03d}", k=5)
            if len(response) != 5 or response.results[0].score < 0.5:
                wrong.append(f"{line}: {response}")
            ranking = service.search_batch(vectors[100:120], names(120)[100:], 5, exclude="self")
            if (ranking.lengths != 5).any() or any(
                item == name for name in ranking for item, _ in ranking.listed(name)
            ):
                wrong.append(f"batch: {ranking}")
            if engine == "flat" and response.results[0].image_id != f"img_{line:03d}":
                wrong.append(f"{line}: not found first")
            rounds += 1
        return rounds

    with ThreadPoolExecutor(4) as pool:
        readers = [pool.submit(read, seed) for seed in range(4)]
        try:
            for step in range(25):
                fresh = [f"new_{step}_{number}" for number in range(12)]
                index.add(fresh, vectors[300 + 12 * step : 312 + 12 * step])
                index.remove(fresh[:6] + [f"img_{4 * step + number:03d}" for number in range(4)])
                if step % 8 == 7:
                    index.compact()
        finally:
            done.set()
        assert all(reader.result() > 0 for reader in readers)
    assert not wrong, wrong[:3]
    assert len(index) == 300 + 25 * (12 - 6 - 4)


def saved(path: Path, side: int, root: str) -> Path:
    embedder = PixelEmbedder(side=side)
    index = VectorIndex(embedder=describe(embedder))
    index.add(["a"], np.ones((1, embedder.dimension)))
    entry = LedgerEntry("a", f"{root}/a.png", None, "used", format="PNG", mode="RGB", width=1, height=1)
    attach_images(index, Ledger([entry]), DecodingRules())
    index.save(path)
    return path


def test_a_load_brings_its_own_embedder_and_images(tmp_path: Path) -> None:
    index = VectorIndex()
    index.load(saved(tmp_path / "one", 1, "/first"))
    service = NearestNeighborSearch(index)
    assert service.embedder.dimension == 3
    assert service.embedder is service.embedder
    assert (service.item_places() or {})["root"] == "/first"
    assert service.item_images is service.item_images
    index.load(saved(tmp_path / "two", 2, "/second"))
    assert service.embedder.dimension == 12
    assert (service.item_places() or {})["root"] == "/second"


def test_an_embedder_that_was_given_must_fit_what_is_loaded_later(tmp_path: Path) -> None:
    index = VectorIndex()
    index.load(saved(tmp_path / "one", 1, "/first"))
    service = NearestNeighborSearch(index, PixelEmbedder(side=1))
    assert service.embedder.dimension == 3
    index.load(saved(tmp_path / "two", 2, "/second"))
    with pytest.raises(DimensionError, match="12"):
        _ = service.embedder


def test_a_load_of_another_dimension_between_searches_is_named(tmp_path: Path) -> None:
    paths = [saved(tmp_path / "one", 1, "/first"), saved(tmp_path / "two", 2, "/second")]
    index = VectorIndex.open(paths[0])
    service = NearestNeighborSearch(index)
    done = threading.Event()

    searches: list[Callable[[], Any]] = [
        partial(service.search_batch, [[1, 1, 1]], ["q"]),
        partial(index.search, [[1, 1, 1]], 1),
    ]

    def search() -> set[type[Exception]]:
        raised: set[type[Exception]] = set()
        while not done.is_set():
            for ask in searches:
                try:
                    ask()
                except Exception as error:  # noqa: BLE001 - whatever it is, its class is the result
                    raised.add(type(error))
        return raised

    with ThreadPoolExecutor(2) as pool:
        asked = [pool.submit(search) for _ in range(2)]
        for turn in range(60):
            index.load(paths[turn % 2])
        done.set()
    assert set().union(*(one.result() for one in asked)) == {DimensionError}
