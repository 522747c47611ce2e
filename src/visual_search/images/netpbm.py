"""Raw Netpbm pictures whose greatest value is neither 255 nor 65535, stretched to 8 bits at once."""

from __future__ import annotations

import numpy as np
from PIL import Image, PpmImagePlugin

from visual_search.errors import UndecodableImageError

__all__ = ["stretched"]


def stretched(image: Image.Image, data: bytes) -> Image.Image:
    """Read an opened raw PGM or PPM of an odd maximum; any other picture is given back as it is.

    Pillow takes such files sample by sample in Python, about a second a million pixels, which for the 10 and 12 bit
    files of scientific cameras looks like a standstill. Value v becomes round(255 v / maximum).
    """
    if not isinstance(image, PpmImagePlugin.PpmImageFile):
        return image
    tile = image.tile[0]
    if tile.codec_name != "ppm" or image.mode not in ("L", "I", "RGB") or not isinstance(tile.args, tuple):
        return image
    maximum = int(tile.args[-1])
    channels = 3 if image.mode == "RGB" else 1
    kind = np.dtype(np.uint8 if maximum < 256 else ">u2")
    count = image.width * image.height * channels
    if len(data) - tile.offset < count * kind.itemsize:
        raise UndecodableImageError("truncated or damaged PPM: rows are missing")
    samples = np.frombuffer(data, kind, count, tile.offset)
    values = np.arange(1 << 8 * kind.itemsize, dtype=np.int64).clip(0, maximum)
    levels = ((values * 510 + maximum) // (2 * maximum)).astype(np.uint8)[samples]
    return Image.fromarray(levels.reshape((image.height, image.width, 3)[: 2 + (channels == 3)]))
