"""Whatever is wrong with the bytes is one error with a short reason; what decodes is whole."""

from __future__ import annotations

import struct
import warnings
import zlib
from collections.abc import Callable

import numpy as np
import pytest
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from visual_search.errors import InputError, UndecodableImageError, VisualSearchError
from visual_search.images.decoding import decode

Encode = Callable[..., bytes]
MakeFile = Callable[..., bytes]


def test_zero_bytes() -> None:
    with pytest.raises(UndecodableImageError, match=r"^an empty file: 0 bytes$"):
        decode(b"")


def test_text_named_jpg() -> None:
    with pytest.raises(UndecodableImageError, match=r"^not an image: text$"):
        decode(b"This is not a photograph.\n")


def test_the_error_is_the_package_s_own_and_a_value_error() -> None:
    assert issubclass(UndecodableImageError, InputError)
    assert issubclass(UndecodableImageError, ValueError)
    assert issubclass(UndecodableImageError, VisualSearchError)


CUT = [
    ("JPEG", {}),
    ("JPEG", {"progressive": True}),
    ("PNG", {}),
    ("WEBP", {}),
    ("WEBP", {"lossless": True}),
    ("GIF", {}),
    ("TIFF", {}),
    ("TIFF", {"compression": "tiff_lzw"}),
    ("BMP", {}),
    ("PPM", {}),
    ("AVIF", {}),
    ("HEIF", {}),
]


