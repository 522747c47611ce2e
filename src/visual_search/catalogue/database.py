"""The SQLite file of a catalogue: its tables, how it is opened, and what is done when it is damaged.

Nothing in it is the truth, so that a file of another version, a damaged one or none at all is begun anew. Where it can
no longer be kept (a full disk, a folder that is gone or may not be written), one is begun in a private place.
"""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from visual_search.errors import InputError

__all__ = ["DATABASE_NAME", "Database"]

DATABASE_NAME = "catalogue.sqlite3"
VERSION = 1
_BUSY = 5.0  # seconds that one writer waits for another
_TABLES = """
CREATE TABLE files (
  key TEXT PRIMARY KEY, file BLOB NOT NULL UNIQUE, identity TEXT NOT NULL, changed REAL NOT NULL,
  fingerprint TEXT NOT NULL, problem TEXT, facts TEXT NOT NULL, parts TEXT NOT NULL, record BLOB
) WITHOUT ROWID;
CREATE TABLE measures (
  key TEXT NOT NULL, place INTEGER NOT NULL, name TEXT NOT NULL,
  mean REAL, low REAL, high REAL, counted INTEGER, undefined INTEGER, PRIMARY KEY (key, place)
) WITHOUT ROWID;
CREATE TABLE notes (
  file BLOB PRIMARY KEY, text TEXT NOT NULL, version INTEGER NOT NULL, time TEXT NOT NULL, pinned INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE kept (kind TEXT NOT NULL, name TEXT NOT NULL, used REAL NOT NULL, value BLOB NOT NULL,
  PRIMARY KEY (kind, name)) WITHOUT ROWID;
CREATE TABLE state (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
"""
Found = TypeVar("Found")


