"""A JPEG decoded smaller where the caller will shrink it anyway."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from visual_search.errors import InputError
from visual_search.images.decoding import decode

Encode = Callable[..., bytes]


@pytest.fixture(scope="module")
def large(photograph: Image.Image) -> Image.Image:
    return photograph.resize((1600, 1200), Image.Resampling.BICUBIC)


@pytest.mark.parametrize(
    ("target", "size", "factor"),
    [
        ((100, 75), (200, 150), 8),
        ((101, 75), (400, 300), 4),
        ((200, 150), (400, 300), 4),
        ((400, 300), (800, 600), 2),
        ((401, 1), (1600, 1200), 1),
        ((5000, 5000), (1600, 1200), 1),
    ],
)
def test_never_below_twice_the_target(
    target: tuple[int, int], size: tuple[int, int], factor: int, encode: Encode, large: Image.Image
) -> None:
    decoded = decode(encode(large, "JPEG"), target_size=target)
    assert decoded.pixels.size == size
    assert (decoded.width, decoded.height) == (1600, 1200)
    assert decoded.changes == ((f"decoded smaller: 1/{factor}",) if factor > 1 else ())


def test_the_target_is_that_of_the_upright_picture(encode: Encode, large: Image.Image) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    decoded = decode(encode(large, "JPEG", exif=exif), target_size=(150, 400))
    assert (decoded.width, decoded.height) == (1200, 1600)
    assert decoded.pixels.size == (600, 800)
    assert decoded.changes == ("decoded smaller: 1/2", "rotated: orientation 6")


def test_after_shrinking_it_differs_little_from_a_full_decoding(encode: Encode, large: Image.Image) -> None:
    data = encode(large, "JPEG", quality=90)
    small = [
        np.asarray(decoded.pixels.resize((100, 75), Image.Resampling.BICUBIC), dtype=int)
        for decoded in (decode(data), decode(data, target_size=(100, 75)))
    ]
    assert np.abs(small[0] - small[1]).max() <= 4


def test_other_formats_ignore_it(encode: Encode, large: Image.Image) -> None:
    decoded = decode(encode(large, "PNG"), target_size=(10, 10))
    assert (decoded.pixels.size, decoded.changes) == ((1600, 1200), ())


def test_cmyk_may_be_decoded_smaller_too(encode: Encode) -> None:
    decoded = decode(encode(Image.new("CMYK", (800, 800), (255, 0, 0, 0)), "JPEG"), target_size=(100, 100))
    assert decoded.pixels.size == (200, 200)
    assert np.asarray(decoded.pixels)[100, 100].tolist() == [0, 255, 255]


@pytest.mark.parametrize("target", [(0, 5), (5, -1), (5.0, 5)])
def test_a_target_that_is_no_size(target: tuple[int, int], encode: Encode, photograph: Image.Image) -> None:
    with pytest.raises(InputError, match="target_size="):
        decode(encode(photograph, "JPEG"), target_size=target)
