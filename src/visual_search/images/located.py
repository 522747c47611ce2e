"""From the place of an image, as results and indexes tell it, to its bytes."""

from __future__ import annotations

import threading
from pathlib import Path
from stat import S_ISREG
from typing import Protocol

from visual_search.errors import FileFormatError, UndecodableImageError
from visual_search.images.archives import list_members
from visual_search.images.image_source import ImageSource
from visual_search.images.signatures import archive_format

__all__ = ["ImagePlace", "LocatedImages"]

_MOST_ARCHIVES = 16


class ImagePlace(Protocol):
    """A file, or a member of an archive."""

    @property
    def path(self) -> Path:
        """The file, or the archive."""
        ...

    @property
    def member(self) -> str | None:
        """Name inside the archive; None for a file."""
        ...


class LocatedImages:
    """Finds images at their places; an archive is listed once while it stays as it is. Safe to share by threads.

    Examples
    --------
    >>> from visual_search.formats.results import ImageLocation
    >>> LocatedImages().source(ImageLocation(Path("/nowhere/1.jpg"))) is None
    True
    """

    def __init__(self) -> None:
        self._archives: dict[tuple[Path, int, int], dict[str, ImageSource]] = {}
        self._listing = threading.Lock()

    def source(self, place: ImagePlace) -> ImageSource | None:
        """What can be read at a place; None where there is no such file or member now."""
        try:
            is_file = S_ISREG(place.path.stat().st_mode)
        except (OSError, ValueError):  # gone, out of reach, or nothing that could be the name of a file
            return None
        if not is_file:
            return None
        if place.member is None:
            return ImageSource(place.path.name, place.path)
        return self._members(place.path).get(place.member)

    def stamp(self, place: ImagePlace) -> str | None:
        """What differs when the image does, without reading it; None where there is no such file or member now."""
        found = self.source(place)
        return None if found is None else found.stamp

    def _members(self, path: Path) -> dict[str, ImageSource]:
        try:
            status = path.stat()
        except OSError:
            return {}
        key = (path, status.st_size, status.st_mtime_ns)
        with self._listing:
            if key not in self._archives:
                while len(self._archives) >= _MOST_ARCHIVES:
                    del self._archives[next(iter(self._archives))]
                self._archives[key] = _listed(path)
            return self._archives[key]


def _listed(path: Path) -> dict[str, ImageSource]:
    try:
        with path.open("rb") as stream:
            kind = archive_format(stream.read(512))
        members = list_members(path, kind) if kind else []
    except (OSError, FileFormatError, UndecodableImageError):
        return {}
    return {member.name: ImageSource(member.id, path, member.name, member.reason, member) for member in members}
