"""Right answers from what queries and gallery items are: classes, multi-hot labels, groups and views."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError, first_few
from visual_search.formats.arrays import AnyArray, as_numpy, comparable
from visual_search.formats.ragged import offsets_of
from visual_search.ground_truth.parts import RelevanceParts, named_rows
from visual_search.ids import Ids

__all__ = ["of_groups", "of_labels", "same_class"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

# Cells of one block of (queries x gallery), for labels of which an item may have several.
_BLOCK_CELLS = 1 << 22


def of_labels(
    query_labels: Any,
    gallery_labels: Any | None,
    *,
    query_ids: Iterable[Any] | None,
    gallery_ids: Iterable[Any] | None,
    shared_ids: bool | None,
) -> RelevanceParts:
    """Relevant when the class is the same, or any label of a multi-hot row is shared."""
    one_set = gallery_labels is None
    queries_have = _labels(query_labels, "query_labels")
    gallery_has = queries_have if one_set else _labels(gallery_labels, "gallery_labels")
    if queries_have.ndim != gallery_has.ndim or queries_have.shape[1:] != gallery_has.shape[1:]:
        raise InputError(
            f"labels: query_labels has shape {queries_have.shape} and gallery_labels {gallery_has.shape}; give "
            "classes of shape (n,) on both sides, or multi-hot rows with the same number of labels"
        )
    queries = named_rows(query_ids, len(queries_have), what="query_ids")
    items = (
        queries
        if one_set and gallery_ids is None
        else named_rows(gallery_ids, len(gallery_has), what="gallery_ids")
    )
    if queries_have.ndim == 1:
        query, item = same_class(queries_have, gallery_has)
    else:
        query, item = _shared_label(queries_have, gallery_has)
    itself = _itself(queries, items, one_set=one_set, explicit=query_ids is not None, shared_ids=shared_ids)
    ignored = itself[query] == item if (itself >= 0).any() else np.zeros(len(item), dtype=np.bool_)
    return _assembled(queries, items, query, item, ignored, itself)


def of_groups(
    query_groups: Any,
    gallery_groups: Any,
    *,
    query_views: Any | None,
    gallery_views: Any | None,
    query_ids: Iterable[Any] | None,
    gallery_ids: Iterable[Any] | None,
    ignore_groups: Iterable[Any],
    shared_ids: bool | None,
) -> RelevanceParts:
    """Relevant when the group is the same and the view another; same group and same view is ignored."""
    mine, theirs = _labels(query_groups, "query_groups"), _labels(gallery_groups, "gallery_groups")
    if mine.ndim != 1 or theirs.ndim != 1:
        raise InputError(f"groups: shapes {mine.shape} and {theirs.shape}; give one group per row")
    queries = named_rows(query_ids, len(mine), what="query_ids")
    items = named_rows(gallery_ids, len(theirs), what="gallery_ids")
    query, item = same_class(mine, theirs)
    same_view = np.zeros(len(query), dtype=np.bool_)
    if query_views is not None or gallery_views is not None:
        same_view = _same_view(query_views, gallery_views, len(mine), len(theirs), query, item)
        if len(query) and same_view.all():
            views = first_few(np.unique(_labels(query_views, "query_views")).tolist())
            raise InputError(
                "query_views, gallery_views: every gallery item of a query's group has the query's own view, so "
                f"that no query has a relevant item (views: {views}); "
                "look at the column the views are read from, or leave the views out"
            )
    itself = _itself(queries, items, one_set=False, explicit=query_ids is not None, shared_ids=shared_ids)
    junk = _rows_of_groups(theirs, ignore_groups)
    ignored = same_view | (itself[query] == item) | np.isin(item, junk)
    every_junk = np.repeat(np.arange(len(mine)), len(junk)), np.tile(junk, len(mine))
    return _assembled(queries, items, query, item, ignored, itself, every_junk)


def _rows_of_groups(theirs: AnyArray, ignore_groups: Iterable[Any]) -> Int64Array:
    """Gallery rows of the groups to ignore."""
    named = [ignore_groups] if isinstance(ignore_groups, (str, bytes)) else list(ignore_groups)
    if not named:
        return np.zeros(0, dtype=np.int64)
    there, wanted = comparable(theirs, _labels(named, "ignore_groups"), what="gallery_groups and ignore_groups")
    nowhere = [group for group in wanted.tolist() if not (there == group).any()]
    if nowhere:
        warnings.warn(
            f"ignore_groups: {first_few(nowhere)} occur nowhere in gallery_groups; nothing is ignored for them",
            stacklevel=2,
        )
    return np.flatnonzero(np.isin(there, wanted))


def _labels(labels: Any, what: str) -> AnyArray:
    array = as_numpy(labels, what=what)
    if array.ndim not in (1, 2):
        raise InputError(f"{what}: shape {array.shape}; give classes of shape (n,) or multi-hot rows (n, labels)")
    if array.ndim == 1 and array.dtype.kind == "f":
        # Classes cast to floats collide from 2^24 on in float32, so that none is taken.
        raise InputError(f"{what}: dtype {array.dtype}; classes are integers or strings, since floats may collide")
    if array.ndim == 2:
        strange = (array != 0) & (array != 1)
        if strange.any():
            raise InputError(f"{what}: multi-hot rows hold 0 and 1; got {first_few(array[strange][:5].tolist())}")
        return array.astype(np.bool_)
    return array


def same_class(mine: AnyArray, theirs: AnyArray) -> tuple[Int64Array, Int64Array]:
    """All (query, gallery) pairs of one class, by query and then by gallery row."""
    mine, theirs = comparable(mine, theirs, what="labels of queries and gallery")
    order = np.argsort(theirs, kind="stable")
    first = np.searchsorted(theirs[order], mine, side="left")
    counts = np.searchsorted(theirs[order], mine, side="right") - first
    offsets = offsets_of(counts)
    item = np.empty(offsets[-1], dtype=np.int64)
    begin = 0
    # A block at a time, since the places in ``order`` would take as much memory again as the pairs themselves.
    while begin < len(mine):
        end = max(int(np.searchsorted(offsets, offsets[begin] + _BLOCK_CELLS, side="right")) - 1, begin + 1)
        places = np.arange(offsets[begin], offsets[end])
        places += np.repeat(first[begin:end] - offsets[begin:end], counts[begin:end])
        item[offsets[begin] : offsets[end]] = order[places]
        begin = end
    return np.repeat(np.arange(len(mine)), counts), item


def _shared_label(mine: AnyArray, theirs: AnyArray) -> tuple[Int64Array, Int64Array]:
    """All (query, gallery) pairs that share a label, block by block."""
    columns = theirs.astype(np.float32).T
    pairs = []
    block = max(_BLOCK_CELLS // max(len(theirs), 1), 1)
    for first in range(0, len(mine), block):
        # Counts of shared labels are whole numbers far below 2^24, which float32 holds exactly.
        query, item = np.nonzero(mine[first : first + block].astype(np.float32) @ columns > 0)
        pairs.append((query + first, item))
    empty = np.zeros(0, dtype=np.int64)
    return (
        np.concatenate([empty, *(query for query, _ in pairs)]),
        np.concatenate([empty, *(item for _, item in pairs)]),
    )


def _same_view(
    query_views: Any | None, gallery_views: Any | None, n: int, size: int, query: Int64Array, item: Int64Array
) -> BoolArray:
    if query_views is None or gallery_views is None:
        raise InputError("query_views, gallery_views: only one was given; give both or none")
    mine, theirs = _labels(query_views, "query_views"), _labels(gallery_views, "gallery_views")
    if mine.shape != (n,) or theirs.shape != (size,):
        raise InputError(f"views: shapes {mine.shape} and {theirs.shape}; one per row, ({n},) and ({size},)")
    mine, theirs = comparable(mine, theirs, what="views of queries and gallery")
    same: BoolArray = mine[query] == theirs[item]
    return same


def _itself(queries: Ids, items: Ids, *, one_set: bool, explicit: bool, shared_ids: bool | None) -> Int64Array:
    """For each query the gallery row that is the query itself, -1 where there is none.

    An id is the same picture only where both sides name one set. Where that is not known and ids meet, it must be
    said: removing a match by an id that only looks alike is as wrong as leaving the query in its own answer.
    """
    if one_set or shared_ids:
        return np.arange(len(queries)) if queries is items else items.rows(queries)
    if shared_ids is None and explicit and queries.kind is items.kind:
        common = [query for query in queries if query in items]
        if common:
            raise InputError(
                f"query_ids and gallery_ids have {counted(len(common), 'id', 'ids')} in common, "
                f"first: {first_few(common)}; say "
                "shared_ids=True if these are the same items (each is then ignored for itself), else False"
            )
    return np.full(len(queries), -1, dtype=np.int64)


def _assembled(
    queries: Ids,
    items: Ids,
    query: Int64Array,
    item: Int64Array,
    ignored: BoolArray,
    itself: Int64Array,
    also_ignored: tuple[Int64Array, Int64Array] | None = None,
) -> RelevanceParts:
    """Put pairs together; a query's own row is ignored also where it has no label to match by."""
    listed = np.zeros(len(queries), dtype=np.bool_)
    if (itself >= 0).any():
        listed[query[itself[query] == item]] = True
    own = np.flatnonzero((itself >= 0) & ~listed)
    extra_query, extra_item = own, itself[own]
    if also_ignored is not None:
        extra_query = np.concatenate((extra_query, also_ignored[0]))
        extra_item = np.concatenate((extra_item, also_ignored[1]))
    if not len(extra_query):
        offsets = offsets_of(np.bincount(query, minlength=len(queries)))
        return RelevanceParts(queries, items, offsets, item, (~ignored).astype(np.float64), ignored)
    keys = np.concatenate((query, extra_query)) * max(len(items), 1) + np.concatenate((item, extra_item))
    flags = np.concatenate((ignored, np.ones(len(extra_query), dtype=np.bool_)))
    distinct, first = np.unique(keys, return_index=True)
    query, item = distinct // max(len(items), 1), distinct % max(len(items), 1)
    flags = flags[first]
    offsets = offsets_of(np.bincount(query, minlength=len(queries)))
    return RelevanceParts(queries, items, offsets, item, np.where(flags, 0.0, 1.0), flags)
