"""What one search returns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from visual_search.counted import counted
from visual_search.ids import Id

__all__ = ["SearchResponse", "SearchResult"]


class SearchResult(NamedTuple):
    """One item found.

    Parameters
    ----------
    image_id : str or int
        Its id in the index.
    score : float
        Higher is better: cosine, inner product, or minus the distance.
    rank : int
        From 1.
    distance : float or None
        Euclidean distance under ``l2``, the number of bits that differ, an int, under ``hamming``, else None.
    """

    image_id: Id
    score: float
    rank: int
    distance: float | None = None


@dataclass(frozen=True, slots=True)
class SearchResponse:
    """Items found for one query, best first; its length and iteration are those of ``results``.

    Parameters
    ----------
    query_id : str or int
        As given.
    results : tuple of SearchResult
        At most ``k_requested``.
    k_requested : int
        How many were asked for.
    excluded : tuple of str or int
        Ids left out because the caller said so and they would have been among the results.
    hidden : int
        How many results the near-duplicate filter left out.

    Examples
    --------
    >>> response = SearchResponse("q", (SearchResult("a.jpg", 0.9, 1),), k_requested=10)
    >>> [result.image_id for result in response], response.shortfall
    (['a.jpg'], '10 results asked for, 1 found')
    """

    query_id: Id
    results: tuple[SearchResult, ...]
    k_requested: int
    excluded: tuple[Id, ...] = ()
    hidden: int = 0

    def __len__(self) -> int:
        return len(self.results)

    def __iter__(self) -> Iterator[SearchResult]:
        return iter(self.results)

    @property
    def shortfall(self) -> str | None:
        """Why there are fewer results than asked for, in words; None where there are not."""
        missing = self.k_requested - len(self.results)
        if not missing:
            return None
        reasons = [f"{counted(self.k_requested, 'result', 'results')} asked for, {len(self.results)} found"]
        if self.excluded:
            reasons.append(f"{len(self.excluded)} excluded")
        if self.hidden:
            reasons.append(f"{self.hidden} hidden as near-duplicates")
        return ", ".join(reasons)
