"""The pictures that a stored result names, by id: only those, and only from folders that may be looked into."""

from __future__ import annotations

import threading
from collections import OrderedDict
from pathlib import Path

from visual_search.catalogue.opened import OpenedResult
from visual_search.errors import FileFormatError, InputError, UndecodableImageError
from visual_search.formats.results import ImageLocation, StoredResult
from visual_search.images.archives import list_members
from visual_search.images.image_source import ImageSource
from visual_search.images.signatures import archive_format
from visual_search.images.thumbnail_cache import ThumbnailCache
from visual_search.images.thumbnails import thumbnail
from visual_search.workflows.explored_results import ExploredResults

__all__ = ["NoPictureError", "ResultPictures"]

_SIDE = 208  # pixels; twice what a frame shows, for fine screens
_PLACES = 3  # files of places held; one of 100,000 items takes some 30 MB
_ARCHIVES = 4


class NoPictureError(InputError):
    """There is nothing to show; the message says why in a few words."""


class ResultPictures:
    """Small pictures of results' items and queries.

    Parameters
    ----------
    explored : ExploredResults
    max_bytes : int
        Small pictures kept in memory.
    """

    def __init__(self, explored: ExploredResults, max_bytes: int) -> None:
        self._explored = explored
        self._cache = ThumbnailCache(max_bytes)
        self._places: OrderedDict[tuple[Path, str], StoredResult] = OrderedDict()
        self._archives: OrderedDict[tuple[Path, int], dict[str, ImageSource]] = OrderedDict()
        self._lock = threading.Lock()

    def small(self, key: str, side: str, identifier: str) -> bytes:
        """A small WebP of an item's or a query's picture.

        Parameters
        ----------
        key : str
            Of the result.
        side : {"items", "queries"}
        identifier : str
            The id as text; it is looked up, and never becomes a path.

        Raises
        ------
        UnknownIdError
            No such result.
        NoPictureError
            The result names no file for this id, or the file is gone, cannot be decoded, or lies elsewhere than in
            the folders that may be looked into.
        """
        location = self._location(self._explored.opened(key), side, identifier)
        if location is None:
            raise NoPictureError("no file is named")
        if not self._explored.image_allowed(location.path):
            raise NoPictureError("outside the folders served; see --images")
        try:
            told = location.path.stat()
            mark = (str(location.path), location.member, told.st_mtime_ns, told.st_size)
            return self._cache.get(mark, lambda: self._made(location, told.st_mtime_ns))
        except OSError as problem:
            raise NoPictureError("file is gone") from problem
        except UndecodableImageError as problem:
            raise NoPictureError("not a readable image") from problem

    def _location(self, opened: OpenedResult, side: str, identifier: str) -> ImageLocation | None:
        stored = opened.stored
        name = (stored.path.parent, (stored.record.get("file_checksums") or {}).get("items", stored.path.name))
        with self._lock:  # one reads the long file, the others wait for it
            if name not in self._places:
                self._places[name] = StoredResult(stored.path, stored.record)
            self._places.move_to_end(name)
            while len(self._places) > _PLACES:
                self._places.popitem(last=False)
            held = self._places[name]
            try:
                return held.item_location(identifier) if side == "items" else held.query_location(identifier)
            except FileFormatError as problem:
                raise NoPictureError("the file of places cannot be read") from problem

    def _made(self, location: ImageLocation, changed: int) -> bytes:
        if location.member is None:
            if not location.path.is_file():
                raise NoPictureError("file is gone")
            return thumbnail(ImageSource(location.path.name, location.path), _SIDE, quality=76)
        source = self._members(location.path, changed).get(location.member)
        if source is None:
            raise NoPictureError("file is gone")
        return thumbnail(source, _SIDE, quality=76)

    def _members(self, path: Path, changed: int) -> dict[str, ImageSource]:
        with self._lock:
            name = (path, changed)
            if name not in self._archives:
                self._archives[name] = _members_of(path)
                while len(self._archives) > _ARCHIVES:
                    self._archives.popitem(last=False)
            return self._archives[name]


def _members_of(path: Path) -> dict[str, ImageSource]:
    try:
        with path.open("rb") as stream:
            kind = archive_format(stream.read(512))
        members = list_members(path, kind) if kind else []
    except FileFormatError:
        return {}
    return {member.name: ImageSource(member.id, path, member.name, member.reason, member) for member in members}
