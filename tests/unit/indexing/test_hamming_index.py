"""Binary codes in an index: what is taken, what is stored, what is found, and what is refused."""

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import visual_search as vs
from visual_search.errors import DepthError, DimensionError, FileFormatError, InputError
from visual_search.evaluation.pseudo import create_pseudo_ground_truth
from visual_search.formats.binary_codes import BinaryCodes
from visual_search.formats.fingerprint import fingerprint_vectors
from visual_search.ground_truth.truth_building import exact_neighbors
from visual_search.ids import Ids
from visual_search.indexing.engines import hamming_ties
from visual_search.indexing.engines.hamming_engine import HammingEngine
from visual_search.indexing.engines.parts_file import write_parts
from visual_search.indexing.engines.registry import create_engine, engine_names
from visual_search.indexing.hashing import fit_hasher
from visual_search.indexing.index_table import VectorIndex
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch
from visual_search.workflows.index_images import index_images

Bits = npt.NDArray[np.bool_]


def bits_of(count: int, bits: int, *, seed: int = 0) -> Bits:
    return np.random.default_rng(seed).integers(0, 2, (count, bits)).astype(np.bool_)


def filled(bits: Bits) -> VectorIndex:
    index = VectorIndex(metric="hamming")
    index.add(range(len(bits)), bits)
    return index


def apart(queries: Bits, gallery: Bits) -> npt.NDArray[np.int64]:
    counted: npt.NDArray[np.int64] = (queries[:, None] != gallery[None]).sum(axis=2)
    return counted


def test_codes_take_32_times_less_than_vectors_of_as_many_numbers() -> None:
    vectors = np.random.default_rng(1).normal(size=(300, 64)).astype(np.float32)
    codes = fit_hasher("itq", vectors).codes(vectors)
    index, whole = VectorIndex(metric="hamming"), VectorIndex(metric="cosine")
    index.add(range(300), codes)
    whole.add(range(300), vectors)
    assert 32 * index.index_bytes == vectors.nbytes
    rows = 300 * 8  # both engines keep the row at each position
    assert index.memory_bytes == index.index_bytes + rows
    assert 32 * (index.memory_bytes - rows) == whole.memory_bytes - rows
    assert index.vectors([7]).nbytes == 8
    assert (index.engine, index.metric, index.dimension, index.exact) == ("hamming", "hamming", 64, True)
    assert dict(index.settings) == {}


@pytest.mark.parametrize("bits", [1, 7, 8, 44, 64, 130])
def test_every_form_of_bits_is_the_same_index(bits: int) -> None:
    codes = bits_of(40, bits)
    codes[0, :] = True
    packed = np.packbits(codes, axis=1)
    forms: list[Any] = [
        codes,
        codes.astype(np.uint8),
        codes.astype(np.float32),
        2 * codes.astype(np.int8) - 1,
        np.where(codes, 1.0, -1.0),
        codes.astype(int).tolist(),
        packed,
        BinaryCodes.of(packed, packed=True, bits=bits),
    ]
    fingerprints, answers = set(), []
    for form in forms:
        index = VectorIndex(dimension=bits, metric="hamming")
        index.add(range(40), form)
        fingerprints.add(index.fingerprint())
        answers.append(index.search(form[:5] if not isinstance(form, BinaryCodes) else codes[:5], k=9))
        assert np.array_equal(index.vectors(range(40)), packed)
    assert fingerprints == {fingerprint_vectors(Ids(range(40)), packed)}
    for found in answers[1:]:
        assert [found.listed(row) for row in range(5)] == [answers[0].listed(row) for row in range(5)]


def test_the_dimension_is_that_of_the_first_codes() -> None:
    index = VectorIndex(engine="hamming")
    assert (index.metric, index.dimension) == ("hamming", None)
    index.add(["a"], [[1, -1, 1]])
    assert index.dimension == 3
    assert index.search([[-1, -1, 1]], k=1).listed(0) == [("a", -1.0)]


