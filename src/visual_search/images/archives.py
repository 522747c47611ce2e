"""Archives of images: listed without unpacking, each member read by itself, none trusted."""

from __future__ import annotations

import lzma
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

from visual_search.errors import FileFormatError, UndecodableImageError
from visual_search.images.members import Member
from visual_search.images.reading import check_bytes
from visual_search.images.signatures import ArchiveFormat
from visual_search.images.tar_members import list_tar, read_tar_member
from visual_search.images.zip_members import list_zip, read_zip_member

__all__ = ["list_members", "read_member"]

# What the standard library raises on damaged archives.
_ARCHIVE_ERRORS = (
    OSError,
    EOFError,
    ValueError,
    LookupError,
    OverflowError,
    NotImplementedError,
    struct.error,
    zlib.error,
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
)


def list_members(path: Path, kind: ArchiveFormat) -> list[Member]:
    """List every member that is not a folder, in the order of the archive.

    Raises
    ------
    FileFormatError
        The archive is damaged or truncated, or unpacks to far more than images do.
    """
    members: list[Member] = []
    try:
        members.extend(list_zip(path) if kind == "zip" else list_tar(path, kind))
    except FileFormatError:
        raise
    except _ARCHIVE_ERRORS as error:
        raise FileFormatError(
            f"{path}: no {kind} archive that can be listed ({str(error) or type(error).__name__}); "
            "make or fetch it again"
        ) from error
    return members


def read_member(path: Path, member: Member, max_bytes: int | None = None) -> bytes:
    """Bytes of one member, at most ``max_bytes``.

    Each read opens the archive by itself, so that threads and processes may read side by side. A packed tar is
    unpacked into a temporary file by the first read of each process.

    Raises
    ------
    UndecodableImageError
        The member is damaged or longer than allowed, or the archive is gone or has changed.
    """
    check_bytes(max(member.size, member.packed), max_bytes)
    try:
        data = read_tar_member(path, member) if member.storage.startswith("tar") else read_zip_member(path, member)
    except UndecodableImageError:
        raise
    except _ARCHIVE_ERRORS as error:
        raise UndecodableImageError(f"damaged in its archive: {str(error) or type(error).__name__}") from error
    if len(data) != member.size:
        raise UndecodableImageError(f"damaged in its archive: {len(data)} bytes of {member.size}")
    return data
