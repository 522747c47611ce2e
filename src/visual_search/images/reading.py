"""Bytes of one file, bounded, from nothing but a regular file."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from visual_search.errors import UndecodableImageError

__all__ = ["check_bytes", "open_regular", "read_file", "why_unreadable"]


@contextmanager
def open_regular(path: Path) -> Iterator[tuple[BinaryIO, os.stat_result]]:
    """Open a regular file for reading; anything else is refused without waiting for it.

    Raises
    ------
    UndecodableImageError
        The file is gone, may not be read, or is a pipe, a device or a folder.
    """
    try:
        # A pipe put in a file's place would hold up a plain open for ever.
        handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    except (OSError, ValueError) as error:
        raise UndecodableImageError(why_unreadable(error)) from error
    status = os.fstat(handle)
    if not stat.S_ISREG(status.st_mode):
        os.close(handle)
        raise UndecodableImageError("not a regular file")
    with os.fdopen(handle, "rb") as stream:
        try:
            yield stream, status
        except OSError as error:
            raise UndecodableImageError(why_unreadable(error)) from error


def read_file(path: Path, max_bytes: int | None = None) -> bytes:
    """Whole content of a regular file of at most ``max_bytes`` bytes.

    Raises
    ------
    UndecodableImageError
        It cannot be read, or is longer; the length is looked at before anything is read.
    """
    with open_regular(path) as (stream, status):
        check_bytes(status.st_size, max_bytes)
        data = stream.read() if max_bytes is None else stream.read(max_bytes + 1)
    check_bytes(len(data), max_bytes)  # it may have grown since
    return data


def check_bytes(length: int, max_bytes: int | None) -> None:
    """Refuse more bytes than allowed."""
    if max_bytes is not None and length > max_bytes:
        raise UndecodableImageError(f"too many bytes: {length}, more than max_bytes={max_bytes}")


def why_unreadable(error: OSError | ValueError) -> str:
    """The system's reason, without the path, which the ledger names beside it."""
    if isinstance(error, FileNotFoundError):
        return "no such file"
    return f"cannot be read: {getattr(error, 'strerror', None) or error}"
