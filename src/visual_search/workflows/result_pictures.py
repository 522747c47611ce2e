"""The pictures that a stored result names, by id: only those, and only what may be looked at."""

from __future__ import annotations

import threading
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path

from visual_search.catalogue.opened import OpenedResult
from visual_search.errors import FileFormatError, InputError, UndecodableImageError
from visual_search.formats.results import ImageLocation, StoredResult
from visual_search.images.kept_thumbnails import KeptThumbnails, OtherImageError, Thumbnail
from visual_search.workflows.explored_indexes import ExploredIndexes
from visual_search.workflows.explored_results import ExploredResults

__all__ = ["NoPictureError", "ResultPictures", "SmallPicture"]

_SIDE = 256  # pixels; twice what a frame shows, for fine screens
_PLACES = 3  # files of places held; one of 100,000 items takes some 50 MB


class NoPictureError(InputError):
    """There is nothing to show; the message says why in a few words."""


@dataclass(frozen=True, slots=True)
class SmallPicture:
    """A picture of a result.

    Attributes
    ----------
    thumbnail : Thumbnail
    changed : bool
        Whether the file is another than the one that was measured; False where the result does not say what it was.
    """

    thumbnail: Thumbnail
    changed: bool


class ResultPictures:
    """Small pictures of results' items and queries.

    Parameters
    ----------
    explored : ExploredResults
    kept : KeptThumbnails
        Where small pictures are kept.
    indexes : ExploredIndexes
        The files of their items may be shown wherever they lie, as long as they are what was indexed.
    """

    def __init__(self, explored: ExploredResults, kept: KeptThumbnails, indexes: ExploredIndexes) -> None:
        self._explored = explored
        self._indexes = indexes
        self._kept = kept
        self._places: OrderedDict[tuple[Path, str], StoredResult] = OrderedDict()
        self._lock = threading.Lock()

    def small(self, key: str, side: str, identifier: str) -> SmallPicture:
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
            The result names no file for this id, or the file is gone, cannot be decoded, or neither lies in the
            folders that may be looked into nor is an item's of an index, as it was indexed.
        """
        location = self._location(self._explored.opened(key), side, identifier)
        if location is None:
            raise NoPictureError("no file is named")
        item, measured = None, location.sha256
        if not self._explored.image_allowed(location.path):
            item = self._indexes.picture_at(location)
            if item is None:
                raise NoPictureError("outside the folders served; see --images")
            location = item.location
        try:
            if item is None:
                made = self._kept.made(location, _SIDE)
            else:
                made = self._kept.made(location, _SIDE, rules=item.rules, sha256=item.sha256)
        except OtherImageError as problem:
            raise NoPictureError("file has changed since it was indexed") from problem
        except UndecodableImageError as problem:
            gone = self._kept.mark(location, _SIDE) is None
            raise NoPictureError("file is gone" if gone else "not a readable image") from problem
        return SmallPicture(made, changed=measured not in (None, made.sha256))

    def _location(self, opened: OpenedResult, side: str, identifier: str) -> ImageLocation | None:
        stored = opened.stored
        name = (stored.folder, (stored.record.get("file_checksums") or {}).get("items", stored.path.name))
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
