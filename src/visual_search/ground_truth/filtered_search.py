"""Exact answers where each query sees only a part of the gallery."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, UnknownIdError, first_few
from visual_search.formats.ragged import offsets_of
from visual_search.ground_truth.exact_answers import ExactAnswers
from visual_search.ground_truth.exact_merge import merge
from visual_search.ground_truth.exact_search import SearchProgress, search_exactly
from visual_search.ground_truth.gallery_ids import GalleryIds
from visual_search.ground_truth.vector_checks import ExactMetric

__all__ = ["FilteredRows", "filtered_rows", "search_filtered"]

AnyArray: TypeAlias = npt.NDArray[Any]
Int64Array: TypeAlias = npt.NDArray[np.int64]
Predicate: TypeAlias = Callable[[int], Any]


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


def filtered_rows(allowed: Any, gallery: GalleryIds, queries: int) -> FilteredRows:
    """Read what is allowed for each query.

    Parameters
    ----------
    allowed : bool array of shape (queries, gallery), list of ids a query, or callable
        A callable takes the number of a query and gives bool of shape (gallery,) or a list of ids.
    gallery : GalleryIds
    queries : int

    Raises
    ------
    InputError, UnknownIdError
        Another number of lists than of queries, a mask of another length, ids that the gallery does not have or that
        come twice.
    """
    given = [allowed(query) for query in range(queries)] if callable(allowed) else allowed
    if len(given) != queries:
        raise InputError(f"allowed: {len(given)} filters for {queries} queries; give one to each, in order")
    return FilteredRows([_rows(one, gallery, query) for query, one in enumerate(given)])


def _rows(one: Any, gallery: GalleryIds, query: int) -> Int64Array:
    values = np.asarray(one) if not isinstance(one, list) or (one and isinstance(one[0], bool | np.bool_)) else one
    if isinstance(values, np.ndarray) and values.dtype == np.bool_:
        if values.shape != (len(gallery),):
            raise InputError(
                f"allowed: the filter of query {query} has shape {values.shape}; one value for each of the gallery's "
                f"{len(gallery):,} rows is needed"
            )
        return np.flatnonzero(values).astype(np.int64)
    listed = values.tolist() if isinstance(values, np.ndarray) else values
    rows = gallery.rows(listed) if len(listed) else np.empty(0, dtype=np.int64)
    if (rows < 0).any():
        foreign = [listed[place] for place in np.flatnonzero(rows < 0).tolist()]
        raise UnknownIdError(
            f"allowed: the filter of query {query} names {len(foreign)} ids that the gallery does not have: "
            f"{first_few(foreign)}; its ids are such as {first_few(gallery.take(range(min(2, len(gallery)))), 2)}"
        )
    rising = np.unique(rows)
    if len(rising) != len(rows):
        raise InputError(f"allowed: the filter of query {query} names {len(rows) - len(rising)} ids twice")
    return rising


def search_filtered(
    gallery: AnyArray,
    queries: AnyArray,
    k: int,
    allowed: FilteredRows,
    *,
    metric: ExactMetric,
    memory_bytes: int = 1 << 30,
    tie_cap: int = 100,
    progress: SearchProgress | None = None,
) -> ExactAnswers:
    """The k nearest of each query among the rows that pass its filter, with proof.

    Queries with one filter are searched together. An answer is as long as its filter allows; the places after its end
    have position -1 and distance infinity. Other parameters and errors as for `search_exactly`; ``progress`` is told
    queries.

    Examples
    --------
    >>> gallery, queries = np.array([[0.0], [1.0], [2.0]]), np.array([[0.0], [0.0]])
    >>> allowed = filtered_rows([[1, 2], [2]], GalleryIds(3), 2)
    >>> search_filtered(gallery, queries, 2, allowed, metric="l2").positions.tolist()
    [[1, 2], [2, -1]]
    """
    count = len(queries)
    positions = np.full((count, k), -1, dtype=np.int64)
    distances = np.full((count, k), np.inf)
    ties: list[Int64Array] = [np.empty(0, dtype=np.int64)] * count
    capped, evaluations = np.zeros(count, dtype=np.bool_), np.zeros(count, dtype=np.int64)
    certified = np.ones(count, dtype=np.bool_)  # where nothing is allowed, nothing is missed
    if progress is not None:
        progress.start(count)
    for numbers, rows in allowed.groups():
        depth = min(k, len(rows))
        if depth:
            found = _search_rows(gallery, queries[numbers], depth, rows, metric, memory_bytes, tie_cap)
            positions[numbers, :depth] = rows[found.positions]
            distances[numbers, :depth] = found.distances
            evaluations[numbers], certified[numbers] = found.evaluations, found.certified
            if depth == k:
                capped[numbers] = found.ties_capped
                for place, number in enumerate(numbers.tolist()):
                    ties[number] = rows[found.tied(place)]
        if progress is not None:
            progress.advance(len(numbers))
    return ExactAnswers(
        positions=positions,
        distances=distances,
        certified=certified,
        tie_offsets=offsets_of(np.array([len(tied) for tied in ties], dtype=np.int64)),
        tie_positions=np.concatenate(ties) if ties else np.empty(0, dtype=np.int64),
        ties_capped=capped,
        evaluations=evaluations,
    )


def _search_rows(
    gallery: AnyArray,
    queries: AnyArray,
    k: int,
    rows: Int64Array,
    metric: ExactMetric,
    memory_bytes: int,
    tie_cap: int,
) -> ExactAnswers:
    """Search chosen rows in parts that fit into half of the memory, and join what was found."""
    step = max(1, memory_bytes // 2 // max(1, gallery.shape[1] * gallery.dtype.itemsize))
    parts = [rows[first : first + step] for first in range(0, len(rows), step)]
    answers = [
        search_exactly(
            np.ascontiguousarray(gallery[part]),
            queries,
            min(k, len(part)),
            metric=metric,
            memory_bytes=max(memory_bytes // 2, 1 << 24),
            tie_cap=tie_cap,
        )
        for part in parts
    ]
    return answers[0] if len(answers) == 1 else merge(answers, [len(part) for part in parts], k, tie_cap=tie_cap)
