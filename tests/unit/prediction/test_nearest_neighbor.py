"""The search service: lists, exclusions, near-duplicates, images, words, threads."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from PIL import Image

from visual_search.errors import (
    DimensionError,
    DuplicateIdError,
    FingerprintError,
    InputError,
    NonFiniteError,
    UndecodableImageError,
    UnknownIdError,
    ZeroVectorError,
)
from visual_search.images.decoding import DecodingRules
from visual_search.images.ledger import Ledger, LedgerEntry
from visual_search.indexing.embedders.contract import EmbedderDescription, describe
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


# One query


def test_results_have_id_score_rank_and_distance() -> None:
    service = service_over(np.array([[3.0, 4.0], [0.0, 1.0]]), metric="l2")
    response = service.search([0, 0], "q", k=2)
    assert response.query_id == "q"
    assert [tuple(result) for result in response] == [("img_001", -1.0, 1, 1.0), ("img_000", -5.0, 2, 5.0)]
    assert service_over(gaussian(3)).search(gaussian(1)[0], "q").results[0].distance is None


def test_a_response_cannot_be_changed() -> None:
    response = service_over(gaussian(3)).search(gaussian(1)[0], "q")
    with pytest.raises(AttributeError):
        response.hidden = 3  # type: ignore[misc]
    with pytest.raises(AttributeError):
        response.results[0].score = 1.0  # type: ignore[misc]


def test_more_than_there_is_gives_what_there_is_and_says_so() -> None:
    service = service_over(gaussian(7))
    response = service.search(gaussian(1)[0], "q", k=100)
    assert len(response) == 7
    assert response.k_requested == 100
    assert response.shortfall == "100 results asked for, 7 found"
    assert service.search(gaussian(1)[0], "q", k=7).shortfall is None
    assert len(NearestNeighborSearch(VectorIndex(8)).search(gaussian(1)[0], "q")) == 0
    assert len(NearestNeighborSearch(VectorIndex()).search(gaussian(1)[0], "q")) == 0


@pytest.mark.parametrize("k", [0, -3, 2.5, "10", True, None])
def test_a_k_that_cannot_be(k: Any) -> None:
    service = service_over(gaussian(7))
    with pytest.raises(InputError, match=r"k: got .*at least 1"):
        service.search(gaussian(1)[0], "q", k=k)
    with pytest.raises(InputError, match=r"k: got .*at least 1"):
        service.search_batch(gaussian(1), ["q"], k)


@pytest.mark.parametrize(
    ("vector", "error", "message"),
    [
        (np.ones(9), DimensionError, r"dimension 9 came"),
        (np.ones((2, 8)), InputError, r"shape \(2, 8\).*search_batch"),
        ([np.nan] * 8, NonFiniteError, r"'q7'"),
        (np.zeros(8), ZeroVectorError, r"'q7'"),
        ([[1.0], [1.0, 2.0]], DimensionError, r"different lengths"),
        (3.0, DimensionError, r"shape \(\)"),
        (["a"] * 8, InputError, r"dtype"),
    ],
)
def test_a_vector_that_cannot_be_searched_is_named(vector: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        service_over(gaussian(7)).search(vector, "q7")


def test_a_vector_may_keep_its_first_axis() -> None:
    service = service_over(gaussian(7))
    assert service.search(gaussian(1), "q").results == service.search(gaussian(1)[0], "q").results


# Leaving out


def test_the_query_itself_is_left_out_by_id() -> None:
    vectors = gaussian(30)
    vectors[9] = vectors[4]  # an exact copy under another id: it stays
    service = service_over(vectors)
    plain = service.search(vectors[4], "img_004", k=5)
    response = service.search(vectors[4], "img_004", k=5, exclude_self=True)
    assert [result.image_id for result in plain][:2] == ["img_004", "img_009"]
    assert response.results[0].image_id == "img_009"
    assert len(response) == 5
    assert [result.rank for result in response] == [1, 2, 3, 4, 5]
    assert response.excluded == ("img_004",)
    everything = service.search(vectors[4], "img_004", k=30, exclude_self=True)
    assert len(everything) == 29
    assert everything.shortfall == "30 results asked for, 29 found, 1 excluded"


def test_a_query_from_elsewhere_has_nothing_to_leave_out() -> None:
    service = service_over(gaussian(30))
    response = service.search(gaussian(1)[0], "q001", k=5, exclude_self=True)
    assert len(response) == 5
    assert response.excluded == ()


def test_whole_number_ids_are_not_mixed_up_with_rows() -> None:
    index = VectorIndex()
    index.add([30, 20, 10], np.eye(3))
    service = NearestNeighborSearch(index)
    assert [r.image_id for r in service.search([0, 1, 0.1], 20, k=2, exclude_self=True)] == [10, 30]
    assert service.search([0, 1, 0.1], np.int64(20), k=3).query_id == 20  # type: ignore[arg-type]


def test_search_by_id_leaves_the_item_out() -> None:
    vectors = gaussian(30)
    service = service_over(vectors)
    response = service.search_id("img_003", k=4)
    expected = service.search(vectors[3], "img_003", k=5).results[1:]
    assert [r.image_id for r in response] == [r.image_id for r in expected]
    with pytest.raises(UnknownIdError, match="'img_999'"):
        service.search_id("img_999")


@pytest.mark.parametrize("engine", ["flat", "hnsw"])
@pytest.mark.parametrize("exclude", [None, "self", "lists"])
def test_batches_are_many_single_searches(engine: str, exclude: str | None) -> None:
    vectors = gaussian(200)
    service = service_over(vectors, engine=engine)
    service.index.remove(["img_000", "img_100"])
    rng = np.random.default_rng(1)
    some = service.index.ids
    lists = [
        [some[int(row)] for row in rng.choice(198, size=rng.integers(0, 30), replace=False)] for _ in range(50)
    ]
    given: Any = {"lists": lists}.get(exclude or "", exclude)
    asked = names(50)
    ranking = service.search_batch(vectors[:50], asked, 6, exclude=given)
    assert ranking.lengths.tolist() == [6] * 50
    assert list(ranking) == asked
    for line, name in enumerate(asked):
        choices: dict[str | None, set[Any]] = {None: set(), "self": {name}, "lists": set(lists[line])}
        banned = choices[exclude]
        everything = service.search(vectors[line], name, k=198)
        expected = [result for result in everything if result.image_id not in banned][:6]
        listed = ranking.listed(name)
        assert [item for item, _ in listed] == [result.image_id for result in expected]
        assert [score for _, score in listed] == pytest.approx([result.score for result in expected], abs=1e-6)


def test_a_batch_gives_what_there_is() -> None:
    service = service_over(gaussian(5))
    ranking = service.search_batch(gaussian(3), ["a", "img_001", "c"], 100, exclude="self")
    assert ranking.lengths.tolist() == [5, 4, 5]
    assert service.search_batch(np.empty((0, 8)), [], 3).lengths.tolist() == []
    assert NearestNeighborSearch(VectorIndex(8)).search_batch(gaussian(2), ["a", "b"], 3).lengths.tolist() == [0, 0]


def test_the_vocabulary_is_shared_by_batches() -> None:
    service = service_over(gaussian(5))
    first = service.search_batch(gaussian(2), ["a", "b"], 3)
    second = service.search_batch(gaussian(2), ["a", "b"], 3, exclude="self")
    assert first.items is second.items is service.index.ids


@pytest.mark.parametrize(
    ("exclude", "error", "message"),
    [
        ("itself", InputError, r"None, 'self', or one iterable of ids per query"),
        ([[]], InputError, r"1 entry for 2 queries"),
        (["img_000", "img_001"], InputError, r"an entry is a string"),
        ([["img_000"], ["img_0000", "x"]], UnknownIdError, r"2 ids are not in the index.*\('b', 'img_0000'\)"),
    ],
)
def test_exclusions_that_cannot_be(exclude: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        service_over(gaussian(5)).search_batch(gaussian(2), ["a", "b"], 3, exclude=exclude)


def test_bad_queries_in_a_batch_are_named() -> None:
    service = service_over(gaussian(5))
    vectors = gaussian(3)
    vectors[1] = 0
    with pytest.raises(ZeroVectorError, match="'b'"):
        service.search_batch(vectors, ["a", "b", "c"], 2)
    with pytest.raises(DuplicateIdError, match="'a'"):
        service.search_batch(gaussian(3), ["a", "b", "a"], 2)
    with pytest.raises(InputError, match="2 ids for 3 vectors"):
        service.search_batch(gaussian(3), ["a", "b"], 2)


# Near-duplicates


def test_near_duplicates_of_what_is_shown_are_hidden_and_counted() -> None:
    base = np.eye(8)[:4]
    copies = np.repeat(base, 5, axis=0) + 1e-3 * gaussian(20)
    service = service_over(copies)
    query = np.array([4.0, 3, 2, 1, 0, 0, 0, 0])
    plain = service.search(query, "q", k=4)
    assert {int(result.image_id[-3:]) // 5 for result in plain} == {0}  # type: ignore[index]
    response = service.search(query, "q", k=4, hide_near_duplicates=0.95)
    assert [int(result.image_id[-3:]) // 5 for result in response] == [0, 1, 2, 3]  # type: ignore[index]
    assert [result.rank for result in response] == [1, 2, 3, 4]
    assert response.results[0] == plain.results[0]
    assert response.hidden == 12, "those passed over on the way to the fourth"
    all_of_them = service.search(query, "q", k=20, hide_near_duplicates=0.95)
    assert len(all_of_them) == 4
    assert all_of_them.hidden == 16
    assert all_of_them.shortfall == "20 results asked for, 4 found, 16 hidden as near-duplicates"


def test_near_duplicates_and_the_query_itself_together() -> None:
    vectors = np.vstack([np.repeat(np.eye(8)[:1], 6, axis=0), np.eye(8)[1:4]])
    service = service_over(vectors)
    response = service.search(vectors[0], "img_000", k=3, exclude_self=True, hide_near_duplicates=1.0)
    assert [result.image_id for result in response] == ["img_001", "img_006", "img_007"]
    assert response.hidden == 4
    assert response.excluded == ("img_000",)
    assert [r.image_id for r in service.search_id("img_000", 2, hide_near_duplicates=1)] == ["img_001", "img_006"]


def test_zero_vectors_are_duplicates_of_each_other_only() -> None:
    index = VectorIndex(metric="l2")
    index.add(range(4), [[0, 0], [0, 0], [1, 0], [2, 0]])
    response = NearestNeighborSearch(index).search([0, 0], "q", 4, hide_near_duplicates=0.99)
    assert [result.image_id for result in response] == [0, 2]


@pytest.mark.parametrize("threshold", [-1, 1.5, "high", True, float("nan")])
def test_a_threshold_that_cannot_be(threshold: Any) -> None:
    with pytest.raises(InputError, match="hide_near_duplicates"):
        service_over(gaussian(5)).search(gaussian(1)[0], "q", hide_near_duplicates=threshold)


# Images and words


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


# Threads


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


def test_blocks_of_queries_join_without_a_seam(monkeypatch: pytest.MonkeyPatch) -> None:
    from visual_search.prediction import nearest_neighbor

    vectors = gaussian(60)
    service = service_over(vectors)
    lists = [names(60)[: (7 * line) % 20] for line in range(60)]
    for exclude in (None, "self", lists):
        whole = service.search_batch(vectors, names(60), 5, exclude=exclude)
        with monkeypatch.context() as patched:
            patched.setattr(nearest_neighbor, "_BLOCK_PLACES", 100)
            parts = service.search_batch(vectors, names(60), 5, exclude=exclude)
        assert whole.lengths.tolist() == parts.lengths.tolist() == [5] * 60
        assert np.array_equal(whole.rows, parts.rows)
        assert np.allclose(whole.scores, parts.scores, atol=1e-6)


# The index is loaded again under a service


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


def test_the_distance_of_an_equal_vector_has_no_minus_sign() -> None:
    distance = service_over(np.ones((1, 2)), metric="l2").search([1, 1], "q").results[0].distance
    assert str(distance) == "0.0"


# Arguments of the wrong kind


@pytest.mark.parametrize(
    ("exclude", "message"),
    [
        ([None, None], "no list of ids for 2 queries.*give \\[\\]"),
        ((ids for ids in [["img_000"], []]), "exclude: got generator"),
        (5, "exclude: got int"),
        ([[["img_000"]], []], "an id is text or a whole number"),
    ],
)
def test_exclusions_of_the_wrong_kind_are_refused(exclude: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        service_over(gaussian(3)).search_batch(gaussian(2), ["a", "b"], exclude=exclude)


def test_excluding_an_item_that_was_removed_is_an_error() -> None:
    service = service_over(gaussian(3))
    service.index.remove(["img_002"])
    with pytest.raises(UnknownIdError, match="img_002"):
        service.search_batch(gaussian(1), ["q"], exclude=[["img_001", "img_002"]])


def test_a_threshold_may_be_a_numpy_number() -> None:
    service = service_over(np.ones((2, 2)))
    assert service.search([1, 1], "q", hide_near_duplicates=np.float32(0.9)).hidden == 1  # type: ignore[arg-type]
