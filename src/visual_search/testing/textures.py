"""Pictures with shapes and detail, each unlike the others: stand-ins for photographs."""

from __future__ import annotations

import numpy as np
from PIL import Image

__all__ = ["texture"]


def texture(seed: int, size: tuple[int, int] = (96, 80)) -> Image.Image:
    """A seeded RGB picture of coarse coloured shapes under finer ones.

    Parameters
    ----------
    seed : int
    size : tuple of int
        Width and height in pixels.

    Examples
    --------
    >>> texture(1).size, texture(1) == texture(1), texture(1) == texture(2)
    ((96, 80), True, False)
    """
    rng = np.random.default_rng(seed)
    shapes = Image.fromarray(rng.integers(0, 256, (6, 7, 3), dtype=np.uint8))
    fine = Image.fromarray(rng.integers(0, 256, (24, 30, 3), dtype=np.uint8))
    return Image.blend(
        shapes.resize(size, Image.Resampling.BICUBIC), fine.resize(size, Image.Resampling.BICUBIC), 0.4
    )
