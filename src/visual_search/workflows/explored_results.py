"""The results that are looked through: a shelf, what was opened of it, and what is computed behind the pages' back."""

from __future__ import annotations

import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from visual_search.catalogue.entry import Entry
from visual_search.catalogue.kept import Kept
from visual_search.catalogue.opened import OpenedResult
from visual_search.catalogue.shelf import Shelf
from visual_search.errors import InputError, VisualSearchError
from visual_search.workflows.kept_runs import KeptRuns
from visual_search.workflows.side_process import SideProcess, SideProcessError
from visual_search.workflows.waiting_work import WaitingWork

__all__ = ["ExploredResults"]

_OPENED = 24  # results held open
#: What is kept on disk, and how many of each; the number in a name rises where it is made in another way.
_KEPT = {"comparison 2": 2000, "figures 1": 2000, "parts 1": 2000, "query runs 1": 2000}
_LOOK_EVERY = 1.0  # seconds between looks through the folder
_PATIENCE = 0.05  # seconds that a page waits for changed files to be read
_MOST_WAITING = 64  # computations; a page that is still looked at asks again for what was dropped
_LOG = logging.getLogger(__name__)


class ExploredResults:
    """Results of folders and files; safe to use from several threads.

    Parameters
    ----------
    places : iterable of path
        Folders of results, and results JSON files.
    image_folders : iterable of path
        Folders whose pictures may be shown, beside those in which the results lie.

    Raises
    ------
    InputError
        A place that is not there.
    """

    def __init__(
        self, places: Iterable[str | os.PathLike[str]], *, image_folders: Iterable[str | os.PathLike[str]] = ()
    ) -> None:
        self.shelf = Shelf(places)
        self.image_folders = [Path(folder).resolve() for folder in [*self.shelf.folders, *image_folders]]
        database = self.shelf.database
        self._kept = (
            {} if database is None else {kind: Kept(database, kind, most=most) for kind, most in _KEPT.items()}
        )
        self._opened: OrderedDict[tuple[str, str], OpenedResult] = OrderedDict()
        self._lock = threading.Lock()
        self._closed = False
        #: Computes what takes long without keeping the pages waiting.
        self.beside = SideProcess()
        self._asked_for = WaitingWork(most=_MOST_WAITING, at_rest=self.beside.rest)
        self._reading = WaitingWork(most=1)
        self._preparing = WaitingWork(most=1, at_rest=self.beside.rest)
        self._runs = KeptRuns(self._kept["query runs 1"], self.beside, self._asked_for) if self._kept else None
        self._prepared: set[tuple[str, str]] = set()
        #: What is done for each new result before somebody looks at it.
        self.preparations: list[Callable[[OpenedResult], object]] = (
            [] if self._runs is None else [self._runs.prepare]
        )

    def refreshed(self) -> int:
        """Follow the folders for a moment; the number of files still to be read, which is gone on with at once."""
        found = self.shelf.refresh(seconds=_PATIENCE, at_most_every=_LOOK_EVERY)
        if found.waiting:
            self._reading.add("read", self._read)
        elif found.read:
            self.prepare()
        return found.waiting

    def _read(self) -> None:
        self.shelf.refresh()
        self.prepare()

    def prepare(self) -> None:
        """Do behind the pages what those of new results would do when first asked for."""
        self._preparing.add("prepare", self._prepare)

    def _prepare(self) -> None:
        while new := [one for one in self.shelf.entries() if (one.key, one.fingerprint) not in self._prepared]:
            for entry in sorted(new, key=lambda entry: -entry.changed):  # the latest is looked at first
                if self._closed:
                    return
                self._prepared.add((entry.key, entry.fingerprint))
                for prepare in self.preparations if entry.problem is None else ():
                    try:
                        prepare(self._new(entry.key))
                    except (VisualSearchError, OSError):
                        continue  # told on the page
                    except SideProcessError:
                        if not self._closed:
                            _LOG.exception("%s was not prepared", entry.file)

    def close(self) -> None:
        """Leave undone what waits behind the pages."""
        self._closed = True
        for work in (self._asked_for, self._reading, self._preparing):
            work.close()
        self.beside.close()

    def _new(self, key: str) -> OpenedResult:
        made = self.shelf.result(key)
        if self._runs is None:
            return OpenedResult(made.entry, made.stored)
        return OpenedResult(made.entry, made.stored, ranking_of=self._runs.ranking_of)

    def entries(self) -> list[Entry]:
        """Every result."""
        return self.shelf.entries()

    def opened(self, key: str) -> OpenedResult:
        """A result to look through; the same one as long as its file is the same.

        Raises
        ------
        UnknownIdError
            No result has this key.
        FileFormatError
            It cannot be read.
        """
        self.refreshed()
        entry = self.shelf.entry(key)
        name = (key, entry.fingerprint)
        with self._lock:
            if name in self._opened:
                self._opened.move_to_end(name)
                found = self._opened[name]
                found.entry = entry  # notes and pins change without the file
                return found
        opened = self._new(key)
        with self._lock:
            self._opened[name] = opened
            while len(self._opened) > _OPENED:
                self._opened.popitem(last=False)
        return opened

    @property
    def busy(self) -> int:
        """Pieces of work that wait behind the pages."""
        return sum(map(len, (self._asked_for, self._reading, self._preparing)))

    def kept_or_later(
        self,
        made_from: Any,
        compute: Callable[[], Any],
        *,
        at_once: bool,
        kind: str = "comparison 2",
        beside: Callable[[], Any] | None = None,
    ) -> Any:
        """A value that was computed before, or computed now; else None, and it is computed behind the page's back.

        Parameters
        ----------
        made_from : JSON value
            What the value depends on, all of it.
        compute : callable
            Gives a JSON value. What it refuses is kept as ``{"refused": message}``.
        at_once : bool
            Compute it now.
        kind : str
            What it is.
        beside : callable, optional
            Gives the same without taking the pages' time, where it is not computed now; None where that is no longer
            possible.
        """
        kept = self._kept[kind]
        if (found := kept.get(made_from)) is not None:
            return found

        def made(work: Callable[[], Any]) -> Any:
            try:
                value = work()
            except VisualSearchError as problem:
                value = {"refused": str(problem)}
            if value is not None:
                kept.put(made_from, value)
            return value

        if at_once:
            return made(compute)
        self.later(repr(made_from), partial(made, beside or compute))
        return None

    def later(self, name: str, work: Callable[[], object]) -> None:
        """Have something done behind the pages, once, however often it is asked for while it waits.

        What was asked for last is done first; where too much waits, what was asked for longest ago is dropped.
        """
        self._asked_for.add(name, work)

    def image_allowed(self, path: Path) -> bool:
        """Whether a picture of this file may be shown: links followed, it lies in an allowed folder."""
        try:
            real = path.resolve()
        except (
            OSError,
            ValueError,
            RuntimeError,
        ):  # links in a circle, or nothing that could be the name of a file
            return False
        return any(real.is_relative_to(folder) for folder in self.image_folders)

    def chosen(self, keys: Sequence[str], *, least: int, most: int = 8) -> list[OpenedResult]:
        """Open several results, each once.

        Raises
        ------
        InputError
            Too few or too many.
        """
        distinct = list(dict.fromkeys(keys))
        if not least <= len(distinct) <= most:
            raise InputError(f"result: {len(distinct)} given; {least} to {most} are needed")
        return [self.opened(key) for key in distinct]
