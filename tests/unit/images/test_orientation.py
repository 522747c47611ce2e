"""All eight orientations, in every format that can state one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from visual_search.images.decoding import decode

Encode = Callable[..., bytes]
Array = np.ndarray

# What the camera stored, from the upright picture: the inverse of what a viewer does, in numpy alone.
AS_STORED: dict[int, Callable[[Array], Array]] = {
    1: lambda a: a,
    2: lambda a: a[:, ::-1],
    3: lambda a: a[::-1, ::-1],
    4: lambda a: a[::-1],
    5: lambda a: a.transpose(1, 0, 2),
    6: lambda a: a.transpose(1, 0, 2)[::-1],
    7: lambda a: a[::-1, ::-1].transpose(1, 0, 2),
    8: lambda a: a.transpose(1, 0, 2)[:, ::-1],
}


def stored(upright: Image.Image, orientation: int) -> Image.Image:
    return Image.fromarray(np.ascontiguousarray(AS_STORED[orientation](np.asarray(upright))))


def exif(orientation: int) -> Image.Exif:
    block = Image.Exif()
    block[0x0112] = orientation
    return block


def near(a: Image.Image, b: Image.Image, error: int) -> bool:
    return a.size == b.size and int(np.abs(np.asarray(a, dtype=int) - np.asarray(b, dtype=int)).max()) <= error


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize(
    ("name", "options", "error"),
    [
        ("JPEG", {"quality": 100, "subsampling": 0}, 4),
        ("PNG", {}, 0),
        ("WEBP", {"lossless": True}, 0),
        ("TIFF", {}, 0),
        ("TIFF", {"compression": "tiff_lzw"}, 0),
        ("AVIF", {"quality": 100, "subsampling": "4:4:4"}, 5),
    ],
)
def test_the_picture_comes_out_upright(
    name: str, options: dict[str, object], error: int, orientation: int, encode: Encode, photograph: Image.Image
) -> None:
    decoded = decode(encode(stored(photograph, orientation), name, exif=exif(orientation), **options))
    assert near(decoded.pixels, photograph, error)
    assert (decoded.width, decoded.height) == photograph.size
    assert decoded.changes == ((f"rotated: orientation {orientation}",) if orientation > 1 else ())


@pytest.mark.parametrize("orientation", range(1, 9))
def test_heif_turned_by_its_own_library_is_not_turned_again(
    orientation: int, encode: Encode, photograph: Image.Image
) -> None:
    turned = stored(photograph, orientation)
    data = encode(turned, "HEIF", quality=-1, chroma=444, exif=exif(orientation).tobytes())
    decoded = decode(data)
    assert near(decoded.pixels, photograph, 5)
    assert (decoded.width, decoded.height) == photograph.size
    assert decoded.changes == ((f"rotated: orientation {orientation}",) if orientation > 1 else ())


def test_xmp_states_it_where_exif_does_not(encode: Encode, photograph: Image.Image) -> None:
    info = PngInfo()
    info.add_itxt("XML:com.adobe.xmp", '<rdf:Description tiff:Orientation="6"/>')
    decoded = decode(encode(stored(photograph, 6), "PNG", pnginfo=info))
    assert near(decoded.pixels, photograph, 0)


def test_an_orientation_after_the_pixels_counts_too(
    encode: Encode, photograph: Image.Image, png_chunk: Callable[[bytes, bytes], bytes]
) -> None:
    data = encode(stored(photograph, 8), "PNG")
    end = png_chunk(b"IEND", b"")
    assert data.endswith(end)
    late = data[: -len(end)] + png_chunk(b"eXIf", exif(8).tobytes()[6:]) + end
    assert near(decode(late).pixels, photograph, 0)


@pytest.mark.parametrize("orientation", [0, 9, 255])
def test_a_value_that_means_nothing_turns_nothing(
    orientation: int, encode: Encode, photograph: Image.Image
) -> None:
    decoded = decode(encode(photograph, "PNG", exif=exif(orientation)))
    assert near(decoded.pixels, photograph, 0)
    assert decoded.changes == ()


@pytest.mark.parametrize("name", ["PNG", "JPEG", "WEBP"])
def test_a_damaged_exif_block_does_not_cost_the_picture(name: str, encode: Encode, photograph: Image.Image) -> None:
    decoded = decode(encode(photograph, name, exif=b"Exif\x00\x00garbage that is no TIFF header"))
    assert decoded.pixels.size == photograph.size
    assert decoded.changes == ("EXIF unreadable",)


def test_nothing_of_the_file_stays_on_the_pixels(encode: Encode, photograph: Image.Image) -> None:
    decoded = decode(encode(photograph, "JPEG", exif=exif(6), comment=b"secret", dpi=(300, 300)))
    assert type(decoded.pixels) is Image.Image
    assert decoded.pixels.info == {}
    assert dict(decoded.pixels.getexif()) == {}
