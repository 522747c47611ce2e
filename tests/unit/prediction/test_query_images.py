"""Search by images and words: the embedder that the index names makes the vectors."""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from visual_search.errors import (
    DimensionError,
    FingerprintError,
    InputError,
    UndecodableImageError,
)
from visual_search.indexing.embedders.contract import EmbedderDescription, describe
from visual_search.indexing.embedders.pixels import PixelEmbedder
from visual_search.indexing.index_table import VectorIndex
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


@pytest.fixture
def pictures(tmp_path: Path) -> list[Path]:
    paths = []
    for number, colour in enumerate(["red", "lime", "blue", "maroon", "navy"]):
        path = tmp_path / f"{colour}.png"
        image = Image.new("RGB", (16, 16), colour)
        image.putpixel((number, 0), (255, 255, 255))
        image.save(path)
        paths.append(path)
    return paths


@pytest.fixture
def over_pictures(pictures: list[Path]) -> NearestNeighborSearch:
    embedder = PixelEmbedder()
    index = VectorIndex(embedder=describe(embedder))
    vectors = NearestNeighborSearch(VectorIndex(), embedder).embed_images(pictures)
    index.add([path.name for path in pictures], vectors)
    return NearestNeighborSearch(index)


def test_search_by_image_makes_the_embedder_the_index_names(
    over_pictures: NearestNeighborSearch, pictures: list[Path]
) -> None:
    response = over_pictures.search_image(pictures[2], k=2)
    assert [result.image_id for result in response] == ["blue.png", "navy.png"]
    assert response.results[0].score == pytest.approx(1, abs=1e-6)
    assert response.query_id == str(pictures[2])
    same = over_pictures.search_image(pictures[2].read_bytes(), k=2, query_id="blue.png", exclude_self=True)
    assert same.results[0].image_id == "navy.png"
    assert over_pictures.search_image(pictures[0].read_bytes()).query_id == "image"
    assert over_pictures.embedder is over_pictures.embedder


def test_embedding_many_images_gives_one_vector_each_in_order(
    over_pictures: NearestNeighborSearch, pictures: list[Path]
) -> None:
    vectors = over_pictures.embed_images([str(path) for path in pictures] * 30)
    assert vectors.dtype == np.float32
    assert vectors.shape == (150, over_pictures.embedder.dimension)
    assert np.array_equal(vectors[:5], vectors[-5:])
    ranking = over_pictures.search_batch(vectors[:5], names(5), 1)
    assert [ranking.listed(name)[0][0] for name in names(5)] == [path.name for path in pictures]
    assert over_pictures.embed_images([]).shape == (0, over_pictures.embedder.dimension)


def test_images_that_cannot_be_embedded_are_all_named(
    over_pictures: NearestNeighborSearch, pictures: list[Path], tmp_path: Path
) -> None:
    text = tmp_path / "text.jpg"
    text.write_text("not an image")
    with pytest.raises(UndecodableImageError) as caught:
        over_pictures.embed_images([pictures[0], text, tmp_path / "absent.png", b"junk"])
    for part in ("3 problems", "text.jpg", "absent.png", "4 bytes given"):
        assert part in str(caught.value)


def test_an_index_that_does_not_say_what_made_it_needs_an_embedder() -> None:
    service = service_over(gaussian(3))
    with pytest.raises(InputError, match="does not say what made its vectors; give the embedder"):
        service.search_image(b"...")


def test_another_embedder_than_the_index_names_is_refused() -> None:
    embedder = PixelEmbedder()
    described = describe(embedder)
    right = VectorIndex(embedder=described)
    assert NearestNeighborSearch(right, embedder).embedder is embedder
    with pytest.raises(DimensionError, match=r"makes vectors of \d+, but the index has 8"):
        NearestNeighborSearch(VectorIndex(8), embedder)
    other = EmbedderDescription("onnx:net.onnx", described.dimension, "224 x 224", "sha256:00")
    with pytest.raises(FingerprintError) as caught:
        NearestNeighborSearch(VectorIndex(embedder=other), embedder)
    assert "2 problems" in str(caught.value)
    assert "weights_hash: None given, 'sha256:00' in the index" in str(caught.value)
    renamed = EmbedderDescription("histogram", described.dimension, described.preprocessing, None)
    with pytest.raises(FingerprintError, match="name: 'pixels"):
        NearestNeighborSearch(VectorIndex(embedder=renamed), embedder)


def test_an_index_of_other_weights_is_refused_when_the_embedder_is_made() -> None:
    described = describe(PixelEmbedder())
    stale = EmbedderDescription(described.name, described.dimension, "another preprocessing", None)
    index = VectorIndex(embedder=stale)
    service = NearestNeighborSearch(index)
    with pytest.raises(FingerprintError, match="another preprocessing"):
        service.embed_images([])


class WordEmbedder(PixelEmbedder):
    """Images as pixels; a colour's name as the image of that colour."""

    def embed_text(self, texts: list[str]) -> npt.NDArray[np.float32]:
        return self.embed(np.stack([self.prepare(Image.new("RGB", (16, 16), text)) for text in texts]))


def test_search_by_words_where_the_embedder_takes_them(over_pictures: NearestNeighborSearch) -> None:
    service = NearestNeighborSearch(over_pictures.index, WordEmbedder())
    response = service.search_text("lime", k=1)
    assert [result.image_id for result in response] == ["lime.png"]
    assert response.query_id == "lime"
    with pytest.raises(InputError, match=r"'pixels.*takes images only.*open_clip"):
        over_pictures.search_text("navy")


def test_the_embedder_is_made_once_by_many_threads(
    over_pictures: NearestNeighborSearch, monkeypatch: pytest.MonkeyPatch
) -> None:
    from visual_search.indexing.embedders import registry

    made: list[object] = []
    plain = registry.load_embedder

    def counted(*args: Any, **options: Any) -> Any:
        made.append(args)
        return plain(*args, **options)

    monkeypatch.setattr(registry, "load_embedder", counted)
    start = threading.Barrier(8)

    def ask(_: int) -> object:
        start.wait()
        return over_pictures.embedder

    with ThreadPoolExecutor(8) as pool:
        embedders = list(pool.map(ask, range(8)))
    assert len(made) == 1
    assert len(set(map(id, embedders))) == 1
