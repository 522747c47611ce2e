r"""The TEXMEX layouts ``fvecs``, ``bvecs`` and ``ivecs``.

Each row is its dimension, a little-endian int32, then its components: float32, uint8 or int32. There is no header
and no count, so that a file is checked by its size and by the dimension that stands in **every** row.

References
----------
TEXMEX corpus, http://corpus-texmex.irisa.fr, section "File format".
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError, InputError
from visual_search.formats.atomic import atomic_write
from visual_search.formats.vector_file import VectorFile, blocks, check_dimension, file_size, native

__all__ = ["VECS_TYPES", "read_vecs", "write_vecs"]

AnyArray = npt.NDArray[Any]

VECS_TYPES = {"fvecs": "float32", "bvecs": "uint8", "ivecs": "int32"}
_BLOCK_ROWS = 1 << 16
_SHOWN = 5
_WALKED = 1 << 20


def read_vecs(path: Path, format_name: str, *, mmap: bool) -> VectorFile:
    """Read one of the three; see ``read_vectors``. A map is a strided view that leaves the dimensions out."""
    size = file_size(path)
    dtype = np.dtype(VECS_TYPES[format_name]).newbyteorder("<")
    if size < 4:
        raise FileFormatError(f"{path}: {size} bytes; the dimension of the first row alone takes 4")
    dimension = int(np.fromfile(path, dtype="<i4", count=1)[0])
    check_dimension(path, dimension, what="row 0 has dimension")
    row_bytes = 4 + dimension * dtype.itemsize
    whole = size // row_bytes
    rows: AnyArray = np.memmap(path, dtype=np.uint8, mode="r", shape=(whole, row_bytes)) if whole else np.empty(0)
    first = _first_uneven(rows, dimension) if whole else None
    if first is not None:
        raise FileFormatError(_uneven_words(path, dimension, first, first * row_bytes, dtype.itemsize))
    if size != whole * row_bytes:
        raise FileFormatError(
            f"{path}: truncated, or with something behind its end: rows of dimension {dimension} take "
            f"{row_bytes:,} bytes each, and after {whole:,} whole rows {size - whole * row_bytes:,} bytes are left; "
            "fetch or write the file again"
        )
    vectors, notes = native(rows[:, 4:].view(dtype))
    if not mmap:
        vectors = np.array(vectors, order="C", subok=False)
    return VectorFile(path, format_name, vectors, notes=notes)


def _first_uneven(rows: AnyArray, dimension: int) -> int | None:
    for start in range(0, len(rows), _BLOCK_ROWS):
        block = np.ascontiguousarray(rows[start : start + _BLOCK_ROWS, :4]).view("<i4")[:, 0]
        wrong = np.flatnonzero(block != dimension)
        if wrong.size:
            return start + int(wrong[0])
    return None


def _uneven_words(path: Path, dimension: int, row: int, offset: int, item_bytes: int) -> str:
    """Walk from the first row of another dimension by the dimensions the rows themselves give."""
    size, found = path.stat().st_size, []
    with path.open("rb") as stream:
        for number in range(row, row + _WALKED):
            stream.seek(offset)
            there = int.from_bytes(stream.read(4), "little", signed=True)
            offset += 4 + there * item_bytes
            if there != dimension:
                found.append(f"row {number} has {there}")
            if len(found) == _SHOWN or there < 1 or offset + 4 > size:
                break
    return (
        f"{path}: rows of different dimension: row 0 has {dimension}, but {', '.join(found)}; all rows must have one "
        "dimension: the file is of another type (fvecs, bvecs and ivecs differ in the component's bytes), or damaged"
    )


def write_vecs(path: Path, vectors: AnyArray, format_name: str) -> None:
    """Write one of the three, block by block, whole or not at all."""
    if not len(vectors):
        raise InputError(
            f"array: no rows; {format_name} keeps the dimension in the rows, so an empty file has none"
        )
    dtype = np.dtype(VECS_TYPES[format_name]).newbyteorder("<")
    dimension = vectors.shape[1]
    with atomic_write(path) as stream:
        for block in blocks(vectors):
            rows = np.empty((len(block), 4 + dimension * dtype.itemsize), dtype=np.uint8)
            rows[:, :4] = np.frombuffer(np.int32(dimension).astype("<i4").tobytes(), dtype=np.uint8)
            rows[:, 4:] = block.astype(dtype, copy=False).view(np.uint8).reshape(len(block), -1)
            stream.write(rows.data)
