"""Which gallery rows each query may find, read from masks or lists of ids; all that is wrong with them told at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError, Problems, UnknownIdError, first_few
from visual_search.ground_truth.gallery_ids import GalleryIds

__all__ = ["FilteredRows", "filtered_rows"]

Int64Array: TypeAlias = npt.NDArray[np.int64]

_SHOWN = 5


@dataclass(frozen=True, slots=True, eq=False)
class FilteredRows:
    """Gallery rows that pass each query's filter, rising; queries of one filter share one array."""

    rows: Sequence[Int64Array]

    @property
    def sizes(self) -> Int64Array:
        """How many rows pass, int64 of shape (queries,)."""
        return np.array([len(rows) for rows in self.rows], dtype=np.int64)

    def groups(self) -> Iterator[tuple[Int64Array, Int64Array]]:
        """(queries, rows) for each filter that differs from the others."""
        together: dict[bytes, list[int]] = {}
        for query, rows in enumerate(self.rows):
            together.setdefault(rows.tobytes(), []).append(query)
        for queries in together.values():
            yield np.array(queries, dtype=np.int64), self.rows[queries[0]]


def filtered_rows(
    allowed: Any, gallery: GalleryIds, queries: int, *, query_ids: GalleryIds | None = None
) -> FilteredRows:
    """Read what is allowed for each query.

    Parameters
    ----------
    allowed : bool array of shape (queries, gallery), list of ids a query, or callable
        A callable takes the number of a query and gives bool of shape (gallery,) or a list of ids.
    gallery : GalleryIds
    queries : int
    query_ids : GalleryIds, optional
        By which errors name the queries; by default their numbers.

    Raises
    ------
    InputError, UnknownIdError
        Another number of lists than of queries, a mask of another length, what is no list, ids that the gallery does
        not have or that come twice: all queries' at once. Where unknown ids are all that is wrong, an UnknownIdError.
    """
    given = [allowed(query) for query in range(queries)] if callable(allowed) else allowed
    try:
        many = len(given)
    except TypeError:
        raise InputError(
            f"allowed: got {type(given).__name__}; a filter of each query is needed, in order"
        ) from None
    if many != queries:
        raise InputError(f"allowed: {many} filters for {queries} queries; give one to each, in order")
    faults = _Faults(gallery, GalleryIds(queries) if query_ids is None else query_ids)
    rows = [_rows(one, gallery, faults, query) for query, one in enumerate(given)]
    faults.raise_if_any()
    return FilteredRows(rows)


class _Faults:
    """What is wrong with the filters: of each kind, what came for which query."""

    def __init__(self, gallery: GalleryIds, query_ids: GalleryIds) -> None:
        self._gallery, self._query_ids = gallery, query_ids
        self.no_lists: dict[int, str] = {}
        self.other_shapes: dict[int, tuple[int, ...]] = {}
        self.unknown: dict[int, list[Any]] = {}
        self.repeated: dict[int, list[Any]] = {}

    def raise_if_any(self) -> None:
        problems = Problems("allowed")
        if self.no_lists:
            came = first_few(dict.fromkeys(self.no_lists.values()))
            problems.add(f"{self._whose(self.no_lists, 'is', 'are')} no list of ids and no mask, but {came}")
        if self.other_shapes:
            came = first_few(dict.fromkeys(self.other_shapes.values()))
            problems.add(
                f"{self._whose(self.other_shapes, 'has', 'have')} shape {came}; one value for each of the gallery's "
                f"{len(self._gallery):,} rows is needed"
            )
        if self.repeated:
            ids = first_few(_distinct(self.repeated))
            problems.add(f"{self._whose(self.repeated, 'names', 'name')} ids twice: {ids}; name each once")
        others = len(problems)
        if self.unknown:
            ids, there = first_few(_distinct(self.unknown)), self._gallery.take(range(min(2, len(self._gallery))))
            problems.add(
                f"{self._whose(self.unknown, 'names', 'name')} ids that the gallery does not have: {ids}; its ids are "
                f"such as {first_few(there)}"
            )
        problems.raise_if_any(InputError if others else UnknownIdError)

    def _whose(self, found: dict[int, Any], one: str, many: str) -> str:
        """As ``7 filters (of queries 'a', 'b', 'c', 'd', 'e' and 2 more) have``."""
        shown = first_few(self._query_ids.take(list(found)[:_SHOWN]))
        more = f" and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
        return counted(len(found), f"filter (of query {shown}) {one}", f"filters (of queries {shown}{more}) {many}")


def _distinct(found: dict[int, list[Any]]) -> list[Any]:
    # By repr too: 1 and True, or a list, may be among what came as ids.
    return list({repr(one): one for ids in found.values() for one in ids}.values())


def _rows(one: Any, gallery: GalleryIds, faults: _Faults, query: int) -> Int64Array:
    nothing = np.empty(0, dtype=np.int64)
    if isinstance(one, (str, bytes, dict)):  # of which each letter or key would be an id
        faults.no_lists[query] = type(one).__name__
        return nothing
    given = list(one) if isinstance(one, (set, frozenset)) else one
    as_mask = not isinstance(given, list) or (given and isinstance(given[0], bool | np.bool_))
    values = np.asarray(given) if as_mask else given
    if isinstance(values, np.ndarray) and values.dtype == np.bool_:
        if values.shape != (len(gallery),):
            faults.other_shapes[query] = values.shape
            return nothing
        return np.flatnonzero(values).astype(np.int64)
    if isinstance(values, np.ndarray) and values.ndim != 1:
        faults.no_lists[query] = type(one).__name__ if values.ndim == 0 else f"array of shape {values.shape}"
        return nothing
    listed = values.tolist() if isinstance(values, np.ndarray) else values
    try:
        rows = gallery.rows(listed) if len(listed) else nothing
    except (TypeError, ValueError):  # of lists within the list, which are no ids
        rows = None
    if rows is None or rows.ndim != 1:
        faults.no_lists[query] = "lists in a list"
        return nothing
    if (rows < 0).any():
        faults.unknown[query] = [listed[place] for place in np.flatnonzero(rows < 0).tolist()]
    rising, times = np.unique(rows[rows >= 0], return_counts=True)
    if (times > 1).any():
        faults.repeated[query] = gallery.take(rising[times > 1].tolist())
    return rising
