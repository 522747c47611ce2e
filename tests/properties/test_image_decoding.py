"""Any bytes either decode, always to the same pixels, or raise one error with a short reason; nothing hangs."""

from __future__ import annotations

import io
import re
import struct
import time
import zlib
from functools import cache
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from visual_search.errors import UndecodableImageError
from visual_search.images.decoding import DecodingRules, decode
from visual_search.images.signatures import image_format, what_it_is
from visual_search.images.thumbnails import thumbnail

RULES = DecodingRules(max_pixels=1_000_000, max_bytes=1 << 20)
STARTS = [
    b"",
    b"\xff\xd8\xff\xe0",
    b"\x89PNG\r\n\x1a\n",
    b"GIF89a",
    b"RIFF\x40\x00\x00\x00WEBPVP8X",
    b"II\x2a\x00",
    b"MM\x00\x2a",
    b"BM",
    b"P3 ",
    b"P6 2 2 255\n",
    b"Pf ",
    b"\x00\x00\x00\x18ftypavif",
    b"\x00\x00\x00\x18ftypheic",
]


@cache
def valid_files() -> tuple[bytes, ...]:
    y, x = np.mgrid[0:20, 0:24]
    photograph = Image.fromarray(np.stack([x * 9, y * 11, 200 - x * y // 3], axis=-1).clip(0, 255).astype(np.uint8))
    exif = Image.Exif()
    exif[0x0112] = 6
    deep = Image.fromarray((x * y * 100).astype(np.uint16))

    def saved(image: Image.Image, file_format: str, **options: Any) -> bytes:
        stream = io.BytesIO()
        image.save(stream, file_format, **options)
        return stream.getvalue()

    turned = [photograph.rotate(90 * turn) for turn in range(3)]
    return (
        saved(photograph, "JPEG", exif=exif),
        saved(photograph, "JPEG", progressive=True),
        saved(photograph.convert("CMYK"), "JPEG"),
        saved(photograph, "PNG"),
        saved(deep, "PNG"),
        saved(photograph.quantize(8), "PNG", transparency=b"\x00\x80\xff"),
        saved(turned[0], "PNG", save_all=True, append_images=turned[1:]),
        saved(photograph, "WEBP"),
        saved(turned[0], "WEBP", save_all=True, append_images=turned[1:]),
        saved(turned[0], "GIF", save_all=True, append_images=turned[1:]),
        saved(photograph, "TIFF"),
        saved(photograph, "TIFF", compression="tiff_lzw"),
        saved(photograph.convert("1"), "TIFF", compression="group4"),
        saved(deep, "TIFF"),
        saved(Image.fromarray(x.astype(np.float32)), "TIFF"),
        saved(photograph, "BMP"),
        saved(photograph, "PPM"),
        b"P2 3 2 9 1 2 3 4 5 6",
        saved(photograph, "AVIF"),
    )


def with_right_checksums(png: bytes) -> bytes:
    """Mend a PNG's checksums, so that what is broken inside its chunks is met too."""
    out, place = png[:8], 8
    while place + 12 <= len(png):
        end = place + 8 + int.from_bytes(png[place : place + 4], "big")
        if end + 4 > len(png):
            break
        out += png[place:end] + struct.pack(">I", zlib.crc32(png[place + 4 : end]))
        place = end + 4
    return out + png[place:]


def outcome(data: bytes) -> tuple[str, ...]:
    """What decoding says, twice, since it must say the same."""
    seen: list[tuple[str, ...]] = []
    for _ in range(2):
        started = time.perf_counter()
        try:
            decoded = decode(data, RULES)
        except UndecodableImageError as error:
            seen.append((str(error),))
        else:
            assert decoded.pixels.mode == "RGB"
            assert decoded.pixels.size == (decoded.width, decoded.height)
            assert decoded.width * decoded.height <= RULES.max_pixels
            assert decoded.pixels.info == {}
            seen.append((*decoded.changes, decoded.format, decoded.mode, str(zlib.crc32(decoded.pixels.tobytes()))))
        assert time.perf_counter() - started < 10
    assert seen[0] == seen[1]
    if len(seen[0]) == 1:
        assert 0 < len(seen[0][0]) < 200
        assert "\n" not in seen[0][0]
        assert not re.search(r"0x[0-9a-f]{6}", seen[0][0]), "an address in memory differs from run to run"
    return seen[0]


@given(st.sampled_from(STARTS), st.binary(max_size=400))
@settings(max_examples=300, deadline=None)
def test_random_bytes(start: bytes, rest: bytes) -> None:
    outcome(start + rest)
    kind = image_format(start + rest)
    assert kind is not None or what_it_is(start + rest)


edits = st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=8)


@given(st.integers(0, 18), edits, st.floats(0, 1), st.booleans())
@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_mutated_files(which: int, changes: list[tuple[float, int]], kept: float, cut: bool) -> None:
    data = bytearray(valid_files()[which])
    for place, value in changes:
        data[int(place**2 * len(data))] = value  # headers break in more ways than pixels
    mutated = bytes(data[: int(kept * len(data))] if cut else data)
    outcome(with_right_checksums(mutated) if mutated.startswith(b"\x89PNG") else mutated)


@given(st.integers(0, 18), st.integers(0, 18), st.floats(0, 1), st.floats(0, 1))
@settings(max_examples=150, deadline=None)
def test_spliced_files(first: int, second: int, at: float, begin: float) -> None:
    one, other = valid_files()[first], valid_files()[second]
    outcome(one[: int(at * len(one))] + other[int(begin * len(other)) :])


@given(st.integers(0, 18), st.integers(1, 60))
@settings(max_examples=60, deadline=None)
def test_thumbnails_of_whatever_decodes(which: int, side: int) -> None:
    data = valid_files()[which]
    original = decode(data)
    small = decode(thumbnail(data, side))
    assert max(small.width, small.height) == min(side, max(original.width, original.height))
