"""The results that are looked through: a shelf, what was opened of it, and what is computed behind the pages' back."""

from __future__ import annotations

import logging
import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from queue import Queue
from typing import Any

from visual_search.catalogue.entry import Entry
from visual_search.catalogue.kept import Kept
from visual_search.catalogue.opened import OpenedResult
from visual_search.catalogue.shelf import Shelf
from visual_search.errors import InputError, VisualSearchError

__all__ = ["ExploredResults"]

_OPENED = 24  # results held open
#: What is kept on disk, and how many of each; the number in a name rises where it is made in another way.
_KEPT = {"comparison 1": 2000, "figures 1": 2000, "parts 1": 2000}
_LOOK_EVERY = 1.0  # seconds between looks through the folder
_PATIENCE = 0.05  # seconds that a page waits for changed files to be read
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
        self._worker: threading.Thread | None = None
        self._work: Queue[tuple[str, Callable[[], object]]] = Queue()
        self._waiting: set[str] = set()
        self._prepared: set[tuple[str, str]] = set()
        self.preparations: list[Callable[[str], object]] = []

    def refreshed(self) -> int:
        """Follow the folders for a moment; the number of files still to be read, which is gone on with at once."""
        found = self.shelf.refresh(seconds=_PATIENCE, at_most_every=_LOOK_EVERY)
        if found.waiting:
            self.later("refresh", self.shelf.refresh)
        if found.waiting or found.read:
            self.later("prepare", self._prepare)
        return found.waiting

    def _prepare(self) -> None:
        """Do now what pages of new results would do when first asked for; the latest first."""
        for entry in sorted(self.shelf.entries(), key=lambda entry: -entry.changed):
            name = (entry.key, entry.fingerprint)
            if entry.problem or name in self._prepared:
                continue
            self._prepared.add(name)
            for prepare in self.preparations:
                try:
                    prepare(entry.key)
                except VisualSearchError:
                    continue  # told on the page

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
        made = self.shelf.result(key)
        opened = OpenedResult(made.entry, made.stored)
        with self._lock:
            self._opened[name] = opened
            while len(self._opened) > _OPENED:
                self._opened.popitem(last=False)
        return opened

    @property
    def busy(self) -> int:
        """Pieces of work that wait behind the pages."""
        with self._lock:
            return len(self._waiting)

    def kept_or_later(
        self, made_from: Any, compute: Callable[[], Any], *, at_once: bool, kind: str = "comparison 1"
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
        """
        kept = self._kept[kind]
        if (found := kept.get(made_from)) is not None:
            return found

        def made() -> Any:
            try:
                value = compute()
            except (InputError, VisualSearchError) as problem:
                value = {"refused": str(problem)}
            kept.put(made_from, value)
            return value

        if at_once:
            return made()
        self.later(repr(made_from), made)
        return None

    def later(self, name: str, work: Callable[[], object]) -> None:
        """Have something done by the one worker, once, however often it is asked for while it waits."""
        with self._lock:
            if name in self._waiting:
                return
            self._waiting.add(name)
            if self._worker is None or not self._worker.is_alive():
                self._worker = threading.Thread(target=self._toil, name="results", daemon=True)
                self._worker.start()
        self._work.put((name, work))

    def _toil(self) -> None:
        while True:
            name, work = self._work.get()
            try:
                work()
            except Exception:  # noqa: BLE001 - the worker outlives whatever one piece of work dies of
                _LOG.exception("work behind the pages failed")
            finally:
                with self._lock:
                    self._waiting.discard(name)

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
