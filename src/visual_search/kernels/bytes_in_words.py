"""Eight bytes at a time, at any place of a block."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["PADDING", "first_bytes", "padded", "word_at"]

Bytes: TypeAlias = npt.NDArray[np.uint8]
Int64Array: TypeAlias = npt.NDArray[np.int64]
Words: TypeAlias = npt.NDArray[np.uint64]

# Room on both sides of a block, so that words may be read over its ends.
PADDING = 64

_FIRST = np.array([(1 << (8 * count)) - 1 for count in range(9)], dtype=np.uint64)


def padded(block: Bytes) -> Bytes:
    """The block with `PADDING` spaces before and after it."""
    wide = np.full(len(block) + 2 * PADDING, ord(" "), dtype=np.uint8)
    wide[PADDING : PADDING + len(block)] = block
    return wide


def word_at(block: Bytes, begin: Int64Array) -> Words:
    """The eight bytes from each place of a padded block, the first as the lowest byte of a number."""
    every = np.ndarray(shape=(len(block) - 7,), dtype="V8", buffer=block, strides=(1,))
    return every[begin].view("<u8")


def first_bytes(count: Int64Array) -> Words:
    """A mask of the lowest so many bytes, 0 to 8."""
    return _FIRST[count]
