"""What a system returned: for each query a list of items with scores, ragged."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import DuplicateIdError, InputError, NonFiniteError, Problems, first_few
from visual_search.formats.arrays import as_float64, rounded_to_float32
from visual_search.formats.nested import nested_keys, nested_numbers
from visual_search.formats.ragged import grouped
from visual_search.ids import Id, Ids
from visual_search.rankings.parts import RankingParts, of_arrays, of_rank_matrix, of_similarity

__all__ = ["Ranking"]

Int64Array = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]
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
    cut_ties : bool array of shape (n,), optional
        Whether each list was cut inside a tie, where its maker knows; otherwise it is guessed from the list's end.
    notes : tuple of str, optional
        What a reader of any number made from it should know.
    scored : bool
        Whether the scores came with the lists; else they only tell the order, and no distance is in them.

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

    __slots__ = ("cut_ties", "items", "notes", "offsets", "queries", "rows", "scored", "scores")

    def __init__(
        self,
        queries: Ids,
        items: Ids,
        offsets: Int64Array,
        rows: Int64Array,
        scores: ScoreArray,
        *,
        cut_ties: BoolArray | None = None,
        notes: tuple[str, ...] = (),
        scored: bool = True,
    ) -> None:
        self.queries = queries
        self.items = items
        self.offsets = np.ascontiguousarray(offsets, dtype=np.int64)
        self.rows = np.ascontiguousarray(rows, dtype=np.int64)
        self.scores = scores if scores.dtype == np.float32 else as_float64(scores, what="scores")
        self.cut_ties = cut_ties
        self.notes = notes
        self.scored = scored
        self._check_shapes()
        self._check_scores()
        self._check_repeats()

    @classmethod
    def _of(cls, parts: RankingParts) -> Ranking:
        return cls(
            parts.queries,
            parts.items,
            parts.offsets,
            parts.rows,
            parts.scores,
            cut_ties=parts.cut_ties,
            notes=parts.notes,
            scored=parts.scored,
        )

    @classmethod
    def from_arrays(
        cls,
        ids: Any,
        scores: Any | None = None,
        *,
        query_ids: Iterable[Any] | None = None,
        gallery_ids: Iterable[Any] | None = None,
        pad: int | None = -1,
    ) -> Ranking:
        """Take lists of ids and scores, as search engines return them.

        Parameters
        ----------
        ids : array-like of shape (n, k), or n lists of any lengths
            Integer or string ids, best first. Tensors of other libraries are taken without a copy where possible.
        scores : array-like of the same shape, optional
            Higher is better, not rising within a list. Without scores the order alone counts and nothing ties.
        query_ids : iterable, optional
            One id per list; 0, 1, 2, ... by default.
        gallery_ids : iterable, optional
            All ids of the gallery, so that k beyond it can be noted.
        pad : int or None
            Entries with this integer id are places an engine could not fill, and are left out.

        Raises
        ------
        InputError, NonFiniteError, DuplicateIdError, UnknownIdError
            Shapes that do not fit, rising or non-finite scores, repeated ids, ids outside the gallery.

        Examples
        --------
        >>> Ranking.from_arrays([[7, 3], [3, -1]], [[0.9, 0.2], [0.5, -1.0]], query_ids=["q1", "q2"]).listed("q2")
        [(3, 0.5)]
        """
        return cls._of(of_arrays(ids, scores, query_ids=query_ids, gallery_ids=gallery_ids, pad=pad))

    @classmethod
    def from_similarity(
        cls,
        similarity: Any,
        *,
        query_ids: Iterable[Any] | None = None,
        gallery_ids: Iterable[Any] | None = None,
        k: int | None = None,
    ) -> Ranking:
        """Rank a gallery by a matrix of similarities.

        Parameters
        ----------
        similarity : array-like of shape (n, gallery size)
            Higher is better; give the negatives of distances. float32 stays float32, since ties depend on it.
        query_ids, gallery_ids : iterable, optional
            Ids of the rows and of the columns; 0, 1, 2, ... by default.
        k : int, optional
            Keep the k highest of each row, equal ones by column; whether a list was cut inside a tie is kept too.

        Raises
        ------
        DepthError
            k beyond the gallery.
        InputError, NonFiniteError
            Not a matrix, not as many ids as rows or columns, or values that are not finite.

        Examples
        --------
        >>> Ranking.from_similarity([[1.0, 3.4, 1.6]], query_ids=["q"], gallery_ids=["a", "b", "c"]).listed("q")
        [('b', 3.4), ('c', 1.6), ('a', 1.0)]
        """
        return cls._of(of_similarity(similarity, query_ids=query_ids, gallery_ids=gallery_ids, k=k))

    @classmethod
    def from_rank_matrix(
        cls, ranks: Any, *, query_ids: Iterable[Any] | None = None, gallery_ids: Iterable[Any] | None = None
    ) -> Ranking:
        """Take a matrix whose rows hold gallery rows, best first.

        Parameters
        ----------
        ranks : integer array-like of shape (n, K)
            Distinct gallery rows within each row.
        query_ids, gallery_ids : iterable, optional
            Ids of the matrix's rows and of the gallery; 0, 1, 2, ... by default.

        Examples
        --------
        >>> [item for item, _ in Ranking.from_rank_matrix([[2, 0, 1]]).listed(0)]
        [2, 0, 1]
        """
        return cls._of(of_rank_matrix(ranks, query_ids=query_ids, gallery_ids=gallery_ids))

    @classmethod
    def from_trec(cls, path: str | os.PathLike[str]) -> Ranking:
        """Read a TREC run: ``query Q0 item rank score tag``, plain or gzip.

        Scores order it, not the rank column; equal scores stay in the order of the lines. Ids are strings.

        Raises
        ------
        FileFormatError
            Lists every bad line with its number.
        """
        from visual_search.rankings.files import of_run

        return cls._of(of_run(path))

    @classmethod
    def from_frame(cls, frame: Any, *, query: str = "query", item: str = "item", score: str = "score") -> Ranking:
        """Take a table with one row per result: a data frame of pandas, polars, ..., or a mapping of columns.

        Parameters
        ----------
        frame : object with ``__arrow_c_stream__``, or mapping
            The table; rows in any order, equal scores stay as they come.
        query, item, score : str
            Names of its columns.

        Raises
        ------
        InputError
            A column that is missing, has empty cells, or is of the wrong kind.

        Examples
        --------
        >>> Ranking.from_frame({"query": ["q", "q"], "item": [4, 5], "score": [0.1, 0.7]}).listed("q")
        [(5, 0.7), (4, 0.1)]
        """
        from visual_search.rankings.files import of_table

        return cls._of(of_table(frame, query=query, item=item, score=score))

    @classmethod
    def from_parquet(
        cls, path: str | os.PathLike[str], *, query: str = "query", item: str = "item", score: str = "score"
    ) -> Ranking:
        """Read a Parquet file with one row per result; columns and errors as for `from_frame`."""
        from visual_search.rankings.files import of_table

        return cls._of(of_table(path, query=query, item=item, score=score))

    @classmethod
    def from_dict(cls, run: Mapping[Any, Mapping[Any, float]]) -> Ranking:
        """Take ``{query: {item: score}}``; items are sorted by falling score, equal scores as they came."""
        items = Ids(dict.fromkeys(nested_keys(run, what="run")), what="items")
        rows = items.rows(nested_keys(run, what="run"))
        scores = nested_numbers(run, what="run")
        queries = Ids(run, what="queries")
        query = np.repeat(np.arange(len(run)), [len(scored) for scored in run.values()])
        offsets, order = grouped(query, len(run), falling=scores)
        if order is not None:
            rows, scores = rows[order], scores[order]
        return cls(queries, items, offsets, rows, scores)

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

    def rounded_to_float32(self) -> Ranking:
        """The same lists with scores as float32 has them, which may make some equal; the order stays."""
        if self.scores.dtype == np.float32:
            return self
        return self._with(self.offsets, self.rows, rounded_to_float32(self.scores))

    def where_positive(self) -> Ranking:
        """The same lists without the items that score 0 or below."""
        kept = self.scores > 0
        before = np.concatenate(([0], np.cumsum(kept)))
        rows, scores = self.rows[kept], self.scores[kept]
        return self._with(before[self.offsets], rows, scores)

    def _with(self, offsets: Int64Array, rows: Int64Array, scores: ScoreArray) -> Ranking:
        return Ranking(self.queries, self.items, offsets, rows, scores, notes=self.notes, scored=self.scored)

    def query_of_position(self) -> Int64Array:
        """For each position the row of its query, int64 of shape (total,)."""
        return np.repeat(np.arange(len(self), dtype=np.int64), self.lengths)

    def _check_shapes(self) -> None:
        problems = Problems("ranking")
        if self.offsets.shape != (len(self.queries) + 1,):
            problems.add(
                f"offsets has shape {self.offsets.shape}; "
                f"{counted(len(self.queries), 'query needs', 'queries need')} one more"
            )
        elif self.offsets[0] != 0 or bool((np.diff(self.offsets) < 0).any()):
            problems.add("offsets must start at 0 and never fall")
        elif self.offsets[-1] != len(self.rows):
            problems.add(
                f"offsets end at {self.offsets[-1]} but there "
                f"{'is' if len(self.rows) == 1 else 'are'} {counted(len(self.rows), 'row', 'rows')}"
            )
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
                f"ranking: {counted(int((~finite).sum()), 'score is', 'scores are')} NaN or infinite, "
                f"first for {self._place(first)}; "
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

    def _may_repeat(self) -> bool:
        """Whether some list holds an item twice; True also where that is not quick to tell.

        Sorting many short lists side by side is tens of times faster than sorting all places together.
        """
        widest = int(self.lengths.max(initial=0))
        if len(self) * widest > 4 * len(self.rows):  # a few long lists among short ones: padding would cost more
            return True
        table = np.full((len(self), widest), -1, dtype=np.int64)
        table[np.arange(widest) < self.lengths[:, None]] = self.rows
        table.sort(axis=1)
        return bool(((table[:, 1:] == table[:, :-1]) & (table[:, 1:] >= 0)).any())

    def _check_repeats(self) -> None:
        if not self._may_repeat():
            return
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
        return (
            f"Ranking({counted(len(self), 'query', 'queries')}, "
            f"{counted(len(self.rows), 'result', 'results')}, {counted(len(self.items), 'item', 'items')})"
        )

    def __reduce__(self) -> Any:
        arrays = (self.queries, self.items, self.offsets, self.rows, self.scores)
        return (_restored, (arrays, self.cut_ties, self.notes, self.scored))


def _restored(arrays: tuple[Any, ...], cut_ties: BoolArray | None, notes: tuple[str, ...], *more: bool) -> Ranking:
    # Pickles of earlier versions do not tell whether the scores came with the lists.
    return Ranking(*arrays, cut_ties=cut_ties, notes=notes, scored=all(more))
