"""One file, or one member of an archive, that may be an image."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from visual_search.errors import UndecodableImageError
from visual_search.images.archives import read_member
from visual_search.images.members import Member
from visual_search.images.reading import open_regular, read_file
from visual_search.images.signatures import ImageFormat, image_format

__all__ = ["ImageBytes", "ImageSource"]

_ENOUGH_TO_TELL = 256
_LONGEST_MEMBER = 1 << 28  # a member is unpacked whole to see its first bytes


@dataclass(frozen=True, slots=True)
class ImageSource:
    r"""Where the bytes of one image are; small, picklable, and opened only by ``read``.

    Attributes
    ----------
    id : str
        What the image is called everywhere: by default its relative POSIX path. Listed ids are valid Unicode:
        bytes of a name that are no UTF-8 are written ``\xE9`` and the like.
    path : Path
        The file on disk; for a member of an archive, the archive.
    member : str or None
        The member's name as the archive writes it; None for a file.
    reason : str or None
        Why it is left out, where its name or kind already tells (hidden, a pipe, a link in an archive); ``read``
        then raises with this reason, so that it reaches the ledger on the same way as any other.

    Examples
    --------
    >>> ImageSource("notes.txt", Path("/nowhere/notes.txt")).read()
    Traceback (most recent call last):
    ...
    visual_search.errors.UndecodableImageError: no such file
    """

    id: str
    path: Path
    member: str | None = None
    reason: str | None = None
    entry: Member | None = field(default=None, repr=False)

    def read(self, max_bytes: int | None = None) -> bytes:
        """Read the whole file or member.

        Parameters
        ----------
        max_bytes : int, optional
            Longest content allowed; the length is looked at before anything is read.

        Raises
        ------
        UndecodableImageError
            It is left out, cannot be read, is damaged in its archive, or is longer than allowed. Nothing else is
            raised, and a pipe or device put in the file's place is never waited for.
        """
        if self.reason is not None:
            raise UndecodableImageError(self.reason)
        if self.entry is not None:
            return read_member(self.path, self.entry, max_bytes)
        return read_file(self.path, max_bytes)

    @property
    def stamp(self) -> str:
        """What differs when the content does, without reading it.

        Size and time of change in nanoseconds for a file, looked up now. For a member, as listed: size and CRC-32
        in a zip; in a tar, which has no checksums, size, time in seconds, and size and time of change of the tar.
        ``"unreadable"`` where there is nothing to look at.
        """
        if self.entry is not None:
            return f"{self.entry.size}#{self.entry.mark}"
        try:
            status = self.path.stat()
        except (OSError, ValueError):
            return "unreadable"
        return f"{status.st_size}@{status.st_mtime_ns}"

    def looks_like(self) -> ImageFormat | None:
        """Image format by the first bytes, or None; nothing is decoded."""
        try:
            if self.reason is not None or self.entry is not None:
                return image_format(self.read(_LONGEST_MEMBER))
            with open_regular(self.path) as (stream, _):
                return image_format(stream.read(_ENOUGH_TO_TELL))
        except UndecodableImageError:
            return None


@dataclass(frozen=True, slots=True)
class ImageBytes(ImageSource):
    """An image that is in memory already, under a name.

    Examples
    --------
    >>> ImageBytes("pasted", Path(), data=b"P5 1 1 255 ?").read()[:2]
    b'P5'
    """

    data: bytes = field(default=b"", repr=False)

    def read(self, max_bytes: int | None = None) -> bytes:
        """Give the bytes; refused where they are more than allowed."""
        if max_bytes is not None and len(self.data) > max_bytes:
            raise UndecodableImageError(f"{len(self.data)} bytes, more than max_bytes={max_bytes}")
        return self.data

    @property
    def stamp(self) -> str:
        """Length and hash of the bytes."""
        return f"{len(self.data)}#{hashlib.sha256(self.data).hexdigest()}"

    def looks_like(self) -> ImageFormat | None:
        """Image format by the first bytes, or None."""
        return image_format(self.data)
