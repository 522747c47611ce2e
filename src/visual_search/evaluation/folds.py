"""Folds over queries that keep each independent group whole."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError
from visual_search.evaluation.seeds import seeded

__all__ = ["Fold", "group_codes", "split_folds"]

Int64Array = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Fold:
    """Rows of the queries to learn from (or choose on) and of those to report on."""

    train: Int64Array
    test: Int64Array


def group_codes(groups: Sequence[Hashable | None]) -> Int64Array:
    """Give each group a number from 0, int64 of shape (n,); a query without a group (None) is one of its own.

    Examples
    --------
    >>> group_codes(["ann", None, "ann", None]).tolist()
    [0, 1, 0, 2]
    """
    codes: dict[object, int] = {}
    wrong = [row for row, group in enumerate(groups) if not _is_name(group)]
    if wrong:
        raise InputError(
            f"groups: {counted(len(wrong), 'entry is', 'entries are')} no name, first in row {wrong[0]}: "
            f"{groups[wrong[0]]!r}; give text, a whole number or None for each query"
        )
    alone = object()
    return np.fromiter(
        (
            codes.setdefault((alone, row) if group is None else group, len(codes))
            for row, group in enumerate(groups)
        ),
        dtype=np.int64,
        count=len(groups),
    )


def _is_name(group: object) -> bool:
    return isinstance(group, Hashable)


def _by_name(groups: Sequence[Hashable | None], codes: Int64Array) -> Int64Array:
    """The same groups numbered by kind and name; those of one query without a name after them, in their order."""
    first = np.unique(codes, return_index=True)[1].tolist() if len(codes) else []
    named = [
        (True, "", 0, "") if groups[row] is None else (False, type(groups[row]).__name__, *_place(groups[row]))
        for row in first
    ]
    ranks = np.empty(len(first), dtype=np.int64)
    ranks[sorted(range(len(first)), key=named.__getitem__)] = np.arange(len(first))
    return ranks[codes]


def _place(group: object) -> tuple[int, str]:
    return (group, "") if isinstance(group, int) else (0, str(group))


def split_folds(groups: Sequence[Hashable | None], n_splits: int = 5, seed: int = 0) -> list[Fold]:
    """Split queries into folds of about one size, every group on one side only.

    Groups are put into the order of their names, so that the order of the queries plays no part, shuffled, then dealt,
    the largest first, each to the fold with the fewest queries so far.

    Parameters
    ----------
    groups : sequence of shape (n,)
        Group of each query; None where a query stands alone.
    n_splits : int
        Number of folds, 2 to the number of groups.
    seed : int
        Seed of the shuffle; the same seed gives the same folds.

    Returns
    -------
    list of Fold
        Every query is in the test part of exactly one fold; rows rise within a part.

    Raises
    ------
    InputError
        Fewer than 2 folds, or more folds than groups.

    Examples
    --------
    >>> [fold.test.tolist() for fold in split_folds(["a", "a", "b", "b", "c"], n_splits=3)]
    [[0, 1], [2, 3], [4]]
    """
    codes = group_codes(groups)
    codes = _by_name(groups, codes)
    sizes = np.bincount(codes) if len(codes) else np.zeros(0, dtype=np.int64)
    if n_splits < 2:
        raise InputError(f"n_splits is {n_splits}; it must be at least 2")
    if n_splits > len(sizes):
        raise InputError(
            f"n_splits is {n_splits}, but {counted(len(codes), 'query forms', 'queries form')} only "
            f"{counted(len(sizes), 'independent group', 'independent groups')}, "
            f"which stay whole; take at most {counted(len(sizes), 'fold', 'folds')}"
        )
    shuffled = seeded(seed).permutation(len(sizes))
    dealt = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    fold_of_group = np.zeros(len(sizes), dtype=np.int64)
    filled = np.zeros(n_splits, dtype=np.int64)
    for group in dealt:
        fold = int(filled.argmin())
        fold_of_group[group] = fold
        filled[fold] += sizes[group]
    fold_of_query = fold_of_group[codes]
    return [
        Fold(np.flatnonzero(fold_of_query != fold), np.flatnonzero(fold_of_query == fold))
        for fold in range(n_splits)
    ]
