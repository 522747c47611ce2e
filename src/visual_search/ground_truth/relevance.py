"""What the right answers are: a sparse query x item table with grades and three states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, NonFiniteError, Problems
from visual_search.ids import Id, Ids

__all__ = ["Relevance"]

Int64Array = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]


class Relevance:
    """Judged items per query: relevant, not relevant, or ignored.

    Parameters
    ----------
    queries : Ids
        One id per query, shape (n,). A query without judged items is allowed.
    items : Ids
        The vocabulary the rows point into.
    offsets : int64 array of shape (n + 1,)
        Query i owns the entries ``offsets[i]:offsets[i + 1]``.
    rows : int64 array of shape (total,)
        Rows of ``items``.
    grades : float64 array of shape (total,)
        Relevant when at least the measure's ``rel`` (default 1); 0 and below are judged not relevant.
    ignored : bool array of shape (total,), optional
        Pairs taken out of the ranking and out of R (junk, same camera, the query itself).

    Convention
    ----------
    An item that is not listed is unjudged, which is not the same as judged not relevant.
    """

    __slots__ = ("grades", "ignored", "items", "offsets", "queries", "rows")

    def __init__(
        self,
        queries: Ids,
        items: Ids,
        offsets: Int64Array,
        rows: Int64Array,
        grades: FloatArray,
        ignored: BoolArray | None = None,
    ) -> None:
        self.queries = queries
        self.items = items
        self.offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        self.rows = np.ascontiguousarray(rows, dtype=np.int64)
        self.grades = np.ascontiguousarray(grades, dtype=np.float64)
        self.ignored = np.zeros(len(self.rows), dtype=np.bool_) if ignored is None else ignored
        self._check()

    @classmethod
    def from_dict(
        cls, judgements: Mapping[Any, Mapping[Any, float]], *, ignored: Mapping[Any, Sequence[Any]] | None = None
    ) -> Relevance:
        """Take ``{query: {item: grade}}`` and, optionally, ``{query: [items to ignore]}``.

        Examples
        --------
        >>> Relevance.from_dict({"q1": {"d1": 1, "d2": 0}})
        Relevance(1 queries, 2 judged pairs, 0 ignored)
        """
        queries = Ids(judgements, what="queries")
        left_out = {query: dict.fromkeys((ignored or {}).get(query, ())) for query in judgements}
        both = [(query, item) for query, items in left_out.items() for item in items if item in judgements[query]]
        if both:
            raise InputError(f"relevance: {len(both)} pairs are both judged and ignored, first: {both[0]}")
        items = Ids(dict.fromkeys(i for q in judgements for i in (*judgements[q], *left_out[q])), what="items")
        lengths = [len(judgements[q]) + len(left_out[q]) for q in judgements]
        offsets = np.concatenate(([0], np.cumsum(np.asarray(lengths, dtype=np.int64))))
        rows = items.rows(i for q in judgements for i in (*judgements[q], *left_out[q]))
        grades = np.array(
            [g for q in judgements for g in (*judgements[q].values(), *([0.0] * len(left_out[q])))],
            dtype=np.float64,
        )
        flags = np.array(
            [f for q in judgements for f in (*([False] * len(judgements[q])), *([True] * len(left_out[q])))],
            dtype=np.bool_,
        )
        return cls(queries, items, offsets, rows, grades, flags)

    def __len__(self) -> int:
        return len(self.queries)

    def judged(self, query: Id) -> dict[Id, float]:
        """One query's ``{item: grade}``, ignored pairs left out."""
        row = self.queries.row(query)
        span = slice(int(self.offsets[row]), int(self.offsets[row + 1]))
        keep = ~self.ignored[span]
        named = self.items.take(self.rows[span][keep].tolist())
        return dict(zip(named, self.grades[span][keep].tolist(), strict=True))

    def _check(self) -> None:
        problems = Problems("relevance")
        if self.offsets.shape != (len(self.queries) + 1,):
            problems.add(f"offsets has shape {self.offsets.shape}; {len(self.queries)} queries need one more")
        if not len(self.rows) == len(self.grades) == len(self.ignored):
            problems.add("rows, grades and ignored must have one length")
        problems.raise_if_any(InputError)
        if not np.isfinite(self.grades).all():
            raise NonFiniteError("relevance: a grade is NaN or infinite; leave unjudged pairs out")

    def __repr__(self) -> str:
        judged = int((~self.ignored).sum())
        return f"Relevance({len(self)} queries, {judged} judged pairs, {int(self.ignored.sum())} ignored)"
