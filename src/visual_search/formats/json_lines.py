"""Records of finished work, one JSON text a line, that survive a kill and can be read by anything that reads lines.

Each line is ``{"crc32": N, "record": ...}`` with the checksum of the record's own text. A line counts when it ends and
its checksum holds; what follows the last good line (the record in the making when the process died) does not, and is
cut off when the file is opened for writing again. A bad line with good ones after it is no kill but damage: such a file
is refused and left alone. The first record is the header: what the others depend on.
"""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import IO, Any, Self

from visual_search.errors import FileFormatError
from visual_search.formats.atomic import fsync_folder
from visual_search.formats.journal import open_alone

__all__ = ["JsonLines", "read_json_lines", "record_line", "record_of_line"]


def read_json_lines(path: str | os.PathLike[str]) -> tuple[list[Any], int]:
    """Every finished record in order, and how many bytes after them do not count.

    Raises
    ------
    FileFormatError
        Not one good record, or a damaged one among good ones.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "work.jsonl"
    >>> with JsonLines(file) as lines:
    ...     lines.append({"of": "example"})
    ...     lines.append({"point": 1})
    >>> with file.open("ab") as stream:
    ...     _ = stream.write(b'{"crc32": 12, "rec')
    >>> read_json_lines(file)
    ([{'of': 'example'}, {'point': 1}], 18)
    """
    data = Path(path).read_bytes()
    records, end = _good(data)
    _refuse_damage(data, end, len(records), path)
    if not records:
        raise FileFormatError(
            f"{path}: no finished record in it; not a file of this kind, or its writer died at once"
        )
    return records, len(data) - end


class JsonLines:
    """Appends records to a file; each is on disk before ``append`` returns.

    Parameters
    ----------
    path : Path
        Made with its folder where there is none.

    Attributes
    ----------
    records : list
        What was there when it was opened.

    Raises
    ------
    FileFormatError
        The file holds something else, or a damaged record among good ones; it is left alone.
    InputError
        Another process is writing it.
    """

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._stream: IO[bytes] = open_alone(path)
        data = self._stream.read()
        self.records, end = _good(data)
        if data and not self.records and not b'{"crc32": '.startswith(data[:10]):
            self._stream.close()
            raise FileFormatError(f"{path}: holds something else than finished records; give another file")
        try:
            _refuse_damage(data, end, len(self.records), path)
        except FileFormatError:
            self._stream.close()
            raise
        self._stream.truncate(end)
        self._stream.seek(end)
        fsync_folder(path.parent)

    def append(self, record: Any) -> None:
        """Write one record."""
        self._stream.write(record_line(record))
        self._stream.flush()
        os.fsync(self._stream.fileno())

    def close(self) -> None:
        """Close the file; the records stay."""
        self._stream.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def record_line(record: Any) -> bytes:
    """One record as a whole line, its end included."""
    text = _text(record)
    return f'{{"crc32": {zlib.crc32(text.encode())}, "record": {text}}}\n'.encode()


def record_of_line(line: bytes) -> tuple[Any, bool]:
    """The record of one line and whether its checksum holds; (None, False) where it does not.

    >>> record_of_line(record_line({"note": "ok"}))
    ({'note': 'ok'}, True)
    >>> record_of_line(b"torn")
    (None, False)
    """
    try:
        whole = json.loads(line)
        record, checksum = whole["record"], whole["crc32"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None, False
    return (record, True) if zlib.crc32(_text(record).encode()) == checksum else (None, False)


def _text(record: Any) -> str:
    return json.dumps(record, ensure_ascii=True, allow_nan=False)


def _good(data: bytes) -> tuple[list[Any], int]:
    records: list[Any] = []
    end = 0
    while (stop := data.find(b"\n", end)) >= 0:
        record, is_good = record_of_line(data[end:stop])
        if not is_good:
            break
        records.append(record)
        end = stop + 1
    return records, end


def _refuse_damage(data: bytes, end: int, good: int, path: str | os.PathLike[str]) -> None:
    """Refuse good records after bad ones: cut off, or left out, they would be lost in silence."""
    after = sum(record_of_line(line)[1] for line in data[end:].split(b"\n")[1:])
    if after:
        raise FileFormatError(
            f"{os.fspath(path)}: line {good + 1} is damaged, and {after} good ones follow it; remove that line, or "
            "take the file from a copy"
        )
