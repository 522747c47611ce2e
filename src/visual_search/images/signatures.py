"""What bytes are, told by their first bytes and never by a file's name."""

from __future__ import annotations

from typing import Literal, TypeAlias

__all__ = ["IMAGE_FORMATS", "MEDIA_TYPES", "ImageFormat", "archive_format", "image_format", "what_it_is"]

ImageFormat: TypeAlias = Literal["JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP", "PPM", "AVIF", "HEIF"]
ArchiveFormat: TypeAlias = Literal["zip", "tar", "gzip", "bzip2", "xz"]

IMAGE_FORMATS: tuple[ImageFormat, ...] = ("JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP", "PPM", "AVIF", "HEIF")
"""Formats that are decoded; PPM stands for all of Netpbm (PBM, PGM, PPM, PNM, PFM)."""

MEDIA_TYPES: dict[ImageFormat, str] = {
    "JPEG": "image/jpeg",
    "PNG": "image/png",
    "WEBP": "image/webp",
    "GIF": "image/gif",
    "TIFF": "image/tiff",
    "BMP": "image/bmp",
    "PPM": "image/x-portable-anymap",
    "AVIF": "image/avif",
    "HEIF": "image/heif",
}

_STARTS: tuple[tuple[bytes, ImageFormat], ...] = (
    (b"\xff\xd8\xff", "JPEG"),
    (b"\x89PNG\r\n\x1a\n", "PNG"),
    (b"GIF87a", "GIF"),
    (b"GIF89a", "GIF"),
    (b"II\x2a\x00", "TIFF"),
    (b"MM\x00\x2a", "TIFF"),
    (b"II\x2b\x00", "TIFF"),
    (b"MM\x00\x2b", "TIFF"),
)
_NETPBM = (b"P1", b"P2", b"P3", b"P4", b"P5", b"P6", b"Pf")
_BITMAP_HEADERS = tuple(size.to_bytes(4, "little") for size in (12, 16, 40, 52, 56, 64, 108, 124))
_AVIF_BRANDS = {b"avif", b"avis"}
_HEIF_BRANDS = {b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"hevm", b"hevs"}
_BLANK = b" \t\n\v\f\r"

# Things people keep beside images; the name goes into the reason why a file was left out.
_OTHERS: tuple[tuple[bytes, str], ...] = (
    (b"%PDF", "a PDF document"),
    (b"%!PS", "a PostScript document"),
    (b"\xc5\xd0\xd3\xc6", "a PostScript document"),
    (b"8BPS", "a Photoshop document"),
    (b"\xff\x0a", "a JPEG XL image, a format that is not read"),
    (b"\x00\x00\x00\x0cJXL ", "a JPEG XL image, a format that is not read"),
    (b"\xff\x4f\xff\x51", "a JPEG 2000 image, a format that is not read"),
    (b"\x00\x00\x00\x0cjP  ", "a JPEG 2000 image, a format that is not read"),
    (b"\x00\x00\x01\x00", "an icon file, a format that is not read"),
    (b"qoif", "a QOI image, a format that is not read"),
    (b"PK\x03\x04", "a zip archive; list it by itself to index what is in it"),
    (b"PK\x05\x06", "an empty zip archive"),
    (b"\x1f\x8b", "a gzip file; if it is an archive, list it by itself"),
    (b"BZh", "a bzip2 file; if it is an archive, list it by itself"),
    (b"\xfd7zXZ\x00", "an xz file; if it is an archive, list it by itself"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it first"),
    (b"Rar!", "a RAR archive; unpack it first"),
    (b"\x1aE\xdf\xa3", "a Matroska or WebM video"),
    (b"SQLite format 3\x00", "an SQLite database"),
    (b"\x93NUMPY", "a NumPy array"),
    (b"\x7fELF", "a program"),
    (b"version https://git-lfs", "a Git LFS pointer; fetch the image itself with git lfs pull"),
)


def image_format(data: bytes) -> ImageFormat | None:
    """Name the image format of a file's bytes, or None where they are no image that is decoded.

    Parameters
    ----------
    data : bytes
        The file, or at least its first 64 bytes.

    Examples
    --------
    >>> image_format(b"GIF89a..."), image_format(b"hello")
    ('GIF', None)
    """
    for start, name in _STARTS:
        if data.startswith(start):
            return name
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "WEBP"
    # Two letters also start words: a bitmap's second header and the blank after Netpbm's digit are looked at too.
    if data[:2] == b"BM" and data[14:18] in _BITMAP_HEADERS:
        return "BMP"
    if data[:2] in _NETPBM and data[2:3] in _BLANK and len(data) > 2:
        return "PPM"
    return _container_format(data)


def _container_format(data: bytes) -> ImageFormat | None:
    """Tell AVIF from HEIF by the brands that the file's first box lists."""
    if data[4:8] != b"ftyp":
        return None
    end = min(int.from_bytes(data[:4], "big"), len(data), 256)
    brands = {data[8:12]} | {data[place : place + 4] for place in range(16, end, 4)}
    # The major brand decides where a file claims both.
    if data[8:12] in _HEIF_BRANDS:
        return "HEIF"
    if brands & _AVIF_BRANDS:
        return "AVIF"
    return "HEIF" if brands & _HEIF_BRANDS or data[8:12] in (b"mif1", b"msf1") else None


def archive_format(data: bytes) -> ArchiveFormat | None:
    """Name the archive or compression format that a file's first 512 bytes show, or None."""
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return "zip"
    if data[257:262] == b"ustar":
        return "tar"
    if data.startswith(b"\x1f\x8b"):
        return "gzip"
    if data.startswith(b"BZh"):
        return "bzip2"
    return "xz" if data.startswith(b"\xfd7zXZ\x00") else None


def what_it_is(data: bytes) -> str:
    """Say in a few words what bytes that are no image seem to be.

    Examples
    --------
    >>> what_it_is(b"%PDF-1.7 ...")
    'a PDF document'
    """
    for start, name in _OTHERS:
        if data.startswith(start):
            return name
    if archive_format(data) == "tar":
        return "a tar archive; list it by itself to index what is in it"
    if data[4:8] == b"ftyp":
        return "a video or another file of the MP4 family"
    head = data[:512]
    if not head.strip(b"\x00"):
        return "bytes that are all zero"
    return _what_text_it_is(head) or "bytes of no known image format"


def _what_text_it_is(head: bytes) -> str | None:
    try:
        # A character may be cut in two where the first bytes end.
        text = head[:-3].decode("utf-8") if len(head) == 512 else head.decode("utf-8")
    except UnicodeDecodeError:
        return None
    if any(ord(character) < 32 and character not in "\t\n\r\f" for character in text):
        return None
    start = text.lstrip("\ufeff \t\r\n").lower()
    if start.startswith("<svg") or "<svg" in start:
        return "an SVG drawing, a format that is not read"
    if start.startswith(("<!doctype html", "<html")):
        return "an HTML page (a failed download is often one)"
    return "text"
