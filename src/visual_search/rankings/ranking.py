"""What a system returned: for each query a list of items with scores, ragged."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import DuplicateIdError, InputError, NonFiniteError, Problems, first_few
from visual_search.ids import Id, Ids

__all__ = ["Ranking"]

Int64Array = npt.NDArray[np.int64]
ScoreArray = npt.NDArray[np.float32] | npt.NDArray[np.float64]


class Ranking:
    """Ranked items per query, best first; ids and scores are kept as they came.

    Parameters
    ----------
    queries : Ids
        One id per query, shape (n,). A query with an empty list is allowed.
    items : Ids
        The vocabulary the rows point into (a gallery's ids, for example); shared, never copied.
    offsets : int64 array of shape (n + 1,)
        Query i owns the positions ``offsets[i]:offsets[i + 1]``.
    rows : int64 array of shape (total,)
        Rows of ``items``, in ranked order within each query.
    scores : float32 or float64 array of shape (total,)
        Higher is better, non-increasing within each query.

    Raises
    ------
    NonFiniteError
        A score is NaN or infinite.
    DuplicateIdError
        An item appears twice in one query's list.
    InputError
        Shapes that do not fit, or scores that increase within a list.

    Convention
    ----------
    Order within equal scores is the order as returned; measures read it only under ``ties="listed"``.

    Examples
    --------
    >>> ranking = Ranking.from_dict({"q1": {"d1": 0.9, "d2": 0.4}})
    >>> ranking.listed("q1")
    [('d1', 0.9), ('d2', 0.4)]
    """

    __slots__ = ("items", "offsets", "queries", "rows", "scores")

    def __init__(self, queries: Ids, items: Ids, offsets: Int64Array, rows: Int64Array, scores: ScoreArray) -> None:
        self.queries = queries
        self.items = items
        self.offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        self.rows = np.ascontiguousarray(rows, dtype=np.int64)
        self.scores = scores if scores.dtype in (np.float32, np.float64) else scores.astype(np.float64)
        self._check_shapes()
        self._check_scores()
        self._check_repeats()

    @classmethod
    def from_dict(cls, run: Mapping[Any, Mapping[Any, float]]) -> Ranking:
        """Take ``{query: {item: score}}``; items are sorted by falling score, equal scores as they came."""
        queries = Ids(run, what="queries")
        items = Ids(dict.fromkeys(item for scored in run.values() for item in scored), what="items")
        lengths = np.fromiter((len(scored) for scored in run.values()), dtype=np.int64, count=len(run))
        offsets = np.concatenate(([0], np.cumsum(lengths)))
        rows = items.rows(item for scored in run.values() for item in scored)
        scores = np.fromiter(
            (score for scored in run.values() for score in scored.values()), dtype=np.float64, count=len(rows)
        )
        order = np.lexsort((-scores, np.repeat(np.arange(len(run)), lengths)))
        return cls(queries, items, offsets, rows[order], scores[order])

    def __len__(self) -> int:
        return len(self.queries)

    @property
    def lengths(self) -> Int64Array:
        """List length of each query, int64 of shape (n,)."""
        return np.diff(self.offsets)

    def listed(self, query: Id) -> list[tuple[Id, float]]:
        """One query's (item, score) pairs, best first."""
        row = self.queries.row(query)
        span = slice(int(self.offsets[row]), int(self.offsets[row + 1]))
        return list(zip(self.items.take(self.rows[span].tolist()), self.scores[span].tolist(), strict=True))

    def __iter__(self) -> Iterator[Id]:
        return iter(self.queries)

    def query_of_position(self) -> Int64Array:
        """For each position the row of its query, int64 of shape (total,)."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)

    def _check_shapes(self) -> None:
        problems = Problems("ranking")
        if self.offsets.shape != (len(self.queries) + 1,):
            problems.add(f"offsets has shape {self.offsets.shape}; {len(self.queries)} queries need one more")
        elif self.offsets[0] != 0 or bool((np.diff(self.offsets) < 0).any()):
            problems.add("offsets must start at 0 and never fall")
        elif self.offsets[-1] != len(self.rows):
            problems.add(f"offsets end at {self.offsets[-1]} but there are {len(self.rows)} rows")
        if self.rows.shape != self.scores.shape:
            problems.add(f"rows has shape {self.rows.shape} and scores {self.scores.shape}; they must be equal")
        if self.rows.size and (self.rows.min() < 0 or self.rows.max() >= len(self.items)):
            problems.add(f"rows must lie in 0..{len(self.items) - 1}; got {self.rows.min()}..{self.rows.max()}")
        problems.raise_if_any(InputError)

    def _check_scores(self) -> None:
        finite = np.isfinite(self.scores)
        if not finite.all():
            first = int(np.flatnonzero(~finite)[0])
            raise NonFiniteError(
                f"ranking: {int((~finite).sum())} scores are NaN or infinite, first for {self._place(first)}; "
                "leave out items the system could not score"
            )
        rising = np.diff(self.scores) > 0
        starts = self.offsets[1:-1] - 1
        rising[starts[(starts >= 0) & (starts < len(rising))]] = False
        if rising.any():
            first = int(np.flatnonzero(rising)[0]) + 1
            raise InputError(
                f"ranking: scores must not rise within a list; {int(rising.sum())} places do, first for "
                f"{self._place(first)}; if these are distances, give their negatives"
            )

    def _check_repeats(self) -> None:
        keys = self.query_of_position() * max(len(self.items), 1) + self.rows
        keys.sort()
        repeats = np.flatnonzero(keys[1:] == keys[:-1])
        if repeats.size:
            pairs = [divmod(int(keys[place]), len(self.items)) for place in repeats[:5]]
            named = [(self.queries[query], self.items[item]) for query, item in pairs]
            raise DuplicateIdError(
                f"ranking: {repeats.size} repeated items within a query's list, first (query, item): "
                f"{first_few(named)}; list each item once per query"
            )

    def _place(self, position: int) -> str:
        query = int(np.searchsorted(self.offsets, position, side="right")) - 1
        return f"query {self.queries[query]!r}, item {self.items[int(self.rows[position])]!r}"

    def __repr__(self) -> str:
        return f"Ranking({len(self)} queries, {len(self.rows)} results, {len(self.items)} items)"

    def __reduce__(self) -> Any:
        return (Ranking, (self.queries, self.items, self.offsets, self.rows, self.scores))
