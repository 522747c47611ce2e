"""Members of tar archives, plain or packed by gzip, bzip2 or xz."""

from __future__ import annotations

import atexit
import bz2
import gzip
import lzma
import os
import tarfile
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, BinaryIO, Self, cast

from visual_search.images.archive_limits import most_unpacked, swollen
from visual_search.images.members import Member, Storage, name_reason
from visual_search.images.reading import open_regular
from visual_search.images.signatures import ArchiveFormat

__all__ = ["list_tar", "read_tar_member"]

_STORAGES: dict[ArchiveFormat, Storage] = {"tar": "tar", "gzip": "tar.gz", "bzip2": "tar.bz2", "xz": "tar.xz"}

_BLOCK = 1 << 20
# Headers that hold a long name or further fields of the next one; such a text is read whole.
_TEXT_TYPES = frozenset(
    {tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK, tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE}
)
_LONGEST_TEXT = 1 << 20


def list_tar(path: Path, kind: ArchiveFormat) -> Iterator[Member]:
    """Members that are no folders, from one pass over the headers (of the unpacked stream, for a packed tar)."""
    with path.open("rb") as file:
        packed = kind != "tar"
        status = os.fstat(file.fileno())
        # A tar has no checksums, and its times are whole seconds, often all 0.
        stamp = f"{status.st_size}@{status.st_mtime_ns}"
        end = most_unpacked(status.st_size) if packed else status.st_size
        source = cast("IO[bytes]", _Unpacking(file, _STORAGES[kind], path)) if packed else file
        with tarfile.open(fileobj=source, mode="r|" if packed else "r:", tarinfo=_StrictHeader) as archive:
            while (info := archive.next()) is not None:
                archive.members = []  # type: ignore[attr-defined] # 100,000 headers need not be kept
                if archive.offset > end:  # a packed stream would be read to that place, however far
                    if packed:
                        raise swollen(path)
                    raise tarfile.ReadError(f"{info.name!r} says it has {info.size} bytes, more than there are")
                if not info.isdir():
                    yield Member(
                        name=info.name,
                        reason=_reason(info),
                        storage=_STORAGES[kind],
                        offset=info.offset_data,
                        packed=info.size,
                        size=info.size,
                        mark=f"{int(info.mtime)} in {stamp}",
                    )


class _StrictHeader(tarfile.TarInfo):
    """A header that must be whole and lead onwards.

    The standard library takes a damaged one for the archive's end, and goes back by a size below zero for ever.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> Self:
        header = super().frombuf(buf, encoding, errors)
        _check_size(header)
        if header.type in _TEXT_TYPES and header.size > _LONGEST_TEXT:
            raise tarfile.ReadError(f"a name or header of {header.size} bytes")
        return header

    @classmethod
    def fromtarfile(cls, tarfile_: tarfile.TarFile) -> Self:
        start = tarfile_.offset
        try:
            header = super().fromtarfile(tarfile_)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined] # a block of zeros: the true end
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(f"no end mark, but {error} at byte {tarfile_.offset}") from error
        except RecursionError as error:
            raise tarfile.ReadError(f"too many headers for one member at byte {start}") from error
        _check_size(header)  # again: an extended header may have said another
        if tarfile_.offset <= start:
            raise tarfile.ReadError(f"the member at byte {start} leads back to byte {tarfile_.offset}")
        return header


def _check_size(header: tarfile.TarInfo) -> None:
    if header.size < 0:
        raise tarfile.ReadError(f"{header.name!r} says it has {header.size} bytes")


def _reason(info: tarfile.TarInfo) -> str | None:
    if info.issym() or info.islnk():
        return "a link in an archive, not followed"
    if not info.isreg():
        return "not a regular file"
    if info.issparse():
        return "a sparse file in an archive, which is not read"
    return name_reason(info.name)


def read_tar_member(path: Path, member: Member) -> bytes:
    """Bytes of one member from its place."""
    if member.storage != "tar":
        return _unpacked_archives.read(path, member)
    with open_regular(path) as (stream, status):
        stream.seek(member.offset)
        return stream.read(min(member.size, status.st_size))


_OPENERS: dict[Storage, Callable[[BinaryIO], object]] = {
    "tar.gz": gzip.open,
    "tar.bz2": bz2.open,
    "tar.xz": lzma.open,
}


class _Unpacking:
    """The unpacked stream of a packed tar, refused when it grows far beyond its file."""

    def __init__(self, file: BinaryIO, storage: Storage, path: Path) -> None:
        self._stream = cast("IO[bytes]", _OPENERS[storage](file))
        self._path = path
        self._most = most_unpacked(os.fstat(file.fileno()).st_size)
        self._read = 0

    def read(self, size: int) -> bytes:
        data = self._stream.read(size)
        self._read += len(data)
        if self._read > self._most:
            raise swollen(self._path)
        return data


class _UnpackedArchives:
    """Temporary unpacked copies, since a packed stream can only be read from its start; two are kept."""

    def __init__(self, kept: int = 2) -> None:
        self._kept = kept
        self._copies: OrderedDict[tuple[str, int, int], BinaryIO] = OrderedDict()
        self._lock = threading.Lock()
        atexit.register(self.forget)

    def read(self, path: Path, member: Member) -> bytes:
        # Under the lock: another thread may otherwise close the copy, or move its place, in between.
        with self._lock:
            copy = self._copy(path, member.storage)
            copy.seek(member.offset)
            return copy.read(member.size)

    def forget(self) -> None:
        with self._lock:
            while self._copies:
                self._copies.popitem()[1].close()

    def _copy(self, path: Path, storage: Storage) -> BinaryIO:
        status = path.stat()
        key = (str(path.absolute()), status.st_size, status.st_mtime_ns)
        if key not in self._copies:
            self._copies[key] = self._unpacked(path, storage)
            while len(self._copies) > self._kept:
                self._copies.popitem(last=False)[1].close()
        self._copies.move_to_end(key)
        return self._copies[key]

    @staticmethod
    def _unpacked(path: Path, storage: Storage) -> BinaryIO:
        copy = cast("BinaryIO", tempfile.TemporaryFile(prefix="visual-search-"))  # noqa: SIM115 - kept, closed by us
        try:
            with path.open("rb") as file:
                stream = _Unpacking(file, storage, path)
                while block := stream.read(_BLOCK):
                    copy.write(block)
        except BaseException:
            copy.close()
            raise
        return copy


_unpacked_archives = _UnpackedArchives()
