"""What a file's own structure says, read without decoding: frames, checksums, scans, sizes declared."""

from __future__ import annotations

import re
import struct
import zlib
from collections.abc import Iterator

from PIL import Image

from visual_search.errors import UndecodableImageError
from visual_search.images.signatures import ImageFormat

__all__ = ["check_structure", "declared_size", "frame_count", "png_lacks_rows"]

# A progressive JPEG of the usual encoders has about ten scans. Each scan may walk over the whole picture for a few
# bytes of file, so thousands of them keep a decoder busy for hours.
_MOST_SCANS = 100
_MOST_FRAMES_COUNTED = 1_000_000
_ADAM7 = ((0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2))
# A marker; not the stuffing or restarts inside a scan's data, nor a filler before the next marker.
_JPEG_MARKER = re.compile(rb"\xff[^\x00\xff\xd0-\xd7]")


def declared_size(data: bytes, kind: ImageFormat) -> tuple[int, int] | None:
    """Width and height in pixels from the header, for the formats whose opening already allocates pixels."""
    if kind == "GIF" and len(data) >= 10:
        width, height = struct.unpack_from("<HH", data, 6)
        return width, height
    if kind != "WEBP" or len(data) < 30:
        return None
    chunk = data[12:16]
    if chunk == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if chunk == b"VP8L" and data[20] == 0x2F:
        packed = int.from_bytes(data[21:25], "little")
        return (packed & 0x3FFF) + 1, (packed >> 14 & 0x3FFF) + 1
    if chunk == b"VP8 ":
        width, height = struct.unpack_from("<HH", data, 26)
        return width & 0x3FFF, height & 0x3FFF
    return None


def check_structure(data: bytes, kind: ImageFormat) -> None:
    """Refuse damage and traps that Pillow would let pass.

    Raises
    ------
    UndecodableImageError
        A PNG chunk of pixels or palette whose checksum is wrong, or a JPEG of more than 100 scans.
    """
    if kind == "PNG":
        _check_png_checksums(data)
    # The quick count also sees what is no scan: films that telephones append, thumbnails.
    elif kind == "JPEG" and data.count(b"\xff\xda") > _MOST_SCANS and _jpeg_scans(data) > _MOST_SCANS:
        raise UndecodableImageError(f"a JPEG of more than {_MOST_SCANS} scans, made to keep decoders busy")


def _jpeg_scans(data: bytes) -> int:
    """Scans up to the end of the first image, from its chain of segments."""
    place, scans = 2, 0
    while (found := _JPEG_MARKER.search(data, place)) is not None:
        marker = data[found.end() - 1]
        if marker == 0xD9:  # end of image
            break
        scans += marker == 0xDA
        place = found.end() + int.from_bytes(data[found.end() : found.end() + 2], "big")
    return scans


def _check_png_checksums(data: bytes) -> None:
    for name, body, stated in _png_chunks(data):
        if name in (b"IHDR", b"PLTE", b"tRNS", b"IDAT") and zlib.crc32(body, zlib.crc32(name)) != stated:
            raise UndecodableImageError(f"a PNG chunk whose checksum is wrong: {name.decode()}")


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, memoryview, int]]:
    """Name, content and stated checksum of each whole chunk; a file cut short ends early."""
    view = memoryview(data)
    place = 8
    while place + 12 <= len(data):
        length, name = struct.unpack_from(">I4s", data, place)
        end = place + 8 + length
        if end + 4 > len(data):
            return
        yield name, view[place + 8 : end], int.from_bytes(view[end : end + 4], "big")
        if name == b"IEND":
            return
        place = end + 4


def png_lacks_rows(data: bytes, image: Image.Image) -> bool:
    """Whether a PNG's compressed stream ends before the pixels do, which Pillow fills with zeros and lets pass.

    Parameters
    ----------
    data : bytes
        The file.
    image : PIL.Image.Image
        As loaded from it. Only where its last row is all zero, or its rows are interlaced, is the stream unpacked
        once more to count its bytes.
    """
    interlaced = data[28] != 0
    last_row = image.crop((0, image.height - 1, image.width, image.height)).tobytes()
    if last_row.strip(b"\x00") and not interlaced:
        return False
    missing = _png_bytes(data, interlaced=interlaced)
    unpacking = zlib.decompressobj()
    for name, body, _ in _png_chunks(data):
        rest: bytes | memoryview = body if name == b"IDAT" else b""
        while missing > 0 and rest:
            missing -= len(unpacking.decompress(rest, 1 << 20))
            rest = unpacking.unconsumed_tail
    return missing > 0


def _png_bytes(data: bytes, *, interlaced: bool) -> int:
    """Bytes that the unpacked pixels of a PNG take, each row led by its filter (PNG specification, 7.2 and 8)."""
    width, height, depth, colour = struct.unpack_from(">IIBB", data, 16)
    bits = depth * {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour]
    passes = _ADAM7 if interlaced else ((0, 0, 1, 1),)
    total = 0
    for left, top, step_x, step_y in passes:
        columns, rows = -(-(width - left) // step_x), -(-(height - top) // step_y)
        if columns > 0 and rows > 0:
            total += rows * (1 + (columns * bits + 7) // 8)
    return total


def frame_count(image: Image.Image, data: bytes, kind: ImageFormat) -> int:
    """Number of frames or pages of an opened image, at least 1; later frames are never decoded for it.

    GIF frames and TIFF pages are counted from the file's structure, in time linear in its length; the other formats
    state their number.
    """
    if kind == "GIF":
        return max(1, _gif_frames(data))
    if kind == "TIFF":
        return max(1, _tiff_pages(data))
    return max(1, int(getattr(image, "n_frames", 1)))


def _gif_frames(data: bytes) -> int:
    place = 13 + _colour_table_bytes(data[10])
    frames = 0
    while place < len(data):
        introducer = data[place]
        if introducer == 0x2C and place + 9 < len(data):
            frames += 1
            place = _after_blocks(data, place + 11 + _colour_table_bytes(data[place + 9]))
        elif introducer == 0x21:
            place = _after_blocks(data, place + 2)
        elif introducer == 0x00:  # padding that some writers leave between blocks
            place += 1
        else:
            break
    return frames


def _colour_table_bytes(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _after_blocks(data: bytes, place: int) -> int:
    while place < len(data) and data[place]:
        place += data[place] + 1
    return place + 1


def _tiff_pages(data: bytes) -> int:
    order = "<" if data[:2] == b"II" else ">"
    big = data[2:4] in (b"\x2b\x00", b"\x00\x2b")
    offset, count, entry = ("Q", "Q", 20) if big else ("I", "H", 12)
    seen: set[int] = set()
    try:
        (place,) = struct.unpack_from(order + offset, data, 8 if big else 4)
        while place and place not in seen and len(seen) < _MOST_FRAMES_COUNTED:
            (entries,) = struct.unpack_from(order + count, data, place)
            seen.add(place)
            (place,) = struct.unpack_from(
                order + offset, data, place + struct.calcsize(order + count) + entries * entry
            )
    except (struct.error, OverflowError):  # the chain leads out of the file
        pass
    return len(seen)
