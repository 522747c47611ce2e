"""The join of integer id lists with NumPy alone."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.kernels.joined import IdHits, JudgedIds, Offence
from visual_search.kernels.plain_lists import Found, KeyTable, distinct_count, hits_of, list_blocks, pair_keys

__all__ = ["join_ids"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Hashes: TypeAlias = npt.NDArray[np.uint64]

_NOWHERE = Offence(0, -1, -1)


def join_ids(
    ids: npt.NDArray[np.integer[Any]],
    scores: npt.NDArray[np.floating[Any]] | None,
    query_of_list: Int64Array,
    judged: JudgedIds,
    *,
    pad: int | None = None,
) -> IdHits:
    """Find the judged items in lists of integer ids, without giving the ids numbers.

    Parameters
    ----------
    ids : integer array of shape (lists, k)
        Ids, best first.
    scores : float array of shape (lists, k), optional
        Not rising along a list; without scores the order alone counts and nothing ties.
    query_of_list : int64 array of shape (lists,)
        The judged query of each list, -1 where it has no judgements; each query at most once.
    judged : JudgedIds
        The judged pairs.
    pad : int, optional
        The id of places that hold no result.

    Returns
    -------
    IdHits
        With what is wrong with the lists, which nothing is raised for here.
    """
    width = ids.shape[1]
    there = np.ones(ids.shape, dtype=np.bool_) if pad is None else ids != pad
    flat = ids[there].astype(np.int64)
    offsets = np.concatenate(([0], np.cumsum(there.sum(axis=1))))
    if scores is None:
        values = np.broadcast_to(-np.arange(width, dtype=np.float64), ids.shape)[there]
    else:
        values = scores[there].astype(np.float64)
    hashes = _hashes(flat)
    list_of_query = np.full(len(judged.offsets) - 1, -1, dtype=np.int64)
    judged_lists = np.flatnonzero(query_of_list >= 0)
    list_of_query[query_of_list[judged_lists]] = judged_lists
    return IdHits(
        hits_of(
            list_of_query,
            offsets,
            values,
            _found(flat, hashes, offsets, list_of_query, judged),
            judged.ignored,
            lambda places: flat[places],
        ),
        gallery_size=distinct_count(hashes),
        not_finite=_first(~np.isfinite(values), there),
        rising=_first(_rises(values, offsets), there),
        repeated=_repeated(ids, there),
    )


def _hashes(ids: Int64Array) -> Hashes:
    # Distinct for distinct ids, since both steps can be undone.
    hashes = ids.astype(np.uint64)
    hashes ^= hashes >> np.uint64(32)
    hashes *= np.uint64(0x9E3779B97F4A7C15)
    return hashes ^ (hashes >> np.uint64(29))


def _found(
    flat: Int64Array, hashes: Hashes, offsets: Int64Array, list_of_query: Int64Array, judged: JudgedIds
) -> Found:
    query_of_entry = np.repeat(np.arange(len(list_of_query)), np.diff(judged.offsets))
    list_of_entry = list_of_query[query_of_entry]
    wanted = np.flatnonzero(list_of_entry >= 0)
    table = KeyTable(pair_keys(list_of_entry[wanted].astype(np.uint64), _hashes(judged.ids[wanted])))
    places, entries = [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for first, last in list_blocks(offsets):
        span = slice(int(offsets[first]), int(offsets[last]))
        lists = np.repeat(np.arange(first, last), np.diff(offsets[first : last + 1]))
        items = flat[span]

        def same(
            place: Int64Array, pair: Int64Array, items: Int64Array = items, lists: Int64Array = lists
        ) -> BoolArray:
            entry = wanted[pair]
            equal: BoolArray = (items[place] == judged.ids[entry]) & (lists[place] == list_of_entry[entry])
            return equal

        place, pair = table.find(pair_keys(lists.astype(np.uint64), hashes[span]), same)
        places.append(place + span.start)
        entries.append(wanted[pair])
    place, entry = np.concatenate(places), np.concatenate(entries)
    order = np.argsort(place)
    return Found(place[order], entry[order], query_of_entry[entry[order]])


def _rises(values: FloatArray, offsets: Int64Array) -> BoolArray:
    rises = np.zeros(len(values), dtype=np.bool_)
    np.greater(values[1:], values[:-1], out=rises[1:])
    begins = offsets[:-1]
    rises[begins[begins < len(values)]] = values[begins[begins < len(values)]] > np.inf
    return rises


def _first(wrong: BoolArray, there: BoolArray) -> Offence:
    """The first of the wrong places, by list and column."""
    count = int(wrong.sum())
    if not count:
        return _NOWHERE
    cell = int(np.flatnonzero(there)[np.argmax(wrong)])
    return Offence(count, *divmod(cell, there.shape[1]))


def _repeated(ids: npt.NDArray[np.integer[Any]], there: BoolArray) -> Offence:
    """Items a list has already."""
    offence = _NOWHERE
    block = max((1 << 20) // max(ids.shape[1], 1), 1)
    for begin in range(0, len(ids), block):
        ordered = np.sort(ids[begin : begin + block], axis=1)
        suspects = np.flatnonzero((ordered[:, 1:] == ordered[:, :-1]).any(axis=1)) + begin
        for row in suspects.tolist():
            seen: set[int] = set()
            for place in np.flatnonzero(there[row]).tolist():
                item = int(ids[row, place])
                if item in seen:
                    first = offence[1:] if offence.total else (row, place)
                    offence = Offence(offence.total + 1, *first)
                seen.add(item)
    return offence
