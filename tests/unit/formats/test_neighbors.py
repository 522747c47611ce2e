from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.errors import DepthError, FileFormatError, InputError, UnknownIdError
from visual_search.formats.neighbors import read_neighbors, write_neighbors
from visual_search.formats.vectors import read_vectors
from visual_search.formats.vectors_hdf5 import write_hdf5
from visual_search.ids import Ids

ROWS = np.array([[4, 1, 0], [2, 3, 4]])
DISTANCES = np.array([[0.0, 0.5, 2.0], [1.0, 1.0, 1.5]], dtype=np.float32)


def refused(path: Path, **options: Any) -> str:
    with pytest.raises(FileFormatError) as caught:
        read_neighbors(path, **options)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_every_layout_comes_back(tmp_path: Path) -> None:
    for name in ("a.ivecs", "a.ibin", "a.npy"):
        write_neighbors(tmp_path / name, ROWS)
        read = read_neighbors(tmp_path / name, gallery=5)
        assert read.positions.dtype == np.int64
        assert np.array_equal(read.positions, ROWS)
        assert (read.distances, read.metric, read.notes, len(read), read.depth) == (None, None, (), 2, 3)
    write_neighbors(tmp_path / "b.ibin", ROWS, DISTANCES)
    read = read_neighbors(tmp_path / "b.ibin")
    assert np.array_equal(read.positions, ROWS)
    assert np.array_equal(read.distances, DISTANCES)  # type: ignore[arg-type]
    gallery = np.eye(5, dtype=np.float32)
    write_hdf5(
        tmp_path / "c.hdf5", train=gallery, test=gallery[:2], neighbors=ROWS, distances=DISTANCES, metric="cosine"
    )
    read = read_neighbors(tmp_path / "c.hdf5", k=2)
    assert np.array_equal(read.positions, ROWS[:, :2])
    assert np.array_equal(read.distances, DISTANCES[:, :2])  # type: ignore[arg-type]
    assert read.metric == "cosine"


def test_a_truth_is_not_taken_for_vectors(tmp_path: Path) -> None:
    write_neighbors(tmp_path / "b.ibin", ROWS, DISTANCES)
    with pytest.raises(FileFormatError, match="read it with read_neighbors"):
        read_vectors(tmp_path / "b.ibin")


def test_a_depth_that_is_not_there(tmp_path: Path) -> None:
    write_neighbors(tmp_path / "a.ivecs", ROWS)
    with pytest.raises(DepthError, match=r"has the 3 nearest.*recall@100.*could not exceed 0\.03"):
        read_neighbors(tmp_path / "a.ivecs", k=100)
    for k in (0, True, 1.5):
        with pytest.raises(InputError, match="k: got"):
            read_neighbors(tmp_path / "a.ivecs", k=k)  # type: ignore[arg-type]


def test_ids_that_are_not_rows(tmp_path: Path) -> None:
    write_neighbors(tmp_path / "a.ivecs", ROWS * 100 + 7)
    with pytest.raises(InputError, match=r"5 ids are no rows of a gallery of 5: 7, 107.*give gallery=Ids"):
        read_neighbors(tmp_path / "a.ivecs", gallery=5)
    ids = Ids([407, 307, 207, 107, 7])
    assert read_neighbors(tmp_path / "a.ivecs", gallery=ids).positions.tolist() == [[0, 3, 4], [2, 1, 0]]
    with pytest.raises(UnknownIdError, match="does not have"):
        read_neighbors(tmp_path / "a.ivecs", gallery=Ids([407, 307, 207, 107, 8]))
    with pytest.raises(UnknownIdError, match="does not have"):
        read_neighbors(tmp_path / "a.ivecs", gallery=Ids(["a", "b"]))


def test_short_lists_are_kept_and_told(tmp_path: Path) -> None:
    rows = ROWS.copy()
    rows[0, 1:] = -1
    write_neighbors(tmp_path / "a.ibin", rows, np.where(rows < 0, np.inf, DISTANCES).astype(np.float32))
    read = read_neighbors(tmp_path / "a.ibin", gallery=Ids([4, 3, 2, 1, 0]))
    assert read.positions.tolist() == [[0, -1, -1], [2, 1, 0]]
    assert read.notes == ("1 of 2 queries have fewer than 3 neighbours",)


@pytest.mark.parametrize(
    ("place", "value", "words"),
    [
        ((1, 0), -1, "negative ids in 1 lists, first: 1"),
        ((0, 2), -2, "negative ids in 1 lists, first: 0"),
        ((0, 1), 4, "the same id twice in 1 lists, first: 0"),
    ],
)
def test_lists_that_cannot_be(place: tuple[int, int], value: int, words: str, tmp_path: Path) -> None:
    rows = ROWS.copy()
    rows[place] = value
    write_neighbors(tmp_path / "a.ivecs", rows)
    assert words in refused(tmp_path / "a.ivecs")


@pytest.mark.parametrize(
    ("distances", "words"),
    [
        ([[0, 2, 1], [1, 1, 2]], "rise and fall within 1 lists, first: 0"),
        ([[0, 1, 2], [3, 2, 1]], "rise in some lists and fall in others"),
        ([[0, np.nan, 2], [1, 2, 3]], "not finite in 1 lists, first: 0"),
    ],
)
def test_distances_that_cannot_be(distances: Any, words: str, tmp_path: Path) -> None:
    write_neighbors(tmp_path / "a.ibin", ROWS, np.array(distances, dtype=np.float32))
    assert words in refused(tmp_path / "a.ibin")


def test_falling_distances_are_told(tmp_path: Path) -> None:
    write_neighbors(tmp_path / "a.ibin", ROWS, -DISTANCES)
    assert "similarities" in read_neighbors(tmp_path / "a.ibin").notes[0]


def test_sizes_and_kinds(tmp_path: Path) -> None:
    path = tmp_path / "a.ibin"
    write_neighbors(path, ROWS, DISTANCES)
    path.write_bytes(path.read_bytes()[:-4])
    assert "32 bytes without distances or 56 with them, but the file has 52" in refused(path)
    # Range search: 2 queries, 3 results in all, counts, ids, distances.
    head = np.array([2, 3, 1, 2, 0, 1, 2], dtype="<i4").tobytes()
    path.write_bytes(head + np.zeros(3, dtype="<f4").tobytes())
    assert "range search (2 queries, 3 results" in refused(path)
    np.save(tmp_path / "a.npy", ROWS + 0.5)
    assert "whole numbers" in refused(tmp_path / "a.npy")
    with pytest.raises(InputError, match="fbin holds no neighbours"):
        read_neighbors(tmp_path / "a.fbin")


def test_what_cannot_be_written(tmp_path: Path) -> None:
    for options, words in (
        ({"positions": ROWS + 2**31}, "beyond int32"),
        ({"positions": ROWS + 0.5}, "whole numbers"),
        ({"positions": ROWS, "distances": DISTANCES[:1]}, "floats of shape"),
        ({"positions": ROWS, "distances": DISTANCES, "format": "ivecs"}, "would be lost"),
        ({"positions": ROWS, "format": "parquet"}, "ivecs, ibin or npy"),
    ):
        with pytest.raises(InputError, match=words):
            write_neighbors(tmp_path / "a.ibin", **options)
    assert list(tmp_path.iterdir()) == []
