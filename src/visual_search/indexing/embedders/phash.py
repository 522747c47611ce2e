"""The perceptual hash as a vector."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
from PIL.Image import Image

from visual_search.errors import InputError
from visual_search.images.hashes import perceptual_hash
from visual_search.indexing.embedders.arguments import whole_number

__all__ = ["PerceptualHashEmbedder"]


class PerceptualHashEmbedder:
    """DCT perceptual hash as -1 and +1, 256 values (or 64).

    ``v_i = 2 b_i - 1`` with b the bits of ``images.hashes.perceptual_hash``, so that
    ``<u, v> = bits - 2 * Hamming(u, v)`` and ``cos(u, v) = 1 - 2 * Hamming(u, v) / bits``.

    Parameters
    ----------
    bits : {256, 64}
        Length of the hash. In a text form: ``phash:64``.

    Convention
    ----------
    The vectors are of length sqrt(bits), not 1, so that an inner product counts bits. Ranking by cosine, by inner
    product or by L2 is ranking by Hamming distance, with its many ties.

    How to read it
    --------------
    1 is the same picture (scaled, compressed), about 0 is unrelated, below 0 means nothing. Finds copies; knows
    nothing of content, and mirrored or cropped copies are far apart.

    Examples
    --------
    >>> from PIL import Image
    >>> embedder = PerceptualHashEmbedder(bits=64)
    >>> picture = Image.effect_mandelbrot((400, 300), (-2, -1, 1, 1), 50).convert("RGB")
    >>> u, v = embedder.embed(np.stack([embedder.prepare(p) for p in (picture, picture.resize((200, 150)))]))
    >>> float(u @ v)
    64.0
    """

    weights_hash = None
    batch_size = 64
    decode_size = None

    def __init__(self, bits: Literal[64, 256] = 256) -> None:
        if bits not in (64, 256):
            raise InputError(f"phash: bits {bits!r} is not allowed; give 64 or 256")
        self._bits: Literal[64, 256] = bits

    @classmethod
    def from_argument(cls, argument: str) -> Self:
        """Take ``""`` or the number of bits as text."""
        if not argument:
            return cls()
        bits = whole_number(argument, "phash", "bits")
        return cls(bits)  # type: ignore[arg-type] # the constructor refuses other numbers

    @property
    def name(self) -> str:
        """``phash``, or ``phash:64``."""
        return "phash" if self._bits == 256 else f"phash:{self._bits}"

    @property
    def dimension(self) -> int:
        """Number of bits."""
        return self._bits

    @property
    def preprocessing(self) -> str:
        """What is done to the pixels, in words."""
        side = 4 * int(self._bits**0.5)
        return (
            f"grey, {side}x{side} (lanczos), DCT-II, lowest {self._bits} coefficients above their median, as -1/+1"
        )

    def prepare(self, image: Image) -> npt.NDArray[Any]:
        """Packed bits of the hash, uint8 of shape (bits / 8,)."""
        return perceptual_hash(image, self._bits)

    def embed(self, batch: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Packed bits, shape (n, bits / 8), to -1 and +1 of shape (n, bits)."""
        return np.unpackbits(batch, axis=1).astype(np.float32) * 2 - 1
