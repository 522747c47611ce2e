"""Bytes behind the end of a file, or before its begin, are told and never passed over."""

import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search import ExactNeighbors, exact_neighbors
from visual_search.errors import FileFormatError
from visual_search.formats.neighbors import read_neighbors, write_neighbors
from visual_search.formats.vectors import VECTOR_FORMATS, read_vectors, write_vectors

TYPES = {"bvecs": "u1", "ivecs": "i4", "ibin": "i4", "u8bin": "u1", "i8bin": "i1", "f16bin": "f2"}


@pytest.mark.parametrize("extra", [b"\0", b"left behind " * 40])
@pytest.mark.parametrize("mmap", [True, False])
@pytest.mark.parametrize("name", VECTOR_FORMATS)
def test_no_format_of_vectors_takes_more_than_its_own_bytes(
    name: str, mmap: bool, extra: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "vectors"
    write_vectors(path, np.arange(40).reshape(4, 10).astype(TYPES.get(name, "f4")), format=name)
    read_vectors(path, format=name, mmap=mmap)
    with path.open("ab") as stream:
        stream.write(extra)
    with pytest.raises(FileFormatError, match=r"vectors: "):
        read_vectors(path, format=name, mmap=mmap)


@pytest.mark.parametrize("name", ["ivecs", "ibin", "npy"])
def test_no_file_of_neighbours_does(name: str, tmp_path: Path) -> None:
    path = tmp_path / "neighbors"
    distances = np.array([[0.5, 0.75]]) if name == "ibin" else None
    write_neighbors(path, [[1, 0]], distances, format=name)
    path.write_bytes(path.read_bytes() + b"\0")
    with pytest.raises(FileFormatError, match="neighbors: "):
        read_neighbors(path, format=name)


@pytest.mark.parametrize(
    "made",
    [
        {},
        {"libver": "latest"},
        {"userblock_size": 1024},
        {"libver": "latest", "userblock_size": 512},
        {"fs_strategy": "page", "fs_page_size": 4096},
    ],
)
def test_every_layout_of_hdf5_is_taken_and_tells_its_end(made: dict[str, Any], tmp_path: Path) -> None:
    import h5py

    path = tmp_path / "a.hdf5"
    with h5py.File(path, "w", **made) as file:
        file["train"] = np.eye(100, dtype=np.float32)
        file["gone"] = np.eye(50)
        file.create_dataset("packed", data=np.eye(90), chunks=(7, 7), compression="gzip")
    with h5py.File(path, "a") as file:
        del file["gone"]
    for dataset in ("train", "packed"):
        assert np.array_equal(
            np.diag(read_vectors(path, dataset=dataset).vectors), np.ones(100)[: 90 if dataset == "packed" else 100]
        )
    path.write_bytes(path.read_bytes() + b"left behind")
    with pytest.raises(FileFormatError, match=r"11 too many\); something was put behind it"):
        read_vectors(path)


@pytest.fixture
def truth(tmp_path: Path) -> Path:
    path = tmp_path / "t.npz"
    exact_neighbors(np.eye(4), np.eye(4)[:2], 2).save(path)
    return path


def test_a_truth_fills_its_file(truth: Path) -> None:
    whole = truth.read_bytes()
    cases = {
        "1 byte behind its end": whole + b"\0",
        "11 bytes behind its end": whole + b"left behind",
        "5 bytes before its begin": b"#!sh\n" + whole,
        f"{len(whole):,} bytes before its begin": whole + whole,
        "5 bytes before its begin and 3 bytes behind its end": b"#!sh\n" + whole + b"end",
        "with much behind its end": whole + b"x" * 70_000,
        "no manifest.json inside": whole + b"PK\x05\x06" + bytes(18),
    }
    for words, content in cases.items():
        truth.write_bytes(content)
        with pytest.raises(FileFormatError, match=words) as found:
            ExactNeighbors.load(truth)
        assert str(truth) in str(found.value)
    truth.write_bytes(whole)
    assert len(ExactNeighbors.load(truth)) == 2


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_truth_has_its_own_members_and_each_once(truth: Path) -> None:
    with zipfile.ZipFile(truth, "a") as archive:
        archive.writestr("positions.npy", archive.read("positions.npy"))
        archive.writestr("notes.txt", "mine")
    with pytest.raises(FileFormatError, match="2 problems") as found:
        ExactNeighbors.load(truth)
    assert "1 name more than once: 'positions.npy'" in str(found.value)
    assert "1 member that no truth of this version has: 'notes.txt'" in str(found.value)