@pytest.mark.parametrize(
    ("codes", "kind", "words"),
    [
        ([[1, 0, -1], [1, 1, -1]], InputError, r"1 code holds other values than -1 and 1, first 'x'"),
        ([[0.3, -0.2, 0.1], [1, 1, -1]], InputError, r"(?s)other values.*fit_hasher"),
        ([[1, 1], [1, 0]], DimensionError, r"codes of 2 bits; 3 are needed"),
        ([[1, 1, 1]], InputError, r"2 ids for 1 code; give one id to each"),
        (np.array([[255], [0]], dtype=np.uint8), InputError, r"2? ?code.* bits set beyond the 3"),
        ([["a", "b", "c"], ["d", "e", "f"]], InputError, r"dtype"),
        ([[np.nan, 1, 1], [1, 1, 1]], InputError, r"NaN or infinity"),
    ],
)
def test_what_is_no_code_is_refused(codes: Any, kind: type[Exception], words: str) -> None:
    index = VectorIndex(dimension=3, metric="hamming")
    with pytest.raises(kind, match=words):
        index.add(["x", "y"], codes)
    assert len(index) == 0


def test_packed_codes_of_an_unknown_number_of_bits_are_refused_with_the_way_out() -> None:
    index = VectorIndex(metric="hamming")
    with pytest.raises(InputError, match=r"whose dimension, in bits, is stated"):
        index.add([1], np.array([[7, 9]], dtype=np.uint8))
    index.add([1], BinaryCodes.of(np.array([[7, 9]], dtype=np.uint8), packed=True))
    assert index.dimension == 16


def test_who_takes_which_metric() -> None:
    for name in set(engine_names()) - {"hamming"}:
        with pytest.raises(InputError, match=rf"got 'hamming'; engine '{name}' takes cosine, ip, l2"):
            create_engine(name, 8, "hamming")
    with pytest.raises(InputError, match=r"got 'cosine'; engine 'hamming' takes hamming"):
        VectorIndex(metric="cosine", engine="hamming")
    with pytest.raises(InputError, match=r"no such setting|there are none"):
        VectorIndex(metric="hamming", ef_search=3)


@pytest.mark.parametrize("bits", [6, 16, 44])
def test_recall_against_the_certified_truth_is_one(bits: int) -> None:
    gallery, queries = bits_of(500, bits), bits_of(60, bits, seed=1)
    index = filled(gallery)
    packed, asked = (np.packbits(part, axis=1) for part in (gallery, queries))
    truth = exact_neighbors(packed, asked, 20, "hamming", tie_cap=500)
    found = index.search(queries, k=20)
    for k in (1, 7, 20):
        for ties in ("exact", "ids"):  # both put the lowest rows first among equals
            recall = vs.neighbor_recall(found, truth, k, ties=ties, gallery_fingerprint=index.fingerprint())
            assert np.array_equal(recall, np.ones(60))
    assert np.array_equal(-found.scores.reshape(60, 20), truth.distances)
    truth.verify(metric=index.metric, gallery_ids=index.ids)


@pytest.mark.parametrize("places", [1, 700, 1 << 22])
def test_lists_are_in_order_at_every_depth_and_block(places: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hamming_ties, "_PLACES", places)
    gallery, queries = bits_of(300, 5), bits_of(9, 5, seed=2)
    rows = np.random.default_rng(3).permutation(9000)[:300]
    engine = HammingEngine(dimension=5, metric="hamming")
    engine.add(rows, np.packbits(gallery, axis=1))
    distances = apart(queries, gallery)
    order = np.lexsort((np.broadcast_to(rows, distances.shape), distances), axis=-1)
    for k in (1, 2, 40, 299, 300):
        found, scores = engine.search(np.packbits(queries, axis=1), k)
        assert np.array_equal(found, rows[order[:, :k]])
        assert np.array_equal(-scores, np.take_along_axis(distances, order[:, :k], axis=1))


def test_codes_that_are_all_one_come_in_the_order_they_were_added() -> None:
    index = filled(np.ones((1000, 16), dtype=np.bool_))
    index.remove(range(0, 1000, 2))
    assert index.search(np.ones((1, 16)), k=5).listed(0) == [(item, 0.0) for item in (1, 3, 5, 7, 9)]


