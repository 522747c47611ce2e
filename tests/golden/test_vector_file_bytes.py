"""Each layout's bytes, written out by hand from its description.

TEXMEX corpus, section "File format" (fvecs, bvecs, ivecs); the billion-scale benchmarks' description (a header of
uint32 rows and dimension; ground truth: all ids, then all distances); NumPy's own description of npy version 1.0.
"""

from pathlib import Path

import numpy as np
import pytest

from visual_search.formats.neighbors import read_neighbors, write_neighbors
from visual_search.formats.vectors import read_vectors, write_vectors

VALUES = [[1, 2], [3, 5]]
FLOAT = {1: "0000803f", 2: "00000040", 3: "00004040", 5: "0000a040"}
HALF = {1: "003c", 2: "0040", 3: "0042", 5: "0045"}
BYTES = {
    "fvecs": ("float32", f"02000000 {FLOAT[1]} {FLOAT[2]} 02000000 {FLOAT[3]} {FLOAT[5]}"),
    "bvecs": ("uint8", "02000000 0102 02000000 0305"),
    "ivecs": ("int32", "02000000 01000000 02000000 02000000 03000000 05000000"),
    "fbin": ("float32", f"02000000 02000000 {FLOAT[1]} {FLOAT[2]} {FLOAT[3]} {FLOAT[5]}"),
    "ibin": ("int32", "02000000 02000000 01000000 02000000 03000000 05000000"),
    "u8bin": ("uint8", "02000000 02000000 01020305"),
    "i8bin": ("int8", "02000000 02000000 01020305"),
    "f16bin": ("float16", f"02000000 02000000 {HALF[1]} {HALF[2]} {HALF[3]} {HALF[5]}"),
}


@pytest.mark.parametrize("name", BYTES)
def test_bytes_of_the_layout(name: str, tmp_path: Path) -> None:
    dtype, digits = BYTES[name]
    path = tmp_path / f"two.{name}"
    write_vectors(path, np.array(VALUES, dtype=dtype))
    assert path.read_bytes() == bytes.fromhex(digits)
    read = read_vectors(path)
    assert read.dtype == np.dtype(dtype)
    assert read.vectors.tolist() == VALUES


def test_bytes_of_an_npy_file(tmp_path: Path) -> None:
    path = tmp_path / "two.npy"
    header = b"{'descr': '<i4', 'fortran_order': False, 'shape': (2, 2), }"
    header += b" " * (118 - len(header) - 1) + b"\n"
    whole = b"\x93NUMPY\x01\x00" + (118).to_bytes(2, "little") + header + bytes.fromhex(BYTES["ibin"][1])[8:]
    path.write_bytes(whole)
    assert read_vectors(path).vectors.tolist() == VALUES
    write_vectors(path, np.array(VALUES, dtype=np.int32))
    assert path.read_bytes() == whole


def test_bytes_of_neighbours_with_distances(tmp_path: Path) -> None:
    path = tmp_path / "truth.ibin"
    ids = "02000000 01000000 07000000 09000000"
    path.write_bytes(bytes.fromhex(f"{ids} {FLOAT[3]} {FLOAT[5]}"))
    truth = read_neighbors(path)
    assert truth.positions.tolist() == [[7], [9]]
    assert truth.distances is not None
    assert truth.distances.tolist() == [[3.0], [5.0]]
    again = tmp_path / "again.ibin"
    write_neighbors(again, truth.positions, truth.distances)
    assert again.read_bytes() == path.read_bytes()
