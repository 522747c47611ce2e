"""Each format that is named decodes, told by content alone."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image

from visual_search.errors import UndecodableImageError
from visual_search.images import opening
from visual_search.images.decoding import decode
from visual_search.images.signatures import IMAGE_FORMATS, image_format, what_it_is

Encode = Callable[..., bytes]

# Format, how to save it, the largest error of a pixel, and the mode in the file.
FORMATS = [
    ("JPEG", {"quality": 100, "subsampling": 0}, 3, "RGB"),
    ("JPEG", {"progressive": True, "quality": 100, "subsampling": 0}, 3, "RGB"),
    ("PNG", {}, 0, "RGB"),
    ("WEBP", {"lossless": True, "exact": True}, 0, "RGB"),
    ("WEBP", {"quality": 100}, 12, "RGB"),
    ("TIFF", {}, 0, "RGB"),
    ("TIFF", {"compression": "tiff_lzw"}, 0, "RGB"),
    ("TIFF", {"compression": "tiff_adobe_deflate"}, 0, "RGB"),
    ("TIFF", {"big_tiff": True}, 0, "RGB"),
    ("BMP", {}, 0, "RGB"),
    ("PPM", {}, 0, "RGB"),
    ("AVIF", {"quality": 100, "subsampling": "4:4:4"}, 4, "RGB"),
    ("HEIF", {"quality": -1, "chroma": 444}, 4, "RGB"),
]


@pytest.mark.parametrize(("name", "options", "error", "mode"), FORMATS)
def test_a_photograph_comes_back_from_every_format(
    name: str, options: dict[str, object], error: int, mode: str, encode: Encode, photograph: Image.Image
) -> None:
    decoded = decode(encode(photograph, name, **options))
    assert (decoded.format, decoded.mode, decoded.width, decoded.height) == (name, mode, 48, 36)
    assert (decoded.changes, decoded.frames) == ((), 1)
    assert (decoded.pixels.mode, decoded.pixels.size) == ("RGB", (48, 36))
    difference = np.abs(np.asarray(decoded.pixels, dtype=int) - np.asarray(photograph, dtype=int))
    assert difference.max() <= error


def test_a_gif_comes_back_by_its_palette(encode: Encode, photograph: Image.Image) -> None:
    drawn = photograph.quantize(64)
    decoded = decode(encode(drawn, "GIF"))
    assert (decoded.format, decoded.mode, decoded.changes) == ("GIF", "P", ())
    assert decoded.pixels.tobytes() == drawn.convert("RGB").tobytes()


def test_every_named_format_is_covered() -> None:
    assert {name for name, *_ in FORMATS} | {"GIF"} == set(IMAGE_FORMATS)


@pytest.mark.parametrize("name", ["1", "L", "RGB"])
def test_netpbm_in_its_plain_and_raw_forms(name: str, encode: Encode, photograph: Image.Image) -> None:
    image = photograph.convert(name)
    decoded = decode(encode(image, "PPM"))
    assert decoded.pixels.tobytes() == image.convert("RGB").tobytes()
    assert (decoded.mode, decoded.changes) == (name, ())


def test_plain_netpbm_with_comments() -> None:
    decoded = decode(b"P2 # a comment\n2 2\n# another\n15\n0 15\n5 10\n")
    assert np.asarray(decoded.pixels)[..., 0].tolist() == [[0, 255], [85, 170]]


@pytest.mark.parametrize("name", ["JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP", "PPM", "AVIF", "HEIF"])
def test_one_pixel(name: str, encode: Encode) -> None:
    decoded = decode(encode(Image.new("RGB", (1, 1), (200, 200, 200)), name))
    assert (decoded.width, decoded.height, decoded.pixels.size) == (1, 1, (1, 1))
    assert max(abs(channel - 200) for channel in np.asarray(decoded.pixels).ravel().tolist()) <= 3


def test_heif_without_its_plug_in_says_what_to_install(
    encode: Encode, photograph: Image.Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = encode(photograph, "HEIF")
    monkeypatch.setitem(__import__("sys").modules, "pillow_heif", None)
    with pytest.raises(UndecodableImageError, match=r"pip install 'visual-search\[heif\]'"):
        decode(data)


@pytest.mark.parametrize(("name", "module"), [("AVIF", "AvifImagePlugin"), ("WEBP", "WebPImagePlugin")])
def test_a_pillow_built_without_a_format_says_so(
    name: str, module: str, encode: Encode, photograph: Image.Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = encode(photograph, name)
    monkeypatch.setattr(getattr(opening, module), "SUPPORTED", False)
    with pytest.raises(UndecodableImageError, match="this build of Pillow does not read"):
        decode(data)


def test_heif_is_read_without_changing_pillow_for_others(encode: Encode, photograph: Image.Image) -> None:
    data = encode(photograph, "HEIF")
    before = set(Image.OPEN)
    assert decode(data).format == "HEIF"
    assert set(Image.OPEN) == before


@pytest.mark.parametrize("name", ["EPS", "PDF"])
def test_a_format_outside_the_list_is_never_tried(name: str, encode: Encode, photograph: Image.Image) -> None:
    with pytest.raises(UndecodableImageError, match=r"^not an image: a (PostScript|PDF) document"):
        decode(encode(photograph, name))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"\x00" * 100, "bytes that are all zero"),
        (b"hello, this is a caption", "text"),
        ("Grüße".encode(), "text"),
        (b"<!DOCTYPE html><html>404", "an HTML page"),
        (b"\x1f\x8b\x08", "a gzip file"),
        (b"PK\x03\x04rest", "a zip archive; list it by itself"),
        (b"a" * 257 + b"ustar\x00", "a tar archive; list it by itself"),
        (b"\x00\x00\x00\x18ftypisom", "a video"),
        (b"version https://git-lfs.github.com/spec/v1\n", "a Git LFS pointer"),
        (b"\xff\x0a\x00", "a JPEG XL image"),
        (bytes(range(7, 200)), "bytes of no known image format"),
        (b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', "an SVG drawing"),
        (b"8BPS\x00\x01" + b"\x00" * 40, "a Photoshop document"),
        (b"BMW is a maker of cars, not a bitmap", "text"),
        (b"P5/photos/a.jpg", "text"),
    ],
)
def test_what_is_no_image_is_named(data: bytes, words: str) -> None:
    assert image_format(data) is None
    assert what_it_is(data).startswith(words)
    with pytest.raises(UndecodableImageError, match=r"^not an image: "):
        decode(data)


def test_the_extension_does_not_matter_and_jpeg_may_be_called_mpo(encode: Encode, photograph: Image.Image) -> None:
    data = encode(photograph, "MPO", save_all=True, append_images=[photograph.rotate(180)])
    decoded = decode(data)
    assert (decoded.format, decoded.frames, decoded.changes) == ("JPEG", 2, ("first frame: of 2",))


def test_brands_tell_avif_from_heif() -> None:
    def box(major: bytes, *others: bytes) -> bytes:
        body = major + b"\x00\x00\x00\x00" + b"".join(others)
        return (len(body) + 8).to_bytes(4, "big") + b"ftyp" + body

    assert image_format(box(b"avif")) == "AVIF"
    assert image_format(box(b"mif1", b"avif", b"miaf")) == "AVIF"
    assert image_format(box(b"mif1", b"heic")) == "HEIF"
    assert image_format(box(b"heic", b"mif1")) == "HEIF"
    assert image_format(box(b"isom", b"mp41")) is None
