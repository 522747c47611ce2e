"""Exact neighbours in one call, and the ways in which ground truth goes wrong elsewhere."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from visual_search import (
    ExactNeighbors,
    adopt_neighbors,
    exact_neighbors,
    merge_neighbors,
    neighbor_recall,
    neighbor_recall_table,
)
from visual_search.errors import (
    DepthError,
    DuplicateIdError,
    FingerprintError,
    InputError,
    UnknownIdError,
)
from visual_search.evaluation.query_hardness import query_hardness
from visual_search.formats.fingerprint import fingerprint_array
from visual_search.formats.mapped_pages import release_pages
from visual_search.formats.neighbors import write_neighbors
from visual_search.formats.vectors import write_vectors
from visual_search.ground_truth.gallery_sample import GallerySample
from visual_search.ground_truth.packed_gallery import pack_gallery
from visual_search.indexing.index_table import VectorIndex
from visual_search.testing.exact_answers import exact_by_brute_force
from visual_search.workflows.truth_verify import verify_truth

RNG = np.random.default_rng(23)
GALLERY = RNG.normal(size=(500, 12)).astype(np.float32)
QUERIES = RNG.normal(size=(20, 12)).astype(np.float32)
NAMES = [f"i{row}" for row in range(500)]


@pytest.mark.parametrize("metric", ["l2", "ip", "cosine"])
def test_it_is_brute_force(metric: str) -> None:
    truth = exact_neighbors(GALLERY, QUERIES, 9, metric, gallery_ids=NAMES)  # type: ignore[arg-type]
    plain = exact_by_brute_force(GALLERY, QUERIES, 9, metric=metric, gallery_ids=NAMES)  # type: ignore[arg-type]
    assert np.array_equal(truth.ids, plain.ids)
    assert truth.distances == pytest.approx(plain.distances, rel=1e-12)
    assert truth.certified.all()
    assert truth.metric == metric
    assert (truth.gallery_fingerprint, truth.queries_fingerprint) == (
        plain.gallery_fingerprint,
        plain.queries_fingerprint,
    )


def test_one_metric_has_one_name_whoever_asks() -> None:
    truth = exact_neighbors(GALLERY, QUERIES, 5, "inner_product")
    assert truth.metric == "ip"
    assert truth.fingerprint == exact_neighbors(GALLERY, QUERIES, 5, "ip").fingerprint
    truth.verify(metric="ip")
    truth.verify(metric="inner_product")
    packed = pack_gallery(GALLERY, metric="ip")
    assert exact_neighbors(packed, QUERIES, 5, "inner_product").fingerprint == truth.fingerprint
    with pytest.raises(InputError, match="one of l2, ip, cosine"):
        exact_neighbors(GALLERY, QUERIES, 5, "euclidean")  # type: ignore[arg-type]


def test_paths_and_maps_give_the_same_as_arrays(tmp_path: Path) -> None:
    truth = exact_neighbors(GALLERY, QUERIES, 5)
    for name in ("g.npy", "g.fvecs", "g.fbin"):
        write_vectors(tmp_path / name, GALLERY)
        assert exact_neighbors(tmp_path / name, QUERIES, 5).fingerprint == truth.fingerprint
    write_vectors(tmp_path / "g.parquet", GALLERY, NAMES)
    assert exact_neighbors(tmp_path / "g.parquet", QUERIES, 5).ids[0, 0].startswith("i")
    mapped = np.load(tmp_path / "g.npy", mmap_mode="r")
    assert exact_neighbors(mapped, QUERIES, 5).fingerprint == truth.fingerprint


def test_what_was_written_into_a_private_map_is_not_lost(tmp_path: Path) -> None:
    write_vectors(tmp_path / "g.npy", GALLERY)
    private = np.load(tmp_path / "g.npy", mmap_mode="c")
    private += 1
    release_pages(private)
    exact_neighbors(private, QUERIES, 5)
    assert np.array_equal(private, GALLERY + 1)


def test_a_fingerprint_is_of_the_bytes_whatever_the_layout() -> None:
    wide = RNG.normal(size=(3000, 400))
    for array in (wide, wide[:, ::2], wide.T, wide.astype(">f8"), np.zeros((0, 4)), np.zeros(7), np.float32(3)):
        plain = np.ascontiguousarray(array).copy()
        assert fingerprint_array(np.asarray(array)) == fingerprint_array(plain.reshape(np.shape(array)))


def test_float32_products_far_from_the_origin_do_not_decide() -> None:
    far = (GALLERY + np.float32(1000)).astype(np.float32)
    asked = (QUERIES + np.float32(1000)).astype(np.float32)
    truth = exact_neighbors(far, asked, 10)
    assert np.array_equal(truth.ids, exact_by_brute_force(far, asked, 10).ids)
    squares = (far**2).sum(axis=1) - 2 * asked @ far.T + (asked**2).sum(axis=1)[:, None]
    wrong = np.argsort(squares, axis=1, kind="stable")[:, :10]
    assert neighbor_recall(wrong, truth, 10).mean() < 0.9  # the trick, as others do it


def test_the_same_number_of_rows_is_not_the_same_gallery() -> None:
    truth = exact_neighbors(GALLERY, QUERIES, 5)
    changed = GALLERY.copy()
    changed[7, 3] += np.float32(1e-6)
    for other in (GALLERY[::-1], changed, GALLERY.astype(np.float64)):
        with pytest.raises(FingerprintError, match="not those the truth was made for"):
            truth.verify(other, QUERIES)
    truth.verify(GALLERY, QUERIES)


def test_queries_of_another_set_are_refused() -> None:
    truth = exact_neighbors(GALLERY, QUERIES, 5)
    with pytest.raises(FingerprintError, match="queries: "):
        truth.verify(GALLERY, QUERIES[::-1])
    with pytest.raises(FingerprintError, match="made for 20 rows"):
        truth.verify(GALLERY, QUERIES[:19])
    with pytest.raises(InputError, match="19 lists for 20 queries"):
        neighbor_recall(truth.ids[:19], truth, 5)


def test_an_angular_truth_is_not_scored_with_inner_products() -> None:
    truth = exact_neighbors(GALLERY, QUERIES, 5, "cosine")
    index = VectorIndex(metric="ip")
    index.add(range(500), GALLERY)
    with pytest.raises(FingerprintError, match="metric: 'ip' here and 'cosine' in the truth"):
        neighbor_recall(index.search(QUERIES, 5), truth, 5, metric=index.metric)
    with pytest.raises(FingerprintError, match="metric: 'ip' here"):
        neighbor_recall_table(index.search(QUERIES, 5), truth, 5, metric=index.metric)


def test_a_sample_is_a_truth_of_its_own_items_alone() -> None:
    truth = exact_neighbors(GALLERY, QUERIES, 5, gallery_ids=NAMES, sample=GallerySample(60, seed=4))
    rows = GallerySample(60, seed=4).rows(500)
    assert truth.kind == "sample"
    assert "a sample of 60 items out of 500 (seed 4), not the full gallery" in truth.label()
    assert set(truth.ids.ravel().tolist()) <= {NAMES[row] for row in rows}
    index = VectorIndex(metric="l2")
    index.add([NAMES[row] for row in rows], GALLERY[rows])
    truth.verify(gallery_ids=index.ids, metric=index.metric)
    assert truth.gallery_fingerprint == index.fingerprint()
    table = neighbor_recall_table(index.search(QUERIES, 5), truth, 5)
    assert table.mean == 1
    assert "60 items out of 500" in table.text()
    whole = VectorIndex(metric="l2")
    whole.add(NAMES, GALLERY)
    with pytest.raises(FingerprintError, match="500 ids here and 60 in the truth"):
        truth.verify(gallery_ids=whole.ids)
    with pytest.raises(UnknownIdError, match="the engine must hold what the truth was made of"):
        neighbor_recall(whole.search(QUERIES, 5), truth, 5)
    for size in (0, 501):
        with pytest.raises(DepthError, match="from 1 to all of them"):
            exact_neighbors(GALLERY, QUERIES, 1, sample=size)


@pytest.mark.parametrize("metric", ["l2", "cosine"])
def test_filtered_is_brute_force_among_the_allowed(metric: str) -> None:
    masks = RNG.random((20, 500)) < np.linspace(0, 0.05, 20)[:, None]
    masks[5:9] = masks[5]  # several queries of one filter
    allowed = [np.flatnonzero(mask).tolist() for mask in masks]
    plain = exact_by_brute_force(GALLERY, QUERIES, 8, metric=metric, allowed=allowed)  # type: ignore[arg-type]
    for given in (masks, allowed, lambda query: masks[query], lambda query: allowed[query]):
        truth = exact_neighbors(GALLERY, QUERIES, 8, metric, allowed=given)  # type: ignore[arg-type]
        assert np.array_equal(truth.positions, plain.positions)
        assert truth.kind == "filtered"
    assert truth.lengths.tolist() == [min(8, len(rows)) for rows in allowed]
    assert truth.lengths.min() == 0  # a filter that leaves nothing
    # Fewer than k are all there is to find; where nothing is, nothing is asked.
    found = neighbor_recall(truth.ids, truth, 8)
    assert np.isnan(found[truth.lengths == 0]).all()
    assert (found[truth.lengths > 0] == 1).all()


def test_filters_that_do_not_fit_are_refused() -> None:
    cases = {
        "19 filters for 20 queries": [[0]] * 19,
        "have shape": np.ones((20, 499), dtype=bool),
        "name ids twice: 3": [[3, 3]] * 20,
    }
    for words, given in cases.items():
        with pytest.raises(InputError, match=words):
            exact_neighbors(GALLERY, QUERIES, 3, allowed=given)
    with pytest.raises(UnknownIdError, match="20 filters .* name ids that the gallery does not have: 'x'"):
        exact_neighbors(GALLERY, QUERIES, 3, gallery_ids=NAMES, allowed=[["i0", "x"]] * 20)
    with pytest.raises(InputError, match="sample and allowed exclude each other"):
        exact_neighbors(GALLERY, QUERIES, 3, allowed=[[1]] * 20, sample=5)


def test_a_filter_is_searched_in_parts_where_memory_is_short() -> None:
    wide = RNG.integers(0, 2, size=(3000, 2048)).astype(np.float64)
    asked = wide[:3] + 0
    whole = exact_neighbors(wide, asked, 6, allowed=lambda _: np.arange(3000) % 3 > 0)
    parts = exact_neighbors(wide, asked, 6, allowed=lambda _: np.arange(3000) % 3 > 0, memory_bytes=1 << 24)
    assert whole.fingerprint == parts.fingerprint


def test_shards_become_the_whole() -> None:
    whole = exact_neighbors(GALLERY, QUERIES, 7, "cosine", gallery_ids=NAMES)
    borders = [0, 4, 300, 500]
    parts = [
        exact_neighbors(GALLERY[a:b], QUERIES, min(7, b - a), "cosine", gallery_ids=NAMES[a:b])
        for a, b in pairwise(borders)
    ]
    assert merge_neighbors(parts, GALLERY).fingerprint == whole.fingerprint
    with pytest.raises(FingerprintError, match="part 0 was not made of rows 0 to 3"):
        merge_neighbors(parts, GALLERY[::-1])
    with pytest.raises(DuplicateIdError):
        merge_neighbors([parts[0], parts[0]], np.concatenate((GALLERY[:4], GALLERY[:4])))
    other = exact_neighbors(GALLERY[4:], QUERIES[::-1], 7, "l2", gallery_ids=NAMES[4:])
    with pytest.raises(InputError, match="2 problems"):
        merge_neighbors([parts[0], other], GALLERY)


def test_ids_that_are_no_row_numbers_stay_ids(tmp_path: Path) -> None:
    numbers = (RNG.permutation(500) * 7 + 1_000_000).tolist()
    truth = exact_neighbors(GALLERY, QUERIES, 5, gallery_ids=numbers)
    truth.save(tmp_path / "t.npz")
    read = ExactNeighbors.load(tmp_path / "t.npz")
    assert read.ids.min() >= 1_000_000
    with pytest.raises(UnknownIdError):
        neighbor_recall(read.positions, read, 5)
    # A file of others with such ids, not rows.
    write_neighbors(tmp_path / "gt.ivecs", truth.ids)
    with pytest.raises((InputError, FingerprintError)):
        adopt_neighbors(tmp_path / "gt.ivecs", GALLERY, QUERIES, metric="l2", gallery_ids=numbers)
    mine, _ = adopt_neighbors(
        tmp_path / "gt.ivecs", GALLERY, QUERIES, metric="l2", gallery_ids=numbers, holds_ids=True
    )
    assert np.array_equal(mine.ids, truth.ids)


def test_ground_truth_of_others_is_too_shallow_foreign_or_told(tmp_path: Path) -> None:
    truth = exact_neighbors(GALLERY, QUERIES, 10)
    write_neighbors(tmp_path / "gt.ibin", truth.positions, truth.distances.astype(np.float32))
    mine, meaning = adopt_neighbors(tmp_path / "gt.ibin", GALLERY, QUERIES)
    assert meaning.meaning == "plain distance"
    assert not mine.certified.any()
    assert "plain distance" in mine.versions["adopted from"]
    with pytest.raises(DepthError, match="10 nearest"):
        adopt_neighbors(tmp_path / "gt.ibin", GALLERY, QUERIES, k=100)
    with pytest.raises(FingerprintError):
        adopt_neighbors(tmp_path / "gt.ibin", GALLERY[::-1], QUERIES)
    with pytest.raises(FingerprintError):
        adopt_neighbors(tmp_path / "gt.ibin", GALLERY, QUERIES, metric="ip")
    short = truth.positions.copy()
    short[3, 8:] = -1
    write_neighbors(tmp_path / "short.ivecs", short)
    with pytest.raises(InputError, match="1 lists are shorter than 10, first 3"):
        adopt_neighbors(tmp_path / "short.ivecs", GALLERY, QUERIES, metric="l2")


def test_adopted_bits_have_their_distances(tmp_path: Path) -> None:
    bits = RNG.integers(0, 256, size=(300, 4), dtype=np.uint8)
    for metric in ("hamming", "jaccard"):
        truth = exact_neighbors(bits, bits[:9], 4, metric)
        write_vectors(tmp_path / "g.npy", bits)
        write_vectors(tmp_path / "q.npy", bits[:9])
        truth.save(tmp_path / "t.npz")
        assert verify_truth(tmp_path / "t.npz", tmp_path / "g.npy", tmp_path / "q.npy", recompute=9).passed
    hamming = exact_neighbors(bits, bits[:9], 4, "hamming")
    write_neighbors(tmp_path / "h.ibin", hamming.positions, hamming.distances.astype(np.float32))
    mine, _ = adopt_neighbors(tmp_path / "h.ibin", bits, bits[:9], metric="hamming")
    assert np.array_equal(mine.distances, hamming.distances)


def test_hardness_follows_the_dimension_of_the_data() -> None:
    dimensions = []
    for width in (1, 3, 8):
        gallery = RNG.random((20_000, width))
        middle = 0.3 + 0.4 * RNG.random((30, width))
        truth = exact_neighbors(gallery, middle, 100)
        hard = query_hardness(truth, gallery=gallery, queries=middle)
        dimensions.append(float(np.median(hard.dimension)))
        assert (hard.contrast > 1).all()
    assert dimensions[0] == pytest.approx(1, abs=0.15)
    assert dimensions[1] == pytest.approx(3, abs=0.4)
    assert 5.5 < dimensions[2] < 8.5
    assert np.isnan(query_hardness(exact_neighbors(GALLERY, QUERIES, 5, "ip")).dimension).all()
    same = exact_neighbors(np.ones((9, 2)), np.ones((1, 2)), 3)
    assert np.isnan(query_hardness(same).dimension).all()


def test_the_table_takes_latency_and_tells_intervals() -> None:
    truth = exact_neighbors(GALLERY, QUERIES, 5)
    lists = truth.ids.copy()
    lists[:6] = -1
    table = neighbor_recall_table(lists, truth, 5, latency=np.full(20, 0.002))
    assert table[0].latency == 0.002
    assert table.interval is not None
    assert table.interval.low < table.mean == 0.7 < table.interval.high
    low, high = table.zero_recall_interval
    assert low < 6 / 20 < high
    assert sum(count for _, _, count, _ in table.by_dimension()) == 20
    assert "2.00 ms at 99%" in table.text()
    for wrong in (np.ones(19), -np.ones(20), np.full(20, np.nan)):
        with pytest.raises(InputError, match="latency"):
            neighbor_recall_table(lists, truth, 5, latency=wrong)
