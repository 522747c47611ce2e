"""The pictures that a stored result names, by id: only those, and only what may be looked at."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

from visual_search.catalogue.opened import OpenedResult
from visual_search.errors import FileFormatError, InputError, UndecodableImageError
from visual_search.formats.results import ImageLocation, StoredResult
from visual_search.ids import Id
from visual_search.images.kept_thumbnails import KeptThumbnails, OtherImageError, Thumbnail
from visual_search.reports.pictures import Picture
from visual_search.workflows.explored_indexes import ExploredIndexes
from visual_search.workflows.explored_results import ExploredResults

__all__ = ["FramedPictures", "NoPictureError", "PictureState", "ResultPictures", "SmallPicture", "WordsOfChange"]

_SIDE = 256  # pixels; twice what a frame shows, for fine screens
_MOST_STATES = 50_000  # at some 500 bytes each
_PLACES = 3  # files of places held; one of 100,000 items takes some 50 MB

_NO_PLACE = "no file is named"

# What tells one file of places from another.
_File: TypeAlias = tuple[Path, str]
#: Where a picture that changed has the words of it: drawn into it, or on the page.
WordsOfChange: TypeAlias = Literal["within", "beside"]


class NoPictureError(InputError):
    """There is nothing to show; the message says why in a few words."""


@dataclass(frozen=True, slots=True)
class SmallPicture:
    """A picture of a result.

    Attributes
    ----------
    thumbnail : Thumbnail
    changed : bool or None
        Whether the file is another than the one that was measured; None where the result does not say what it was.
    """

    thumbnail: Thumbnail
    changed: bool | None


@dataclass(frozen=True, slots=True)
class PictureState:
    """What became of a picture since it was measured.

    Attributes
    ----------
    changed : bool or None
        As of a `SmallPicture`; None too where there is no picture.
    problem : str or None
        Why there is none, in a few words.
    """

    changed: bool | None
    problem: str | None = None

    @property
    def words_of_change(self) -> WordsOfChange:
        """Who knows that it changed writes it beside the picture, so that it need not be drawn into it."""
        return "beside" if self.changed else "within"


class _Looked(NamedTuple):
    """A picture that was looked at: where, the mark of its file then, and what was found."""

    location: ImageLocation | None
    mark: str | None
    state: PictureState


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
        self._places: OrderedDict[_File, StoredResult] = OrderedDict()
        self._states: OrderedDict[tuple[_File, str, str], _Looked] = OrderedDict()
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
        opened = self._explored.opened(key)
        location = self._location(opened, side, identifier)
        try:
            place, small = self._made(location)
        except NoPictureError as problem:
            mark = None if location is None else self._kept.mark(location, _SIDE)
            self._remember(opened, side, identifier, _Looked(location, mark, PictureState(None, str(problem))))
            raise
        self._remember(opened, side, identifier, _Looked(place, small.thumbnail.mark, PictureState(small.changed)))
        return small

    def state(self, key: str, side: str, identifier: str) -> PictureState:
        """What became of a picture; it is read where it was not shown before.

        Raises
        ------
        UnknownIdError
            No such result.
        """
        try:
            return PictureState(self.small(key, side, identifier).changed)
        except NoPictureError as problem:
            return PictureState(None, str(problem))

    def known(self, opened: OpenedResult, side: str, identifier: Id) -> PictureState | None:
        """The same from memory, without reading anything; None where nobody looked, or the file changed since."""
        with self._lock:
            looked = self._states.get((_file_of(opened), side, str(identifier)))
        if looked is None:
            return None
        mark = None if looked.location is None else self._kept.mark(looked.location, _SIDE)
        return looked.state if mark == looked.mark else None

    def _made(self, location: ImageLocation | None) -> tuple[ImageLocation, SmallPicture]:
        """The small picture, and from where it was taken."""
        if location is None:
            raise NoPictureError(_NO_PLACE)
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
        return location, SmallPicture(made, changed=None if measured is None else measured != made.sha256)

    def _remember(self, opened: OpenedResult, side: str, identifier: str, looked: _Looked) -> None:
        with self._lock:
            key = (_file_of(opened), side, identifier)
            self._states[key] = looked
            self._states.move_to_end(key)
            while len(self._states) > _MOST_STATES:
                self._states.popitem(last=False)

    def _location(self, opened: OpenedResult, side: str, identifier: str) -> ImageLocation | None:
        stored = opened.stored
        name = _file_of(opened)
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


class FramedPictures:
    """Pictures as the lists of a page frame them: each an address, or the words of why there is none.

    Parameters
    ----------
    pictures : ResultPictures
    address : callable
        From a result's key, ``items`` or ``queries``, an id, and where a changed picture has its words, to the address
        of the picture.
    seconds : float
        How long to look at pictures of which nothing is known. A page does not: its pictures are read when they come
        in sight, and then it asks.

    """

    def __init__(
        self,
        pictures: ResultPictures,
        address: Callable[[str, str, Id, WordsOfChange], str],
        *,
        seconds: float = 0.0,
    ) -> None:
        self._pictures = pictures
        self._address = address
        self._until = time.monotonic() + seconds if seconds else None
        self._changed: set[tuple[_File, str, str]] = set()
        self._waiting: set[tuple[_File, str, str]] = set()

    def as_json(self) -> dict[str, int]:
        """How many distinct pictures of those given are known to have changed, and how many were not looked at."""
        return {"changed": len(self._changed), "waiting": len(self._waiting)}

    def __call__(self, opened: OpenedResult, side: str, identifier: Id) -> Picture:
        """The picture of an item or a query of a result."""
        if "items" not in (opened.record.get("files") or {}):
            return Picture(None, _NO_PLACE)
        key = opened.entry.key
        place = (_file_of(opened), side, str(identifier))
        state = self._pictures.known(opened, side, identifier)
        if state is None and self._until is not None and time.monotonic() < self._until:
            state = self._pictures.state(key, side, str(identifier))
        if state is None:
            self._waiting.add(place)
            state = PictureState(None)
        if state.problem is not None:
            return Picture(None, state.problem)
        if state.changed:
            self._changed.add(place)
        shown = self._address(key, side, identifier, state.words_of_change)
        return Picture(None, address=shown, changed=state.changed)


def _file_of(opened: OpenedResult) -> _File:
    stored = opened.stored
    return stored.folder, (stored.record.get("file_checksums") or {}).get("items", stored.path.name)
