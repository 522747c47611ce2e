"""The header of NumPy's own file, ``.npy``, read so that whatever stands there is told and never an accident."""

from __future__ import annotations

import math
import os
from pathlib import Path
from tokenize import TokenError
from typing import Any

import numpy as np

from visual_search.errors import FileFormatError

__all__ = ["check_whole_npy", "npy_header"]

_MAGIC = b"\x93NUMPY"


def npy_header(path: Path) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    """Shape, whether in Fortran order, type, and where the array begins.

    Raises
    ------
    FileFormatError
        A header that is cut off, is no header, or is of a version that is not for numbers.
    """
    from numpy.lib import format as npy

    with path.open("rb") as stream:
        try:
            version = npy.read_magic(stream)
            if version == (1, 0):
                shape, fortran, dtype = npy.read_array_header_1_0(stream)
            elif version == (2, 0):
                shape, fortran, dtype = npy.read_array_header_2_0(stream)
            else:
                raise FileFormatError(
                    f"{path}: npy version {version}; 1.0 and 2.0 are read (3.0 is for named fields, not for vectors)"
                )
        # Some versions of NumPy split the header into Python's tokens, of which half a bracket makes none.
        except (ValueError, SyntaxError, TypeError, TokenError, RecursionError, MemoryError) as error:
            if isinstance(error, FileFormatError):
                raise
            reason = str(error).splitlines()[0] if str(error) else type(error).__name__
            raise FileFormatError(f"{path}: not a whole npy file ({reason})") from error
        lengths = tuple(shape)
        if any(isinstance(length, bool) or length < 0 for length in lengths):
            raise FileFormatError(f"{path}: shape {lengths} in the header; whole numbers of at least 0 are needed")
        return lengths, bool(fortran), dtype, stream.tell()


def check_whole_npy(path: str | os.PathLike[str]) -> None:
    """Refuse a file that begins as ``.npy`` and is not one to the byte; of any other file nothing is said.

    Raises
    ------
    FileFormatError
        As for `npy_header`; cut off, or with bytes behind its array.
    """
    place = Path(path)
    with place.open("rb") as stream:
        if stream.read(len(_MAGIC)) != _MAGIC:
            return
    shape, _, dtype, offset = npy_header(place)
    if dtype.hasobject:
        return  # refused where it is read, since nothing is unpickled
    expected, size = offset + math.prod(shape) * dtype.itemsize, place.stat().st_size
    if size != expected:
        raise FileFormatError(
            f"{place}: the header says {dtype} of shape {shape}, which is {expected:,} bytes with the header, but the "
            f"file has {size:,}; it was not written whole, or its header was changed"
        )
