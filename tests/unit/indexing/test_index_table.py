"""VectorIndex: what goes in, what comes out, what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from visual_search.errors import (
    DepthError,
    DimensionError,
    DuplicateIdError,
    InputError,
    NonFiniteError,
    NotTrainedError,
    UnknownIdError,
    UnknownNameError,
    ZeroVectorError,
)
from visual_search.formats.fingerprint import fingerprint_vectors
from visual_search.indexing.embedders.contract import EmbedderDescription
from visual_search.indexing.engines.contract import VECTOR_METRICS, Metric
from visual_search.indexing.index_table import VectorIndex


def gaussian(count: int, dimension: int = 8, seed: int = 0) -> npt.NDArray[np.float64]:
    return np.random.default_rng(seed).normal(size=(count, dimension))


def filled(count: int = 20, **options: Any) -> VectorIndex:
    index = VectorIndex(**options)
    index.add([f"img_{number:03d}" for number in range(count)], gaussian(count))
    return index


# Adding


def test_dimension_comes_with_the_first_vectors_or_the_embedder() -> None:
    assert VectorIndex().dimension is None
    assert filled().dimension == 8
    described = EmbedderDescription("histogram", 512, "RGB", None)
    index = VectorIndex(embedder=described)
    assert index.dimension == 512
    assert index.embedder == described
    with pytest.raises(DimensionError, match=r"64.*512"):
        VectorIndex(dimension=64, embedder=described)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint8", "int32", "int64", "bool"])
def test_number_types_are_taken_as_float32(dtype: str) -> None:
    index = VectorIndex(metric="ip")
    given = np.array([[1, 0, 1], [0, 1, 1]]).astype(dtype)
    index.add(["a", "b"], given)
    assert index.vector("a").dtype == np.float32
    assert index.vectors(["b", "a"]).tolist() == [[0, 1, 1], [1, 0, 1]]


def test_lists_and_columns_of_a_larger_array_are_taken() -> None:
    index = VectorIndex(metric="l2")
    index.add(["a"], [[1, 2]])
    index.add(["b"], np.arange(6, dtype=np.float32).reshape(2, 3).T[1:2])
    assert index.vector("b").tolist() == [1, 4]


def test_cosine_keeps_unit_vectors_the_same_however_they_came() -> None:
    vectors = gaussian(30, 37)
    together, apart = VectorIndex(), VectorIndex()
    together.add(range(30), vectors)
    for number, vector in enumerate(vectors):
        apart.add([number], vector[None])
    assert np.allclose(np.linalg.norm(together.vectors(range(30)), axis=1), 1, atol=1e-6)
    assert together.fingerprint() == apart.fingerprint()
    again = VectorIndex()
    again.add(range(30), together.vectors(range(30)))
    assert again.fingerprint() == together.fingerprint()


def test_tiny_vectors_have_a_direction() -> None:
    index = VectorIndex()
    index.add(["a", "b"], np.array([[1e-30, 0], [0, 1e-30]]))
    assert index.search([[1e-25, 0]], 1).listed(0) == [("a", 1.0)]


@pytest.mark.parametrize(
    ("vectors", "error", "message"),
    [
        ([[1.0] * 8, [np.nan] * 8], NonFiniteError, r"1 are NaN or infinite.*'y'"),
        ([[1.0] * 8, [1e300] * 8], NonFiniteError, r"'y'"),
        ([[0.0] * 8, [1.0] * 8], ZeroVectorError, r"1 are zero.*'x'.*metric='ip'"),
        ([[1.0] * 7] * 2, DimensionError, r"dimension 7 came.*dimension 8"),
        ([1.0] * 8, DimensionError, r"shape \(8,\).*vector\[None, :\]"),
        ([[[1.0] * 8]] * 2, DimensionError, r"shape \(2, 1, 8\)"),
        ([[1.0] * 8, [1.0]], DimensionError, r"different lengths"),
        ([["a"] * 8] * 2, InputError, r"dtype"),
        (np.full((2, 8), 1j), InputError, r"dtype complex128"),
        (np.full((2, 8), 2**24 + 1), InputError, r"16777217.*16777216"),
        ([[1.0] * 8], InputError, r"2 ids for 1 vector"),
    ],
)
def test_vectors_that_cannot_be_added(vectors: Any, error: type[Exception], message: str) -> None:
    index = filled()
    before = index.fingerprint()
    with pytest.raises(error, match=message):
        index.add(["x", "y"], vectors)
    assert index.fingerprint() == before
    assert "x" not in index


@pytest.mark.parametrize(
    ("ids", "error", "message"),
    [
        (["x", "x"], DuplicateIdError, r"'x'"),
        (["img_003", "x"], DuplicateIdError, r"'img_003'; remove them first"),
        ([1, 2], InputError, r"int came \(1, 2\), but the index has str"),
        (["x", 2], InputError, r"strings or .*integers"),
        ([1.5, 2.5], InputError, r"float"),
        ("xy", InputError, r"single str 'xy'.*\['xy'\]"),
        (["x", ""], InputError, r"empty string"),
    ],
)
def test_ids_that_cannot_be_added(ids: Any, error: type[Exception], message: str) -> None:
    index = filled()
    with pytest.raises(error, match=message):
        index.add(ids, gaussian(2))
    assert len(index) == 20


def test_all_problems_are_listed_at_once() -> None:
    index = filled()
    vectors = gaussian(3)
    vectors[0] = 0
    vectors[2, 5] = np.inf
    with pytest.raises(InputError) as caught:
        index.add(["img_001", "img_002", "new"], vectors)
    assert type(caught.value) is InputError
    for part in ("3 problems", "'img_001', 'img_002'", "1 are NaN or infinite (as float32): 'new'", "are zero"):
        assert part in str(caught.value)


def test_vectors_too_long_for_float32_products_are_refused_where_that_matters() -> None:
    long = np.full((1, 8), 1e25)
    for metric in ("ip", "l2"):
        with pytest.raises(InputError, match=r"too long for float32 products.*'a'"):
            VectorIndex(metric=metric).add(["a"], long)
    VectorIndex(metric="cosine").add(["a"], long)


def test_nothing_at_all_can_be_added() -> None:
    index = VectorIndex(8)
    index.add([], np.empty((0, 8)))
    assert len(index) == 0
    assert list(index.ids) == []


def test_many_offenders_are_counted_and_the_first_named() -> None:
    vectors = gaussian(40)
    vectors[10:] = np.nan
    with pytest.raises(NonFiniteError, match=r"30 are NaN.*: 10, 11, 12, 13, 14 and 25 more"):
        VectorIndex().add(range(40), vectors)


# Searching


@pytest.mark.parametrize("metric", VECTOR_METRICS)
def test_search_agrees_with_the_definition(metric: Metric) -> None:
    gallery, queries = gaussian(60), gaussian(5, seed=1)
    index = VectorIndex(metric=metric)
    index.add([f"i{number}" for number in range(60)], gallery)
    ranking = index.search(queries, 7, query_ids=["a", "b", "c", "d", "e"])
    if metric == "cosine":
        gallery = gallery / np.linalg.norm(gallery, axis=1, keepdims=True)
        queries = queries / np.linalg.norm(queries, axis=1, keepdims=True)
    truth = -np.linalg.norm(queries[:, None] - gallery, axis=2) if metric == "l2" else queries @ gallery.T
    for line, name in enumerate("abcde"):
        best = np.argsort(-truth[line])[:7]
        listed = ranking.listed(name)
        assert [item for item, _ in listed] == [f"i{place}" for place in best]
        assert [score for _, score in listed] == pytest.approx(truth[line, best].tolist(), abs=1e-5)


def test_k_is_checked() -> None:
    index = filled()
    with pytest.raises(DepthError, match=r"k: got 21, but the index holds 20 items"):
        index.search(gaussian(1), 21)
    for wrong in (0, -1):
        with pytest.raises(InputError, match="at least 1"):
            index.search(gaussian(1), wrong)
    for odd in (2.0, "3", True, None):
        with pytest.raises(InputError, match="whole number"):
            index.search(gaussian(1), odd)  # type: ignore[arg-type]
    assert index.search(gaussian(1), np.int64(20)).lengths.tolist() == [20]  # type: ignore[arg-type]
    with pytest.raises(DepthError, match="holds 0 items"):
        VectorIndex(8).search(gaussian(1), 1)


def test_bad_queries_are_named() -> None:
    index = filled()
    queries = gaussian(3)
    queries[1] = np.nan
    with pytest.raises(NonFiniteError, match=r"'q1'"):
        index.search(queries, 2, query_ids=["q0", "q1", "q2"])
    with pytest.raises(NonFiniteError, match=r"row 1"):
        index.search(queries, 2)
    with pytest.raises(InputError, match="2 ids for 3 vectors"):
        index.search(gaussian(3), 2, query_ids=["q0", "q1"])
    with pytest.raises(DimensionError, match="dimension 9 came"):
        index.search(gaussian(3, 9), 2)


def test_rankings_share_one_vocabulary() -> None:
    index = filled()
    first, second = index.search(gaussian(2), 3), index.search(gaussian(2), 5)
    assert first.items is second.items
    assert first.items is index.ids


def test_scores_never_leave_the_range_of_the_cosine() -> None:
    vectors = gaussian(500, 64)
    index = VectorIndex()
    index.add(range(500), vectors)
    ranking = index.search(vectors, 1)
    assert ranking.scores.max() <= 1
    assert ranking.scores.min() > 1 - 1e-6


def test_a_distance_of_nothing_is_plain_zero() -> None:
    index = VectorIndex(metric="l2")
    vectors = gaussian(300, 64) + 100
    index.add(range(300), vectors)
    scores = index.search(vectors, 1).scores
    assert (scores == 0).all()
    assert not np.signbit(scores).any()


# Removing


@pytest.mark.parametrize("engine", ["flat", "hnsw", "ivf"])
def test_removed_items_are_gone_and_may_come_back(engine: str) -> None:
    vectors = gaussian(100)
    names = [f"i{number}" for number in range(100)]
    index = VectorIndex(engine=engine)
    index.add(names, vectors)
    before = index.search(vectors[:3], 2)
    index.remove(["i1", "i0"])
    assert len(index) == 98
    assert "i1" not in index
    assert "i1" not in index.ids
    assert index.search(vectors[1:2], 1).listed(0)[0][0] != "i1"
    with pytest.raises(UnknownIdError, match="'i1'"):
        index.vector("i1")
    index.add(["i1"], vectors[50:51])
    assert index.ids[-1] == "i1"
    assert [item for item, _ in index.search(vectors[50:51], 2).listed(0)] == ["i50", "i1"]
    assert np.array_equal(index.vector("i1"), index.vector("i50"))
    # What was returned before still means what it meant.
    assert before.listed(1)[0][0] == "i1"
    index.remove(["i50"])
    index.compact()
    assert index.tombstones == 0
    assert list(index.vocabulary) == list(index.ids) == [*names[2:50], *names[51:], "i1"]
    assert index.search(vectors[50:51], 1).listed(0)[0][0] == "i1"
    index.add(["i50"], vectors[50:51])
    assert [item for item, _ in index.search(vectors[50:51], 2).listed(0)] == ["i1", "i50"]


def test_ids_that_cannot_be_removed() -> None:
    index = filled()
    with pytest.raises(UnknownIdError, match=r"2 are not in the index: 'no', 'neither'"):
        index.remove(["img_000", "no", "neither"])
    with pytest.raises(DuplicateIdError):
        index.remove(["img_000", "img_000"])
    with pytest.raises(InputError, match="single str"):
        index.remove("img_000")
    assert len(index) == 20


def test_everything_removed_leaves_an_empty_index() -> None:
    index = filled()
    index.remove(index.ids)
    assert len(index) == 0
    with pytest.raises(DepthError):
        index.search(gaussian(1), 1)
    index.add(["img_005"], gaussian(1))
    assert index.search(gaussian(1), 1).listed(0)[0][0] == "img_005"


# Fingerprints


def test_fingerprint_is_that_of_ids_and_vectors_in_order() -> None:
    index = filled()
    assert index.fingerprint() == fingerprint_vectors(index.ids, index.vectors(index.ids))
    index.remove(["img_003"])
    without = index.fingerprint()
    assert without == fingerprint_vectors(index.ids, index.vectors(index.ids))
    other = VectorIndex(engine="hnsw")
    kept = [number for number in range(20) if number != 3]
    other.add([f"img_{number:03d}" for number in kept], gaussian(20)[kept])
    assert other.fingerprint() == without
    index.compact()
    assert index.fingerprint() == without
    index.add(["img_003"], gaussian(20)[3:4])
    assert index.fingerprint() not in {without, filled().fingerprint()}


# Engines and settings


def test_unknown_names_list_the_known_ones() -> None:
    with pytest.raises(
        UnknownNameError, match=r"did you mean 'hnsw'\? known: faiss, flat, hamming, hnsw, hnswlib, ivf"
    ):
        VectorIndex(engine="hsnw")
    with pytest.raises(InputError, match=r"got 'euclid'; engine 'flat' takes cosine, ip, l2"):
        VectorIndex(metric="euclid")  # type: ignore[arg-type]
    with pytest.raises(InputError, match=r"ef_serch: no such setting; did you mean 'ef_search'\?.*ef_construction"):
        VectorIndex(engine="hnsw", ef_serch=5)
    with pytest.raises(InputError, match=r"no such setting.*known: none"):
        VectorIndex(ef_search=5)


def test_settings_are_checked_before_any_vector_comes() -> None:
    with pytest.raises(InputError) as caught:
        VectorIndex(engine="hnsw", ef_search=0, m=2.5, ef_construction=True)
    for part in ("3 problems", "ef_search=0: must lie in 1..", "m=2.5", "ef_construction=True"):
        assert part in str(caught.value)


def test_search_settings_can_change_and_building_ones_cannot() -> None:
    index = filled(engine="hnsw", ef_search=5)
    index.configure(ef_search=200)
    assert index.settings["ef_search"] == 200
    with pytest.raises(InputError, match="m: shapes the structure"):
        index.configure(m=3)
    assert index.settings["m"] == 32


def test_a_wider_search_finds_more() -> None:
    gallery, queries = gaussian(3000, 32), gaussian(50, 32, seed=1)
    exact = VectorIndex()
    exact.add(range(3000), gallery)
    truth = exact.search(queries, 10).rows.reshape(50, 10)

    def recall(index: VectorIndex) -> float:
        found = index.search(queries, 10).rows.reshape(50, 10)
        return float(np.mean([np.isin(line, right).mean() for line, right in zip(found, truth, strict=True)]))

    index = VectorIndex(engine="ivf", nprobe=1)
    index.add(range(3000), gallery)
    narrow = recall(index)
    index.configure(nprobe=index.settings["nlist"])
    assert narrow < 0.6
    assert recall(index) == 1


def test_memory_is_told() -> None:
    assert filled(100).memory_bytes == 100 * (8 * 4 + 8)
    assert filled(100, engine="hnsw").memory_bytes > 100 * 8 * 4 + 100 * 64 * 4


# Training


def test_the_first_add_trains_when_there_is_enough() -> None:
    with pytest.raises(NotTrainedError, match=r"at least 39 vectors.*got 20"):
        filled(20, engine="ivf")
    index = VectorIndex(engine="ivf", nlist=4, nprobe=2)
    with pytest.raises(NotTrainedError, match=r"at least 156 vectors for 4 lists, and got 155"):
        index.add(range(155), gaussian(155))
    assert index.dimension is None
    assert len(index) == 0
    index.add(range(156), gaussian(156))
    assert index.settings["nlist"] == 4
    index.add([1000], gaussian(1, seed=9))
    assert len(index) == 157


def test_lists_are_chosen_by_count() -> None:
    index = VectorIndex(engine="ivf")
    index.add(range(400), gaussian(400))
    assert (index.settings["nlist"], index.settings["nprobe"]) == (10, 10)
    with pytest.raises(InputError, match=r"nprobe: got 11, but the index has 10 lists"):
        index.configure(nprobe=11)
    assert index.settings["nprobe"] == 10
    with pytest.raises(InputError, match=r"nprobe: got 8, but the index has 4 lists"):
        VectorIndex(engine="ivf", nlist=4, nprobe=8)


def test_training_on_a_sample_lets_few_come_after() -> None:
    index = VectorIndex(engine="ivf")
    index.train(gaussian(200))
    assert index.dimension == 8
    index.add(["a", "b"], gaussian(2))
    assert index.search(gaussian(1), 1).listed(0)[0][0] == "a"
    with pytest.raises(InputError, match="learnt already"):
        index.train(gaussian(200))
    flat = VectorIndex()
    flat.train(gaussian(3))
    flat.add(["a"], gaussian(1))


def test_short_lists_are_ragged_and_never_padded() -> None:
    # Two far clusters, one list each: a search of one list cannot fill k with the other's items.
    gallery = np.vstack([gaussian(60) * 0.01 + 1, gaussian(60) * 0.01 - 1])
    index = VectorIndex(metric="l2", engine="ivf", nlist=2, nprobe=1)
    index.add(range(120), gallery)
    ranking = index.search(gallery[[0, 60, 1]], 100)
    assert ranking.lengths.tolist() == [60, 60, 60]
    assert {item for item, _ in ranking.listed(1)} == set(range(60, 120))


def test_growing_by_small_steps_costs_what_is_added(monkeypatch: pytest.MonkeyPatch) -> None:
    copied = 0
    plain = np.full

    def counted(shape: Any, *rest: Any, **more: Any) -> Any:
        nonlocal copied
        copied += int(np.prod(shape))
        return plain(shape, *rest, **more)

    index = VectorIndex(dimension=2, metric="ip")
    index.add([-1], [[1, 1]])
    column = index.vocabulary._column
    monkeypatch.setattr(np, "full", counted)
    for number in range(2000):
        index.add([number], [[number, 1]])
        index.search([[1, 1]], 1)
    assert index.vocabulary._column is column
    assert copied < 10 * 2000


def test_fewer_lists_than_the_default_nprobe_lower_it() -> None:
    index = VectorIndex(engine="ivf", nlist=4)
    assert (index.settings["nlist"], index.settings["nprobe"]) == (4, 4)
    index.add([f"x{number}" for number in range(200)], np.random.default_rng(0).normal(size=(200, 3)))
    assert index.settings["nprobe"] == 4


@pytest.mark.parametrize("name", ["metric", "self", "dimension", "engine", "embedder", "settings", "no_such"])
def test_a_setting_named_like_a_parameter_is_an_unknown_setting(name: str) -> None:
    with pytest.raises(InputError, match=rf"{name}: no such setting; .*known: m \("):
        VectorIndex(engine="hnsw", settings={name: 1})
    with pytest.raises(InputError, match=f"{name}: no such setting"):
        VectorIndex(engine="hnsw").configure(**{name: 1})


def test_settings_come_as_a_mapping_or_as_keywords() -> None:
    index = VectorIndex(engine="hnsw", settings={"m": 16}, ef_search=99)
    assert (index.settings["m"], index.settings["ef_search"]) == (16, 99)
    with pytest.raises(InputError, match="give each once"):
        VectorIndex(engine="hnsw", settings={"m": 16}, m=16)
    with pytest.raises(InputError, match="settings: got list"):
        VectorIndex(engine="hnsw", settings=["m"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="names are text"):
        VectorIndex(engine="hnsw", settings={1: 2})  # type: ignore[dict-item]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"engine": ["flat"]}, r"engine: got \['flat'\] \(list\)"),
        ({"metric": ["ip"]}, r"metric: got \['ip'\] \(list\)"),
        ({"embedder": "pixels"}, "embedder: got str; give an EmbedderDescription"),
        ({"dimension": 2**31}, "dimension: got 2147483648; engine 'flat' takes up to"),
    ],
)
def test_an_index_of_impossible_parts_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        VectorIndex(**options)


def test_ids_of_the_wrong_kind_are_refused() -> None:
    index = VectorIndex()
    index.add(["a"], [[1, 2]])
    wrong: Any = None
    for ask in (index.vectors, index.remove, lambda ids: index.add(ids, [[1, 2]])):
        with pytest.raises(InputError, match="ids: got NoneType; give a list of ids"):
            ask(wrong)
    wrong = [["a"]]
    with pytest.raises(InputError, match="an id is text or a whole number"):
        index.vectors(wrong)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [("attachments", None, "attachments: got NoneType"), ("extra", {"name": "\ud800"}, "lone surrogate")],
)
def test_what_cannot_be_kept_beside_an_index_is_refused(
    tmp_path: Path, name: str, value: Any, message: str
) -> None:
    index = VectorIndex()
    index.add(["a"], [[1, 2]])
    setattr(index, name, value)
    with pytest.raises(InputError, match=message):
        index.save(tmp_path / "index")
    assert not (tmp_path / "index").exists()
