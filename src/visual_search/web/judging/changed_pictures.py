"""Pictures that are no longer those that somebody judged by."""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Mapping
from typing import TypeVar

from visual_search.formats.results import ImageLocation
from visual_search.ids import Id
from visual_search.images.kept_thumbnails import KeptThumbnails
from visual_search.judging.judged_pictures import judged_candidates, judged_queries, remember_judged
from visual_search.judging.store import JudgementStore

__all__ = ["ChangedPictures"]

_Name = TypeVar("_Name", int, Id)


class ChangedPictures:
    """What each picture was when it was first judged, and whether it still is; safe to use from several threads.

    Parameters
    ----------
    store : JudgementStore
    pictures : KeptThumbnails
        Of the pages. What these have shown is what was judged by: a judgement of a program that looked at no picture
        says nothing of any.
    """

    def __init__(self, store: JudgementStore, pictures: KeptThumbnails) -> None:
        self._store = store
        self._pictures = pictures
        self._kept: set[tuple[str, Id]] = set()
        self._guard = threading.Lock()

    def judged(self, pair: int) -> None:
        """A pair was judged: keep what its pictures are, unless that was kept before."""
        (content,) = self._store.pairs([pair])
        new: dict[str, dict[Id, str]] = {"queries": {}, "items": {}}
        places = (("queries", content.query.query_id, content.query.image), ("items", content.item, content.image))
        for side, name, place in places:
            if place is None or (side, name) in self._kept:
                continue
            if (sha256 := self._pictures.sha256(place)) is not None:
                new[side][name] = sha256
        if not any(new.values()):
            return
        with self._store.database.writing(durable=False) as connection:
            remember_judged(connection, **new)
        with self._guard:
            self._kept |= {(side, name) for side, names in new.items() for name in names}

    def queries(self, asked: Collection[tuple[Id, ImageLocation | None]], *, seconds: float) -> dict[Id, bool]:
        """Whether queries' pictures changed since they were first judged; those of which it is not known are left out.

        Files that were not looked at are read for so many seconds.
        """
        with self._store.database.reading() as connection:
            judged = judged_queries(connection, [name for name, _ in asked])
        return self._changed(dict(asked), judged, seconds)

    def candidates(self, pairs: Collection[int], *, seconds: float) -> dict[int, bool]:
        """The same of the candidates of pairs."""
        with self._store.database.reading() as connection:
            judged = judged_candidates(connection, pairs)
        places = {content.pair: content.image for content in self._store.pairs(list(judged))}
        return self._changed(places, judged, seconds)

    def _changed(
        self, places: Mapping[_Name, ImageLocation | None], judged: Mapping[_Name, str], seconds: float
    ) -> dict[_Name, bool]:
        until = time.monotonic() + seconds
        found: dict[_Name, bool] = {}
        for name, sha256 in judged.items():
            place = places.get(name)
            now = None if place is None else self._pictures.sha256(place, read=time.monotonic() < until)
            if now is not None:
                found[name] = now != sha256
        return found
