"""Judgements as a table: who marked which pair with which grade, or could not tell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import DuplicateIdError, InputError, first_few
from visual_search.formats.columns import ColumnTable
from visual_search.ids import Id, Ids

__all__ = ["JudgementTable"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class JudgementTable:
    """One row a judgement that holds: of two by one judge on one pair, and of two adjudications of a pair, the later.

    Attributes
    ----------
    judges, queries, items : Ids
        The vocabularies the codes point into.
    judge, query, item : int64 arrays of shape (judgements,)
        Codes.
    grade : float64 array of shape (judgements,)
        NaN where the judge could not tell.
    adjudicated : bool array of shape (judgements,)
        Whether the row is an adjudication, made in sight of others' grades: it decides a pair and never counts as
        one more independent judgement.
    replaced : int
        Rows left out because the judge marked the pair again or took it back, or it was adjudicated again.

    Examples
    --------
    >>> table = JudgementTable.from_table(
    ...     {"judge": ["ann", "bo", "bo"], "query": ["q"] * 3, "item": ["a", "a", "b"], "grade": [1, 0, None]}
    ... )
    >>> table
    JudgementTable(3 judgements of 2 pairs by 2 judges, 1 without a grade, 0 adjudicated)
    """

    judges: Ids
    queries: Ids
    items: Ids
    judge: Int64Array
    query: Int64Array
    item: Int64Array
    grade: FloatArray
    adjudicated: BoolArray
    replaced: int = 0

    @classmethod
    def from_table(
        cls,
        source: Any,
        *,
        judge: str = "judge",
        query: str = "query",
        item: str = "item",
        grade: str = "grade",
        time: str = "time",
        adjudicated: str = "adjudicated",
        undo: str = "undo",
    ) -> JudgementTable:
        """Take a Parquet file, a data frame or a mapping of columns, one row a judgement.

        Parameters
        ----------
        source : path, mapping, or object with ``__arrow_c_stream__``
        judge, query, item : str
            Columns of ids, strings or integers.
        grade : str
            Column of numbers; an empty cell (or NaN) where the judge could not tell.
        time : str
            Column of numbers, texts that sort, or times; read where there is one.
        adjudicated : str
            Column of true and false; read where there is one, else no row is an adjudication.
        undo : str
            Column of true and false; read where there is one. Such a row takes back what this judge said of the pair
            before, as in a whole log of judgements.

        Raises
        ------
        InputError
            No rows, a column that is missing, has empty cells or is of the wrong kind, an infinite grade.
        DuplicateIdError
            A judge marked a pair more than once and no later time says which holds.
        """
        table = ColumnTable(source, what="judgements")
        if not len(table):
            raise InputError("judgements: the table has no rows; give one row a judgement")
        (judges, of_judge), (queries, of_query), (items, of_item) = map(table.ids, (judge, query, item))
        grades = table.numbers_or_nan(grade)
        flags = table.flags(adjudicated) if adjudicated in table else np.zeros(len(table), dtype=np.bool_)
        times = table.order(time) if time in table else np.zeros(len(table), dtype=np.int64)
        undone = table.flags(undo) if undo in table else np.zeros(len(table), dtype=np.bool_)
        _check_grades(grades, queries, of_query, items, of_item)
        whole = cls(
            Ids(judges, what="judges"),
            Ids(queries, what="queries"),
            Ids(items, what="items"),
            of_judge,
            of_query,
            of_item,
            grades,
            flags,
        )
        return whole._standing(times, undone)

    def __len__(self) -> int:
        return len(self.grade)

    @cached_property
    def _pairs(self) -> tuple[Int64Array, Int64Array]:
        keys = self.query * len(self.items) + self.item
        distinct, place = np.unique(keys, return_inverse=True)
        return distinct, place.astype(np.int64)

    @property
    def pair(self) -> Int64Array:
        """Number of each row's (query, item) pair, int64 of shape (judgements,); pairs go by query, then item."""
        return self._pairs[1]

    @property
    def pair_query(self) -> Int64Array:
        """Query of each pair, int64 of shape (pairs,)."""
        return self._pairs[0] // len(self.items)

    @property
    def pair_item(self) -> Int64Array:
        """Item of each pair, int64 of shape (pairs,)."""
        return self._pairs[0] % len(self.items)

    @property
    def pairs(self) -> int:
        """How many pairs somebody marked, with a grade or without."""
        return len(self._pairs[0])

    @property
    def independent(self) -> BoolArray:
        """Rows with a grade that are no adjudication, bool of shape (judgements,)."""
        return ~np.isnan(self.grade) & ~self.adjudicated

    @cached_property
    def scale(self) -> FloatArray:
        """The distinct grades given, rising, float64 of shape (grades,)."""
        return np.unique(self.grade[~np.isnan(self.grade)])

    def pair_name(self, pair: int) -> tuple[Id, Id]:
        """Query and item of a pair."""
        return self.queries[int(self.pair_query[pair])], self.items[int(self.pair_item[pair])]

    def take(self, rows: Int64Array | BoolArray) -> JudgementTable:
        """The same vocabularies with only some rows."""
        return JudgementTable(
            self.judges,
            self.queries,
            self.items,
            self.judge[rows],
            self.query[rows],
            self.item[rows],
            self.grade[rows],
            self.adjudicated[rows],
            self.replaced,
        )

    def _standing(self, times: Int64Array, undone: BoolArray) -> JudgementTable:
        """Keep the latest row of each judge and pair that is not undone, and each pair's latest adjudication."""
        own = (self.pair * len(self.judges) + self.judge) * 2 + self.adjudicated
        kept = _latest(self, own, times)
        replaced = len(self) - len(kept)
        kept = kept[~undone[kept]]
        if not len(kept) or np.isnan(self.grade[kept]).all():
            raise InputError(
                "judgements: no row with a grade stands; at least one judgement with a grade is needed"
            )
        rest = self.take(kept)
        one_each = rest.pair * (len(self.judges) + 1) + np.where(rest.adjudicated, len(self.judges), rest.judge)
        standing = rest.take(_latest(rest, one_each, times[kept]))
        return replace(standing, replaced=replaced + len(rest) - len(standing))

    def __repr__(self) -> str:
        given = np.unique(self.judge[~self.adjudicated])
        return (
            f"JudgementTable({counted(len(self), 'judgement', 'judgements')} of "
            f"{counted(self.pairs, 'pair', 'pairs')} by {counted(len(given), 'judge', 'judges')}, "
            f"{int(np.isnan(self.grade).sum())} without a grade, {int(self.adjudicated.sum())} adjudicated)"
        )


