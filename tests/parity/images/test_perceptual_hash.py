"""Bit for bit what the imagehash package computes."""

from __future__ import annotations

import imagehash
import numpy as np
import pytest
from PIL import Image

from visual_search.datasets.orl_faces import load_orl_faces
from visual_search.images.decoding import decode
from visual_search.images.hashes import perceptual_hash


def theirs(image: Image.Image, side: int) -> np.ndarray:
    return np.packbits(np.asarray(imagehash.phash(image, hash_size=side).hash).ravel())


@pytest.mark.parametrize(("bits", "side"), [(64, 8), (256, 16)])
def test_photographs(bits: int, side: int) -> None:
    for photograph in load_orl_faces().photographs[::4]:
        pixels = decode(photograph.path.read_bytes()).pixels
        assert np.array_equal(perceptual_hash(pixels, bits), theirs(pixels, side)), photograph.id  # type: ignore[arg-type]


@pytest.mark.parametrize(("bits", "side"), [(64, 8), (256, 16)])
@pytest.mark.parametrize("seed", range(20))
def test_colour_pictures_of_any_size(bits: int, side: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    size = tuple(int(n) for n in rng.integers(1, 300, 2))
    small = Image.fromarray(rng.integers(0, 256, (9, 9, 3), dtype=np.uint8))
    image = small.resize((max(size[0], 8), max(size[1], 8)), Image.Resampling.BICUBIC)
    assert np.array_equal(perceptual_hash(image, bits), theirs(image, side))  # type: ignore[arg-type]
