"""Pages of a file that were read through a map: let go of, so that a scan does not fill memory with the file."""

from __future__ import annotations

import mmap
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["release_pages"]

AnyArray: TypeAlias = npt.NDArray[Any]


def release_pages(array: AnyArray) -> None:
    """Let go of the pages of a mapped file that have been read; the file keeps them.

    Only where a `numpy.memmap` says that the file has all there is: with ``mode="c"`` what was written lives in the
    pages alone and would be lost.
    """
    base: Any = array
    kept_by_file = False
    while isinstance(base, np.ndarray | memoryview):
        if isinstance(base, np.memmap):
            kept_by_file = getattr(base, "mode", "c") != "c"
        base = base.obj if isinstance(base, memoryview) else base.base
    if kept_by_file and isinstance(base, mmap.mmap) and hasattr(base, "madvise") and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)
