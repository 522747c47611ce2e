"""The catalogue of a folder of results: what is there, what was noted, and results opened by their key.

The result files and the file of notes are the truth; the SQLite file beside them only makes looking quick.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from visual_search.catalogue.database import DATABASE_NAME, Database
from visual_search.catalogue.entry import Entry, MeasuredMean
from visual_search.catalogue.notes_file import Note, Notes, NotesFile
from visual_search.catalogue.scanning import (
    Found,
    Scanned,
    found_file,
    found_files,
    key_of,
    measures_rows,
    record_from,
    scanned,
)
from visual_search.counted import counted
from visual_search.errors import FileFormatError, InputError, UnknownIdError
from visual_search.formats.results import StoredResult, read_result

__all__ = ["Catalogue", "Refreshed"]


@dataclass(frozen=True, slots=True)
class Refreshed:
    """What a look through the folder found.

    Attributes
    ----------
    read, removed : int
        Results read because they were new or changed, and results that are gone.
    waiting : int
        Changed files that are still to be read, where the time was limited.
    """

    read: int
    removed: int
    waiting: int


class Catalogue:
    """Results of one folder and those below it.

    Parameters
    ----------
    folder : str or Path
        Where results lie; hidden folders are passed over.
    database : Path, optional
        Where the SQLite file goes; ``catalogue.sqlite3`` in the folder, or a temporary place where the folder
        cannot be written.
    only : collection of str, optional
        Names of the files that count; all where left out.
    salt : str
        Goes into the keys, so that files of several folders have different ones.

    Raises
    ------
    InputError
        No such folder.

    Examples
    --------
    >>> import tempfile
    >>> from visual_search.testing.sample_results import sample_results
    >>> folder = Path(tempfile.mkdtemp())
    >>> made = sample_results(folder, objects=3, views=2)
    >>> catalogue = Catalogue(folder)
    >>> catalogue.refresh()
    Refreshed(read=4, removed=0, waiting=0)
    >>> [entry.file for entry in catalogue.entries()]
    ['loo-colour.json', 'loo-grid.json', 'one-colour.json', 'one-grid.json']
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        *,
        database: Path | None = None,
        only: Collection[str] | None = None,
        salt: str = "",
    ) -> None:
        self.folder = Path(folder)
        self._only = only
        self._salt = salt
        if not self.folder.is_dir():
            raise InputError(
                f"results: {self.folder} is not a folder; give the one in which results JSON files lie"
            )
        place = database or _place_in(self.folder, shared=only is None and not salt)
        self._database = Database(place)
        self._notes = NotesFile(self.folder)
        self._refreshing = threading.Lock()
        self._looked = 0.0
        self._entries: tuple[str, list[Entry]] | None = None
        self._waiting = 0  # files still to be read by a refresh that is under way

    @property
    def database(self) -> Database:
        """The SQLite file, for what else is kept in it."""
        return self._database

    def refresh(self, *, seconds: float | None = None, at_most_every: float = 0.0) -> Refreshed:
        """Read what is new or changed, and forget what is gone.

        Parameters
        ----------
        seconds : float, optional
            No further file is begun after this time; what remains is counted in ``waiting``.
        at_most_every : float
            A look that was taken less than so many seconds ago is good enough.

        Returns
        -------
        Refreshed
        """
        if not self._refreshing.acquire(timeout=-1 if seconds is None else seconds):
            return Refreshed(0, 0, max(1, self._waiting))  # another thread is at it
        try:
            if at_most_every and time.monotonic() - self._looked < at_most_every:
                return Refreshed(0, 0, 0)
            until = None if seconds is None else time.monotonic() + seconds
            rebuilt = self._database.rebuilt
            found = self._refreshed(until)
            if self._database.rebuilt != rebuilt:  # in the middle of it: what was known before is no longer there
                again = self._refreshed(until)
                found = Refreshed(found.read + again.read, found.removed, again.waiting)
            self._looked = 0.0 if found.waiting else time.monotonic()
            return found
        finally:
            self._refreshing.release()

    def _refreshed(self, until: float | None) -> Refreshed:
        self._mirror_notes()
        known = self._database.reading(_identities)
        there = {key_of(one.file, self._salt): one for one in self._found()}
        gone = [key for key in known if key not in there]
        changed = [(key, one) for key, one in there.items() if known.get(key) != one.identity]
        if gone:
            self._database.changing(lambda connection: _forget(connection, gone))
        read = 0
        for key, one in changed:
            self._waiting = len(changed) - read
            if until is not None and read and time.monotonic() > until:
                break
            made = scanned(one.path)
            self._database.changing(lambda connection, k=key, f=one, m=made: _take(connection, k, f, m))  # type: ignore[misc]
            read += 1
        self._waiting = len(changed) - read
        return Refreshed(read, len(gone), self._waiting)

    def _take_now(self, key: str) -> bool:
        """Read the one file of a key before its turn; whether there is one."""
        known = self._database.reading(_identities)
        one = next((one for one in self._found() if key_of(one.file, self._salt) == key), None)
        if one is None:
            return False
        if known.get(key) != one.identity:  # else another thread was quicker
            made = scanned(one.path)
            self._database.changing(lambda connection: _take(connection, key, one, made))
        return True

    def _found(self) -> Iterator[Found]:
        if self._only is None:
            yield from found_files(self.folder)
            return
        for name in sorted(self._only):
            yield from found_file(self.folder, name)

    def entries(self) -> list[Entry]:
        """Every result, in the order of files; those that cannot be read with the reason."""
        mark = self._database.mark()
        if self._entries is None or self._entries[0] != mark:
            self._entries = (mark, self._database.reading(_entries))
        return list(self._entries[1])

    def entry(self, key: str) -> Entry:
        """One result; its file is read now where a refresh has not come to it yet.

        Raises
        ------
        UnknownIdError
            No result has this key; it may have been removed.
        """
        found = self._database.reading(lambda connection: _entries(connection, key))
        if not found and self._take_now(key):
            found = self._database.reading(lambda connection: _entries(connection, key))
        if not found:
            raise UnknownIdError(f"no result {key!r} in the folder; it may have been moved or removed")
        return found[0]

    def result(self, key: str) -> StoredResult:
        """A result by its key, without its rows per query where a file beside it has them.

        Raises
        ------
        UnknownIdError
            No result has this key.
        FileFormatError
            Its file cannot be read as a result.
        """
        entry = self.entry(key)
        if entry.problem:
            raise FileFormatError(entry.problem)
        path = self.folder / entry.file
        row = self._database.reading(
            lambda connection: connection.execute("SELECT record FROM files WHERE key = ?", (key,)).fetchone()
        )
        return read_result(path) if row is None or row[0] is None else StoredResult(path, record_from(row[0]))

    def write_note(self, key: str, text: str, *, version: int) -> Note:
        """Write a result's note; see :meth:`visual_search.catalogue.notes_file.NotesFile.write`."""
        note = self._notes.write(self.entry(key).file, text, version=version)
        self._mirror_notes()
        return note

    def pin(self, key: str, *, pinned: bool) -> None:
        """Pin a result as baseline, or let it go."""
        self._notes.pin(self.entry(key).file, pinned=pinned)
        self._mirror_notes()

    def lone_notes(self) -> dict[str, Note]:
        """Notes on files that are no longer there, by file."""
        rows = self._database.reading(
            lambda connection: connection.execute(
                "SELECT file, text, version, time FROM notes WHERE text <> '' AND file NOT IN (SELECT file FROM files)"
            ).fetchall()
        )
        return {os.fsdecode(file): Note(text, version, when) for file, text, version, when in rows}

    def problems(self) -> list[str]:
        """What is wrong with the folder, the catalogue's file and the file of notes, for people."""
        if not self.folder.is_dir():
            return [f"{self.folder}: the folder is gone; bring it back, or start the server on another one"]
        return [told for told in (self._database.problem, self._notes_problem()) if told is not None]

    def _notes_problem(self) -> str | None:
        try:
            damaged = self._notes.read().damaged
        except FileFormatError as problem:
            return str(problem)
        if not damaged:
            return None
        return (
            f"{self._notes.path.name}: {counted(damaged, 'line is', 'lines are')} damaged and left out; whatever else "
            "stands in the file is shown, and the damaged lines stay in it"
        )

    def _mirror_notes(self) -> None:
        """Copy notes and pins into the database where the file of truth has changed."""
        identity = _identity(self._notes.path)
        if self._database.reading(_notes_identity) == identity:
            return
        try:
            notes = self._notes.read()
        except FileFormatError:
            notes = Notes()  # told by problems
        self._database.changing(lambda connection: _take_notes(connection, notes, identity))


