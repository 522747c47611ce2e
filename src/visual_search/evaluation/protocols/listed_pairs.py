"""Right answers listed pair by pair, as landmark benchmarks have them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.evaluation.protocols.conditions import Condition, Pairs
from visual_search.evaluation.protocols.sides import Side
from visual_search.ground_truth.relevance import Relevance

__all__ = ["ListedPairs"]


@dataclass(frozen=True)
class ListedPairs(Condition):
    """Relevant or ignored as listed.

    Parameters
    ----------
    offsets : tuple of int, of length n + 1
        Query i owns the pairs ``offsets[i]:offsets[i + 1]``.
    rows : tuple of int
        Gallery row of each pair.
    ignored : tuple of bool
        Whether the pair counts neither way; else it is relevant.
    about : str
        What the list is, in one sentence.
    """

    name: ClassVar[str] = "listed-pairs"
    offsets: tuple[int, ...] = (0,)
    rows: tuple[int, ...] = ()
    ignored: tuple[bool, ...] = ()
    about: str = "an item is relevant when it is listed"

    @classmethod
    def of(cls, relevance: Relevance, about: str) -> ListedPairs:
        """From a relevance, with grades of at least 1 as relevant; pairs judged not relevant are left out."""
        kept = (relevance.grades >= 1) | relevance.ignored
        counts = np.bincount(relevance.query_of_entry()[kept], minlength=len(relevance))
        offsets = np.concatenate(([0], np.cumsum(counts)))
        return cls(_tuple(offsets), _tuple(relevance.rows[kept]), _tuple(relevance.ignored[kept]), about)

    @property
    def words(self) -> str:
        """The condition in one sentence."""
        return self.about

    def pairs(self, queries: Side, gallery: Side) -> Pairs:
        """The listed pairs."""
        offsets = np.array(self.offsets, dtype=np.int64)
        rows, ignored = np.array(self.rows, dtype=np.int64), np.array(self.ignored, dtype=np.bool_)
        fits = len(offsets) == len(queries) + 1 and offsets[0] == 0 and (np.diff(offsets) >= 0).all()
        if not fits or offsets[-1] != len(rows) or len(rows) != len(ignored):
            raise InputError(f"listed-pairs: its {len(rows)} pairs are not those of {len(queries)} queries")
        if len(rows) and not (rows.min() >= 0 and rows.max() < len(gallery)):
            raise InputError(
                f"listed-pairs: rows must lie in 0..{len(gallery) - 1}; got {rows.min()}..{rows.max()}"
            )
        return np.repeat(np.arange(len(queries)), np.diff(offsets)), rows, ignored

    def transposed(self, queries: Side, gallery: Side) -> ListedPairs:
        """The same pairs with the sides changed."""
        query, item, ignored = self.pairs(queries, gallery)
        order = np.lexsort((query, item))
        offsets = np.concatenate(([0], np.cumsum(np.bincount(item, minlength=len(gallery)))))
        return ListedPairs(_tuple(offsets), _tuple(query[order]), _tuple(ignored[order]), self.about)

    def of_queries(self, queries: Side, gallery: Side, kept: list[int]) -> ListedPairs:
        """The pairs of some of the queries."""
        parts = [slice(self.offsets[row], self.offsets[row + 1]) for row in kept]
        offsets = np.concatenate(([0], np.cumsum([part.stop - part.start for part in parts]))).astype(np.int64)
        self.pairs(queries, gallery)
        return ListedPairs(
            _tuple(offsets),
            tuple(row for part in parts for row in self.rows[part]),
            tuple(flag for part in parts for flag in self.ignored[part]),
            self.about,
        )


def _tuple(array: npt.NDArray[Any]) -> tuple[Any, ...]:
    return tuple(array.tolist())
