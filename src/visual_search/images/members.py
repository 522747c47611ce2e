"""One member of an archive: its name, checked, and where its bytes lie."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass
from typing import Literal, TypeAlias

from visual_search.images.id_texts import id_text
from visual_search.images.side_files import side_file_reason

__all__ = ["Member", "Storage", "name_reason"]

Storage: TypeAlias = Literal["stored", "deflated", "bzip2", "tar", "tar.gz", "tar.bz2", "tar.xz"]


@dataclass(frozen=True, slots=True)
class Member:
    """What an archive's listing says of one member.

    Attributes
    ----------
    name : str
        As the archive writes it.
    reason : str or None
        Why it is left out, where the listing already tells.
    storage : str
        How its bytes are kept.
    offset : int
        Byte of the archive (of the unpacked stream for packed tars) at which its header (zip) or data (tar) begins.
    packed, size : int
        Bytes in the archive and unpacked, as the archive states them.
    mark : str
        What changes when the content does: the CRC-32 in a zip; in a tar the member's time of change, and the
        archive's own size and time of change.
    """

    name: str
    reason: str | None
    storage: Storage
    offset: int
    packed: int
    size: int
    mark: str

    @property
    def id(self) -> str:
        """Relative POSIX path without ``./``, the name as written where it is no such path; valid Unicode."""
        return id_text(self.name if _place_reason(self.name) else posixpath.normpath(self.name))


def name_reason(name: str) -> str | None:
    """Why a member of this name is left out: it leads out of the archive, or is a side file."""
    return _place_reason(name) or side_file_reason(name)


def _place_reason(name: str) -> str | None:
    if name.startswith(("/", "\\")) or re.match(r"[A-Za-z]:", name):
        return "an absolute path in an archive"
    if ".." in re.split(r"[/\\]", name):
        return "leads out of its archive"
    return None
