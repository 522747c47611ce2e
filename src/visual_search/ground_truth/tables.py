"""Relevance from files and tables, and from tables in which a pair was judged more than once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import DuplicateIdError, InputError, NonFiniteError, first_few
from visual_search.formats.columns import ColumnTable
from visual_search.formats.trec import read_qrels
from visual_search.ground_truth.parts import RelevanceParts, of_lines

__all__ = ["COMBINATIONS", "Combination", "of_judged_table", "of_qrels", "of_table"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]

Combination: TypeAlias = Literal["mean", "median", "max", "min", "majority"]
COMBINATIONS: tuple[Combination, ...] = get_args(Combination)


def of_qrels(path: str | os.PathLike[str]) -> RelevanceParts:
    """From a TREC qrels file."""
    table = read_qrels(path)
    return of_lines(table.queries, table.query, table.items, table.item, table.value)


def of_table(source: Any, *, query: str, item: str, grade: str | None, ignored: str | None) -> RelevanceParts:
    """From a Parquet file, a data frame or a mapping of columns, one row a judged pair."""
    table = ColumnTable(source, what="relevance")
    queries, query_codes = table.ids(query)
    items, item_codes = table.ids(item)
    grades = np.ones(len(table)) if grade is None else table.numbers(grade)
    flags = table.flags(ignored) if ignored is not None else None
    return of_lines(queries, query_codes, items, item_codes, grades, flags)


def of_judged_table(source: Any, *, query: str, item: str, grade: str, combine: str | None) -> RelevanceParts:
    """From one row per judgement, several of which may be of one pair, made one by a stated rule."""
    table = ColumnTable(source, what="judgements")
    queries, query_codes = table.ids(query)
    items, item_codes = table.ids(item)
    return _of_judgements(queries, query_codes, items, item_codes, table.numbers(grade), combine)


def _of_judgements(
    queries: Sequence[Any],
    query: Int64Array,
    items: Sequence[Any],
    item: Int64Array,
    grades: FloatArray,
    combine: str | None,
) -> RelevanceParts:
    """From one line per judgement, several of which may be of one pair, made one by a stated rule."""
    pair = query * max(len(items), 1) + item
    distinct, place, count = np.unique(pair, return_inverse=True, return_counts=True)
    if (count > 1).any() and combine is None:
        first = [divmod(int(key), len(items)) for key in distinct[count > 1][:5]]
        named = [(queries[row], items[column]) for row, column in first]
        raise DuplicateIdError(
            f"judgements: {int((count > 1).sum())} pairs were judged more than once, first (query, item): "
            f"{first_few(named)}; say how to make one grade of several, combine= one of {', '.join(COMBINATIONS)}"
        )
    if combine is not None and combine not in COMBINATIONS:
        raise InputError(f"combine={combine!r}: one of {', '.join(COMBINATIONS)}")
    strange = np.flatnonzero(~np.isfinite(grades))
    if strange.size:
        pairs = [(queries[query[line]], items[item[line]]) for line in strange[:5].tolist()]
        raise NonFiniteError(
            f"judgements: {counted(strange.size, 'grade is', 'grades are')} NaN or infinite, first (query, item): "
            f"{first_few(pairs)}; leave out judgements without a grade"
        )
    one = _combined(place, grades, len(distinct), combine)
    return of_lines(queries, distinct // max(len(items), 1), items, distinct % max(len(items), 1), one)


def _combined(pair: Int64Array, grades: FloatArray, count: int, combine: str | None) -> FloatArray:
    """One grade per pair."""
    order = np.lexsort((grades, pair))
    ordered = grades[order]
    starts = np.searchsorted(pair[order], np.arange(count))
    sizes = np.bincount(pair, minlength=count)
    if combine == "mean":
        return (np.bincount(pair, weights=grades, minlength=count) / sizes).astype(np.float64)
    if combine == "max":
        return np.take(ordered, starts + sizes - 1)
    if combine == "median":
        return (np.take(ordered, starts + (sizes - 1) // 2) + np.take(ordered, starts + sizes // 2)) / 2
    if combine == "majority":
        # The most frequent grade; of several, the lowest.
        return np.array([_most_frequent(ordered[s : s + n]) for s, n in zip(starts, sizes, strict=True)])
    return np.take(ordered, starts)


def _most_frequent(grades: FloatArray) -> float:
    values, counts = np.unique(grades, return_counts=True)
    return float(values[np.argmax(counts)])