class Database:
    """Connections to one catalogue file: many readers, one writer at a time.

    Parameters
    ----------
    path : Path or None
        Made where there is none; begun anew where it is damaged or of another version. None takes a private place,
        which goes with this object.

    Attributes
    ----------
    path : Path
        Where it is now.
    problem : str or None
        Why it is not where it was to be, for people; None where it is.
    rebuilt : int
        How often it was begun anew.
    """

    def __init__(self, path: Path | None) -> None:
        self._local = threading.local()
        self._building = threading.Lock()
        self.rebuilt = 0
        self.problem: str | None = None
        self.path = self._private_place() if path is None else path
        self._prepare()

    def reading(self, work: Callable[[sqlite3.Connection], Found]) -> Found:
        """Run a reader's work; a file found damaged is begun anew, and the work run on what is there then.

        Raises
        ------
        InputError
            Another process keeps the file to itself.
        """
        return self._held(work)

    def writing(self, work: Callable[[sqlite3.Connection], Found]) -> Found:
        """Run a writer's work as one transaction: all of it is kept or nothing."""

        def whole(connection: sqlite3.Connection) -> Found:
            with _transaction(connection):
                return work(connection)

        return self._held(whole)

    def changing(self, work: Callable[[sqlite3.Connection], Found]) -> Found:
        """As :meth:`writing`, for what changes results or notes; the mark tells readers that something is new."""

        def marked(connection: sqlite3.Connection) -> Found:
            connection.execute("INSERT OR REPLACE INTO state VALUES ('mark', hex(randomblob(16)))")
            return work(connection)

        return self.writing(marked)

    def mark(self) -> str:
        """What differs from before whenever results or notes changed, whoever changed them."""
        row = self.reading(
            lambda connection: connection.execute("SELECT value FROM state WHERE name = 'mark'").fetchone()
        )
        return f"{self.rebuilt} {'' if row is None else row[0]}"

    def _held(self, work: Callable[[sqlite3.Connection], Found]) -> Found:
        for mend in (self._reopen_or_begin_anew, self._begin_anew_or_elsewhere, self._begin_elsewhere):
            path = self.path
            try:
                return work(self._connection())
            except sqlite3.DatabaseError as problem:
                if _is_busy(problem):
                    raise _busy(path) from problem
                self.close()
                mend(path, problem)
        try:
            return work(self._connection())
        except sqlite3.DatabaseError as problem:
            raise InputError(f"{self.path}: nothing can be kept here ({problem}); is the disk full?") from problem

    def _connection(self) -> sqlite3.Connection:
        """Give the thread its connection, to the file that is there now."""
        there = _inode(self.path)
        held: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if held is not None and there is not None and there == self._local.inode:
            return held
        if held is not None:
            held.close()
            self._local.connection = None
        if there is None:
            self._prepare()
            there = _inode(self.path)
        self._local.connection = _opened(self.path)
        self._local.inode = _inode(self.path)
        made: sqlite3.Connection = self._local.connection
        return made

    def _prepare(self) -> None:
        with self._building:
            try:
                if _is_whole(self.path):
                    return
            except sqlite3.DatabaseError as problem:
                if _is_busy(problem):
                    raise _busy(self.path) from problem
            self._make()

    def _reopen_or_begin_anew(self, path: Path, problem: Exception) -> None:
        if not _is_of_the_place(problem):  # else what was held open may only have been replaced by another process
            self._begin_anew(path)

    def _begin_anew_or_elsewhere(self, path: Path, problem: Exception) -> None:
        if _is_of_the_place(problem):
            self._begin_elsewhere(path, problem)
        else:
            self._begin_anew(path)

    def _begin_anew(self, path: Path) -> None:
        with self._building:
            if self.path == path:
                self._make()

    def _begin_elsewhere(self, path: Path, problem: Exception) -> None:
        with self._building:
            if self.path == path:  # else another thread was quicker
                self._move(problem)
                self._make_here()

    def _make(self) -> None:
        try:
            self._make_here()
        except (OSError, sqlite3.DatabaseError) as problem:
            if _is_busy(problem):
                raise _busy(self.path) from problem
            self._move(problem)
            self._make_here()

    def _move(self, problem: Exception) -> None:
        told = (problem.strerror if isinstance(problem, OSError) else None) or problem
        self.problem = (
            f"{self.path.name} cannot be kept in {self.path.parent} ({told}); it is kept in a temporary folder until "
            "the server is started again. Notes and pins are not in it"
        )
        self.path = self._private_place()

    def _private_place(self) -> Path:
        try:
            folder = tempfile.mkdtemp(prefix="visual-search-catalogue-")
        except OSError as problem:
            raise InputError(
                f"{tempfile.gettempdir()}: no temporary folder can be made ({problem.strerror}); make room, or set "
                "TMPDIR to another place"
            ) from problem
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder) / DATABASE_NAME

    def _make_here(self) -> None:
        for ending in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + ending).unlink(missing_ok=True)
        self.rebuilt += 1
        connection = _opened(self.path)
        try:
            connection.executescript(f"BEGIN IMMEDIATE; {_TABLES} PRAGMA user_version = {VERSION}; COMMIT;")
        except sqlite3.OperationalError:  # another process was quicker
            if not _is_whole(self.path):
                raise
        finally:
            connection.close()

    def close(self) -> None:
        """Close this thread's connection."""
        held: sqlite3.Connection | None = getattr(self._local, "connection", None)
        if held is not None:
            with suppress(sqlite3.Error):
                held.close()
            self._local.connection = None


def _opened(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=_BUSY, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


def _is_whole(path: Path) -> bool:
    if _inode(path) is None:
        return False
    connection = _opened(path)
    try:
        version: int = connection.execute("PRAGMA user_version").fetchone()[0]
        checked: str = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
        return version == VERSION and checked == "ok"
    finally:
        connection.close()


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _is_busy(problem: Exception) -> bool:
    return _named(problem, "SQLITE_BUSY", "SQLITE_LOCKED")


def _busy(path: Path) -> InputError:
    return InputError(f"{path.name}: another process keeps it to itself; try again")


def _is_of_the_place(problem: Exception) -> bool:
    """Whether the disk or the folder is at fault, not what is in the file."""
    return _named(problem, "SQLITE_FULL", "SQLITE_CANTOPEN", "SQLITE_READONLY", "SQLITE_IOERR", "SQLITE_PERM")


def _named(problem: Exception, *names: str) -> bool:
    return getattr(problem, "sqlite_errorname", "").startswith(names)


def _inode(path: Path) -> tuple[int, int] | None:
    try:
        told = path.stat()
    except OSError:
        return None
    return told.st_dev, told.st_ino
