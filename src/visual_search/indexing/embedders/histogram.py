"""How much of each colour: the classic baseline of image retrieval."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import numpy.typing as npt
from PIL import Image

from visual_search.indexing.embedders.arguments import no_argument
from visual_search.indexing.embedders.normalization import unit_rows

__all__ = ["HistogramEmbedder"]

HUES, SATURATIONS, VALUES = 16, 4, 8
_LONGEST_SIDE = 256


class HistogramEmbedder:
    """Joint HSV histogram with 16 x 4 x 8 = 512 bins, L2-normalised.

    ``v = n / ||n||``, n[32 * floor(H / 16) + 8 * floor(S / 64) + floor(V / 32)] the number of pixels with 8-bit hue
    H, saturation S and value V (hexcone model; a pixel without saturation has hue 0).

    Convention
    ----------
    Counts are >= 0, so cosines lie in [0, 1]. Every image has a pixel, so no vector is zero. An image whose longer
    side exceeds 256 pixels is first averaged down to it, aspect kept.

    How to read it
    --------------
    Blind to where a colour is: finds pictures of one scene, product or illustration style, not of one shape. Of
    grey images it sees only how the brightness is spread. Beat it before claiming that a model sees content.

    References
    ----------
    M. J. Swain and D. H. Ballard, Color indexing, International Journal of Computer Vision 7 (1991), 11-32.

    Examples
    --------
    >>> embedder = HistogramEmbedder()
    >>> red, dark = Image.new("RGB", (8, 8), (255, 0, 0)), Image.new("RGB", (8, 8), (100, 0, 0))
    >>> vectors = embedder.embed(np.stack([embedder.prepare(red), embedder.prepare(dark)]))
    >>> vectors.argmax(axis=1), float(vectors[0] @ vectors[1])
    (array([31, 27]), 0.0)
    """

    name = "histogram"
    dimension = HUES * SATURATIONS * VALUES
    preprocessing = (
        f"longer side at most {_LONGEST_SIDE} (box), HSV, joint histogram "
        f"{HUES} hues x {SATURATIONS} saturations x {VALUES} values, L2-normalised"
    )
    weights_hash = None
    decode_size = None
    batch_size = 64

    @classmethod
    def from_argument(cls, argument: str) -> Self:
        """Take no argument."""
        no_argument(argument, "histogram")
        return cls()

    def prepare(self, image: Image.Image) -> npt.NDArray[Any]:
        """Counts of the 512 bins, float32."""
        longest = max(image.size)
        if longest > _LONGEST_SIDE:
            width, height = (max(1, round(side * _LONGEST_SIDE / longest)) for side in image.size)
            image = image.resize((width, height), Image.Resampling.BOX, reducing_gap=1.5)
        hsv = np.asarray(image.convert("HSV")).reshape(-1, 3)
        # Top bits of each channel side by side: 4 of hue, 2 of saturation, 3 of value.
        bins = (hsv[:, 0] >> 4).astype(np.uint16) << 5
        bins |= (hsv[:, 1] >> 6) << 3
        bins |= hsv[:, 2] >> 5
        return np.bincount(bins, minlength=self.dimension).astype(np.float32)

    def embed(self, batch: npt.NDArray[Any]) -> npt.NDArray[np.float32]:
        """Counts of shape (n, 512) to unit vectors of the same shape."""
        return unit_rows(batch)
