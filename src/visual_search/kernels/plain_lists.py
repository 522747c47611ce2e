"""Where judged items stand in lists of scores, with NumPy alone; the plain twin of list_join.hpp."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.kernels.joined import GALLERY_LIMIT, ListHits

__all__ = ["Found", "KeyTable", "distinct_count", "hits_of", "list_blocks", "pair_keys"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Hashes: TypeAlias = npt.NDArray[np.uint64]

_FILTER_BITS = 24
# Places looked at in one go, and members of tied groups whose ids are compared in one go.
_PLACES = 1 << 20


class Found(NamedTuple):
    """Places of the lists that hold a judged item of their query, rising, with its pair and its query."""

    place: Int64Array
    entry: Int64Array
    query: Int64Array


def pair_keys(lists: Hashes, hashes: Hashes) -> Hashes:
    """One number for a list and the hash of an item."""
    return hashes ^ ((lists + np.uint64(1)) * np.uint64(0xD6E8FEB86659FD93))


def list_blocks(offsets: Int64Array) -> list[tuple[int, int]]:
    """Runs of lists with about a million places together."""
    bounds = [0]
    while bounds[-1] < len(offsets) - 1:
        stop = int(np.searchsorted(offsets, offsets[bounds[-1]] + _PLACES))
        bounds.append(max(min(stop, len(offsets) - 1), bounds[-1] + 1))
    return list(pairwise(bounds))


class KeyTable:
    """Keys of judged pairs, to be looked up by many places of which few have one."""

    def __init__(self, keys: Hashes) -> None:
        self._order = np.argsort(keys)
        self._keys = keys[self._order]
        # Most places are turned away by one bit of their key.
        self._shift = np.uint64(64 - _FILTER_BITS)
        self._marked = np.zeros(1 << _FILTER_BITS, dtype=np.bool_)
        self._marked[self._keys >> self._shift] = True

    def find(
        self, keys: Hashes, same: Callable[[Int64Array, Int64Array], BoolArray]
    ) -> tuple[Int64Array, Int64Array]:
        """Places of ``keys`` that are in the table, and where; ``same`` tells of places and pairs whether they are."""
        places, pairs = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
        maybe = np.flatnonzero(self._marked[keys >> self._shift])
        at = np.searchsorted(self._keys, keys[maybe])
        # Pairs with one key stand side by side; each is tried.
        while len(maybe):
            level = (at < len(self._keys)) & (self._keys[np.minimum(at, len(self._keys) - 1)] == keys[maybe])
            maybe, at = maybe[level], at[level]
            equal = same(maybe, self._order[at])
            places.append(maybe[equal])
            pairs.append(self._order[at[equal]])
            maybe, at = maybe[~equal], at[~equal] + 1
        return np.concatenate(places), np.concatenate(pairs)


def hits_of(
    list_of_query: Int64Array,
    offsets: Int64Array,
    scores: FloatArray,
    found: Found,
    ignored: BoolArray,
    id_order: Callable[[Int64Array], Int64Array],
) -> ListHits:
    """Count what is above and level with each judged item.

    Parameters
    ----------
    list_of_query : int64 array of shape (n,)
        The list of each judged query, -1 where it has none.
    offsets : int64 array of shape (lists + 1,)
        List i owns the places ``offsets[i]:offsets[i + 1]``.
    scores : float64 array of shape (places,)
        Not rising within a list.
    found : Found
        The judged items.
    ignored : bool array of shape (pairs,)
        Pairs to take out of the lists.
    id_order : callable
        Gives for places a number each that rises with the item's id.
    """
    n = len(list_of_query)
    out = found.place[ignored[found.entry]]
    kept = ~ignored[found.entry]
    place, entry, query = found.place[kept], found.entry[kept], found.query[kept]
    start, stop = _groups(offsets, scores, place)
    list_begin = offsets[list_of_query[query]]

    def out_before(where: Int64Array) -> Int64Array:
        return np.searchsorted(out, where)

    falling = _falling_places(start, stop, place, out, id_order)
    order = np.argsort(query, kind="stable")
    missing = list_of_query < 0
    listed = np.where(missing, -1, np.diff(offsets)[list_of_query] if len(offsets) > 1 else -1)
    n_ignored = np.bincount(found.query[~kept], minlength=n)
    two = np.flatnonzero(listed >= 2)
    last = offsets[list_of_query[two] + 1] - 1
    ends_tied = np.zeros(n, dtype=np.bool_)
    ends_tied[two] = scores[last] == scores[last - 1]
    return ListHits(
        lengths=np.where(missing, 0, listed - n_ignored),
        ignored=n_ignored,
        listed=listed,
        ends_tied=ends_tied,
        offsets=np.concatenate(([0], np.cumsum(np.bincount(query, minlength=n)))),
        entry=entry[order],
        above=(start - list_begin - (out_before(start) - out_before(list_begin)))[order],
        tied=(stop - start - (out_before(stop) - out_before(start)))[order],
        listed_place=(place - start - (out_before(place) - out_before(start)))[order],
        falling_place=falling[order],
    )


def distinct_count(hashes: Hashes) -> int | None:
    """How many different hashes there are; None for more than `GALLERY_LIMIT`."""
    seen = np.zeros(0, dtype=np.uint64)
    for first in range(0, len(hashes), GALLERY_LIMIT):
        seen = np.union1d(seen, hashes[first : first + GALLERY_LIMIT])
        if len(seen) > GALLERY_LIMIT:
            return None
    return len(seen)


def _groups(offsets: Int64Array, scores: FloatArray, place: Int64Array) -> tuple[Int64Array, Int64Array]:
    """First place and one past the last that have the same score as each hit, within its list."""
    new = np.ones(len(scores) + 1, dtype=np.bool_)
    np.not_equal(scores[1:], scores[:-1], out=new[1:-1])
    new[offsets] = True
    bounds = np.flatnonzero(new)
    group = np.searchsorted(bounds, place, side="right") - 1
    return bounds[group], bounds[group + 1]


def _falling_places(
    start: Int64Array,
    stop: Int64Array,
    place: Int64Array,
    out: Int64Array,
    id_order: Callable[[Int64Array], Int64Array],
) -> Int64Array:
    """For each hit how many places of its group have a greater id, those that are out left aside."""
    falling = np.zeros(len(place), dtype=np.int64)
    tied = np.flatnonzero(stop - start > 1)
    begins, first = np.unique(start[tied], return_index=True)
    ends = stop[tied][first]
    hit_group = np.searchsorted(begins, start[tied])
    bounds = _cut(np.cumsum(ends - begins), _PLACES)
    for low, high in pairwise(bounds):
        size = ends[low:high] - begins[low:high]
        group = np.repeat(np.arange(high - low), size)
        member = np.arange(len(group)) + np.repeat(begins[low:high] - (np.cumsum(size) - size), size)
        inside = ~np.isin(member, out)
        member, group = member[inside], group[inside]
        order = np.lexsort((-id_order(member), group))
        rank = np.empty(len(member), dtype=np.int64)
        count = np.bincount(group, minlength=high - low)
        rank[order] = np.arange(len(member)) - np.repeat(np.cumsum(count) - count, count)
        these = tied[(hit_group >= low) & (hit_group < high)]
        falling[these] = rank[np.searchsorted(member, place[these])]
    return falling


def _cut(running: Int64Array, most: int) -> list[int]:
    """Bounds of runs whose sums are about as large as given."""
    bounds = [0]
    while bounds[-1] < len(running):
        before = int(running[bounds[-1] - 1]) if bounds[-1] else 0
        bounds.append(max(int(np.searchsorted(running, before + most, side="right")), bounds[-1] + 1))
    return bounds
