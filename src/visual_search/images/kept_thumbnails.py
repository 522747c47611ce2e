"""Small pictures made once and kept while there is room."""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from dataclasses import dataclass
from typing import TypeAlias

from visual_search.errors import UndecodableImageError
from visual_search.images.decoding import DecodingRules
from visual_search.images.image_source import ImageSource
from visual_search.images.located import ImagePlace, LocatedImages
from visual_search.images.thumbnails import thumbnail

__all__ = ["KeptThumbnails", "OtherImageError", "Thumbnail"]

# The mark, and what was asked of the content.
_Key: TypeAlias = tuple[str, DecodingRules, str | None]

_MOST_HASHES = 100_000  # at some 200 bytes each
_DECODED_AT_A_TIME = 4  # each may take up to 16 bytes a pixel for a moment
_OTHER = "the file is not the one that was indexed; index the images again"


class OtherImageError(UndecodableImageError):
    """A file is not the one that is expected at its place."""


@dataclass(frozen=True, slots=True)
class Thumbnail:
    """A WebP picture.

    Attributes
    ----------
    data : bytes
    mark : str
        What differs when the picture does: for an ``ETag``.
    sha256 : str
        Of the image that it was made of, in hexadecimal.
    """

    data: bytes
    mark: str
    sha256: str


class KeptThumbnails:
    """Thumbnails by place and size; those not asked for the longest go when there is no more room.

    Parameters
    ----------
    max_bytes : int
        Of all pictures kept, together.

    How to read it
    --------------
    A picture that changed on disk is made anew. Where the hash of what is expected is given, other content is refused:
    a file put in an image's place (or a link to a private one) is not shown.
    """

    def __init__(self, max_bytes: int) -> None:
        self._room = max_bytes
        self._kept: OrderedDict[_Key, tuple[bytes, str]] = OrderedDict()
        self._held = 0
        self._hashes: OrderedDict[str, str] = OrderedDict()
        self._places = LocatedImages()
        self._changing = threading.Lock()
        self._decoding = threading.BoundedSemaphore(_DECODED_AT_A_TIME)

    @property
    def held_bytes(self) -> int:
        """Bytes of the pictures kept now."""
        return self._held

    def mark(self, place: ImagePlace, side: int) -> str | None:
        """What :meth:`made` would give as ``mark``, without making anything; None where there is no such file."""
        stamp = self._places.stamp(place)
        if stamp is None:
            return None
        # NUL, which no path holds, keeps the parts apart.
        told = "\0".join((str(place.path), place.member or "", stamp, str(side)))
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def sha256(self, place: ImagePlace, *, read: bool = False) -> str | None:
        """Hash of the image at a place, as it was read last.

        ``read`` reads it where it was not, or its file changed since; else, and where there is none, it is None.
        """
        mark = self.mark(place, 0)
        with self._changing:
            found = None if mark is None else self._hashes.get(mark)
        source = self._places.source(place) if read and found is None else None
        if source is None:
            return found
        try:
            return self._read(place, source, DecodingRules())[1]
        except UndecodableImageError:
            return None

    def made(
        self, place: ImagePlace, side: int, *, rules: DecodingRules | None = None, sha256: str | None = None
    ) -> Thumbnail:
        """The picture at a place, at most ``side`` pixels wide and high.

        Raises
        ------
        UndecodableImageError
            No such file, no image or an image beyond the rules.
        OtherImageError
            Another than that of ``sha256``.
        """
        mark = self.mark(place, side)
        source = self._places.source(place)
        if mark is None or source is None:
            raise UndecodableImageError("the file is gone")
        # One who asks without a hash, or under other rules, may have been shown what another is not.
        key = (mark, rules or DecodingRules(), sha256)
        with self._changing:
            kept = self._kept.get(key)
            if kept is not None:
                self._kept.move_to_end(key)
                return Thumbnail(kept[0], mark, kept[1])
        if sha256 is not None and self.sha256(place) not in (None, sha256):
            raise OtherImageError(_OTHER)
        with self._decoding:
            read, found = self._read(place, source, rules or DecodingRules())
            if sha256 is not None and found != sha256:
                raise OtherImageError(_OTHER)
            data = thumbnail(read, side, rules=rules or DecodingRules())
        if (
            self.mark(place, side) == mark
        ):  # else it changed while it was read, and which of the two came is not known
            self._keep(key, data, found)
        return Thumbnail(data, mark, found)

    def _read(self, place: ImagePlace, source: ImageSource, rules: DecodingRules) -> tuple[bytes, str]:
        """The image's bytes and their hash, which is remembered while the file stays as it is."""
        mark = self.mark(place, 0)
        data = source.read(rules.max_bytes)
        found = hashlib.sha256(data).hexdigest()
        if mark is not None and self.mark(place, 0) == mark:
            with self._changing:
                self._hashes[mark] = found
                self._hashes.move_to_end(mark)
                while len(self._hashes) > _MOST_HASHES:
                    self._hashes.popitem(last=False)
        return data, found

    def _keep(self, key: _Key, data: bytes, found: str) -> None:
        with self._changing:
            if key in self._kept or len(data) > self._room:
                return
            self._kept[key] = (data, found)
            self._held += len(data)
            while self._held > self._room:
                self._held -= len(self._kept.popitem(last=False)[1][0])
