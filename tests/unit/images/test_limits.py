"""Small files that claim or unpack to huge pictures; Pillow's own settings stay as they are."""

from __future__ import annotations

import re
import struct
import time
import tracemalloc
import warnings
import zlib
from collections.abc import Callable

import pytest
from PIL import Image, ImageFile

from visual_search.errors import InputError, UndecodableImageError
from visual_search.images.decoding import DecodingRules, decode
from visual_search.images.structure import declared_size

Encode = Callable[..., bytes]
MakeFile = Callable[..., bytes]


def bombs(encode: Encode, make_png: MakeFile, make_tiff: MakeFile) -> dict[str, bytes]:
    """Files of a few bytes that claim 60000 x 60000 pixels or thereabouts."""
    pixel = Image.new("RGB", (16, 16))
    jpeg = bytearray(encode(pixel, "JPEG"))
    struct.pack_into(">HH", jpeg, jpeg.index(b"\xff\xc0") + 5, 60000, 60000)
    gif = bytearray(encode(pixel.convert("L"), "GIF"))
    struct.pack_into("<HH", gif, 6, 60000, 60000)
    bmp = bytearray(encode(pixel, "BMP"))
    struct.pack_into("<ii", bmp, 18, 60000, 60000)
    webp = bytearray(encode(pixel, "WEBP", lossless=True))
    struct.pack_into("<I", webp, 21, 16382 | 16382 << 14)
    extended = b"RIFF" + struct.pack("<I", 4 + 18) + b"WEBPVP8X" + struct.pack("<I", 10) + bytes(4)
    extended += (59999).to_bytes(3, "little") * 2
    lossy = bytearray(encode(pixel, "WEBP"))
    struct.pack_into("<HH", lossy, 26, 16383, 16383)
    return {
        "PNG": make_png(60000, 60000, 8, 2, b"\x00" * 100),
        "JPEG": bytes(jpeg),
        "GIF": bytes(gif),
        "BMP": bytes(bmp),
        "WEBP": bytes(webp),
        "WEBP extended": extended,
        "WEBP lossy": bytes(lossy),
        "TIFF": make_tiff(60000, 60000, b"\x00" * 100),
        "PPM": b"P6 60000 60000 255\n" + b"\x00" * 100,
    }


KINDS = ["PNG", "JPEG", "GIF", "BMP", "WEBP", "WEBP extended", "WEBP lossy", "TIFF", "PPM"]


@pytest.mark.parametrize("kind", KINDS)
def test_a_claim_of_a_huge_picture_is_refused_before_memory_is_taken(
    kind: str, encode: Encode, make_png: MakeFile, make_tiff: MakeFile
) -> None:
    import resource

    data = bombs(encode, make_png, make_tiff)[kind]
    assert len(data) < 2000
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    with pytest.raises(
        UndecodableImageError, match=r"^too many pixels: \d+ x \d+, more than max_pixels=120000000$"
    ):
        decode(data)
    assert time.perf_counter() - started < 2
    assert (
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000
    )  # KiB; the pixels would be 300,000 up


def test_a_true_bomb_that_would_unpack(png_chunk: Callable[[bytes, bytes], bytes]) -> None:
    rows = zlib.compressobj(9)
    packed = b"".join(rows.compress(bytes(1 << 20)) for _ in range(200)) + rows.flush()
    header = struct.pack(">IIBBBBB", 20000, 10000, 8, 0, 0, 0, 0)
    body = png_chunk(b"IHDR", header) + png_chunk(b"IDAT", packed) + png_chunk(b"IEND", b"")
    data = b"\x89PNG\r\n\x1a\n" + body
    assert len(data) < 300_000
    tracemalloc.start()
    with pytest.raises(UndecodableImageError, match=r"^too many pixels: 20000 x 10000"):
        decode(data)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 5 << 20


@pytest.mark.parametrize("name", ["JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP", "PPM", "AVIF", "HEIF"])
def test_the_limit_is_exact_in_every_format(name: str, encode: Encode) -> None:
    data = encode(Image.new("RGB", (40, 25), (9, 99, 199)), name)
    assert decode(data, DecodingRules(max_pixels=1000)).width == 40
    with pytest.raises(UndecodableImageError, match=r"^too many pixels: 40 x 25, more than max_pixels=999$"):
        decode(data, DecodingRules(max_pixels=999))


