"""Files that are whole or not there: temporary file, fsync, rename."""

from __future__ import annotations

import errno
import json
import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from visual_search.formats.outputs import written_file

__all__ = [
    "atomic_path",
    "atomic_write",
    "flush_file",
    "fsync_folder",
    "temporary_beside",
    "write_json",
    "write_text",
]


_BEGINS = 64
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary path beside ``path``; on success it takes the place of ``path``, else it goes away.

    For libraries that insist on writing a file by name. The file is flushed to disk before the rename, and the
    folder after it. A link stays a link: what it leads to is replaced, from a temporary file beside that.

    Raises
    ------
    InputError
        What no file can take the place of, as for `written_file`.
    OSError
        Of the system, with the file that was asked for in place of the temporary one.
    """
    target = written_file(path)
    with temporary_beside(target) as temporary, _named(Path(path), temporary):
        yield temporary
        flush_file(temporary)
        temporary.replace(target)
        fsync_folder(target.parent)


@contextmanager
def temporary_beside(target: Path) -> Iterator[Path]:
    """Give a temporary path beside ``target``; what is still there at the end goes away."""
    target.parent.mkdir(parents=True, exist_ok=True)
    # A file system takes names of 255 bytes, and the target's own may be as long; 64 tell whose it is.
    begins = os.fsencode(target.name)[:_BEGINS].decode("utf-8", "ignore")
    temporary = target.with_name(f".{begins}.{os.getpid()}-{secrets.token_hex(4)}.tmp")
    try:
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def _named(target: Path, temporary: Path) -> Iterator[None]:
    """Let errors name the file that was asked for, since nobody knows the temporary one."""
    try:
        yield
    except OSError as problem:
        if problem.filename is None and problem.errno in _NO_ROOM:
            problem.filename = str(target)  # of a write, which knows no name
        elif isinstance(problem.filename, str | os.PathLike) and Path(problem.filename) == temporary:
            problem.filename, problem.filename2 = str(target), None
        raise


def flush_file(path: Path) -> None:
    """Make a file's bytes last through a power cut."""
    with path.open("rb+") as written:
        os.fsync(written.fileno())


@contextmanager
def atomic_write(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """Open a binary stream whose bytes appear at ``path`` only when the block ends well."""
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        yield stream


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text whole."""
    with atomic_write(path) as stream:
        stream.write(text.encode("utf-8"))


def write_json(path: str | os.PathLike[str], value: Any, *, indent: int | None = 2) -> None:
    """Write JSON whole; NaN and infinity are refused, since JSON has neither."""
    write_text(path, json.dumps(value, indent=indent, ensure_ascii=False, allow_nan=False) + "\n")


def fsync_folder(folder: Path) -> None:
    """Make renames inside a folder last through a power cut, where the system allows it."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:  # a folder cannot be opened on some systems
        return
    try:
        os.fsync(handle)
    except OSError:  # nor synced on some file systems
        pass
    finally:
        os.close(handle)
