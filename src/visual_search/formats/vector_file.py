"""What a file of vectors holds once it is read, and the checks that all formats share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError, InputError
from visual_search.ids import Ids

__all__ = [
    "LARGEST_DIMENSION",
    "VectorFile",
    "blocks",
    "check_dimension",
    "check_type",
    "file_size",
    "mapped",
    "native",
    "writable_matrix",
]

AnyArray: TypeAlias = npt.NDArray[Any]

#: No embedding, code or neighbour list is longer; a larger number in a header means another format or byte order.
LARGEST_DIMENSION = 1 << 20
_BLOCK_BYTES = 1 << 24
# What a vector may be made of.
_TYPES = ("float16", "float32", "float64", *(f"{sign}int{bits}" for bits in (8, 16, 32, 64) for sign in ("", "u")))


@dataclass(frozen=True, slots=True, eq=False)
class VectorFile:
    """Vectors of a file, with what the file says of them.

    Parameters
    ----------
    path : Path
    format : str
        Name of the format, as ``"fvecs"``.
    vectors : array or memmap of shape (n, d)
        In the machine's byte order; read-only where it is a map of the file.
    ids : Ids or None
        Ids of the rows; None where the file has none, and the row number is all there is.
    metric : "cosine", "ip", "l2", "hamming", "jaccard" or None
        What the file says its vectors are compared by; None where it says nothing.
    notes : tuple of str
        What one should know about how the vectors came out of this file.
    """

    path: Path
    format: str
    vectors: AnyArray
    ids: Ids | None = None
    metric: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def shape(self) -> tuple[int, int]:
        """(n, d)."""
        rows, dimension = self.vectors.shape
        return rows, dimension

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of a component."""
        return self.vectors.dtype

    @property
    def mapped(self) -> bool:
        """Whether the vectors stay on disk until they are touched."""
        return isinstance(self.vectors, np.memmap)

    def __len__(self) -> int:
        return len(self.vectors)


def file_size(path: Path) -> int:
    """Bytes of a file that must be there and not be empty."""
    if not path.is_file():
        raise FileFormatError(f"{path}: no such file; give the path of a file of vectors")
    size = path.stat().st_size
    if not size:
        raise FileFormatError(f"{path}: an empty file (0 bytes); it holds no vectors, not even a header")
    return size


def check_dimension(path: Path, dimension: int, *, what: str = "dimension") -> None:
    """Refuse a dimension that no vector has."""
    if not 1 <= dimension <= LARGEST_DIMENSION:
        swapped = int(np.int32(np.uint32(dimension & 0xFFFFFFFF)).byteswap())
        big = f" (read as big-endian it would be {swapped})" if 1 <= swapped <= LARGEST_DIMENSION else ""
        raise FileFormatError(
            f"{path}: {what} {dimension} in the header{big}; it must lie in 1..{LARGEST_DIMENSION:,}, little-endian; "
            "the file is of another format, of another byte order, or damaged"
        )


def check_type(path: Path, dtype: np.dtype[Any]) -> None:
    """Refuse what is no vector's component: objects, records, text, complex and truth values."""
    if dtype.hasobject:
        raise FileFormatError(
            f"{path}: dtype object, which would have to be unpickled, and unpickling runs code that is in the file; "
            "save a numeric array of shape (n, d), with ids in a file of their own"
        )
    if dtype.name not in _TYPES:
        raise FileFormatError(f"{path}: dtype {dtype}; vectors are one of {', '.join(_TYPES)}")


def native(vectors: AnyArray) -> tuple[AnyArray, tuple[str, ...]]:
    """The vectors in the machine's byte order, and the note that says so where they had to be copied."""
    if vectors.dtype.isnative:
        return vectors, ()
    swapped = np.asarray(vectors).astype(vectors.dtype.newbyteorder("="))
    return swapped, (
        f"the file is in the other byte order ({vectors.dtype.str}); the vectors were copied to memory",
    )


def mapped(path: Path, dtype: np.dtype[Any], shape: tuple[int, int], *, offset: int, mmap: bool) -> AnyArray:
    """A block of a file as a read-only map, or read whole; no rows give an empty array, which cannot be mapped."""
    if not shape[0]:
        return np.empty(shape, dtype=dtype)
    view: AnyArray = np.memmap(path, dtype=dtype, mode="r", offset=offset, shape=shape)
    return view if mmap else np.array(view)


def blocks(vectors: AnyArray) -> Iterator[AnyArray]:
    """The rows in C-contiguous blocks of about 16 MiB."""
    step = max(1, _BLOCK_BYTES // max(1, vectors.shape[1] * vectors.dtype.itemsize))
    for start in range(0, len(vectors), step):
        yield np.ascontiguousarray(vectors[start : start + step])


def writable_matrix(array: Any, *, dtype: str | None, format_name: str) -> AnyArray:
    """An array as it goes into a file: two dimensions, a vector's type, and that of the format.

    Raises
    ------
    InputError
        All that is wrong with it. Types are not converted: rounding is the caller's to decide.
    """
    values: AnyArray = np.asanyarray(array)
    wrong = []
    if values.ndim != 2 or not 1 <= values.shape[-1] <= LARGEST_DIMENSION:
        wrong.append(f"shape {values.shape}; it must be (n, d) with d in 1..{LARGEST_DIMENSION:,}")
    if values.dtype.name not in _TYPES or values.dtype.hasobject:
        wrong.append(f"dtype {values.dtype}; it must be one of {', '.join(_TYPES)}")
    elif dtype is not None and values.dtype.newbyteorder("=") != np.dtype(dtype):
        wrong.append(
            f"dtype {values.dtype}, but {format_name} holds {dtype}; convert first: array.astype(np.{dtype}), "
            "where no value changes that you need"
        )
    if wrong:
        raise InputError("array: " + "; ".join(wrong))
    return values
