"""Pairs of distinct pictures spelt out as pairs of items, with what is flagged and how many there are."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations, islice, product

import numpy as np

from visual_search.ids import Id
from visual_search.leaks.distinct_pictures import DistinctPictures, Int64Array
from visual_search.leaks.leak_report import LeakPair, LeakSide
from visual_search.leaks.picture_pairs import LeakKind, PicturePairs
from visual_search.leaks.roles import RoleName

__all__ = ["count_pairs", "flagged_items", "list_pairs"]


def flagged_items(
    pictures: DistinctPictures, first: Int64Array, second: Int64Array, *, within: bool
) -> dict[RoleName, tuple[Id, ...]]:
    """Ids of each role that are in at least one pair."""
    # Items of each role that are the picture itself or directly like it.
    alike = pictures.counts.copy()
    np.add.at(alike, first, pictures.counts[second])
    np.add.at(alike, second, pictures.counts[first])
    everywhere = alike.sum(axis=1)
    flagged: dict[RoleName, tuple[Id, ...]] = {}
    for place, role in enumerate(pictures.roles):
        mine = pictures.picture[pictures.role == place]
        others = everywhere[mine] - 1 if within else everywhere[mine] - alike[mine, place]
        flagged[role.name] = tuple(role.ids.take(np.flatnonzero(others > 0).tolist()))
    return flagged


def count_pairs(
    pictures: DistinctPictures, repeated: Int64Array, found: Sequence[PicturePairs], *, within: bool
) -> dict[LeakKind, int]:
    """How many pairs of items there are of each kind, none spelt out but those that are one file."""
    counts = pictures.counts
    total = counts[repeated].sum(axis=1)
    if within:
        exact = int((total * (total - 1) // 2).sum())
    else:
        exact = int(((total**2 - (counts[repeated] ** 2).sum(axis=1)) // 2).sum())
    same = _same_items(pictures, repeated, within=within)
    number: dict[LeakKind, int] = {
        "same_item": same,
        "same_pixels": exact - same,
        "near": 0,
        "mirrored": 0,
        "embedding": 0,
    }
    for pairs in found:
        ours, theirs = counts[pairs.first], counts[pairs.second]
        every = ours.sum(axis=1) * theirs.sum(axis=1)
        number[pairs.kind] += int((every if within else every - (ours * theirs).sum(axis=1)).sum())
    return number


def _same_items(pictures: DistinctPictures, repeated: Int64Array, *, within: bool) -> int:
    number = 0
    for picture in repeated.tolist():
        seen: dict[object, list[int]] = {}
        for item in pictures.items(picture).tolist():
            seen.setdefault(_identity(pictures, item), []).append(int(pictures.role[item]))
        for roles in seen.values():
            number += sum(within or one != other for one, other in combinations(roles, 2))
    return number


def _identity(pictures: DistinctPictures, item: int) -> object:
    """What makes two items one: the file, or the id of what is known by its vector alone."""
    role = pictures.roles[int(pictures.role[item])]
    item_id = role.ids[int(pictures.row[item])]
    place = role.places.get(item_id)
    if place is not None:
        return os.path.realpath(place.path), place.member
    return ("id", item_id) if role.signatures is None else ("item", item)


def list_pairs(
    pictures: DistinctPictures,
    repeated: Int64Array,
    found: Sequence[PicturePairs],
    group_of: Mapping[int, int],
    *,
    within: bool,
    most: int,
) -> list[LeakPair]:
    """Spell pairs of items out, at most so many: by group, strongest kinds first."""
    spelt = _spelt(pictures, repeated, found, group_of, within=within)
    listed = list(islice(spelt, most))
    return sorted(listed, key=lambda pair: pair.group)


def _spelt(
    pictures: DistinctPictures,
    repeated: Int64Array,
    found: Sequence[PicturePairs],
    group_of: Mapping[int, int],
    *,
    within: bool,
) -> Iterator[LeakPair]:
    for picture in repeated.tolist():
        for one, other in _item_pairs(pictures, picture, picture, within=within):
            same = _identity(pictures, one) == _identity(pictures, other)
            kind: LeakKind = "same_item" if same else "same_pixels"
            yield LeakPair(kind, _side(pictures, one), _side(pictures, other), group_of[picture])
    for pairs in found:
        for row in range(len(pairs)):
            first, second = int(pairs.first[row]), int(pairs.second[row])
            for one, other in _item_pairs(pictures, first, second, within=within):
                yield LeakPair(
                    pairs.kind,
                    _side(pictures, min(one, other)),
                    _side(pictures, max(one, other)),
                    group_of[first],
                    bits64=None if pairs.bits64 is None else int(pairs.bits64[row]),
                    bits256=None if pairs.bits256 is None else int(pairs.bits256[row]),
                    detail=None if pairs.detail is None else round(float(pairs.detail[row]), 4),
                    cosine=None if pairs.cosine is None else round(float(pairs.cosine[row]), 6),
                )


def _item_pairs(pictures: DistinctPictures, first: int, second: int, *, within: bool) -> Iterator[tuple[int, int]]:
    """Items of two pictures, or of one and the same, that may be a leak; the work is in proportion to what is taken."""
    ours, theirs = pictures.items(first).tolist(), pictures.items(second).tolist()
    if within:
        yield from combinations(ours, 2) if first == second else product(ours, theirs)
        return
    by_role = [_by_role(pictures, items) for items in (ours, theirs)]
    for (role, mine), (other, yours) in product(by_role[0].items(), by_role[1].items()):
        if role < other or (role > other and first != second):
            yield from product(mine, yours)


def _by_role(pictures: DistinctPictures, items: Sequence[int]) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {}
    for item in items:
        found.setdefault(int(pictures.role[item]), []).append(item)
    return found


def _side(pictures: DistinctPictures, item: int) -> LeakSide:
    role = pictures.roles[int(pictures.role[item])]
    return LeakSide(role.name, role.ids[int(pictures.row[item])])
