"""Samples deeper than 8 bits, integers and floats, scaled to 0..255 by a stated rule."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from visual_search.errors import UndecodableImageError

__all__ = ["DEEP_MODES", "Samples", "transparent_where", "with_8_bits"]

DEEP_MODES = frozenset({"I;16", "I;16L", "I;16B", "I;16N", "I", "F"})
"""Pillow's modes of one channel with more than 8 bits."""

Bytes = npt.NDArray[np.uint8]
_ROWS_AT_ONCE = 1 << 22  # samples per block, so that scaling never holds a second whole picture


@dataclass(frozen=True, slots=True)
class Samples:
    """What a file says of its samples beyond what Pillow's mode tells.

    Attributes
    ----------
    bits : int
        Bits per sample in the file.
    signed : bool
        Whether integer samples have a sign.
    white_is_zero : bool
        Whether the file counts from white to black and Pillow leaves it so (TIFF of 16 bits and of floats).
    """

    bits: int = 8
    signed: bool = False
    white_is_zero: bool = False


def with_8_bits(image: Image.Image, samples: Samples) -> tuple[Image.Image, tuple[str, ...]]:
    """Scale a deep one-channel picture to mode L.

    ===============================  ==========================================================
    samples                          value v becomes
    ===============================  ==========================================================
    9 to 16 bits, unsigned           round(255 v / (2^bits - 1)): the full range, whatever is used of it
    16 bits, signed                  the same of v + 32768
    32 bits                          round(255 (v - low) / (high - low)), low and high those of the picture
    float, all finite in 0..1        round(255 v)
    float, otherwise                 as 32 bits, over the finite values; NaN and -inf 0, +inf 255
    ===============================  ==========================================================

    Parameters
    ----------
    image : PIL.Image.Image
        Mode one of ``DEEP_MODES``.
    samples : Samples
        What the file says of its samples.

    Returns
    -------
    PIL.Image.Image
        Mode L.
    tuple of str
        What was done: ``"16 bit scaled"``, ``"float scaled: 0..1"``, ...

    Raises
    ------
    UndecodableImageError
        A float picture without any finite value.
    """
    if image.mode == "F":
        grey, changes = _float_scaled(image)
    elif samples.bits > 16:
        grey, changes = _wide_scaled(image, samples)
    else:
        grey, changes = _scaled_by_table(image, samples)
    if samples.white_is_zero:
        grey = grey.point([255 - value for value in range(256)])
    return grey, changes


def transparent_where(image: Image.Image, key: int) -> Image.Image:
    """Alpha of a 16-bit picture whose file declares one grey value transparent: 0 there, 255 elsewhere."""
    return _by_blocks(image, lambda block: np.where(block == key, 0, 255).astype(np.uint8))


def _scaled_by_table(image: Image.Image, samples: Samples) -> tuple[Image.Image, tuple[str, ...]]:
    # Netpbm's deep grey is stretched by Pillow to 16 bits whatever its maximum.
    bits = 16 if samples.bits <= 8 else samples.bits
    top = (1 << bits) - 1
    values = np.arange(1 << 16, dtype=np.uint32).clip(0, top)
    table = ((values * 255 * 2 + top) // (2 * top)).astype(np.uint8)
    if samples.signed:
        grey = _by_blocks(image, lambda block: table[(block.astype(np.int32) + 32768).clip(0, top)])
        return grey, (f"{bits} bit scaled: signed",)
    return _by_blocks(image, lambda block: table[block.clip(0, top)]), (f"{bits} bit scaled",)


def _wide_scaled(image: Image.Image, samples: Samples) -> tuple[Image.Image, tuple[str, ...]]:
    kind = np.dtype(np.int32 if samples.signed else np.uint32)
    ends = [(int(b.view(kind).min()), int(b.view(kind).max())) for _, b in _blocks(image)]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    grey = _by_blocks(image, lambda block: _stretched(block.view(kind).astype(np.float64), low, high))
    return grey, (f"32 bit scaled: {low}..{high}",)


def _float_scaled(image: Image.Image) -> tuple[Image.Image, tuple[str, ...]]:
    low, high, odd = np.inf, -np.inf, 0
    for _, block in _blocks(image):
        finite = block[np.isfinite(block)]
        odd += block.size - finite.size
        if finite.size:
            low, high = min(low, float(finite.min())), max(high, float(finite.max()))
    if low > high:
        raise UndecodableImageError("a float image without a single finite value")
    not_finite = (f"not finite set to black or white: {odd} pixels",) if odd else ()
    if low >= 0 and high <= 1:
        low, high, said = 0.0, 1.0, "float scaled: 0..1"
    else:
        said = f"float scaled: {low:.6g}..{high:.6g}"
    return _by_blocks(image, lambda block: _stretched(block.astype(np.float64), low, high)), (said, *not_finite)


def _stretched(block: npt.NDArray[np.float64], low: float, high: float) -> Bytes:
    # A picture of one value has no range; it is black.
    scaled = (block - low) * (255 / (high - low)) if high > low else np.zeros_like(block)
    return np.nan_to_num(np.rint(scaled), nan=0, posinf=255, neginf=0).clip(0, 255).astype(np.uint8)


def _blocks(image: Image.Image) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    rows = max(1, _ROWS_AT_ONCE // image.width)
    for top in range(0, image.height, rows):
        bottom = min(image.height, top + rows)
        yield top, np.asarray(image.crop((0, top, image.width, bottom)))


def _by_blocks(image: Image.Image, scale: Callable[[npt.NDArray[Any]], Bytes]) -> Image.Image:
    grey = np.empty((image.height, image.width), dtype=np.uint8)
    for top, block in _blocks(image):
        grey[top : top + len(block)] = scale(block)
    return Image.fromarray(grey)
