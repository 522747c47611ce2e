"""Counting ranks in dictionaries of scores with NumPy alone; the plain twin of dict_ranks.hpp."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.kernels.joined import DictHits

__all__ = ["count_in_dicts"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

# Scores sorted at a time, 32 MiB of float64.
_BLOCK_SCORES = 1 << 22


def count_in_dicts(
    lists: Sequence[Mapping[Any, Any]], offsets: Int64Array, items: Sequence[Any], *, texts: bool
) -> DictHits:
    """Look judged items up in dictionaries of scores and count what is above and level with each.

    Parameters
    ----------
    lists : sequence of mappings, length n
        ``{item: score}``; finite numbers, in any order.
    offsets : int64 array of shape (n + 1,)
        List i is asked for ``items[offsets[i]:offsets[i + 1]]``.
    items : sequence of ids
    texts : bool
        Whether the lists' ids are strings, none of them empty; else integers.

    Returns
    -------
    DictHits

    Raises
    ------
    TypeError, ValueError, OverflowError
        An id of another kind; a score that is no number, not finite, or not held by float64. Which one it is, who
        calls has to tell.
    """
    lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    bounds = np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)
    _check_ids(lists, texts=texts)
    owner = np.repeat(np.arange(len(lists)), np.diff(offsets))
    nowhere = float("nan")
    found = (lists[row].get(item, nowhere) for row, item in zip(owner.tolist(), items, strict=True))
    score = np.fromiter(found, dtype=np.float64, count=len(items))
    above, tied = np.zeros(len(items), dtype=np.int64), np.zeros(len(items), dtype=np.int64)
    ends_tied = np.zeros(len(lists), dtype=np.bool_)
    for first, last in _blocks(bounds):
        local = bounds[first : last + 1] - bounds[first]
        rising = _sorted_lists(_numbers(lists[first:last], int(local[-1])), local)
        part = np.arange(offsets[first], offsets[last])
        part = part[~np.isnan(score[part])]
        above[part], tied[part] = _counts(rising, local, owner[part] - first, score[part])
        ends_tied[first:last] = _ends_tied(rising, local)
    return DictHits(score, above, tied, ends_tied)


def _check_ids(lists: Sequence[Mapping[Any, Any]], *, texts: bool) -> None:
    kinds = set(map(type, chain.from_iterable(lists)))
    if not kinds <= ({str, np.str_} if texts else {int} | {kind for kind in kinds if issubclass(kind, np.integer)}):
        raise TypeError("an id of another kind")
    if texts and any("" in scored for scored in lists):
        raise ValueError("an empty id")


def _numbers(lists: Sequence[Mapping[Any, Any]], count: int) -> FloatArray:
    # The kinds are looked at first: numpy would take None for NaN and parse text.
    kinds = set(map(type, chain.from_iterable(scored.values() for scored in lists)))
    if any(not issubclass(kind, Real | np.number | np.bool_) for kind in kinds):
        raise TypeError("a score that is no number")
    scores = np.fromiter(chain.from_iterable(scored.values() for scored in lists), dtype=np.float64, count=count)
    if not np.isfinite(scores).all():
        raise ValueError("a score that is not finite")
    if (np.abs(scores) >= 2.0**53).any():
        values = chain.from_iterable(scored.values() for scored in lists)
        whole = (value for value in values if isinstance(value, int | np.integer))
        if any(int(float(value)) != int(value) for value in whole):
            raise ValueError("a score that is rounded")
    return scores


def _blocks(offsets: Int64Array) -> Iterable[tuple[int, int]]:
    """Runs of lists with a bounded number of scores."""
    first, n = 0, len(offsets) - 1
    while first < n:
        last = int(np.searchsorted(offsets, offsets[first] + _BLOCK_SCORES, side="right")) - 1
        last = min(max(last, first + 1), n)
        yield first, last
        first = last


def _sorted_lists(scores: FloatArray, offsets: Int64Array) -> FloatArray:
    """Scores rising within each list."""
    lengths = np.diff(offsets)
    widest = int(lengths.max(initial=0))
    if not len(scores):
        return scores
    if len(lengths) * widest <= 2 * len(scores):
        # Lists of like length are sorted side by side, padded at their end.
        table = np.full((len(lengths), widest), np.inf)
        inside = np.arange(widest) < lengths[:, None]
        table[inside] = scores
        table.sort(axis=1)
        flat: FloatArray = table[inside]
        return flat
    order = np.lexsort((scores, np.repeat(np.arange(len(lengths)), lengths)))
    return scores[order]


def _counts(
    rising: FloatArray, offsets: Int64Array, query: Int64Array, score: FloatArray
) -> tuple[Int64Array, Int64Array]:
    """How many of its list score higher than each hit, and how many the same."""
    low, high = offsets[query], offsets[query + 1]
    below = _bisected(rising, low, high, score, right=False)
    not_above = _bisected(rising, low, high, score, right=True)
    return high - not_above, not_above - below


def _bisected(
    rising: FloatArray, low: Int64Array, high: Int64Array, score: FloatArray, *, right: bool
) -> Int64Array:
    """Places where each score would be inserted within its own list, before or after its equals."""
    low, high = low.copy(), high.copy()
    while (open_ := low < high).any():
        middle = np.minimum((low + high) // 2, len(rising) - 1)
        goes_on = rising[middle] <= score if right else rising[middle] < score
        low = np.where(open_ & goes_on, middle + 1, low)
        high = np.where(open_ & ~goes_on, middle, high)
    return low


def _ends_tied(rising: FloatArray, offsets: Int64Array) -> BoolArray:
    long = np.flatnonzero(np.diff(offsets) >= 2)
    ends = np.zeros(len(offsets) - 1, dtype=np.bool_)
    ends[long] = rising[offsets[long]] == rising[offsets[long] + 1]
    return ends
