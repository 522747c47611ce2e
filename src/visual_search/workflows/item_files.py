"""From a file to the item of an index that it is the picture of."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from visual_search.formats.results import ImageLocation
from visual_search.images.decoding import DecodingRules
from visual_search.indexing.item_images import ItemImages

__all__ = ["ItemFiles", "PictureOfItem"]


@dataclass(frozen=True, slots=True)
class PictureOfItem:
    """The picture behind an item.

    Attributes
    ----------
    location : ImageLocation
    sha256 : str or None
        Of the file that was indexed.
    rules : DecodingRules
        By which it was decoded.
    """

    location: ImageLocation
    sha256: str | None
    rules: DecodingRules


class ItemFiles:
    """The files of the items of indexes, links followed, as they lie when this is made.

    Parameters
    ----------
    images : iterable of ItemImages
        Where two hold one file, the first has it.
    """

    def __init__(self, images: Iterable[ItemImages]) -> None:
        self._held: dict[tuple[str, str | None], PictureOfItem] = {}
        real_folder = lru_cache(maxsize=None)(os.path.realpath)
        for one in images:
            for entry in one.ledger.used:
                folder, name = os.path.split(entry.path)
                path = os.path.join(real_folder(folder), name)  # noqa: PTH118 - text, a hundred thousand times
                if os.path.islink(path):  # noqa: PTH114
                    path = os.path.realpath(path)
                picture = PictureOfItem(ImageLocation(Path(entry.path), entry.member), entry.sha256, one.rules)
                self._held.setdefault((path, entry.member), picture)

    def at(self, location: ImageLocation) -> PictureOfItem | None:
        """The picture of the item whose file is the one at a place; None where there is none."""
        try:
            real = os.path.realpath(location.path)
        except ValueError:  # nothing that could be the name of a file
            return None
        return self._held.get((real, location.member))