def _place_in(folder: Path, *, shared: bool) -> Path | None:
    """In the folder where its catalogue is that of the whole folder and can be written; else None."""
    place = folder / DATABASE_NAME
    writable = os.access(folder, os.W_OK) and (not place.exists() or os.access(place, os.W_OK))
    return place if shared and writable else None


def _identities(connection: sqlite3.Connection) -> dict[str, str]:
    return dict(connection.execute("SELECT key, identity FROM files").fetchall())


def _notes_identity(connection: sqlite3.Connection) -> str | None:
    row = connection.execute("SELECT value FROM state WHERE name = 'notes'").fetchone()
    return None if row is None else str(row[0])


def _identity(path: Path) -> str:
    try:
        told = path.stat()
    except OSError:
        return "none"
    return f"{told.st_size}-{told.st_mtime_ns}-{told.st_ctime_ns}-{told.st_ino}"


def _forget(connection: sqlite3.Connection, keys: Sequence[str]) -> None:
    for key in keys:
        connection.execute("DELETE FROM files WHERE key = ?", (key,))
        connection.execute("DELETE FROM measures WHERE key = ?", (key,))


def _take(connection: sqlite3.Connection, key: str, found: Found, made: Scanned | None) -> None:
    _forget(connection, [key])
    file = os.fsencode(found.file)
    if made is None:
        # Remembered as no result, so that it is not read again and again.
        made = Scanned("", None, "null", "null", None, {})
    connection.execute(
        "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            key,
            file,
            found.identity,
            found.changed,
            made.fingerprint,
            made.problem,
            made.facts,
            made.parts,
            made.record,
        ),
    )
    connection.executemany(
        "INSERT INTO measures VALUES (?, ?, ?, ?, ?, ?, ?, ?)", measures_rows(key, made.measures)
    )