@pytest.mark.parametrize(("name", "options"), CUT)
def test_a_file_cut_anywhere_is_refused_or_whole(
    name: str, options: dict[str, object], encode: Encode, photograph: Image.Image
) -> None:
    data = encode(photograph, name, **options)
    whole = decode(data).pixels.tobytes()
    reasons = []
    cuts = sorted({*range(0, len(data), max(1, len(data) // 150)), *range(len(data) - 20, len(data))})
    for cut in cuts:
        try:
            decoded = decode(data[:cut])
        except UndecodableImageError as error:
            reasons.append(str(error))
        else:
            assert decoded.pixels.tobytes() == whole, f"{name} cut at {cut} of {len(data)} is not whole"
            assert len(data) - cut <= max(25, len(data) // 10) or name in ("AVIF", "HEIF", "TIFF")
    assert len(reasons) >= len(cuts) - 25
    assert all(0 < len(reason) < 200 and "\n" not in reason for reason in reasons)


def test_the_reason_is_the_same_in_every_run(encode: Encode, photograph: Image.Image) -> None:
    data = encode(photograph, "JPEG")[:400]
    reasons = set()
    for _ in range(3):
        with pytest.raises(UndecodableImageError) as caught:
            decode(data)
        reasons.add(str(caught.value))
    assert len(reasons) == 1
    assert reasons.pop().startswith("truncated or damaged JPEG: ")


@pytest.mark.parametrize("name", [b"IHDR", b"PLTE", b"tRNS", b"IDAT"])
def test_a_wrong_checksum_of_a_chunk_that_makes_pixels(name: bytes, make_png: MakeFile) -> None:
    data = bytearray(make_png(2, 1, 8, 3, b"\x00\x00\x01", (b"PLTE", bytes(range(6))), (b"tRNS", b"\x00\x80")))
    at = data.index(name)
    length = int.from_bytes(data[at - 4 : at], "big")
    data[at + 4 + length] ^= 1
    with pytest.raises(UndecodableImageError, match=f"^a PNG chunk whose checksum is wrong: {name.decode()}$"):
        decode(bytes(data))


def test_pixels_damaged_inside_a_png_are_not_shown_as_if_they_were_the_picture(
    encode: Encode, photograph: Image.Image
) -> None:
    data = encode(photograph, "PNG")
    at = data.index(b"IDAT")
    for place in range(at + 6, at + 4 + int.from_bytes(data[at - 4 : at], "big"), 5):
        broken = bytearray(data)
        broken[place] ^= 0x10
        with pytest.raises(UndecodableImageError):
            decode(bytes(broken))


def test_a_png_without_its_end_is_whole(make_png: MakeFile) -> None:
    decoded = decode(make_png(2, 1, 8, 0, b"\x00\x07\x09", end=False))
    assert np.asarray(decoded.pixels)[0, :, 0].tolist() == [7, 9]


def test_a_png_without_pixels(make_png: MakeFile) -> None:
    data = make_png(2, 1, 8, 0, b"\x00\x07\x09")
    at = data.index(b"IDAT")
    with pytest.raises(UndecodableImageError):
        decode(data[: at - 4] + data[-12:])


@pytest.mark.parametrize(
    ("depth", "colour", "row"), [(8, 0, 4), (1, 0, 1), (8, 2, 12), (16, 6, 32), (8, 3, 4), (8, 4, 8)]
)
def test_fewer_rows_than_the_header_claims(depth: int, colour: int, row: int, make_png: MakeFile) -> None:
    extra = [(b"PLTE", b"\x07" * 6)] if colour == 3 else []
    rows = [b"\x00" + bytes([1] * row)] * 9 + [b"\x00" + bytes(row)]
    assert decode(make_png(4, 10, depth, colour, b"".join(rows), *extra)).height == 10
    for kept in (1, 5, 9):
        with pytest.raises(UndecodableImageError, match=r"^truncated or damaged PNG: rows are missing$"):
            decode(make_png(4, 10, depth, colour, b"".join(rows[:kept]), *extra))
    for cut in (b"", b"".join(rows)[:-1]):  # Pillow itself sees these
        with pytest.raises(UndecodableImageError, match=r"^truncated or damaged PNG: "):
            decode(make_png(4, 10, depth, colour, cut, *extra))


def test_interlaced_rows(png_chunk: Callable[[bytes, bytes], bytes]) -> None:
    width, height = 5, 9
    picture = np.arange(1, width * height + 1, dtype=np.uint8).reshape(height, width)
    starts = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
    parts = [picture[y::step_y, x::step_x] for x, y, step_x, step_y in starts]
    rows = [b"\x00" + row.tobytes() for part in parts for row in part if row.size]

    def png(kept: int) -> bytes:
        header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 1)
        chunks = png_chunk(b"IHDR", header) + png_chunk(b"IDAT", zlib.compress(b"".join(rows[:kept])))
        return b"\x89PNG\r\n\x1a\n" + chunks + png_chunk(b"IEND", b"")

    assert np.array_equal(np.asarray(decode(png(len(rows))).pixels)[..., 0], picture)
    for kept in range(1, len(rows)):
        with pytest.raises(UndecodableImageError, match=r"^truncated or damaged PNG: rows are missing$"):
            decode(png(kept))


@pytest.mark.parametrize("chunks", [1, 70])
def test_text_chunks_that_swell(chunks: int, encode: Encode, photograph: Image.Image) -> None:
    info = PngInfo()
    for place in range(chunks):
        info.add_text(f"bomb {place}", "a" * ((1 << 21) if chunks == 1 else (1 << 20)), zip=True)
    data = encode(photograph, "PNG", pnginfo=info)
    with pytest.raises(UndecodableImageError, match=r"^truncated or damaged PNG: .*(too large|Too much memory)"):
        decode(data)


def test_a_profile_that_swells(make_png: MakeFile) -> None:
    swollen = b"name\x00\x00" + zlib.compress(bytes(1 << 23))
    with pytest.raises(UndecodableImageError, match=r"^truncated or damaged PNG: "):
        decode(make_png(1, 1, 8, 0, b"\x00\x07", (b"iCCP", swollen)))


def test_a_tiff_that_points_at_itself(make_tiff: MakeFile) -> None:
    data = bytearray(make_tiff(2, 1, b"\x01\x02"))
    start = struct.unpack_from("<I", data, 4)[0]
    entries = struct.unpack_from("<H", data, start)[0]
    struct.pack_into("<I", data, start + 2 + 12 * entries, start)
    decoded = decode(bytes(data))
    assert decoded.frames == 1
    assert np.asarray(decoded.pixels)[0, :, 0].tolist() == [1, 2]


def test_a_camera_s_raw_file_is_not_taken_for_its_preview(make_tiff: MakeFile) -> None:
    data = make_tiff(2, 1, b"\x01\x02", extra={254: (4, [1]), 330: (4, [8])})
    with pytest.raises(UndecodableImageError, match=r"^a camera's raw file"):
        decode(data)
    assert decode(make_tiff(2, 1, b"\x01\x02", extra={254: (4, [0]), 330: (4, [8])})).width == 2


def test_a_12_bit_jpeg_says_so(encode: Encode, photograph: Image.Image) -> None:
    data = bytearray(encode(photograph, "JPEG"))
    data[data.index(b"\xff\xc0") + 4] = 12
    with pytest.raises(UndecodableImageError, match="cannot handle 12-bit layers"):
        decode(bytes(data))


def test_the_outcome_does_not_hang_on_the_caller_s_warning_filters(encode: Encode, photograph: Image.Image) -> None:
    # A broken multi-picture index makes Pillow warn and read the first picture.
    data = encode(photograph, "MPO", save_all=True, append_images=[photograph])
    at = data.index(b"MPF\x00")
    broken = data[: at + 4] + b"XX" + data[at + 6 :]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        strict = decode(broken)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        lenient = decode(broken)
        with Image.open(__import__("io").BytesIO(broken)):
            pass
    assert [str(warning.message)[:38] for warning in heard] == ["Image appears to be a malformed MPO fi"]
    assert strict.pixels.tobytes() == lenient.pixels.tobytes()
