"""Thumbnails are small, upright, never larger than their source, and carry nothing of it but pixels."""

from __future__ import annotations

import base64
import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from visual_search.errors import InputError, UndecodableImageError
from visual_search.images.decoding import DecodingRules, decode
from visual_search.images.sources import list_images
from visual_search.images.thumbnails import data_uri, thumbnail

Encode = Callable[..., bytes]


@pytest.mark.parametrize("file_format", ["webp", "jpeg"])
@pytest.mark.parametrize(
    ("size", "side", "expected"),
    [
        ((480, 360), 96, (96, 72)),
        ((360, 480), 96, (72, 96)),
        ((48, 36), 96, (48, 36)),
        ((96, 96), 96, (96, 96)),
        ((1, 5000), 100, (1, 100)),
        ((1, 1), 1, (1, 1)),
    ],
)
def test_the_longest_side(
    file_format: str, size: tuple[int, int], side: int, expected: tuple[int, int], photograph: Image.Image
) -> None:
    encoded = thumbnail(photograph.resize(size), side, file_format=file_format)  # type: ignore[arg-type]
    decoded = decode(encoded)
    assert (decoded.width, decoded.height) == expected
    assert decoded.format == file_format.upper()


def test_all_ways_to_name_a_picture_agree(tmp_path: Path, encode: Encode, photograph: Image.Image) -> None:
    data = encode(photograph.resize((400, 300)), "JPEG", quality=95)
    path = tmp_path / "a.jpg"
    path.write_bytes(data)
    (source,) = list_images(path)
    expected = thumbnail(data, 50)
    assert thumbnail(path, 50) == thumbnail(str(path), 50) == thumbnail(source, 50) == expected
    again = thumbnail(decode(data, target_size=(50, 50)).pixels, 50)
    assert again == expected


def test_it_is_upright_and_without_metadata(encode: Encode, photograph: Image.Image) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6
    data = encode(photograph.resize((400, 300)), "JPEG", exif=exif, comment=b"secret")
    for file_format in ("webp", "jpeg"):
        encoded = thumbnail(data, 60, file_format=file_format)
        with Image.open(io.BytesIO(encoded)) as image:
            assert image.size == (45, 60)
            assert not dict(image.getexif())
            assert "icc_profile" not in image.info
        assert b"secret" not in encoded


def test_it_shows_the_picture(encode: Encode, photograph: Image.Image) -> None:
    large = photograph.resize((960, 720), Image.Resampling.BICUBIC)
    for name in ("JPEG", "PNG"):
        small = np.asarray(decode(thumbnail(encode(large, name), 48, quality=100)).pixels, dtype=int)
        assert np.abs(small - np.asarray(photograph, dtype=int)).mean() < 6


def test_the_background_is_that_of_the_rules(encode: Encode) -> None:
    clear = encode(Image.new("RGBA", (20, 20), (0, 0, 0, 0)), "PNG")
    red = decode(thumbnail(clear, 10, quality=100, rules=DecodingRules(background=(255, 0, 0)))).pixels
    assert np.allclose(np.asarray(red)[5, 5], (255, 0, 0), atol=8)


def test_what_cannot_be_decoded_or_read(tmp_path: Path) -> None:
    with pytest.raises(UndecodableImageError, match="not an image"):
        thumbnail(b"text", 10)
    with pytest.raises(UndecodableImageError, match="no such file"):
        thumbnail(tmp_path / "gone.jpg", 10)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"side": 0}, "side=0"),
        ({"side": 2.5}, "side=2.5"),
        ({"quality": 101}, "quality=101"),
        ({"quality": 0}, "quality=0"),
        ({"file_format": "gif"}, "file_format='gif'"),
        ({"image": Image.new("RGBA", (2, 2))}, "mode RGBA"),
    ],
)
def test_wrong_arguments(options: dict[str, object], words: str, photograph: Image.Image) -> None:
    with pytest.raises(InputError, match=words):
        thumbnail(**{"image": photograph, "side": 10, **options})  # type: ignore[arg-type]


def test_data_uri_holds_the_bytes(encode: Encode, photograph: Image.Image) -> None:
    for name, media in (("WEBP", "webp"), ("JPEG", "jpeg"), ("PNG", "png"), ("AVIF", "avif")):
        encoded = encode(photograph, name)
        head, _, body = data_uri(encoded).partition(",")
        assert head == f"data:image/{media};base64"
        assert base64.b64decode(body) == encoded
    with pytest.raises(InputError, match="not an image: text"):
        data_uri(b"<script>".replace(b"<script>", b"alert"))
