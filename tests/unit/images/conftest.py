"""Odd files are made here and in the tests, none is stored."""

from __future__ import annotations

import io
import struct
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from PIL import Image

Encode = Callable[..., bytes]


def encoded(image: Image.Image, file_format: str, **options: Any) -> bytes:
    stream = io.BytesIO()
    if file_format == "HEIF":
        from pillow_heif import from_pillow

        file = from_pillow(image)
        for further in options.pop("append_images", []):
            file.add_from_pillow(further)
        file.save(stream, **options)
    else:
        image.save(stream, file_format, **options)
    return stream.getvalue()


@pytest.fixture(scope="session")
def encode() -> Encode:
    return encoded


@pytest.fixture(scope="session")
def photograph() -> Image.Image:
    """48 x 36 pixels, smooth, not symmetric in any way, every corner of another colour."""
    y, x = np.mgrid[0:36, 0:48]
    channels = (x * 5, y * 7, 255 - (x * 2 + y * 3))
    return Image.fromarray(np.stack(channels, axis=-1).clip(0, 255).astype(np.uint8))


@pytest.fixture(scope="session")
def png_chunk() -> Callable[[bytes, bytes], bytes]:
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    return chunk


@pytest.fixture(scope="session")
def make_png(png_chunk: Callable[[bytes, bytes], bytes]) -> Callable[..., bytes]:
    """A PNG from its fields, so that claims and content can disagree."""

    def png(
        width: int, height: int, depth: int, colour: int, rows: bytes, *extra: tuple[bytes, bytes], end: bool = True
    ) -> bytes:
        header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
        chunks = [(b"IHDR", header), *extra, (b"IDAT", zlib.compress(rows))]
        body = b"".join(png_chunk(name, content) for name, content in chunks)
        return b"\x89PNG\r\n\x1a\n" + body + (png_chunk(b"IEND", b"") if end else b"")

    return png


@pytest.fixture(scope="session")
def make_tiff() -> Callable[..., bytes]:
    """An uncompressed TIFF of one strip from its tags, in either byte order, with room for further pages."""

    def tiff(width: int, height: int, pixels: bytes, order: str = "<", **tags: Any) -> bytes:
        entries: dict[int, tuple[int, list[int]]] = {
            256: (3, [width]),
            257: (3, [height]),
            258: (3, tags.pop("bits", [8])),
            259: (3, [1]),
            262: (3, [tags.pop("photometric", 1)]),
            273: (4, [8]),
            277: (3, [tags.pop("samples", 1)]),
            278: (3, [height]),
            279: (4, [len(pixels)]),
        }
        if "sample_format" in tags:
            entries[339] = (3, tags.pop("sample_format"))
        if "orientation" in tags:
            entries[274] = (3, [tags.pop("orientation")])
        entries.update(tags.pop("extra", {}))
        assert not tags
        start = 8 + len(pixels) + len(pixels) % 2
        out = struct.pack(order + "2sHI", b"II" if order == "<" else b"MM", 42, start)
        out += pixels + b"\x00" * (len(pixels) % 2)
        overflow_at = start + 2 + 12 * len(entries) + 4
        directory, overflow = struct.pack(order + "H", len(entries)), b""
        for tag, (kind, values) in sorted(entries.items()):
            packed = struct.pack(order + f"{len(values)}{'HI'[kind - 3]}", *values)
            if len(packed) > 4:
                value = struct.pack(order + "I", overflow_at + len(overflow))
                overflow += packed
            else:
                value = packed.ljust(4, b"\x00")
            directory += struct.pack(order + "HHI", tag, kind, len(values)) + value
        return out + directory + struct.pack(order + "I", 0) + overflow

    return tiff
