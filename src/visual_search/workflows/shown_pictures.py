"""Pictures that pages show: decoded by the ledger's rules, made smaller once, and kept while there is room."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path

from visual_search.errors import FileFormatError, InputError, UndecodableImageError
from visual_search.formats.results import ImageLocation
from visual_search.images.archives import list_members
from visual_search.images.image_source import ImageSource
from visual_search.images.signatures import archive_format
from visual_search.images.thumbnails import thumbnail

__all__ = ["ShownPictures"]

# Pictures decoded at once: more would take memory (a decoded one up to some hundred MB) and gain nothing.
_AT_ONCE = 2


class ShownPictures:
    """Small copies of pictures, by where they are and how large.

    Parameters
    ----------
    max_bytes : int
        Bytes of small copies that are kept; those not asked for the longest go first.

    Raises
    ------
    InputError
        ``max_bytes`` is below 1.

    How to read it
    --------------
    Errors name no file: who looks at a picture may not know what it is called.

    Examples
    --------
    >>> ShownPictures().webp(ImageLocation(Path("/nowhere/3.png")), 100)
    Traceback (most recent call last):
    ...
    visual_search.errors.UndecodableImageError: picture: no such file
    """

    def __init__(self, max_bytes: int = 64 << 20) -> None:
        if max_bytes < 1:
            raise InputError(f"max_bytes={max_bytes!r}: give a positive integer")
        self._room = max_bytes
        self._used = 0
        self._kept: OrderedDict[tuple[ImageLocation, int], bytes] = OrderedDict()
        self._members: dict[Path, dict[str, ImageSource]] = {}
        self._guard = threading.Lock()
        self._decoding = threading.BoundedSemaphore(_AT_ONCE)

    def webp(self, place: ImageLocation, side: int) -> bytes:
        """The picture as WebP, without metadata.

        Parameters
        ----------
        place : ImageLocation
        side : int
            Longest side in pixels; a picture that is smaller keeps its size.

        Raises
        ------
        UndecodableImageError
            It is not there, or no readable image.
        """
        key = (place, side)
        with self._guard:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        with self._decoding:
            try:
                made = thumbnail(self._source(place), side, quality=88 if side > 400 else 76)
            except UndecodableImageError as error:
                raise UndecodableImageError(f"picture: {_nameless(str(error), place)}") from error
        with self._guard:
            if key not in self._kept:
                self._kept[key] = made
                self._used += len(made)
            while self._used > self._room and len(self._kept) > 1:
                _, old = self._kept.popitem(last=False)
                self._used -= len(old)
        return made

    def _source(self, place: ImageLocation) -> ImageSource:
        if place.member is None:
            return ImageSource("picture", place.path)
        with self._guard:
            if place.path not in self._members:
                self._members[place.path] = _members_of(place.path)
            found = self._members[place.path].get(place.member)
        if found is None:
            raise UndecodableImageError("no such member of its archive")
        return found


def _nameless(words: str, place: ImageLocation) -> str:
    names = [str(place.path), place.path.name, place.member]
    return "it cannot be read" if any(name is not None and name in words for name in names) else words


def _members_of(path: Path) -> dict[str, ImageSource]:
    try:
        with path.open("rb") as stream:
            kind = archive_format(stream.read(512))
        members = list_members(path, kind) if kind else []
    except (OSError, FileFormatError):
        return {}
    return {member.name: ImageSource(member.id, path, member.name, member.reason, member) for member in members}
