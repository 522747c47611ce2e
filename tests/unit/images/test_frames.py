"""The first of several frames or pages, and how many there were."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

from visual_search.images.decoding import decode

Encode = Callable[..., bytes]


def colours(count: int) -> list[Image.Image]:
    return [Image.new("RGB", (12, 9), (255 - 40 * i, 40 * i, 10)) for i in range(count)]


@pytest.mark.parametrize("name", ["GIF", "PNG", "WEBP", "TIFF", "AVIF", "MPO"])
@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_first_frame_is_taken_and_the_number_stated(name: str, count: int, encode: Encode) -> None:
    frames = colours(count)
    saving: dict[str, dict[str, Any]] = {
        "WEBP": {"lossless": True},
        "AVIF": {"quality": 100},
        "MPO": {"quality": 100},
    }
    decoded = decode(encode(frames[0], name, save_all=True, append_images=frames[1:], **saving.get(name, {})))
    assert decoded.frames == count
    assert decoded.changes == ((f"first frame: of {count}",) if count > 1 else ())
    assert np.allclose(np.asarray(decoded.pixels)[4, 4], (255, 0, 10), atol=4)


def test_heif_takes_its_primary_picture(encode: Encode) -> None:
    frames = colours(3)
    decoded = decode(encode(frames[0], "HEIF", append_images=frames[1:]))
    assert decoded.frames == 3
    assert np.allclose(np.asarray(decoded.pixels)[4, 4], (255, 0, 10), atol=6)


def test_an_apng_whose_still_picture_is_no_frame(encode: Encode) -> None:
    frames = colours(3)
    decoded = decode(encode(frames[0], "PNG", save_all=True, append_images=frames[1:], default_image=True))
    assert np.asarray(decoded.pixels)[4, 4].tolist() == [255, 0, 10]
    assert decoded.changes[0].startswith("first frame: of ")


def test_a_transparent_first_frame_lies_on_the_background(encode: Encode) -> None:
    frames = [Image.new("RGBA", (8, 8), (200, 50 * i, 0, 255 if i else 0)) for i in range(3)]
    for name in ("GIF", "PNG", "WEBP"):
        decoded = decode(encode(frames[0], name, save_all=True, append_images=frames[1:]))
        assert np.asarray(decoded.pixels)[4, 4].tolist() == [255, 255, 255], name
        assert decoded.changes == ("first frame: of 3", "alpha composited: on (255, 255, 255)")


def test_damage_in_a_later_frame_does_not_cost_the_first(encode: Encode, photograph: Image.Image) -> None:
    frames = [photograph.rotate(turn).quantize(32) for turn in (0, 90, 180)]
    data = encode(frames[0], "GIF", save_all=True, append_images=frames[1:])
    whole = decode(data)
    cut = decode(data[: len(data) * 2 // 3])
    assert cut.pixels.tobytes() == whole.pixels.tobytes()
    assert 1 <= cut.frames < 3


def test_a_first_frame_smaller_than_the_canvas(encode: Encode) -> None:
    first = Image.new("P", (4, 4), 1)
    first.putpalette([0, 0, 0, 250, 20, 20])
    data = bytearray(encode(first, "GIF"))
    data[6:10] = (10).to_bytes(2, "little") * 2
    decoded = decode(bytes(data))
    assert (decoded.width, decoded.height) == (10, 10)
    assert np.asarray(decoded.pixels)[1, 1].tolist() == [250, 20, 20]
