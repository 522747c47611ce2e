"""Notes and pins: the file of truth beside the results, to which is only ever added.

``notes.jsonl`` has one record a line, each with its checksum (see :mod:`visual_search.formats.json_lines`)::

    {"format": "visual-search notes", "version": 1}
    {"kind": "note", "file": "week-3/a.json", "version": 1, "text": "...", "time": "2026-01-15T10:30:00Z"}
    {"kind": "pin", "file": "week-3/a.json", "pinned": true, "time": "2026-01-15T10:31:00Z"}

What a writer was told is written is on disk. A line that a dying writer left unfinished was never confirmed and is cut
off by the next writer; a line that was damaged later stays where it is, is told, and takes no other with it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from stat import S_ISREG
from typing import IO, Any

from visual_search.errors import FileFormatError, InputError
from visual_search.formats.atomic import fsync_folder
from visual_search.formats.journal import open_alone
from visual_search.formats.json_lines import record_line, record_of_line

__all__ = ["NOTES_NAME", "Note", "NoteConflictError", "Notes", "NotesFile"]

NOTES_NAME = "notes.jsonl"
LONGEST_NOTE = 20_000
_FORMAT = "visual-search notes"
_VERSION = 1
_PATIENCE = 5.0  # seconds that a writer waits for another


@dataclass(frozen=True, slots=True)
class Note:
    """What was last written about one result.

    Attributes
    ----------
    text : str
        Empty where the note was taken back.
    version : int
        How often it was written; 0 where it never was.
    time : str
        When, in UTC.
    """

    text: str = ""
    version: int = 0
    time: str = ""


class NoteConflictError(InputError):
    """Somebody else has written the note since it was read; nothing was written.

    Attributes
    ----------
    now : Note
        What stands there.
    offered : str
        What was to be written.
    """

    def __init__(self, file: str, now: Note, offered: str) -> None:
        super().__init__(
            f"the note on {file!r} was changed since you read it: it is version {now.version} now, written "
            f"{now.time}. Nothing was written; look at both texts and save again"
        )
        self.now = now
        self.offered = offered


@dataclass(slots=True)
class Notes:
    """All notes and pins.

    Attributes
    ----------
    notes : dict of file to Note
    pins : list of file
        Pinned results in the order in which they were pinned; the last counts most.
    damaged : int
        Lines whose checksum does not hold.
    """

    notes: dict[str, Note] = field(default_factory=dict)
    pins: list[str] = field(default_factory=list)
    damaged: int = 0

    def take(self, record: Any) -> None:
        """Follow one record; of a kind that is not known it is passed over, and one that is none of ours is counted."""
        if not _is_sound(record):
            self.damaged += 1
            return
        kind, file = record.get("kind"), record.get("file")
        if kind == "note":
            self.notes[file] = Note(str(record["text"]), int(record["version"]), str(record.get("time", "")))
        elif kind == "pin":
            self.pins = [pinned for pinned in self.pins if pinned != file]
            if record["pinned"]:
                self.pins.append(file)


class NotesFile:
    """Reads and adds to the file of notes of one folder.

    Parameters
    ----------
    folder : Path
        Of the results.

    Examples
    --------
    >>> import tempfile
    >>> notes = NotesFile(Path(tempfile.mkdtemp()))
    >>> notes.write("a.json", "colours were wrong here", version=0).version
    1
    >>> notes.pin("a.json", pinned=True)
    >>> found = notes.read()
    >>> found.notes["a.json"].text, found.pins
    ('colours were wrong here', ['a.json'])
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / NOTES_NAME

    def read(self) -> Notes:
        """What stands there now; nothing where there is no file.

        Raises
        ------
        FileFormatError
            The file is of another kind or a newer version, or cannot be read.
        """
        try:
            self._check_regular()
            data = self.path.read_bytes()
        except FileNotFoundError:
            return Notes()
        except OSError as problem:
            raise FileFormatError(
                f"{self.path}: notes and pins cannot be read ({problem.strerror}); give the file to the user who runs "
                "this, or move it away"
            ) from problem
        return _read(data, self.path)

    def write(self, file: str, text: str, *, version: int) -> Note:
        """Write the note on one result; on disk when this returns.

        Parameters
        ----------
        file : str
            The result's place in the folder, with forward slashes.
        text : str
            At most 20,000 characters; empty takes the note back.
        version : int
            The version that was read before: 0 where there was none.

        Raises
        ------
        NoteConflictError
            Somebody wrote it in between; both texts are in the error.
        InputError
            Too long, or the folder cannot be written.
        """
        if len(text) > LONGEST_NOTE:
            raise InputError(f"note: {len(text):,} characters; at most {LONGEST_NOTE:,} are kept")
        with self._alone() as (stream, notes):
            now = notes.notes.get(file, Note())
            if now.version != version:
                raise NoteConflictError(file, now, text)
            made = Note(text, version + 1, _now())
            _append(
                stream,
                {"kind": "note", "file": file, "version": made.version, "text": made.text, "time": made.time},
            )
            return made

    def pin(self, file: str, *, pinned: bool) -> None:
        """Pin a result as the baseline of those that are comparable with it, or let it go; on disk on return.

        Raises
        ------
        InputError
            The folder cannot be written.
        """
        with self._alone() as (stream, notes):
            if pinned is not (file in notes.pins):
                _append(stream, {"kind": "pin", "file": file, "pinned": pinned, "time": _now()})

    @contextmanager
    def _alone(self) -> Iterator[tuple[IO[bytes], Notes]]:
        try:
            with closing(self._opened()) as stream:
                data = stream.read()
                whole = data[: data.rfind(b"\n") + 1]
                notes = _read(whole, self.path)
                stream.truncate(len(whole))
                stream.seek(len(whole))
                if not whole:
                    _append(stream, {"format": _FORMAT, "version": _VERSION})
                    fsync_folder(self.path.parent)
                yield stream, notes
        except OSError as problem:
            raise InputError(
                f"{self.path.parent}: notes and pins cannot be written here ({problem.strerror}); make room on the "
                "disk, or give the folder to the user who runs this"
            ) from problem

    def _opened(self) -> IO[bytes]:
        """Wait for whoever else is writing."""
        if self.path.is_symlink():
            raise InputError(
                f"{self.path}: a link, through which nothing is written; put the file itself in its place"
            )
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                with suppress(FileNotFoundError):
                    self._check_regular()
                return open_alone(self.path)
            except FileFormatError:
                raise
            except InputError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.01)

    def _check_regular(self) -> None:
        """Refuse a folder, and a pipe or device, which would be waited for."""
        if not S_ISREG(self.path.stat().st_mode):
            raise FileFormatError(f"{self.path}: a folder, pipe or device where notes belong; move it away")


