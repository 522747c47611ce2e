from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from visual_search.errors import DimensionError, FingerprintError, InputError
from visual_search.formats.neighbors import NeighborFile
from visual_search.ground_truth.distance_meaning import distance_meaning
from visual_search.ground_truth.distance_readings import farness, pair_readings

Array = npt.NDArray[Any]
K = 20


def vectors(count: int, seed: int, *, unit: bool = False) -> Array:
    made = np.random.default_rng(seed).normal(size=(count, 16)) * np.random.default_rng(9).uniform(0.2, 3, 16)
    made *= np.random.default_rng(seed).lognormal(size=(count, 1))
    if unit:
        made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made.astype(np.float32)


def truth_of(
    gallery: Array, queries: Array, metric: str, reading: str | None = None, said: str | None = None
) -> NeighborFile:
    pairs = pair_readings(queries[:, None], gallery[None])
    far = farness(metric, pairs)
    nearest = np.argsort(far, axis=1, kind="stable")[:, :K]
    distances = None
    if reading is not None:
        values, _ = pairs.all()[metric, reading]
        distances = np.take_along_axis(values, nearest, axis=1).astype(np.float32)
    return NeighborFile(Path("truth.hdf5"), "hdf5", nearest, distances, said)


GALLERY, QUERIES = vectors(500, 1), vectors(40, 2)
READINGS = [
    reading for reading in pair_readings(GALLERY[:1], GALLERY[1:2]).all() if reading[0] in {"l2", "cosine", "ip"}
]


@pytest.mark.parametrize(("metric", "reading"), READINGS)
def test_every_meaning_has_its_name(metric: str, reading: str) -> None:
    found = distance_meaning(truth_of(GALLERY, QUERIES, metric, reading), GALLERY, QUERIES)
    assert (found.metric, found.meaning, found.also) == (metric, reading, ())
    assert found.pairs == 40 * 10
    assert found.rivals > 40 * 400
    assert found.largest_error <= 1e-4


def test_bits_and_sets() -> None:
    rng = np.random.default_rng(3)
    packed, asked = rng.integers(0, 256, (300, 8), dtype=np.uint8), rng.integers(0, 256, (10, 8), dtype=np.uint8)
    for reading in ("number of differing bits", "share of differing bits"):
        found = distance_meaning(truth_of(packed, asked, "hamming", reading), packed, asked)
        assert (found.metric, found.meaning) == ("hamming", reading)
        loose, loose_asked = np.unpackbits(packed, axis=1), np.unpackbits(asked, axis=1)
        found = distance_meaning(truth_of(packed, asked, "hamming", reading), loose, loose_asked, metric="hamming")
        assert found.meaning == reading
    found = distance_meaning(truth_of(loose, loose_asked, "jaccard", "1 - shared / all"), loose, loose_asked)
    assert found.metric == "jaccard"


def test_distances_that_changed_their_meaning_between_versions() -> None:
    # The same lists: one version wrote plain distances, another squared ones, and both call it euclidean.
    for reading in ("plain distance", "squared distance"):
        found = distance_meaning(truth_of(GALLERY, QUERIES, "l2", reading, "l2"), GALLERY, QUERIES, metric="l2")
        assert found.meaning == reading
    for reading in ("1 - cosine", "cosine similarity", "plain distance of unit vectors"):
        found = distance_meaning(truth_of(GALLERY, QUERIES, "cosine", reading, "cosine"), GALLERY, QUERIES)
        assert found.meaning == reading


@pytest.mark.parametrize("reading", [None, "1 - cosine"])
def test_angular_truth_is_not_scored_with_inner_product(reading: str | None) -> None:
    truth = truth_of(GALLERY, QUERIES, "cosine", reading, "cosine")
    with pytest.raises(FingerprintError, match=r"'ip', but truth.hdf5 was made for 'cosine'.*not of unit length"):
        distance_meaning(truth, GALLERY, QUERIES, metric="ip")
    nameless = truth_of(GALLERY, QUERIES, "cosine", reading)
    with pytest.raises(FingerprintError, match="has distances of 'cosine'" if reading else "leave out rows"):
        distance_meaning(nameless, GALLERY, QUERIES, metric="ip")


