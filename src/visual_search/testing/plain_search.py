"""The smallest search service that evaluation takes: vectors in a dictionary, compared one and all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.ids import Id, Ids

__all__ = ["PlainHit", "PlainResults", "PlainSearch"]


@dataclass(frozen=True, slots=True)
class PlainHit:
    """One item found."""

    image_id: Id
    score: float


@dataclass(frozen=True, slots=True)
class PlainResults:
    """Items found, best first."""

    results: list[PlainHit]


class PlainSearch:
    """Exact cosine search over a few vectors; for tests, and to show what a service must offer.

    It has only what evaluation needs, ``search``, and names its items. Equal scores come in the order in which the
    items were given.

    Parameters
    ----------
    vectors : mapping of id to array of shape (d,)

    Examples
    --------
    >>> service = PlainSearch({"a": [1, 0], "b": [0, 1], "c": [1, 1]})
    >>> [hit.image_id for hit in service.search([1, 0], "q", k=2).results]
    ['a', 'c']
    """

    def __init__(self, vectors: Mapping[Id, Any]) -> None:
        self.gallery_ids = Ids(vectors, what="gallery")
        self._vectors = _unit(np.array([np.asarray(vector, dtype=np.float64) for vector in vectors.values()]))

    def search(self, query_vec: Any, query_id: Any, k: int) -> PlainResults:  # noqa: ARG002 - the guide's signature
        """Give the k nearest items."""
        scores = self._vectors @ _unit(np.asarray(query_vec, dtype=np.float64)[None])[0]
        order = np.argsort(-scores, kind="stable")[:k]
        return PlainResults([PlainHit(self.gallery_ids[row], float(scores[row])) for row in order.tolist()])


def _unit(vectors: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True))