def _append(stream: IO[bytes], record: Any) -> None:
    stream.write(record_line(record))
    stream.flush()
    os.fsync(stream.fileno())


def _read(data: bytes, path: Path) -> Notes:
    notes = Notes()
    lines = data[: data.rfind(b"\n") + 1].splitlines()
    for number, line in enumerate(lines):
        record, is_good = record_of_line(line)
        if not is_good or not isinstance(record, dict):
            notes.damaged += 1
        elif number == 0 and "format" in record:
            _check(record, path)
        else:
            notes.take(record)
    if lines and notes.damaged == len(lines):
        raise FileFormatError(f"{path}: holds no notes, or all of them are damaged; move it away to begin anew")
    return notes


def _is_sound(record: Any) -> bool:
    """Whether a record has what its kind needs; a checksum that holds does not say so."""
    kind, file = record.get("kind"), record.get("file")
    if kind not in ("note", "pin"):
        return True
    try:
        os.fsencode(file)
    except (TypeError, ValueError):
        return False
    if kind == "pin":
        return isinstance(record.get("pinned"), bool)
    version = record.get("version")
    return isinstance(record.get("text"), str) and type(version) is int and 0 < version < 1 << 63


def _check(header: Any, path: Path) -> None:
    if header.get("format") != _FORMAT:
        raise FileFormatError(f"{path}: holds {header.get('format')!r}; {_FORMAT!r} belongs there; move it away")
    if header.get("version") != _VERSION:
        raise FileFormatError(
            f"{path}: version {header.get('version')!r}; this program knows {_VERSION}; install a newer one"
        )


def _now() -> str:
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
