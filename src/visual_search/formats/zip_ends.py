"""Where a zip archive begins and ends in its file: Python's reader takes one with anything before or behind it."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path

from visual_search.counted import counted
from visual_search.errors import FileFormatError

__all__ = ["check_ends"]

_END, _END_BYTES, _LONGEST_NOTE = b"PK\x05\x06", 22, (1 << 16) - 1


def check_ends(archive: zipfile.ZipFile, path: Path) -> None:
    """Refuse an archive that does not fill its file to the byte.

    Raises
    ------
    FileFormatError
        Bytes before the first member or behind the record that ends the archive, a comment among them.
    """
    stream = archive.fp
    if stream is None:
        raise ValueError("the archive is closed")
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - _END_BYTES - _LONGEST_NOTE))
    last = stream.read()
    behind = len(last) - last.rfind(_END) - _END_BYTES
    first = min((member.header_offset for member in archive.infolist()), default=0)
    found = []
    if first:
        found.append(f"{counted(first, 'byte', 'bytes')} before its begin")
    if behind:
        found.append(f"{counted(behind, 'byte', 'bytes')} behind its end")
    if found:
        raise FileFormatError(
            f"{path}: {' and '.join(found)}, which are not its own: something was put there, or two files became one; "
            "take it from a copy, or make it again"
        )
