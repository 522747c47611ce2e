"""Members of zip archives, each read by itself from its place."""

from __future__ import annotations

import bz2
import os
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from visual_search.errors import UndecodableImageError
from visual_search.images.archive_limits import most_unpacked, swollen
from visual_search.images.members import Member, Storage, name_reason
from visual_search.images.reading import open_regular

__all__ = ["list_zip", "read_zip_member"]

_METHODS: dict[int, Storage] = {
    zipfile.ZIP_STORED: "stored",
    zipfile.ZIP_DEFLATED: "deflated",
    zipfile.ZIP_BZIP2: "bzip2",
}
# Signature, lengths of name and extra field; the rest is repeated from the archive's directory.
_LOCAL_HEADER = struct.Struct("<4s22xHH")


def list_zip(path: Path) -> Iterator[Member]:
    """Members that are no folders, from the archive's directory alone."""
    with path.open("rb") as file, zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
        if sum(info.file_size for info in infos) > most_unpacked(os.fstat(file.fileno()).st_size):
            raise swollen(path)
        _check_apart(infos, archive.start_dir)
        for info in infos:
            if not info.is_dir():
                yield Member(
                    name=info.filename,
                    reason=_reason(info),
                    storage=_METHODS.get(info.compress_type, "stored"),
                    offset=info.header_offset,
                    packed=info.compress_size,
                    size=info.file_size,
                    mark=f"{info.CRC:08x}",
                )


def _check_apart(infos: list[zipfile.ZipInfo], end: int) -> None:
    """Refuse members that share bytes, by which a small file holds any number of large pictures."""
    after, beginning = "the archive's directory", end
    for info in sorted(infos, key=lambda info: info.header_offset, reverse=True):
        # Names and extra fields come between, but their lengths are known only from the place itself.
        if info.header_offset + _LOCAL_HEADER.size + info.compress_size > beginning:
            raise zipfile.BadZipFile(f"{info.filename!r} overlaps {after}")
        after, beginning = repr(info.filename), info.header_offset


def _reason(info: zipfile.ZipInfo) -> str | None:
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind == stat.S_IFLNK:
        return "a link in an archive, not followed"
    if kind not in (0, stat.S_IFREG):
        return "not a regular file"
    if info.flag_bits & 0x1:
        return "encrypted in its archive"
    if info.compress_type not in _METHODS:
        return f"packed by zip method {info.compress_type}, which is not read; pack by deflate"
    return name_reason(info.filename)


def read_zip_member(path: Path, member: Member) -> bytes:
    """Bytes of one member; never more than its stated size is unpacked."""
    with open_regular(path) as (stream, status):
        stream.seek(member.offset)
        header = stream.read(_LOCAL_HEADER.size)
        if len(header) < _LOCAL_HEADER.size or not header.startswith(b"PK\x03\x04"):
            raise UndecodableImageError("not where its archive's listing had it; the archive has changed")
        _, name_length, extra_length = _LOCAL_HEADER.unpack(header)
        stream.seek(name_length + extra_length, 1)
        packed = stream.read(min(member.packed, status.st_size))
    data = _unpacked(packed, member)
    if len(data) != member.size or f"{zlib.crc32(data):08x}" != member.mark:
        raise UndecodableImageError("damaged in its archive: length or checksum is wrong")
    return data


def _unpacked(packed: bytes, member: Member) -> bytes:
    # One byte more than stated shows a member that lies about its size.
    most = member.size + 1
    if member.storage == "deflated":
        return zlib.decompressobj(-zlib.MAX_WBITS).decompress(packed, most)
    return bz2.BZ2Decompressor().decompress(packed, most) if member.storage == "bzip2" else packed
