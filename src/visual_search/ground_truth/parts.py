"""Parts of a relevance from what files, tables and matrices give."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError, NonFiniteError, first_few
from visual_search.formats.arrays import AnyArray, as_float64, as_matrix
from visual_search.formats.ragged import grouped, offsets_of
from visual_search.ids import Id, Ids

__all__ = ["RelevanceParts", "named_rows", "of_lines", "of_matrix", "repeated_pairs"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class RelevanceParts:
    """The arguments of `Relevance`."""

    queries: Ids
    items: Ids
    offsets: Int64Array
    rows: Int64Array
    grades: FloatArray
    ignored: BoolArray


def named_rows(ids: Iterable[Any] | None, count: int, *, what: str) -> Ids:
    """Ids as given, or 0..count - 1; as many as there are rows."""
    named = Ids(range(count) if ids is None else ids, what=what)
    if len(named) != count:
        raise InputError(
            f"{what}: {counted(len(named), 'id', 'ids')} for {counted(count, 'row', 'rows')}; give "
            "one per row, in order"
        )
    return named


def of_lines(
    queries: Sequence[Any],
    query: Int64Array,
    items: Sequence[Any],
    item: Int64Array,
    grades: FloatArray,
    ignored: BoolArray | None = None,
) -> RelevanceParts:
    """From one line per judged pair; lines of a query are brought together. Queries and items are distinct."""
    offsets, order = grouped(query, len(queries))
    flags = np.zeros(len(grades), dtype=np.bool_) if ignored is None else ignored
    if order is not None:
        item, grades, flags = item[order], grades[order], flags[order]
    grades = np.where(flags, 0.0, grades)
    named = Ids.distinct(queries, what="queries"), Ids.distinct(items, what="items")
    return RelevanceParts(*named, offsets, item, grades, flags)


def of_matrix(
    relevance: Any,
    *,
    query_ids: Iterable[Any] | None,
    gallery_ids: Iterable[Any] | None,
    ignored: Any | None,
    zeros: str,
) -> RelevanceParts:
    """From a matrix of grades, queries by gallery items."""
    grades = _grades_of(as_matrix(relevance, what="relevance"))
    if zeros not in ("unjudged", "judged"):
        raise InputError(f"zeros={zeros!r}: one of unjudged, judged")
    if not np.isfinite(grades).all():
        rows = np.flatnonzero(~np.isfinite(grades).all(axis=1)).tolist()
        raise NonFiniteError(
            f"relevance: NaN or infinity in rows {first_few(rows)}; mark pairs to leave out as ignored"
        )
    skipped = np.zeros(grades.shape, dtype=np.bool_) if ignored is None else _flags(ignored, grades.shape)
    kept = np.ones(grades.shape, dtype=np.bool_) if zeros == "judged" else (grades != 0) | skipped
    query, item = np.nonzero(kept)
    flags = skipped[query, item]
    return RelevanceParts(
        named_rows(query_ids, grades.shape[0], what="query_ids"),
        named_rows(gallery_ids, grades.shape[1], what="gallery_ids"),
        offsets_of(kept.sum(axis=1)),
        item.astype(np.int64),
        np.where(flags, 0.0, grades[query, item]),
        flags,
    )


def _grades_of(matrix: AnyArray) -> FloatArray:
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"relevance: dtype {matrix.dtype}; numbers are needed")
    return as_float64(matrix, what="relevance")


def _flags(ignored: Any, shape: tuple[int, ...]) -> BoolArray:
    flags: AnyArray = as_matrix(ignored, what="ignored")
    if flags.shape != shape:
        raise InputError(f"ignored: shape {flags.shape}; the relevance has {shape}")
    return flags.astype(np.bool_)


def repeated_pairs(queries: Ids, items: Ids, query: Int64Array, rows: Int64Array) -> list[tuple[Id, Id]]:
    """Pairs that are listed more than once, by name."""
    keys = np.sort(query * max(len(items), 1) + rows)
    repeats = np.unique(keys[1:][keys[1:] == keys[:-1]])
    return [(queries[int(key) // len(items)], items[int(key) % len(items)]) for key in repeats.tolist()]
