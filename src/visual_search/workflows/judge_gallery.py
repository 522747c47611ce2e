"""The gallery behind a pool: which items there are, what they look like, and where their pictures are."""

from __future__ import annotations

import os
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path

import numpy as np

from visual_search.formats.results import ImageLocation
from visual_search.ids import Id, Ids
from visual_search.indexing.index_table import VectorIndex
from visual_search.indexing.item_images import ItemImages, images_of
from visual_search.judging.pooling import ItemVectors
from visual_search.workflows.truth_places import placed_vectors

__all__ = ["PoolGallery"]


class PoolGallery:
    """A gallery that a person named: the folder of an index, or a file of vectors.

    Parameters
    ----------
    place : path
        As for `placed_vectors`.
    """

    def __init__(self, place: str | os.PathLike[str]) -> None:
        self._place = place

    @cached_property
    def vectors(self) -> ItemVectors:
        """Ids and vectors of all items."""
        held = placed_vectors(self._place, what="gallery")
        ids = Ids(held.ids.array(np.arange(len(held))).tolist(), what="gallery")
        return ItemVectors(ids, held.vectors)

    @cached_property
    def _images(self) -> ItemImages | None:
        return images_of(VectorIndex.open(self._place)) if Path(self._place).is_dir() else None

    def places(self, items: Iterable[Id]) -> dict[Id, ImageLocation]:
        """Where items' pictures are, of those that an index's ledger knows."""
        if self._images is None:
            return {}
        found = {item: self._images.location(item) for item in items}
        return {item: place for item, place in found.items() if place is not None}
