"""What the right answers are: a sparse query x item table with grades and three states."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import DuplicateIdError, InputError, NonFiniteError, Problems, first_few
from visual_search.formats.arrays import as_numpy
from visual_search.formats.nested import nested_keys, nested_numbers
from visual_search.formats.ragged import grouped
from visual_search.ground_truth.labels import of_groups, of_labels
from visual_search.ground_truth.parts import RelevanceParts, of_matrix, repeated_pairs
from visual_search.ground_truth.tables import Combination, of_judged_table, of_qrels, of_table
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
        Relevance(1 query, 2 judged pairs, 0 ignored)
        """
        judged = list(nested_keys(judgements, what="relevance"))
        queries = Ids(judgements, what="queries")
        left_out = {query: dict.fromkeys((ignored or {}).get(query, ())) for query in judgements}
        both = [(query, item) for query, some in left_out.items() for item in some if item in judgements[query]]
        if both:
            raise InputError(
                f"relevance: {counted(len(both), 'pair is', 'pairs are')} both judged and ignored, "
                f"first: {first_few(both)}"
            )
        unknown = [query for query in ignored or () if query not in judgements]
        if unknown:
            raise InputError(
                f"ignored: {counted(len(unknown), 'query is', 'queries are')} not in the relevance, "
                f"first: {first_few(unknown)}"
            )
        skipped = [item for some in left_out.values() for item in some]
        items = Ids(dict.fromkeys([*judged, *skipped]), what="items")
        n = len(queries)
        query = np.concatenate(
            (
                np.repeat(np.arange(n), [len(judgements[name]) for name in judgements]),
                np.repeat(np.arange(n), [len(left_out[name]) for name in judgements]),
            )
        )
        grades = np.concatenate((nested_numbers(judgements, what="relevance"), np.zeros(len(skipped))))
        flags = np.arange(len(grades)) >= len(judged)
        rows = items.rows([*judged, *skipped])
        offsets, order = grouped(query, n)
        if order is not None:
            rows, grades, flags = rows[order], grades[order], flags[order]
        return cls(queries, items, offsets, rows, grades, flags)

    @classmethod
    def _of(cls, parts: RelevanceParts) -> Relevance:
        return cls(parts.queries, parts.items, parts.offsets, parts.rows, parts.grades, parts.ignored)

    @classmethod
    def from_trec(cls, path: str | os.PathLike[str]) -> Relevance:
        """Read TREC qrels: ``query iteration item grade``, plain or gzip. Ids are strings; grades may be fractions.

        Raises
        ------
        FileFormatError
            Lists every bad line with its number.
        """
        return cls._of(of_qrels(path))

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        query: str = "query",
        item: str = "item",
        grade: str | None = "grade",
        ignored: str | None = None,
    ) -> Relevance:
        """Take a table with one row per judged pair: a data frame of pandas, polars, ..., or a mapping of columns.

        Parameters
        ----------
        frame : object with ``__arrow_c_stream__``, or mapping
            The table, rows in any order.
        query, item : str
            Names of the columns with ids.
        grade : str or None
            Name of the column with grades; None when every row is a relevant pair.
        ignored : str, optional
            Name of a column that is true where a pair counts neither way.

        Raises
        ------
        InputError, DuplicateIdError
            A column that is missing, has empty cells, or is of the wrong kind; a pair that comes twice.

        Examples
        --------
        >>> Relevance.from_frame({"query": ["q", "q"], "item": ["a", "b"], "grade": [2, 0]}).judged("q")
        {'a': 2.0, 'b': 0.0}
        """
        return cls._of(of_table(frame, query=query, item=item, grade=grade, ignored=ignored))

    @classmethod
    def from_parquet(
        cls,
        path: str | os.PathLike[str],
        *,
        query: str = "query",
        item: str = "item",
        grade: str | None = "grade",
        ignored: str | None = None,
    ) -> Relevance:
        """Read a Parquet file with one row per judged pair; columns and errors as for `from_frame`."""
        return cls._of(of_table(path, query=query, item=item, grade=grade, ignored=ignored))

    @classmethod
    def from_arrays(
        cls, query_ids: Any, item_ids: Any, grades: Any | None = None, *, ignored: Any = None
    ) -> Relevance:
        """Take arrays with one element per judged pair.

        Parameters
        ----------
        query_ids, item_ids : array-like of shape (pairs,)
            Strings or integers.
        grades : array-like of shape (pairs,), optional
            1 for every pair by default.
        ignored : array-like of bool of shape (pairs,), optional
            Pairs that count neither way.

        Examples
        --------
        >>> Relevance.from_arrays([1, 1, 2], [10, 11, 10]).judged(1)
        {10: 1.0, 11: 1.0}
        """
        columns = {"query": query_ids, "item": item_ids}
        columns |= {} if grades is None else {"grade": grades}
        columns |= {} if ignored is None else {"ignored": ignored}
        table = {name: as_numpy(values, what=name) for name, values in columns.items()}
        return cls.from_frame(
            table,
            grade=None if grades is None else "grade",
            ignored=None if ignored is None else "ignored",
        )

    @classmethod
    def from_matrix(
        cls,
        relevance: Any,
        *,
        query_ids: Iterable[Any] | None = None,
        gallery_ids: Iterable[Any] | None = None,
        ignored: Any | None = None,
        zeros: Literal["unjudged", "judged"] = "unjudged",
    ) -> Relevance:
        """Take a matrix of grades, queries by gallery items.

        Parameters
        ----------
        relevance : array-like of shape (n, gallery size)
            0 and 1, or grades.
        query_ids, gallery_ids : iterable, optional
            Ids of its rows and columns; 0, 1, 2, ... by default.
        ignored : array-like of bool of the same shape, optional
            Pairs that count neither way.
        zeros : {"unjudged", "judged"}
            Whether a 0 is no judgement, or one that says not relevant. It matters to ``Judged`` and ``Bpref`` only,
            and judged zeros are kept one by one.

        Examples
        --------
        >>> Relevance.from_matrix([[0, 1, 0], [1, 0, 2]]).judged(1)
        {0: 1.0, 2: 2.0}
        """
        parts = of_matrix(relevance, query_ids=query_ids, gallery_ids=gallery_ids, ignored=ignored, zeros=zeros)
        return cls._of(parts)

    @classmethod
    def from_labels(
        cls,
        query_labels: Any,
        gallery_labels: Any | None = None,
        *,
        query_ids: Iterable[Any] | None = None,
        gallery_ids: Iterable[Any] | None = None,
        shared_ids: bool | None = None,
    ) -> Relevance:
        """Call gallery items relevant that have the query's class, or share any of its labels.

        Parameters
        ----------
        query_labels : array-like of shape (n,) or (n, c)
            One class per query (integers or strings), or multi-hot rows of 0 and 1.
        gallery_labels : array-like of shape (m,) or (m, c), optional
            The same of the gallery. Left out, the queries are the gallery, and each is ignored for itself.
        query_ids, gallery_ids : iterable, optional
            Ids; 0, 1, 2, ... by default.
        shared_ids : bool, optional
            Whether an id that both sides have names one item, which is then ignored for itself. Must be said where
            given ids meet, since ids that look alike may name different things.

        Raises
        ------
        InputError
            Classes given as floats (they may collide), labels of two kinds or shapes, ids that meet without a word.

        Examples
        --------
        >>> Relevance.from_labels(["cat", "dog", "cat"]).judged(0)
        {2: 1.0}
        """
        parts = of_labels(
            query_labels, gallery_labels, query_ids=query_ids, gallery_ids=gallery_ids, shared_ids=shared_ids
        )
        return cls._of(parts)

    @classmethod
    def from_groups(
        cls,
        query_groups: Any,
        gallery_groups: Any,
        *,
        query_views: Any | None = None,
        gallery_views: Any | None = None,
        query_ids: Iterable[Any] | None = None,
        gallery_ids: Iterable[Any] | None = None,
        ignore_groups: Iterable[Any] = (),
        shared_ids: bool | None = None,
    ) -> Relevance:
        """Call gallery items relevant that have the query's group (identity, scene) and another view (camera).

        Parameters
        ----------
        query_groups, gallery_groups : array-like of shape (n,) and (m,)
            Integers or strings.
        query_views, gallery_views : array-like of shape (n,) and (m,), optional
            Items of the query's group and view are ignored.
        query_ids, gallery_ids, shared_ids
            As for `from_labels`.
        ignore_groups : iterable
            Gallery groups that count neither way (junk: -1 in Market-1501).

        Raises
        ------
        InputError
            As for `from_labels`; and when no query can have a relevant item because all views are the same.

        Examples
        --------
        >>> relevance = Relevance.from_groups([7], [7, 7, 8], query_views=[0], gallery_views=[0, 1, 1])
        >>> relevance.judged(0), int(relevance.ignored.sum())
        ({1: 1.0}, 1)
        """
        parts = of_groups(
            query_groups,
            gallery_groups,
            query_views=query_views,
            gallery_views=gallery_views,
            query_ids=query_ids,
            gallery_ids=gallery_ids,
            ignore_groups=ignore_groups,
            shared_ids=shared_ids,
        )
        return cls._of(parts)

    @classmethod
    def from_judgements(
        cls,
        judgements: Any,
        *,
        query: str = "query",
        item: str = "item",
        grade: str = "grade",
        combine: Combination | None = None,
    ) -> Relevance:
        """Take a table with one row per judgement, several of which may be of one pair (several judges).

        Parameters
        ----------
        judgements : path of a Parquet file, object with ``__arrow_c_stream__``, or mapping
            The table.
        query, item, grade : str
            Names of its columns.
        combine : {"mean", "median", "max", "min", "majority"}, optional
            How several grades of a pair become one; it must be said where there are several. A majority's ties go
            to the lower grade.

        Raises
        ------
        DuplicateIdError
            A pair was judged more than once and ``combine`` was not given.

        Examples
        --------
        >>> table = {"query": ["q", "q"], "item": ["a", "a"], "grade": [1, 2], "judge": ["ann", "bo"]}
        >>> Relevance.from_judgements(table, combine="mean").judged("q")
        {'a': 1.5}
        """
        return cls._of(of_judged_table(judgements, query=query, item=item, grade=grade, combine=combine))

    def __len__(self) -> int:
        return len(self.queries)

    def judged(self, query: Id) -> dict[Id, float]:
        """One query's ``{item: grade}``, ignored pairs left out."""
        row = self.queries.row(query)
        span = slice(int(self.offsets[row]), int(self.offsets[row + 1]))
        keep = ~self.ignored[span]
        named = self.items.take(self.rows[span][keep].tolist())
        return dict(zip(named, self.grades[span][keep].tolist(), strict=True))

    def query_of_entry(self) -> Int64Array:
        """For each entry the row of its query, int64 of shape (total,)."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.offsets))

    def _check(self) -> None:
        problems = Problems("relevance")
        if self.offsets.shape != (len(self.queries) + 1,):
            problems.add(
                f"offsets has shape {self.offsets.shape}; "
                f"{counted(len(self.queries), 'query needs', 'queries need')} one more"
            )
        if not len(self.rows) == len(self.grades) == len(self.ignored):
            problems.add("rows, grades and ignored must have one length")
        elif self.rows.size and (self.rows.min() < 0 or self.rows.max() >= len(self.items)):
            problems.add(f"rows must lie in 0..{len(self.items) - 1}; got {self.rows.min()}..{self.rows.max()}")
        if not len(problems) and (self.offsets[0] != 0 or self.offsets[-1] != len(self.rows)):
            problems.add(
                f"offsets must go from 0 to {len(self.rows)}; they go {self.offsets[0]}..{self.offsets[-1]}"
            )
        if not len(problems) and bool((np.diff(self.offsets) < 0).any()):
            problems.add("offsets must never fall")
        problems.raise_if_any(InputError)
        self._check_grades()
        self._check_repeats()

    def _check_grades(self) -> None:
        strange = np.flatnonzero(~np.isfinite(self.grades))
        if strange.size:
            query = np.searchsorted(self.offsets, strange[:5], side="right") - 1
            named = list(
                zip(self.queries.take(query.tolist()), self.items.take(self.rows[strange[:5]]), strict=True)
            )
            raise NonFiniteError(
                f"relevance: {counted(strange.size, 'grade is', 'grades are')} NaN or infinite, first "
                f"(query, item): {first_few(named)}; "
                "leave unjudged pairs out"
            )

    def _check_repeats(self) -> None:
        # Most makers list rows in rising order, where a look is enough.
        query = self.query_of_entry()
        rising = (self.rows[1:] > self.rows[:-1]) | (query[1:] != query[:-1])
        if rising.all():
            return
        repeated = repeated_pairs(self.queries, self.items, query, self.rows)
        if repeated:
            raise DuplicateIdError(
                f"relevance: {counted(len(repeated), 'pair is', 'pairs are')} judged more than once, "
                "first (query, item): "
                f"{first_few(repeated)}; give each pair one grade, or use from_judgements with combine="
            )

    def __repr__(self) -> str:
        judged = int((~self.ignored).sum())
        return (
            f"Relevance({counted(len(self), 'query', 'queries')}, "
            f"{counted(judged, 'judged pair', 'judged pairs')}, {int(self.ignored.sum())} ignored)"
        )
