"""Recall of an index for one query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from visual_search.ids import Id
from visual_search.undefined import none_if_nan

__all__ = ["QueryRecall"]


@dataclass(frozen=True, slots=True)
class QueryRecall:
    """One query of a table.

    Attributes
    ----------
    query : id
    recall : float
        NaN where nothing is asked for.
    returned : int
        Different items among the first k.
    tied : int
        Returned items exactly as far as the last neighbour.
    missed : int
        Neighbours that were not returned.
    missing : tuple of (id, true rank)
        Which, nearest first; ranks from 1 in the exact answer.
    lower_bound : bool
        Whether more may have been found than the truth can tell.
    latency : float or None
        Seconds the search took, where it was measured.
    dimension, contrast : float
        How hard the query is; see `QueryHardness`. NaN where not defined.
    """

    query: Id
    recall: float
    returned: int
    tied: int
    missed: int
    missing: tuple[tuple[Id, int], ...]
    lower_bound: bool
    latency: float | None
    dimension: float
    contrast: float

    def as_json(self) -> dict[str, Any]:
        """As a JSON object; undefined is null."""
        return {
            "query": self.query,
            "recall": none_if_nan(self.recall),
            "returned": self.returned,
            "tied": self.tied,
            "missed": self.missed,
            "missing": [{"id": item, "rank": rank} for item, rank in self.missing],
            "lower_bound": self.lower_bound,
            "latency": self.latency,
            "dimension": none_if_nan(self.dimension),
            "contrast": none_if_nan(self.contrast),
        }
