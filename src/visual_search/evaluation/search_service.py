"""What evaluation needs of a search service, and what more it uses where a service tells it.

Only ``search`` is needed. Everything else makes evaluation faster or its record fuller; what is not offered is left
out, with a note in the result.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from inspect import getattr_static
from typing import Any, Protocol, TypeGuard

import numpy as np
import numpy.typing as npt

from visual_search.ids import Id, Ids
from visual_search.rankings.ranking import Ranking

__all__ = [
    "EmbedderFacts",
    "EmbedsImages",
    "Found",
    "FoundItem",
    "Gallery",
    "Index",
    "KnowsItsImages",
    "KnowsItsItems",
    "SearchService",
    "SearchesInBatches",
    "embeds_images",
    "gallery_of",
    "searches_in_batches",
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


class SearchesInBatches(Protocol):
    """A service that takes many queries in one call."""

    def search_batch(self, vectors: Vectors, query_ids: Sequence[Id], k: int) -> Ranking:
        """At most k items for each row of ``vectors``."""
        ...


class EmbedsImages(Protocol):
    """A service that turns image files into vectors of its index's space."""

    def embed_images(self, paths: Sequence[str | os.PathLike[str]]) -> Vectors:
        """Vectors of shape (n, dimension), in the order of the paths."""
        ...


class KnowsItsItems(Protocol):
    """A service that names the items it searches."""

    @property
    def gallery_ids(self) -> Ids:
        """Ids of all items that can be found."""
        ...


class EmbedderFacts(Protocol):
    """What an index remembers of the embedder that made its vectors."""

    def as_json(self) -> dict[str, Any]:
        """Give name, dimension, preprocessing and weights_hash."""
        ...


class Index(Protocol):
    """What a service tells of itself through its ``index``, where it has one."""

    @property
    def ids(self) -> Ids:
        """Ids of all items that can be found."""
        ...

    @property
    def dimension(self) -> int | None:
        """Length of a vector."""
        ...

    @property
    def metric(self) -> str:
        """``cosine``, ``ip`` or ``l2``."""
        ...

    @property
    def engine(self) -> str:
        """Name of the search engine."""
        ...

    @property
    def exact(self) -> bool:
        """Whether every search looks at every vector."""
        ...

    @property
    def settings(self) -> Mapping[str, Any]:
        """The engine's settings."""
        ...

    @property
    def embedder(self) -> EmbedderFacts | None:
        """What made the vectors."""
        ...


class KnowsItsImages(Protocol):
    """A service that tells of the images behind its items; each answer may be None where it does not know."""

    def item_places(self) -> Mapping[str, Any] | None:
        """Tell where the images are: ``{"root": folder, "paths": {id: path below it, or archive and member}}``."""
        ...

    def item_hashes(self) -> Mapping[Id, str] | None:
        """Give the SHA-256 of each item's file: ``{id: hexadecimal digest}``."""
        ...

    def ledger_counts(self) -> Mapping[str, Any] | None:
        """Count what was used, changed and left out when the index was made."""
        ...


@dataclass(frozen=True, slots=True)
class Gallery:
    """What a service told of its items, its embedder and its index; None where it told nothing."""

    ids: Ids | None = None
    dimension: int | None = None
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
    def model_name(self) -> str | None:
        """Name of the embedder, if known."""
        return None if self.embedder is None else self.embedder["name"]

    @property
    def metric(self) -> str | None:
        """``cosine``, ``ip`` or ``l2``, if known."""
        return None if self.index is None else self.index["metric"]

    def notes(self) -> list[str]:
        """Tell what the result lacks because the service did not tell it."""
        lacking = {
            "its item ids, so absent items, ceilings and the random baseline are unknown": self.ids,
            "its embedder": self.embedder,
            "its index": self.index,
            "where its images are, so pages cannot show them": self.places,
        }
        return [f"the search service does not tell {what}" for what, told in lacking.items() if told is None]


def searches_in_batches(service: object) -> TypeGuard[SearchesInBatches]:
    """Tell whether a service offers ``search_batch``."""
    return _offers(service, SearchesInBatches)


def embeds_images(service: object) -> TypeGuard[EmbedsImages]:
    """Tell whether a service offers ``embed_images``."""
    return _offers(service, EmbedsImages)


def _knows_its_items(service: object) -> TypeGuard[KnowsItsItems]:
    return _offers(service, KnowsItsItems)


def _knows_its_images(service: object) -> TypeGuard[KnowsItsImages]:
    return _offers(service, KnowsItsImages)


def _is_index(value: object) -> TypeGuard[Index]:
    return _offers(value, Index)


def _offers(service: object, contract: type) -> bool:
    """Tell whether a service has all that an optional contract names.

    Names that are only made up when asked for (a proxy's, a test double's) do not count: they promise nothing.
    """
    names = [name for name in vars(contract) if not name.startswith("_")]
    missing = object()
    return all(getattr_static(service, name, missing) is not missing for name in names)


def gallery_of(service: object) -> Gallery:
    """Ask a service for all that it tells of itself."""
    index = getattr(service, "index", None)
    images = service if _knows_its_images(service) else None
    if not _is_index(index):
        ids = Ids(service.gallery_ids, what="gallery") if _knows_its_items(service) else None
        return Gallery(ids=ids)
    return Gallery(
        ids=Ids(index.ids, what="gallery"),
        dimension=index.dimension,
        embedder=None if index.embedder is None else index.embedder.as_json(),
        index={
            "engine": index.engine,
            "metric": index.metric,
            "settings": dict(index.settings),
            "items": len(index.ids),
            "exact": index.exact,
        },
        ledger=None if images is None else images.ledger_counts(),
        places=None if images is None else images.item_places(),
        hashes=None if images is None else images.item_hashes(),
    )
