"""Transparent pictures lie on the stated colour; what was hidden stays hidden."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from visual_search.errors import InputError
from visual_search.images.decoding import DecodingRules, decode

Encode = Callable[..., bytes]
MakeFile = Callable[..., bytes]

WHITE, GREEN = (255, 255, 255), (0, 255, 0)
COMPOSITED = ("alpha composited: on (255, 255, 255)",)


def colours(data: bytes, background: tuple[int, int, int] = WHITE) -> list[list[int]]:
    pixels = np.asarray(decode(data, DecodingRules(background=background)).pixels)
    return [[int(channel) for channel in pixel] for pixel in pixels[0]]


@pytest.mark.parametrize("name", ["PNG", "WEBP", "TIFF"])
def test_rgba_is_laid_on_the_background(name: str, encode: Encode) -> None:
    image = Image.new("RGBA", (3, 1))
    image.putdata([(255, 0, 0, 255), (255, 0, 0, 0), (0, 0, 200, 128)])
    data = encode(image, name, **({"lossless": True, "exact": True} if name == "WEBP" else {}))
    white, green = colours(data), colours(data, GREEN)
    assert white[:2] == [[255, 0, 0], [255, 255, 255]]
    assert green[:2] == [[255, 0, 0], [0, 255, 0]]
    half = 128 / 255
    assert np.allclose(white[2], [255 * (1 - half)] * 2 + [200 * half + 255 * (1 - half)], atol=1)
    assert decode(data).changes == COMPOSITED


def test_an_alpha_channel_that_hides_nothing_is_no_change(encode: Encode, photograph: Image.Image) -> None:
    opaque = photograph.copy()
    opaque.putalpha(255)
    decoded = decode(encode(opaque, "PNG"))
    assert (decoded.mode, decoded.changes) == ("RGBA", ())
    assert decoded.pixels.tobytes() == photograph.tobytes()


def test_grey_with_alpha(encode: Encode) -> None:
    image = Image.new("LA", (2, 1))
    image.putdata([(10, 255), (10, 0)])
    assert colours(encode(image, "PNG")) == [[10] * 3, [255] * 3]


def test_16_bit_grey_with_alpha(make_png: MakeFile) -> None:
    row = b"\x00" + np.array([0x8000, 0xFFFF, 0x8000, 0x0000], dtype=">u2").tobytes()
    decoded = decode(make_png(2, 1, 16, 4, row))
    assert np.asarray(decoded.pixels)[0].tolist() == [[128] * 3, [255] * 3]
    assert decoded.changes == ("16 bit scaled", *COMPOSITED)


PALETTE = (b"PLTE", bytes([255, 0, 0, 0, 0, 255, 9, 9, 9]))


@pytest.mark.parametrize(
    ("alphas", "expected"),
    [
        (b"\xff\x00", [[255, 0, 0], [255, 255, 255], [9, 9, 9]]),  # one entry transparent
        (b"\x80\xff\x00", [[255, 127, 127], [0, 0, 255], [255, 255, 255]]),  # a value for each
    ],
)
def test_palette_with_transparency(alphas: bytes, expected: list[list[int]], make_png: MakeFile) -> None:
    data = make_png(3, 1, 8, 3, b"\x00\x00\x01\x02", PALETTE, (b"tRNS", alphas))
    assert np.allclose(colours(data), expected, atol=1)
    assert decode(data).changes == COMPOSITED
    assert decode(data).mode == "P"


def test_palette_without_transparency_is_no_change(make_png: MakeFile) -> None:
    data = make_png(3, 1, 8, 3, b"\x00\x00\x01\x02", PALETTE)
    assert colours(data) == [[255, 0, 0], [0, 0, 255], [9, 9, 9]]
    assert decode(data).changes == ()


def test_a_transparent_gif(encode: Encode) -> None:
    image = Image.new("P", (2, 1))
    image.putpalette([255, 0, 0, 0, 0, 255])
    image.putdata([0, 1])
    data = encode(image, "GIF", transparency=1)
    assert colours(data, GREEN) == [[255, 0, 0], [0, 255, 0]]


@pytest.mark.parametrize(
    ("depth", "row", "key", "expected"),
    [
        (8, bytes([7, 200]), 200, [7, 255]),
        (4, bytes([0x3A]), 3, [255, 170]),
        (2, bytes([0b01100000]), 1, [255, 170]),
        (1, bytes([0b01000000]), 1, [0, 255]),
        (1, bytes([0b01000000]), 0, [255, 255]),
        (16, b"\x12\x34\x12\x35", 0x1234, [255, 18]),
    ],
)
def test_one_grey_value_declared_transparent(
    depth: int, row: bytes, key: int, expected: list[int], make_png: MakeFile
) -> None:
    data = make_png(2, 1, depth, 0, b"\x00" + row, (b"tRNS", key.to_bytes(2, "big")))
    assert [pixel[0] for pixel in colours(data)] == expected


@pytest.mark.parametrize("depth", [8, 16])
def test_one_colour_declared_transparent(depth: int, make_png: MakeFile) -> None:
    stretch = 1 if depth == 8 else 257
    row = b"".join((value * stretch).to_bytes(depth // 8, "big") for value in (1, 2, 3, 1, 2, 4))
    key = b"".join((value * stretch).to_bytes(2, "big") for value in (1, 2, 3))
    data = make_png(2, 1, depth, 2, b"\x00" + row, (b"tRNS", key))
    assert colours(data) == [[255, 255, 255], [1, 2, 4]]


def test_premultiplied_alpha_is_divided_out(make_tiff: MakeFile) -> None:
    # ExtraSamples = 1: the colour is stored times alpha; 64 at alpha 128 is a colour of 127 or 128.
    pixels = bytes([64, 0, 0, 128])
    data = make_tiff(1, 1, pixels, "<", bits=[8, 8, 8, 8], samples=4, photometric=2, extra={338: (3, [1])})
    assert np.allclose(colours(data), [[191, 127, 127]], atol=1)


@pytest.mark.parametrize("background", [(0, 0), (0, 0, 256), (0, 0, -1), (0.0, 0, 0), "white"])
def test_a_background_that_is_no_colour(background: object) -> None:
    with pytest.raises(InputError, match="background="):
        DecodingRules(background=background)  # type: ignore[arg-type]


def test_rules_as_json_are_canonical() -> None:
    rules = DecodingRules(background=(1, 2, 3), max_pixels=10, max_bytes=20)
    assert rules.as_json() == {"background": [1, 2, 3], "max_bytes": 20, "max_pixels": 10, "version": 1}
    assert list(rules.as_json()) == sorted(rules.as_json())
