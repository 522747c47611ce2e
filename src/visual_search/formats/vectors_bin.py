r"""The billion-scale benchmarks' layouts ``fbin``, ``ibin``, ``u8bin``, ``i8bin`` and ``f16bin``.

A header of two little-endian uint32, n and d, then n x d components. The file must be 8 + n d b bytes to the byte,
b the component's: a crop of a larger file that kept the larger one's header is refused.

References
----------
H. Simhadri et al., "Results of the NeurIPS'21 Challenge on Billion-Scale Approximate Nearest Neighbor Search", 2022;
file formats in the benchmark's description, https://big-ann-benchmarks.com/neurips21.html.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError
from visual_search.formats.atomic import atomic_write
from visual_search.formats.vector_file import VectorFile, blocks, check_dimension, file_size, mapped, native

__all__ = ["BIN_TYPES", "HEADER_BYTES", "bin_header", "read_bin", "write_bin"]

AnyArray = npt.NDArray[Any]

BIN_TYPES = {"fbin": "float32", "ibin": "int32", "u8bin": "uint8", "i8bin": "int8", "f16bin": "float16"}
HEADER_BYTES = 8


def bin_header(path: Path) -> tuple[int, int, int]:
    """Rows, dimension, and bytes of the whole file."""
    size = file_size(path)
    if size < HEADER_BYTES:
        raise FileFormatError(f"{path}: {size} bytes; the header alone (rows, dimension) takes {HEADER_BYTES}")
    rows, dimension = (int(number) for number in np.fromfile(path, dtype="<u4", count=2))
    check_dimension(path, dimension)
    return rows, dimension, size


def read_bin(path: Path, format_name: str, *, mmap: bool) -> VectorFile:
    """Read one of the five; see ``read_vectors``."""
    rows, dimension, size = bin_header(path)
    dtype = np.dtype(BIN_TYPES[format_name]).newbyteorder("<")
    expected = HEADER_BYTES + rows * dimension * dtype.itemsize
    if size != expected:
        raise FileFormatError(_size_words(path, format_name, (rows, dimension), expected, size))
    vectors, notes = native(mapped(path, dtype, (rows, dimension), offset=HEADER_BYTES, mmap=mmap))
    return VectorFile(path, format_name, vectors, notes=notes)


def _size_words(path: Path, format_name: str, shape: tuple[int, int], expected: int, size: int) -> str:
    rows, dimension = shape
    how = f"truncated by {expected - size:,}" if size < expected else f"{size - expected:,} too many"
    words = (
        f"{path}: the header says {rows:,} x {dimension} {BIN_TYPES[format_name]}, which is {expected:,} bytes with "
        f"the header, but the file has {size:,} ({how})"
    )
    if format_name == "ibin" and size == HEADER_BYTES + 8 * rows * dimension:
        return words + "; that is the size of neighbours with their distances: read it with read_neighbors"
    if rows > (1 << 31) - 1:
        words += f"; rows read as signed would be {rows - (1 << 32)}"
    fitting = [
        name
        for name, kind in BIN_TYPES.items()
        if size == HEADER_BYTES + rows * dimension * np.dtype(kind).itemsize
    ]
    if fitting:
        return words + f"; the size fits format={fitting[0]!r}"
    held = (size - HEADER_BYTES) // (dimension * np.dtype(BIN_TYPES[format_name]).itemsize)
    return words + (
        f"; it has room for {held:,} rows: a crop that kept the larger file's header, or a download that broke off"
    )


def write_bin(path: Path, vectors: AnyArray, format_name: str) -> None:
    """Write one of the five, block by block, whole or not at all."""
    dtype = np.dtype(BIN_TYPES[format_name]).newbyteorder("<")
    with atomic_write(path) as stream:
        stream.write(np.array(vectors.shape, dtype="<u4").tobytes())
        for block in blocks(vectors):
            stream.write(block.astype(dtype, copy=False).data)
