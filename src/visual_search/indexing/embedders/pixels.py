"""The simplest embedder there is: the picture itself, very small."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from PIL.Image import Image

from visual_search.errors import InputError
from visual_search.indexing.embedders.arguments import whole_number
from visual_search.indexing.embedders.normalization import unit_rows
from visual_search.indexing.embedders.resizing import Resize

__all__ = ["PixelEmbedder"]


class PixelEmbedder:
    """Raw RGB pixels of a 16 x 16 copy, L2-normalised: a baseline that knows nothing.

    ``v = p / ||p||`` with p the side * side * 3 values of the image averaged down to side x side, row by row, red,
    green and blue of each pixel together.

    Parameters
    ----------
    side : int, default 16
        Side of the small copy, in pixels, 1 to 256. In a text form: ``pixels:32``.

    Convention
    ----------
    All values are >= 0, so cosines lie in [0, 1]. Brightness as a whole falls out with the length: a picture and
    its darker copy have cosine 1. A black image, which has no direction, takes the uniform direction (that of
    every grey image without structure), so that its cosine is defined.

    How to read it
    --------------
    Finds copies and pictures of the same layout; does not survive shifts, turns or other views. A model that does
    not beat it has learned nothing that matters for the data at hand.

    Examples
    --------
    >>> from PIL import Image
    >>> embedder = PixelEmbedder(side=1)
    >>> embedder.embed(embedder.prepare(Image.new("RGB", (5, 9), (60, 80, 0)))[None])
    array([[0.6, 0.8, 0. ]], dtype=float32)
    """

    batch_size = 64
    weights_hash = None
    decode_size = None

    def __init__(self, side: int = 16) -> None:
        if not 1 <= side <= 256:
            raise InputError(f"pixels: side {side} is not allowed; give 1 to 256 pixels")
        self._side = side
        self._resize = Resize(side, side, filter="box")

    @classmethod
    def from_argument(cls, argument: str) -> Self:
        """Take ``""`` or the side as text."""
        return cls(whole_number(argument, "pixels", "side")) if argument else cls()

    @property
    def name(self) -> str:
        """``pixels``, or ``pixels:SIDE`` where the side is not 16."""
        return "pixels" if self._side == 16 else f"pixels:{self._side}"

    @property
    def dimension(self) -> int:
        """``side * side * 3``."""
        return self._side * self._side * 3

    @property
    def preprocessing(self) -> str:
        """What is done to the pixels, in words."""
        return f"RGB, {self._resize.words}, values L2-normalised"

    def prepare(self, image: Image) -> npt.NDArray[Any]:
        """Small copy as uint8 of shape (side, side, 3)."""
        return np.asarray(self._resize(image))

    def embed(self, batch: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Small copies, shape (n, side, side, 3), to unit vectors of shape (n, side * side * 3)."""
        return unit_rows(batch.reshape(len(batch), -1).astype(np.float32))
