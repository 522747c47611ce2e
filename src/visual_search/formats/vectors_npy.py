"""NumPy's own file, ``.npy``: a header in words, then the array.

Read without unpickling, whatever the file asks for. The header's shape must fill the file to the byte.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError
from visual_search.formats.atomic import atomic_write
from visual_search.formats.npy_header import npy_header
from visual_search.formats.vector_file import VectorFile, blocks, check_dimension, check_type, file_size, native

__all__ = ["read_npy", "write_npy"]

AnyArray = npt.NDArray[Any]


def read_npy(path: Path, *, mmap: bool) -> VectorFile:
    """Read one matrix; see ``read_vectors``."""
    size = file_size(path)
    shape, fortran, dtype, offset = npy_header(path)
    check_type(path, dtype)
    if len(shape) != 2:
        one = "; a single vector is a matrix of one row: save vector[None, :]" if len(shape) == 1 else ""
        raise FileFormatError(f"{path}: an array of shape {shape}; vectors are of shape (n, d){one}")
    check_dimension(path, shape[1])
    expected = offset + math.prod(shape) * dtype.itemsize
    if size != expected:
        how = f"truncated by {expected - size:,}" if size < expected else f"{size - expected:,} too many"
        raise FileFormatError(
            f"{path}: the header says {shape[0]:,} x {shape[1]} {dtype}, which is {expected:,} bytes with the header, "
            f"but the file has {size:,} ({how}); it was not written whole, or its header was changed"
        )
    if not shape[0]:
        return VectorFile(path, "npy", np.empty(shape, dtype=dtype.newbyteorder("=")))
    order: Any = "F" if fortran else "C"
    view: AnyArray = np.memmap(path, dtype=dtype, mode="r", offset=offset, shape=shape, order=order)
    notes: tuple[str, ...] = ()
    if fortran and mmap:
        slow = (
            "the array is in Fortran order: a row lies scattered over the whole file, so reading by rows is slow; "
            "read it with mmap=False, or save np.ascontiguousarray(array)"
        )
        notes = (slow,)
    vectors, told = native(view)
    if not mmap or told:
        vectors, notes = np.array(vectors, order="C", subok=False), ()
    return VectorFile(path, "npy", vectors, notes=notes + told)


def write_npy(path: Path, vectors: AnyArray) -> None:
    """Write one matrix in C order, block by block, whole or not at all."""
    from numpy.lib import format as npy

    with atomic_write(path) as stream:
        header = {"descr": npy.dtype_to_descr(vectors.dtype), "fortran_order": False, "shape": vectors.shape}
        npy.write_array_header_1_0(stream, header)
        for block in blocks(vectors):
            stream.write(block.data)
