"""Hashes of pictures: by appearance, robust to scaling and compression, and by their exact pixels."""

from __future__ import annotations

import hashlib
from functools import lru_cache
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt
from PIL import Image

from visual_search.errors import DimensionError, InputError

__all__ = ["PackedBits", "hamming", "perceptual_hash", "pixels_digest"]

PackedBits: TypeAlias = npt.NDArray[np.uint8]

_PIXELS_AT_ONCE = 1 << 22
# Grey levels are integers, so a coefficient this small is what rounding left of zero.
_ROUNDING = 1e-6


def perceptual_hash(image: Image.Image, bits: Literal[64, 256] = 64) -> PackedBits:
    r"""Hash a picture by its low frequencies (DCT pHash).

    With side s = sqrt(bits): the picture in grey (Rec. 601 luma) is resized to 4s x 4s by Lanczos, transformed by
    the two-dimensional DCT-II

    .. math:: C_{uv} = \sum_{y,x} g_{yx} \cos\frac{\pi u (2y+1)}{8s} \cos\frac{\pi v (2x+1)}{8s},

    and bit (u, v), u and v from 0 to s - 1, is 1 where C_uv is above the median of these s x s coefficients.

    Parameters
    ----------
    image : PIL.Image.Image
        A decoded picture; mode RGB or L.
    bits : {64, 256}
        Length of the hash.

    Returns
    -------
    uint8 array of shape (bits // 8,)
        Bits in row order (u, then v), the first bit the highest of the first byte.

    Convention
    ----------
    The constant coefficient C_00 is among those whose median is taken. Coefficients below 1e-6 are zero, so that
    plain pictures hash alike on every machine.

    How to read it
    --------------
    The Hamming distance of two unrelated photographs is about half the bits; up to about a tenth is usually the
    same picture scaled, compressed or slightly retouched. Mirrored, rotated or cropped copies are far apart. Plain
    pictures, whatever their colour, share one hash.

    References
    ----------
    C. Zauner, "Implementation and benchmarking of perceptual image hash functions", 2010. The bits equal those of
    ``imagehash.phash(image, hash_size=8 or 16)`` on photographs; plain and very small pictures, whose coefficients are
    rounding noise, apart.

    Examples
    --------
    >>> picture = Image.effect_mandelbrot((400, 300), (-2, -1, 1, 1), 50)
    >>> int(hamming(perceptual_hash(picture), perceptual_hash(picture.resize((200, 150)))))
    0
    """
    if bits not in (64, 256):
        raise InputError(f"bits={bits!r}: give 64 or 256")
    side = 8 if bits == 64 else 16
    grey = image.convert("L").resize((4 * side, 4 * side), Image.Resampling.LANCZOS)
    basis = _cosines(side)
    coefficients = basis @ np.asarray(grey, dtype=np.float64) @ basis.T
    coefficients[np.abs(coefficients) < _ROUNDING] = 0
    return np.packbits(coefficients > np.median(coefficients))


@lru_cache(maxsize=2)
def _cosines(side: int) -> npt.NDArray[np.float64]:
    frequency, place = np.arange(side)[:, None], np.arange(4 * side)[None, :]
    basis = np.cos(np.pi * frequency * (2 * place + 1) / (8 * side))
    basis.flags.writeable = False
    return basis


def hamming(a: PackedBits, b: PackedBits) -> npt.NDArray[np.int64]:
    """Count the bits in which packed codes differ.

    Parameters
    ----------
    a, b : uint8 array of shape (..., bytes)
        Packed codes; the leading axes broadcast, so ``hamming(a[:, None], b[None])`` gives all pairs.

    Returns
    -------
    int64 array
        Of the broadcast shape without the last axis.

    Raises
    ------
    DimensionError
        Codes of different length.
    InputError
        Not packed bytes.

    Examples
    --------
    >>> hamming(np.array([[0b1011], [0]], dtype=np.uint8), np.array([0b0001], dtype=np.uint8)).tolist()
    [2, 1]
    """
    for name, codes in (("a", a), ("b", b)):
        if codes.dtype != np.uint8 or codes.ndim < 1:
            raise InputError(
                f"{name}: packed codes are uint8 of shape (..., bytes); got {codes.dtype} {codes.shape}"
            )
    if a.shape[-1] != b.shape[-1]:
        raise DimensionError(f"codes of {a.shape[-1]} and of {b.shape[-1]} bytes; give codes of one length")
    counts: npt.NDArray[np.int64] = np.bitwise_count(a ^ b).sum(axis=-1, dtype=np.int64)
    return counts


def pixels_digest(image: Image.Image) -> str:
    """SHA-256 over a picture's mode, shape and pixels, as ``sha256:...``.

    Two pictures have one digest exactly when they are the same pixel for pixel, however they were stored; 10 x 20
    and 20 x 10 black pixels differ. What cannot be decoded has no pixels and so no digest.

    Examples
    --------
    >>> black = Image.new("RGB", (10, 20))
    >>> pixels_digest(black) == pixels_digest(black.transpose(Image.Transpose.ROTATE_90))
    False
    """
    digest = hashlib.sha256(f"{image.mode} {image.width}x{image.height}\n".encode())
    rows = max(1, _PIXELS_AT_ONCE // image.width)
    for top in range(0, image.height, rows):
        digest.update(image.crop((0, top, image.width, min(image.height, top + rows))).tobytes())
    return f"sha256:{digest.hexdigest()}"