def test_on_unit_vectors_three_metrics_have_one_order() -> None:
    gallery, queries = vectors(500, 1, unit=True), vectors(40, 2, unit=True)
    truth = truth_of(gallery, queries, "cosine", "1 - cosine", "cosine")
    found = distance_meaning(truth, gallery, queries)
    assert (found.metric, found.meaning) == ("cosine", "1 - cosine")
    assert "1 - inner product (ip)" in found.also
    for metric in ("ip", "l2"):
        assert distance_meaning(truth, gallery, queries, metric=metric).metric == metric
    with pytest.raises(FingerprintError, match="'hamming'"):
        distance_meaning(truth, gallery, queries, metric="hamming")


def test_cancellation_of_the_maker_is_not_held_against_it() -> None:
    gallery, queries = vectors(300, 1) + np.float32(100), vectors(20, 2) + np.float32(100)
    gallery[:20] = queries + np.float32(1e-3)
    truth = truth_of(gallery, queries, "l2", "squared distance")
    norms = np.square(gallery).sum(axis=1), np.square(queries).sum(axis=1)
    lossy = np.take_along_axis(
        np.maximum(norms[1][:, None] - 2 * queries @ gallery.T + norms[0], 0), truth.positions, axis=1
    )
    assert not np.allclose(lossy[:, 0], truth.distances[:, 0], rtol=0.1)  # type: ignore[index]
    again = NeighborFile(truth.path, "hdf5", truth.positions, lossy.astype(np.float32))
    assert distance_meaning(again, gallery, queries).meaning == "squared distance"


def test_other_vectors_than_the_truths() -> None:
    for reading in (None, "squared distance"):
        truth = truth_of(GALLERY, QUERIES, "l2", reading, "l2")
        for gallery, queries in ((GALLERY[::-1], QUERIES), (GALLERY, QUERIES[::-1]), (vectors(500, 5), QUERIES)):
            with pytest.raises(FingerprintError, match=r"truth\.hdf5"):
                distance_meaning(truth, gallery, queries)


def test_a_truth_of_a_part_of_the_gallery() -> None:
    truth = truth_of(GALLERY[:100], QUERIES, "l2", "plain distance")
    with pytest.raises(FingerprintError, match="a part of the gallery"):
        distance_meaning(truth, GALLERY, QUERIES)


def test_short_lists_are_read_as_filtered() -> None:
    truth = truth_of(GALLERY, QUERIES, "l2", "plain distance")
    assert truth.distances is not None
    truth.positions[:, K // 2 :] = -1
    truth.distances[:, K // 2 :] = np.inf
    found = distance_meaning(truth, GALLERY, QUERIES)
    assert (found.meaning, found.rivals) == ("plain distance", 0)


def test_shapes_and_names() -> None:
    truth = truth_of(GALLERY, QUERIES, "l2")
    with pytest.raises(InputError, match="names none and has no distances"):
        distance_meaning(truth, GALLERY, QUERIES)
    with pytest.raises(InputError, match="metric: got 'l1'"):
        distance_meaning(truth, GALLERY, QUERIES, metric="l1")
    with pytest.raises(DimensionError, match="d the same"):
        distance_meaning(truth, GALLERY[:, :5], QUERIES, metric="l2")
    with pytest.raises(FingerprintError, match="40 queries, and 39"):
        distance_meaning(truth, GALLERY, QUERIES[:-1], metric="l2")
    with pytest.raises(FingerprintError, match="300 gallery rows"):
        distance_meaning(truth, GALLERY[:300], QUERIES, metric="l2")
