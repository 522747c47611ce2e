"""What evaluation needs of a search service, and what more it uses where a service tells it.

Only ``search`` is needed. Everything else makes evaluation faster or its record fuller; what is not offered is left
out, with a note in the result.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from visual_search.ids import Id, Ids
from visual_search.rankings.ranking import Ranking

__all__ = [
    "DescribesItself",
    "EmbedsImages",
    "Found",
    "FoundItem",
    "Gallery",
    "KnowsItsItems",
    "SearchService",
    "SearchesInBatches",
    "gallery_of",
]

Vectors = npt.NDArray[np.float32]


class FoundItem(Protocol):
    """One result."""

    @property
    def image_id(self) -> Id:
        """Id of the item found."""
        ...

    @property
    def score(self) -> float:
        """Higher is better."""
        ...


class Found(Protocol):
    """What one search gives."""

    @property
    def results(self) -> Sequence[FoundItem]:
        """Items found, best first."""
        ...


class SearchService(Protocol):
    """Anything that searches for a vector."""

    def search(self, query_vec: Any, query_id: Any, k: int) -> Found:
        """At most k items, best first."""
        ...


@runtime_checkable
class SearchesInBatches(Protocol):
    """A service that takes many queries in one call."""

    def search_batch(self, vectors: Vectors, query_ids: Sequence[Id], k: int) -> Ranking:
        """At most k items for each row of ``vectors``."""
        ...


@runtime_checkable
class EmbedsImages(Protocol):
    """A service that turns image files into vectors of its index's space."""

    def embed_images(self, paths: Sequence[str | os.PathLike[str]]) -> Vectors:
        """Vectors of shape (n, dimension), in the order of the paths."""
        ...


@runtime_checkable
class KnowsItsItems(Protocol):
    """A service that names the items it searches."""

    @property
    def gallery_ids(self) -> Ids:
        """Ids of all items that can be found."""
        ...


@runtime_checkable
class DescribesItself(Protocol):
    """A service that tells what it is made of."""

    def describe(self) -> Mapping[str, Any]:
        """Any of ``model_name``, ``embedder``, ``index`` and ``ledger``.

        ``embedder`` has name, dimension, preprocessing and weights_hash; ``index`` engine, metric, settings, items
        and exact; ``ledger`` used, changed, left_out and reasons.
        """
        ...

    def item_places(self) -> Mapping[str, Any] | None:
        """Where the items' images are: ``{"root": folder, "paths": {id: relative path}}``."""
        ...

    def item_hashes(self) -> Mapping[Id, str] | None:
        """SHA-256 of each item's file: ``{id: "sha256:..."}``."""
        ...


@dataclass(frozen=True, slots=True)
class Gallery:
    """What a service told of its items, its embedder and its index; None where it told nothing."""

    ids: Ids | None = None
    model_name: str | None = None
    embedder: Mapping[str, Any] | None = None
    index: Mapping[str, Any] | None = None
    ledger: Mapping[str, Any] | None = None
    places: Mapping[str, Any] | None = None
    hashes: Mapping[Id, str] | None = None

    @property
    def size(self) -> int | None:
        """Number of items, if known."""
        return None if self.ids is None else len(self.ids)

    @property
    def dimension(self) -> int | None:
        """Length of a vector, if known."""
        return None if self.embedder is None else self.embedder.get("dimension")

    @property
    def metric(self) -> str | None:
        """``cosine``, ``ip`` or ``l2``, if known."""
        return None if self.index is None else self.index.get("metric")

    def path_of(self, item: Id) -> Path | None:
        """File of an item that has one of its own."""
        place = None if self.places is None else self.places["paths"].get(item)
        if self.places is None or not isinstance(place, str):
            return None
        return Path(self.places["root"]) / place

    def notes(self) -> list[str]:
        """What the record lacks because the service did not tell it."""
        lacking = {
            "its item ids (gallery_ids), so absent items, ceilings and the random baseline are unknown": self.ids,
            "its embedder": self.embedder,
            "its index": self.index,
            "where its images are, so pages cannot show them": self.places,
        }
        return [f"the search service does not tell {what}" for what, told in lacking.items() if told is None]


def gallery_of(service: object) -> Gallery:
    """Ask a service for all that it tells of itself."""
    ids = service.gallery_ids if isinstance(service, KnowsItsItems) else None
    if not isinstance(service, DescribesItself):
        return Gallery(ids=ids)
    told = service.describe()
    embedder = told.get("embedder")
    return Gallery(
        ids=ids,
        model_name=told.get("model_name") or (embedder or {}).get("name"),
        embedder=embedder,
        index=told.get("index"),
        ledger=told.get("ledger"),
        places=service.item_places(),
        hashes=service.item_hashes(),
    )
