"""Exact answers agree with comparing every pair, on friendly and hostile data; wrong input is refused."""

import importlib.util
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.errors import DepthError, DimensionError, InputError, NonFiniteError, ZeroVectorError
from visual_search.ground_truth.exact_merge import merge
from visual_search.ground_truth.exact_search import search_exactly
from visual_search.ground_truth.packed_gallery import pack_gallery
from visual_search.ground_truth.vector_checks import ExactMetric, check_unit
from visual_search.kernels import plain
from visual_search.kernels.dispatch import kernels


def _oracle() -> Any:
    spec = importlib.util.spec_from_file_location("exact_oracle", Path(__file__).with_name("exact_oracle.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


oracle = _oracle()

Array = np.ndarray[Any, Any]
VECTOR_METRICS: tuple[ExactMetric, ...] = ("l2", "inner_product", "cosine")


def clustered(rng: np.random.Generator) -> Array:
    centres = rng.normal(size=(12, 16)) * 100
    return centres[rng.integers(12, size=600)] + rng.normal(size=(600, 16)) * 1e-3


def galleries() -> dict[str, Array]:
    rng = np.random.default_rng(3)
    gaussian = rng.normal(size=(600, 16))
    near = clustered(rng)
    one = np.ones(16) + rng.normal(size=(600, 16)) * 1e-3
    made = {
        "gaussian": gaussian,
        "near-duplicates in clusters": near,
        "normalised near-duplicates": one / np.linalg.norm(one, axis=1, keepdims=True),
        "duplicates": gaussian[rng.integers(20, size=600)],
        "all equal": np.full((600, 16), 0.1),
        "huge": gaussian * 1e30,
        "tiny": gaussian * 1e-30,
        **{f"offset {offset}": gaussian + offset for offset in (10, 1_000, 100_000)},
    }
    single = {name: values.astype(np.float32) for name, values in made.items()}
    double = {
        f"{name}, float64": made[name] for name in ("gaussian", "offset 100000", "near-duplicates in clusters")
    }
    small = rng.integers(-2, 3, size=(600, 6))
    small[:, 0] = 1
    whole = {
        "int8": small.astype(np.int8),
        "uint8": rng.integers(0, 256, size=(600, 16)).astype(np.uint8),
        "uint8, many ties": (small + 2).astype(np.uint8),
    }
    return single | double | whole | {"float16": gaussian.astype(np.float16)}


GALLERIES = galleries()


@pytest.mark.parametrize("fast", [True, False])
@pytest.mark.parametrize("metric", VECTOR_METRICS)
@pytest.mark.parametrize("name", GALLERIES)
def test_answers_are_those_of_comparing_every_pair(
    name: str, metric: ExactMetric, fast: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("visual_search.kernels.dispatch.fast_screen", lambda: fast)
    gallery = GALLERIES[name]
    queries = gallery[::100] if gallery.dtype.kind != "f" else (gallery[::100] * gallery.dtype.type(1.0001))
    oracle.assert_exact(search_exactly(gallery, queries, 10, metric=metric), gallery, queries, metric)


@pytest.mark.parametrize("metric", ["hamming", "jaccard"])
@pytest.mark.parametrize("d", [1, 8, 11])
def test_bits(metric: ExactMetric, d: int) -> None:
    rng = np.random.default_rng(d)
    gallery = np.packbits(rng.random((700, 8 * d)) < 0.2, axis=1)
    gallery[5] = 0
    queries = np.concatenate((gallery[:4], np.zeros((1, d), np.uint8)))
    oracle.assert_exact(search_exactly(gallery, queries, 20, metric=metric), gallery, queries, metric)


@pytest.mark.parametrize("metric", VECTOR_METRICS)
def test_every_row_is_asked_for(metric: ExactMetric) -> None:
    gallery = GALLERIES["gaussian"][:200]
    oracle.assert_exact(search_exactly(gallery, gallery[:5], 200, metric=metric), gallery, gallery[:5], metric)


@pytest.mark.parametrize("name", ["gaussian", "duplicates", "int8", "offset 100000, float64"])
@pytest.mark.parametrize("metric", VECTOR_METRICS)
def test_neither_blocks_nor_threads_nor_kernels_change_a_bit(
    name: str, metric: ExactMetric, monkeypatch: pytest.MonkeyPatch
) -> None:
    gallery = GALLERIES[name]
    whole = search_exactly(gallery, gallery[:40], 7, metric=metric, tie_cap=3)
    monkeypatch.setattr("visual_search.ground_truth.gallery_blocks._COMFORTABLE", 1 << 14)
    monkeypatch.setattr("visual_search.ground_truth.plain_screen.kernels", lambda: plain)
    monkeypatch.setattr("visual_search.ground_truth.fast_screen.kernels", lambda: plain)
    parts = search_exactly(gallery, gallery[:40], 7, metric=metric, tie_cap=3, threads=1)
    oracle.assert_same(parts, whole, evaluations=False)


def test_few_duplicates_need_few_evaluations_and_many_are_capped() -> None:
    gallery = GALLERIES["all equal"]
    answers = search_exactly(gallery, gallery[:2], 10, tie_cap=5)
    assert answers.ties_capped.all()
    assert answers.tied(0).tolist() == [10, 11, 12, 13, 14]
    few = search_exactly(GALLERIES["gaussian"], GALLERIES["gaussian"][:50], 10)
    assert few.evaluations.max() <= 60


@pytest.mark.parametrize("metric", VECTOR_METRICS)
@pytest.mark.parametrize("name", ["gaussian", "int8", "all equal", "float16"])
def test_a_packed_gallery_gives_the_same(name: str, metric: ExactMetric, monkeypatch: pytest.MonkeyPatch) -> None:
    gallery = GALLERIES[name]
    whole = search_exactly(gallery, gallery[:20], 7, metric=metric)
    monkeypatch.setattr("visual_search.ground_truth.gallery_blocks._COMFORTABLE", 1 << 13)
    packed = pack_gallery(gallery, metric=metric)
    for part in (slice(0, 20), slice(3, 9)):
        found = search_exactly(packed, gallery[part], 7, metric=metric)
        assert np.array_equal(found.positions, whole.positions[part])
        assert np.array_equal(found.distances, whole.distances[part])
    with pytest.raises(
        InputError, match=f"metric is hamming and the gallery was packed for {metric}|hamming takes"
    ):
        search_exactly(packed, gallery[:2], 1, metric="hamming")


@pytest.mark.parametrize("metric", ["l2", "cosine", "hamming"])
def test_merged_shards_are_the_whole(metric: ExactMetric) -> None:
    gallery = GALLERIES["uint8, many ties"].copy()
    gallery[:, 0] = 3
    queries = gallery[::100]
    sizes = [250, 4, 346]
    ends = np.cumsum([0, *sizes])
    whole = search_exactly(gallery, queries, 9, metric=metric, tie_cap=6)
    parts = [
        search_exactly(gallery[a:b], queries, min(9, b - a), metric=metric, tie_cap=6) for a, b in pairwise(ends)
    ]
    oracle.assert_same(merge(parts, sizes, 9, tie_cap=6), whole, evaluations=False)
    longer = [search_exactly(gallery[a:b], queries, b - a, metric=metric) for a, b in ((0, 200), (200, 600))]
    oracle.assert_same(merge(longer, [200, 400], 9, tie_cap=6), whole, evaluations=False)


def test_shards_that_do_not_fit_are_refused() -> None:
    gallery = GALLERIES["gaussian"]
    part = search_exactly(gallery[:100], gallery[:3], 5)
    with pytest.raises(InputError, match="part 1 has 5 answers a query; 7 are needed"):
        merge([search_exactly(gallery, gallery[:3], 7), part], [600, 100], 7)
    with pytest.raises(InputError, match="1 parts and 2 sizes"):
        merge([part], [100, 3], 5)
    with pytest.raises(DepthError, match="k is 101"):
        merge([part], [100], 101)
    with pytest.raises(InputError, match="part 1 has 2 queries and part 0 3"):
        merge([part, search_exactly(gallery[:100], gallery[:2], 5)], [100, 100], 5)


def test_what_does_not_fit_is_refused_with_all_that_is_wrong() -> None:
    gallery = GALLERIES["gaussian"]
    with pytest.raises(InputError, match=r"(?s)3 problems.*float64.*dimension 16.*k is 0"):
        search_exactly(gallery, gallery[:3, :5].astype(np.float64), 0)
    with pytest.raises(DimensionError, match="dimension 16 and queries have 5"):
        search_exactly(gallery, gallery[:3, :5], 1)
    with pytest.raises(DepthError, match="k is 601 and the gallery has 600 rows"):
        search_exactly(gallery, gallery[:3], 601)
    with pytest.raises(InputError, match="hamming takes uint8; pack bits"):
        search_exactly(gallery > 0, gallery[:3] > 0, 1, metric="hamming")
    with pytest.raises(InputError, match="metric 'dot': one of l2"):
        search_exactly(gallery, gallery[:3], 1, metric="dot")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="memory_bytes is 5"):
        search_exactly(gallery, gallery[:3], 1, memory_bytes=5)
    with pytest.raises(InputError, match="tie_cap is -1"):
        search_exactly(gallery, gallery[:3], 1, tie_cap=-1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_not_finite_are_refused(dtype: type, bad: float) -> None:
    gallery: Array = GALLERIES["gaussian"].astype(dtype)
    broken = gallery.copy()
    broken[[70, 402], 3] = bad
    with pytest.raises(NonFiniteError, match="gallery: rows 70, 402 have NaN or infinity"):
        search_exactly(broken, gallery[:3], 1)
    with pytest.raises(NonFiniteError, match="queries: rows 70, 402"):
        search_exactly(gallery, broken, 1, metric="cosine")


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int8])
def test_vectors_without_direction_are_refused_under_cosine_only(dtype: type) -> None:
    gallery: Array = GALLERIES["int8"].astype(dtype)
    gallery[77] = 0
    with pytest.raises(ZeroVectorError, match="gallery: rows 77 have only zeros"):
        search_exactly(gallery, gallery[:3], 1, metric="cosine")
    with pytest.raises(ZeroVectorError, match="queries: rows 77"):
        search_exactly(gallery[:3], gallery, 1, metric="cosine")
    assert search_exactly(gallery, gallery[:3], 1, metric="l2").certified.all()


def test_numbers_whose_squares_leave_the_range_are_refused() -> None:
    gallery = GALLERIES["gaussian"].astype(np.float64)
    with pytest.raises(InputError, match=r"gallery: rows 0, 1, .* have values beyond 1e\+75"):
        search_exactly(gallery * 1e80, gallery[:3], 1)
    with pytest.raises(InputError, match="no value above 1e-140"):
        search_exactly(gallery * 1e-150, gallery[:3], 1, metric="cosine")


def test_lengths_are_looked_at_before_a_product_is_called_a_cosine() -> None:
    unit = GALLERIES["normalised near-duplicates"]
    check_unit(unit)
    check_unit(unit.astype(np.float16))
    with pytest.raises(InputError, match="embeddings: rows 3, 9 are not of unit length"):
        check_unit(np.where(np.isin(np.arange(600), [3, 9])[:, None], 2, unit), what="embeddings")


def test_pair_distances_of_both_kernels_are_the_same_bits() -> None:
    rng = np.random.default_rng(1)
    for name, gallery in GALLERIES.items():
        rows, numbers = rng.integers(600, size=400), rng.integers(9, size=400)
        for metric in ("l2", "inner_product", "cosine"):
            asked = gallery, gallery[:9], rows, numbers
            one, other = (side.pair_distances(*asked, metric=metric) for side in (kernels(), plain))
            assert np.array_equal(one, other), (name, metric)
