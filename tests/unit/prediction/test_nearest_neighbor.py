"""The search service: lists, exclusions, near-duplicates."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from visual_search.errors import (
    DimensionError,
    DuplicateIdError,
    InputError,
    NonFiniteError,
    UnknownIdError,
    ZeroVectorError,
)
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