def _latest(table: JudgementTable, key: Int64Array, times: Int64Array) -> Int64Array:
    """The last row of each key, rows rising."""
    order = np.lexsort((times, key))
    ranked, when = key[order], times[order]
    same = ranked[1:] == ranked[:-1]
    unclear = np.flatnonzero(same & (when[1:] == when[:-1]))
    if unclear.size:
        rows = order[unclear]
        named = [(table.judges[int(table.judge[row])], *table.pair_name(int(table.pair[row]))) for row in rows[:5]]
        pairs = counted(len(unclear), "pair was", "pairs were")
        raise DuplicateIdError(
            f"judgements: {pairs} marked more than once by one judge, or adjudicated more than once, with no later "
            f"time to say which holds, first (judge, query, item): {first_few(named)}; keep one row, or give a "
            "column of times"
        )
    return np.sort(order[np.append(~same, True)])


def _check_grades(
    grades: FloatArray, queries: list[Any], of_query: Int64Array, items: list[Any], of_item: Int64Array
) -> None:
    wrong = np.flatnonzero(np.isinf(grades))
    if wrong.size:
        named = [(queries[of_query[row]], items[of_item[row]]) for row in wrong[:5].tolist()]
        raise InputError(
            f"judgements: {counted(wrong.size, 'grade is', 'grades are')} infinite, first (query, item): "
            f"{first_few(named)}; leave the cell empty where a judge could not tell"
        )