def test_saved_and_opened(tmp_path: Path) -> None:
    gallery = bits_of(50, 44)
    index = filled(gallery)
    index.remove([3, 4])
    index.save(tmp_path / "codes")
    again = VectorIndex.open(tmp_path / "codes")
    assert (again.engine, again.metric, again.dimension, len(again)) == ("hamming", "hamming", 44, 48)
    assert again.fingerprint() == index.fingerprint()
    assert again.search(gallery[:9], k=12).listed(8) == index.search(gallery[:9], k=12).listed(8)
    again.add([3], index.vectors([5]))
    assert again.search(gallery[5:6], k=2).listed(0) == [(5, 0.0), (3, 0.0)]
    with pytest.raises(DimensionError, match=r"44 in the file"):
        VectorIndex(dimension=48, metric="hamming").load(tmp_path / "codes")
    with pytest.raises(InputError, match=r"(?s)metric: 'hamming' in the file"):
        VectorIndex(metric="cosine").load(tmp_path / "codes")
    with pytest.raises(DepthError, match=r"k: got 49"):
        index.search(gallery[:1], k=49)


@pytest.mark.parametrize(
    ("rows", "codes", "words"),
    [
        ([0, 1], [[128], [1]], "bits set beyond the 4"),
        ([0], [[128], [16]], "not of one count"),
        ([0, 1], [[128, 0], [16, 0]], "of shape"),
    ],
)
def test_a_file_that_contradicts_itself_is_refused(
    tmp_path: Path, rows: list[int], codes: list[list[int]], words: str
) -> None:
    path = tmp_path / "engine.parts"
    head = {"engine": "hamming", "metric": "hamming", "dimension": 4}
    write_parts(path, head, {"rows": np.array(rows), "codes": np.array(codes, dtype=np.uint8)})
    with pytest.raises(FileFormatError, match=words):
        HammingEngine.load(path, metric="hamming", settings={})


def test_the_search_service_searches_codes() -> None:
    gallery = bits_of(30, 12)
    gallery[[4, 9]] = gallery[2]
    index = filled(gallery)
    service = NearestNeighborSearch(index=index)
    distances = apart(gallery[2:3], gallery)[0]
    for query in (gallery[2], np.packbits(gallery[2]), BinaryCodes.of(gallery[2:3])):
        response = service.search(query, 2, k=30, exclude_self=True)
        assert [result.image_id for result in response][:2] == [4, 9]
        for result in response:
            assert repr(result.distance) == str(distances[result.image_id])  # a whole number
            assert result.distance == -result.score
    assert service.search_id(2, k=3).results[0].image_id == 4
    shown = service.search(gallery[2], "q", k=30, hide_near_duplicates=1.0)
    assert shown.results[0].image_id == 2
    assert shown.hidden == 30 - len(np.unique(gallery, axis=0))
    batch = service.search_batch(BinaryCodes.of(gallery), range(30), k=3, exclude="self")
    assert [item for item, _ in batch.listed(2)][:2] == [4, 9]
    with pytest.raises(InputError, match=r"must be one code; search_batch takes several"):
        service.search(BinaryCodes.of(gallery), "q")


def test_right_answers_from_codes_are_asked_for_by_a_distance() -> None:
    gallery = bits_of(30, 12)
    service = NearestNeighborSearch(index=filled(gallery))
    query = {"q": np.where(gallery[2], 1.0, -1.0)}
    made = create_pseudo_ground_truth(service, query, threshold=-3, k=30)
    within = np.flatnonzero(apart(gallery[2:3], gallery)[0] <= 3)
    assert sorted(made["queries"][0]["ground_truth"]) == within.tolist()
    with pytest.raises(InputError, match=r"hamming scores are minus distances, at most 0"):
        create_pseudo_ground_truth(service, query, threshold=0.8)


def test_images_are_not_indexed_as_codes(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"(?s)takes binary codes.*fit_hasher"):
        index_images(tmp_path, tmp_path / "index", embedder="histogram", engine="hamming")
    assert not (tmp_path / "index").exists()
