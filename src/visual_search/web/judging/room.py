"""What every judging page is given: the store, who is given which pair, and the pictures."""

from __future__ import annotations

import threading
import time
from typing import Annotated, Any

from fastapi import Depends, Request

from visual_search.errors import UnknownIdError
from visual_search.ids import Id
from visual_search.images.kept_thumbnails import KeptThumbnails
from visual_search.judging.assignment import Assignment
from visual_search.judging.pool import PoolQuery
from visual_search.judging.store import JudgementStore
from visual_search.web.judging.changed_pictures import ChangedPictures
from visual_search.workflows.judging_summary import judging_summary

__all__ = ["JudgingRoom", "RoomOf"]

_PROGRESS_SECONDS = 2.0
_PICTURE_BYTES = 128 << 20


class JudgingRoom:
    """One store and what is needed to judge in it; safe to use from several threads.

    Parameters
    ----------
    store : JudgementStore
    guideline : str or None
        Shown instead of the task's.

    Attributes
    ----------
    store : JudgementStore
    task : JudgingTask
    assignment : Assignment
    pictures : KeptThumbnails
    changed : ChangedPictures
    """

    def __init__(self, store: JudgementStore, *, guideline: str | None = None) -> None:
        self.store = store
        self.task = store.task
        self.assignment = Assignment(store)
        self.pictures = KeptThumbnails(_PICTURE_BYTES)
        self.changed = ChangedPictures(store, self.pictures)
        self.guideline = self.task.guideline if guideline is None else guideline
        self._guard = threading.Lock()
        self._queries: list[PoolQuery] = []
        self._numbers: dict[Id, int] = {}
        self._progress: tuple[float, dict[str, Any]] | None = None
        self._summaries: dict[str, tuple[int, dict[str, Any] | None]] = {}

    def get_ready(self) -> None:
        """Do what the first judge would wait for: number the queries."""
        self.queries()

    def queries(self) -> list[PoolQuery]:
        """All queries; the n-th has number n, which tells nothing and never changes."""
        found = self.store.queries()
        with self._guard:
            self._queries = found
            self._numbers = {query.query_id: number for number, query in enumerate(found, start=1)}
        return found

    def query_number(self, query: Id) -> int:
        """The number of a query."""
        if query not in self._numbers:
            self.queries()
        return self._numbers[query]

    def query(self, number: int) -> PoolQuery:
        """The query of a number.

        Raises
        ------
        UnknownIdError
            There are fewer.
        """
        known = self._queries if number <= len(self._queries) else self.queries()
        if not 1 <= number <= len(known):
            raise UnknownIdError(f"query {number}: there are {len(known)}, numbered from 1")
        return known[number - 1]

    def tally(self, *, now: bool = False) -> dict[str, Any]:
        """How far the store is, in all and per judge."""
        return {name: value for name, value in self.progress(now=now).items() if name != "queries"}

    def progress(self, *, now: bool = False) -> dict[str, Any]:
        """The same with every query, at most two seconds old: counting anew for each judgement would slow all."""
        with self._guard:
            if not now and self._progress is not None and time.monotonic() - self._progress[0] < _PROGRESS_SECONDS:
                return self._progress[1]
        found = self.store.progress().as_json()
        with self._guard:
            self._progress = (time.monotonic(), found)
        return found

    def summary(self, rule: str) -> dict[str, Any] | None:
        """Agreement, and scores under the rules; made anew only where there are new records."""
        last = self.store.log(last=1)
        state = last[-1].number if last else 0
        with self._guard:
            known = self._summaries.get(rule)
        if known is not None and known[0] == state:
            return known[1]
        found = judging_summary(self.store, rule=rule)
        made = None if found is None else found.as_json()
        with self._guard:
            self._summaries[rule] = (state, made)
        return made


def _room_of(request: Request) -> JudgingRoom:
    room: JudgingRoom = request.app.state.judging
    return room


#: The type of a page's parameter that is to be the room.
RoomOf = Annotated[JudgingRoom, Depends(_room_of)]
