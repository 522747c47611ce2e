"""A journal of finished batches: what was done stays done when the process dies.

Layout: a header line ``visual-search journal 1 KEY``, then records. A record is three little-endian unsigned
64-bit numbers (bytes of JSON, bytes of payload, CRC-32 of both) followed by the JSON and the payload. A record
counts when its checksum holds; whatever follows the last good record (the batch in the making when the process
died) is cut off when the journal is opened again. Every record is on disk before ``append`` returns.
"""

from __future__ import annotations

import json
import os
import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Self

from visual_search.errors import InputError
from visual_search.formats.atomic import fsync_folder

__all__ = ["Journal", "open_alone"]

_RECORD = struct.Struct("<QQQ")


def _opened(path: Path) -> IO[bytes]:
    """Open for reading and writing without cutting anything off; a link in the file's place is refused."""
    if path.is_symlink():
        raise InputError(f"{path}: a link where a journal of unfinished work belongs; delete it")
    flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    return os.fdopen(os.open(path, flags, 0o666), "r+b")


def _only_writer(stream: IO[bytes], path: Path) -> None:
    """Refuse a second writer; the system lets go when a process dies."""
    try:
        import fcntl
    except ImportError:  # no such locks on this system: two writers at once are the caller's to avoid
        return
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        stream.close()
        raise InputError(
            f"{path}: another run is at the same work; wait for it, or give this one another place"
        ) from None


def open_alone(path: Path) -> IO[bytes]:
    """Open for reading and writing, nothing cut off, as the only writer until the file is closed.

    Raises
    ------
    InputError
        A link in the file's place, or another process at the same file.
    """
    stream = _opened(path)
    _only_writer(stream, path)
    return stream


class Journal:
    """Append-only records of (JSON, bytes) that survive a kill.

    Parameters
    ----------
    path : Path
        The journal's file; made with its folder where there is none.
    key : str
        What the records depend on (a fingerprint of model and rules), one line. A journal with another key is begun
        anew, since its records would be wrong.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with Journal(folder / "work.journal", key="model-1") as journal:
    ...     journal.append({"batch": 0}, b"vectors")
    >>> with Journal(folder / "work.journal", key="model-1") as journal:
    ...     [(record["batch"], payload) for record, payload in journal.records()]
    [(0, b'vectors')]
    """

    def __init__(self, path: Path, *, key: str) -> None:
        self._path = path
        self._header = f"visual-search journal 1 {key}\n".encode()
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream: IO[bytes] = open_alone(path)
        if self._stream.read(len(self._header)) != self._header:
            self._begin()
        self._end = self._last_good_end()
        self._stream.truncate(self._end)
        self._stream.seek(self._end)

    def _begin(self) -> None:
        self._stream.seek(0)
        self._stream.truncate(0)
        self._stream.write(self._header)
        self._sync()
        fsync_folder(self._path.parent)

    def _sync(self) -> None:
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def _last_good_end(self) -> int:
        end = len(self._header)
        for _, _, end in self._read_records():  # noqa: B007 - the last end is what is wanted
            pass
        return end

    def _read_records(self) -> Iterator[tuple[bytes, bytes, int]]:
        self._stream.seek(len(self._header))
        while len(head := self._stream.read(_RECORD.size)) == _RECORD.size:
            text_size, payload_size, checksum = _RECORD.unpack(head)
            # No record is without text: zeros, which a power cut may leave at the end, are not one.
            if text_size == 0 or text_size + payload_size > self._path.stat().st_size:
                return
            body = self._stream.read(text_size + payload_size)
            if len(body) < text_size + payload_size or zlib.crc32(body) != checksum:
                return
            yield body[:text_size], body[text_size:], self._stream.tell()

    def records(self) -> Iterator[tuple[Any, bytes]]:
        """Every finished record in order, as (JSON value, payload)."""
        for text, payload, _ in self._read_records():
            position = self._stream.tell()
            yield json.loads(text), payload
            self._stream.seek(position)
        self._stream.seek(self._end)

    def append(self, record: Any, payload: bytes = b"") -> None:
        """Write one record; on disk when this returns."""
        text = json.dumps(record, ensure_ascii=True, allow_nan=False).encode()
        body = text + payload
        self._stream.write(_RECORD.pack(len(text), len(payload), zlib.crc32(body)) + body)
        self._sync()
        self._end = self._stream.tell()

    def discard(self) -> None:
        """Remove the journal; its work has found its place."""
        self._path.unlink(missing_ok=True)  # before the lock is let go, so that nobody finds it half gone
        self._stream.close()
        fsync_folder(self._path.parent)

    def close(self) -> None:
        """Close the file; the records stay."""
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