def _take_notes(connection: sqlite3.Connection, notes: Notes, identity: str) -> None:
    connection.execute("DELETE FROM notes")
    pins = {file: place for place, file in enumerate(notes.pins, start=1)}
    for file in {**notes.notes, **dict.fromkeys(notes.pins)}:
        note = notes.notes.get(file, Note())
        connection.execute(
            "INSERT INTO notes VALUES (?, ?, ?, ?, ?)",
            (os.fsencode(file), _plain(note.text), note.version, note.time, pins.get(file, 0)),
        )
    connection.execute("INSERT OR REPLACE INTO state VALUES ('notes', ?)", (identity,))


def _plain(text: str) -> str:
    """Text that SQLite takes: a half of a surrogate pair is no character."""
    return text.encode("utf-8", "replace").decode()


def _entries(connection: sqlite3.Connection, key: str | None = None) -> list[Entry]:
    one, given = ("", ()) if key is None else (" AND files.key = ?", (key,))
    measures: dict[str, dict[str, MeasuredMean]] = {}
    where = "" if key is None else " WHERE key = ?"
    for owner, name, *numbers in connection.execute(
        f"SELECT key, name, mean, low, high, counted, undefined FROM measures{where} ORDER BY key, place",  # noqa: S608
        given,
    ):
        measures.setdefault(owner, {})[name] = MeasuredMean(*numbers)
    rows = connection.execute(
        "SELECT files.key, files.file, changed, problem, fingerprint, facts, parts, "  # noqa: S608 - no value in it
        "text, notes.version, notes.time, pinned FROM files LEFT JOIN notes ON notes.file = files.file "
        f"WHERE facts <> 'null'{one} ORDER BY files.file",
        given,
    ).fetchall()
    return [
        Entry(
            key=owner,
            file=os.fsdecode(file),
            changed=changed,
            problem=problem,
            fingerprint=fingerprint,
            facts=json.loads(facts),
            parts=json.loads(parts),
            measures=measures.get(owner, {}),
            note=Note() if text is None else Note(text, version, when),
            pinned=pinned or 0,
        )
        for owner, file, changed, problem, fingerprint, facts, parts, text, version, when, pinned in rows
    ]
