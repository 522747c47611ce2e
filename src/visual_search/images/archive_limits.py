"""How much an archive may unpack to."""

from __future__ import annotations

from pathlib import Path

from visual_search.errors import FileFormatError

__all__ = ["most_unpacked", "swollen"]

# Photographs hardly pack at all and drawings some tenfold; an archive that unpacks to more than this is a trap.
_MOST_TIMES = 200
_FREE_BYTES = 64 << 20


def most_unpacked(packed: int) -> int:
    """Most bytes that an archive of so many bytes may unpack to: 200 times as many, and 64 MiB in any case."""
    return _MOST_TIMES * packed + _FREE_BYTES


def swollen(path: Path) -> FileFormatError:
    """The error for an archive that unpacks to more."""
    return FileFormatError(
        f"{path}: unpacks to more than {_MOST_TIMES} times its size, which images do not; "
        "if you trust it, unpack it and give the folder"
    )
