"""GlyphLab's pixels: randomness in whole numbers, and grey values made of them, the same on every machine.

Only the raw words of a bit generator are used, whose stream NumPy keeps from version to version; what its Generator
makes of them it may change. The one operation on floats divides whole numbers by 255, which rounds alike everywhere.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError

__all__ = ["NOISE", "SEED", "SIZE", "checked_seed", "grey_values", "noise", "words_of"]

Float32Array = npt.NDArray[np.float32]
Int64Array = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]

# The smallest seed that tools/find_glyphlab_seed.py accepts; other seeds give other figures.
SEED = 2

SIZE = 24  # pixels a side
NOISE = 32  # standard deviation of a view's noise, in grey levels from 0 to 255

# The eight bytes of a random word have mean 1020 and standard deviation 209.02 as a sum: nearly a normal number.
_BYTES_MEAN, _BYTES_DEVIATION = 1020, 209


def words_of(seed: int, stream: int, count: int) -> Words:
    """Raw 64-bit words of PCG64; each stream of a seed is another."""
    return np.random.PCG64(np.random.SeedSequence([seed, stream])).random_raw(count)


def noise(words: Words, deviation: int) -> Int64Array:
    """Whole numbers of about that standard deviation, one a word; the sum of bytes knows no byte order."""
    octets = np.ascontiguousarray(words).view(np.uint8).reshape(*words.shape, 8)
    sums: Int64Array = octets.sum(axis=-1, dtype=np.int64)
    return (sums - _BYTES_MEAN) * deviation // _BYTES_DEVIATION


def grey_values(levels: Int64Array) -> Float32Array:
    """Levels cut to 0 .. 255, as 255ths."""
    return np.clip(levels, 0, 255).astype(np.float32) / np.float32(255)


def checked_seed(seed: Any) -> int:
    """Refuse what is no whole number from 0."""
    if type(seed) is bool or not hasattr(seed, "__index__") or seed.__index__() < 0:
        raise InputError(f"seed={seed!r}: a whole number from 0")
    return int(seed.__index__())
