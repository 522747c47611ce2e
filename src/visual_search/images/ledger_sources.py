"""From a ledger back to the files: where its images can be read again."""

from __future__ import annotations

from pathlib import Path

from visual_search.images.image_source import ImageSource
from visual_search.images.ledger import Ledger
from visual_search.images.sources import list_images

__all__ = ["sources_of"]


def sources_of(ledger: Ledger) -> list[ImageSource]:
    """Sources of the images that a ledger has, in its order; a member that has gone has that as its reason."""
    members: dict[tuple[str, str], ImageSource] = {}
    for archive in {entry.path for entry in ledger if entry.member is not None}:
        members |= {(archive, str(source.member)): source for source in list_images(archive)}
    sources = []
    for entry in ledger:
        if entry.member is None:
            sources.append(ImageSource(entry.id, Path(entry.path)))
        else:
            found = members.get((entry.path, entry.member))
            reason = None if found else "no such member any more"
            sources.append(
                ImageSource(entry.id, Path(entry.path), entry.member, reason, found.entry if found else None)
            )
    return sources