def test_the_limit_on_bytes_is_exact(encode: Encode, photograph: Image.Image) -> None:
    data = encode(photograph, "PNG")
    assert decode(data, DecodingRules(max_bytes=len(data))).width == 48
    with pytest.raises(
        UndecodableImageError, match=f"^too many bytes: {len(data)}, more than max_bytes={len(data) - 1}$"
    ):
        decode(data, DecodingRules(max_bytes=len(data) - 1))


@pytest.mark.parametrize("name", ["JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP", "PPM"])
def test_pillow_s_warning_of_large_pictures_does_not_leak(
    name: str, encode: Encode, photograph: Image.Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = encode(photograph, name)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 48 * 36 - 1)  # Pillow warns above it, and refuses above twice it
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        assert decode(data).width == 48
        assert heard == []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert decode(data).width == 48


@pytest.mark.parametrize("name", ["TIFF", "WEBP"])
def test_where_pillow_s_own_limit_holds_the_reason_says_how_to_raise_it(
    name: str, encode: Encode, photograph: Image.Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = encode(photograph, name)
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 10)
    with pytest.raises(UndecodableImageError, match=re.escape("raise PIL.Image.MAX_IMAGE_PIXELS as well")):
        decode(data)


def test_pillow_s_settings_are_not_touched(encode: Encode, photograph: Image.Image) -> None:
    def settings() -> tuple[object, ...]:
        return Image.MAX_IMAGE_PIXELS, ImageFile.LOAD_TRUNCATED_IMAGES, dict(Image.OPEN), list(Image.ID)

    Image.init()
    before = settings()
    for name in ("JPEG", "PNG", "HEIF", "AVIF"):
        decode(encode(photograph, name), DecodingRules(max_pixels=200_000_000))
    with pytest.raises(UndecodableImageError):
        decode(b"\xff\xd8\xff\xe0 no")
    assert settings() == before


def test_a_jpeg_of_endless_scans(encode: Encode, photograph: Image.Image) -> None:
    data = encode(photograph.resize((400, 300)), "JPEG", progressive=True)
    last = data.rindex(b"\xff\xda")
    scan = data[last:-2]
    assert decode(data[:-2] + scan * 50 + b"\xff\xd9").width == 400
    with pytest.raises(UndecodableImageError, match="more than 100 scans"):
        decode(data[:-2] + scan * 2000 + b"\xff\xd9")


def test_a_film_behind_a_photograph_is_not_counted_as_scans(encode: Encode, photograph: Image.Image) -> None:
    data = encode(photograph, "JPEG") + b"\x00\xff\xda\x01" * 500  # as telephones append it
    assert decode(data).width == 48


def test_many_pages_are_counted_in_time_that_grows_with_the_file(make_tiff: MakeFile) -> None:
    data = bytearray(make_tiff(2, 1, b"\x01\x02"))
    start = struct.unpack_from("<I", data, 4)[0]
    entries = struct.unpack_from("<H", data, start)[0]
    place = start + 2 + 12 * entries
    for _ in range(100_000):
        struct.pack_into("<I", data, place, len(data))
        place = len(data) + 2
        data += struct.pack("<HI", 0, 0)
    started = time.perf_counter()
    assert decode(bytes(data)).changes == ("first frame: of 100001",)
    assert time.perf_counter() - started < 5


def test_declared_sizes_agree_with_what_is_decoded(encode: Encode, photograph: Image.Image) -> None:
    assert declared_size(encode(photograph, "GIF"), "GIF") == (48, 36)
    assert declared_size(encode(photograph, "WEBP"), "WEBP") == (48, 36)
    assert declared_size(encode(photograph, "WEBP", lossless=True), "WEBP") == (48, 36)
    animated = encode(photograph, "WEBP", save_all=True, append_images=[photograph.rotate(9)])
    assert declared_size(animated, "WEBP") == (48, 36)
    assert declared_size(b"GIF89a", "GIF") is None
    assert declared_size(encode(photograph, "PNG"), "PNG") is None


@pytest.mark.parametrize(
    ("name", "value"), [("max_pixels", 0), ("max_pixels", 1.5), ("max_bytes", -1), ("max_bytes", True)]
)
def test_limits_that_are_no_positive_integers(name: str, value: object) -> None:
    with pytest.raises(InputError, match=f"{name}="):
        DecodingRules(**{name: value})  # type: ignore[arg-type]


def test_all_wrong_rules_are_listed_at_once() -> None:
    with pytest.raises(InputError, match="3 problems"):
        DecodingRules(background=(1, 2, 999), max_pixels=0, max_bytes=0)
