"""Joins what a system returned with exact neighbours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, NonFiniteError, UnknownIdError, first_few
from visual_search.evaluation.neighbor_positions import EMPTY, OTHER, REPEATED, NeighborPositions
from visual_search.evaluation.returned_lists import ReturnedLists
from visual_search.formats.ragged import offsets_of
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.ids import Id

__all__ = ["METRIC_SHIFTS", "neighbor_positions"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]

# What makes a distance of minus a score, and of the truth's own number, which is minus the product under cosine.
METRIC_SHIFTS = {"l2": 0.0, "hamming": 0.0, "jaccard": 0.0, "cosine": 1.0}


@dataclass(frozen=True, slots=True)
class _Matched:
    """Which list each query of the truth has."""

    list_of_query: Int64Array
    unknown: tuple[Id, ...]


def neighbor_positions(returned: ReturnedLists, truth: ExactNeighbors) -> NeighborPositions:
    """Find what was returned for every query in its exact answer.

    Ids are compared once each; after that only rows are. The truth's own ids and ties tell the class of every
    returned item, so that no vector and no distance has to be computed again.

    Parameters
    ----------
    returned : ReturnedLists
        What a system returned, pads and repeats included.
    truth : ExactNeighbors
        The exact answers.

    Returns
    -------
    NeighborPositions
        One row per query of the truth.

    Raises
    ------
    UnknownIdError
        Ids that are not in the gallery the truth was made for; none is dropped.
    InputError
        Ids of another kind, no query in common, or another number of lists than queries where they have no ids.
    NonFiniteError
        A score of a returned item is NaN or infinite.
    """
    matched = _matched(returned, truth)
    rows = returned.rows_among(truth.gallery)
    _refuse_unknown(returned, truth, rows, matched)
    lengths = np.where(matched.list_of_query < 0, 0, np.diff(returned.offsets)[matched.list_of_query])
    offsets = offsets_of(lengths)
    starts = returned.offsets[:-1][matched.list_of_query]
    source = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
    row = rows[source]
    query = np.repeat(np.arange(len(truth), dtype=np.int64), lengths)
    ranks = _ranks(query, row, truth)
    return NeighborPositions(
        queries=truth.queries,
        offsets=offsets,
        ranks=ranks,
        returned_distances=_distances(returned, source, ranks, truth),
        resolution=returned.resolution,
        distances=truth.distances,
        shift=METRIC_SHIFTS.get(truth.metric),
        answers=truth.lengths,
        ties=np.diff(truth.answers.tie_offsets),
        ties_capped=truth.ties_capped,
        certified=truth.certified,
        metric=truth.metric,
        gallery_size=truth.gallery_size,
        label=truth.label(),
        missing=matched.list_of_query < 0,
        unknown_queries=matched.unknown,
    )


def _matched(returned: ReturnedLists, truth: ExactNeighbors) -> _Matched:
    lists = len(returned.offsets) - 1
    if returned.queries is None:
        if lists != len(truth):
            raise InputError(
                f"returned_ids: {lists} lists for {len(truth)} queries of the truth; give one per query, in order"
            )
        return _Matched(np.arange(lists, dtype=np.int64), ())
    there, wanted = returned.queries, truth.queries
    if len(there) and len(wanted) and there.kind is not wanted.kind:
        raise InputError(
            f"query ids are {wanted.kind.__name__} in the truth ({first_few(wanted, 2)}) and {there.kind.__name__} in "
            f"the lists ({first_few(there, 2)}); nothing would match: convert one side"
        )
    list_of_query = there.rows(wanted)
    known = np.zeros(lists, dtype=np.bool_)
    known[list_of_query[list_of_query >= 0]] = True
    if len(wanted) and not known.any():
        raise InputError(
            f"lists and truth have no query in common: {first_few(there, 3)} against {first_few(wanted, 3)}; both must "
            "name the queries alike"
        )
    return _Matched(list_of_query, tuple(there.take(np.flatnonzero(~known).tolist())))


def _refuse_unknown(returned: ReturnedLists, truth: ExactNeighbors, rows: Int64Array, matched: _Matched) -> None:
    query_of_list = np.full(len(returned.offsets) - 1, -1, dtype=np.int64)
    there = matched.list_of_query >= 0
    query_of_list[matched.list_of_query[there]] = np.flatnonzero(there)
    query = np.repeat(query_of_list, np.diff(returned.offsets))
    unknown = np.flatnonzero((rows == OTHER) & (query >= 0))
    if unknown.size:
        pairs = [(truth.queries[int(query[place])], returned.id_at(place)) for place in unknown[:5].tolist()]
        more = f" and {unknown.size - 5} more" if unknown.size > 5 else ""
        raise UnknownIdError(
            f"returned ids: {unknown.size} are not in the gallery of the truth ({truth.label()}), first (query, id): "
            f"{', '.join(map(repr, pairs))}{more}; the engine must hold what the truth was made of, under the same ids"
        )


def _ranks(query: Int64Array, row: Int64Array, truth: ExactNeighbors) -> Int64Array:
    """Place of every returned item in the exact answer; depth and above for ties beyond it."""
    size = max(truth.gallery_size, 1)
    answers = truth.answers
    place_query, place = np.nonzero(answers.positions >= 0)
    tie_query = np.repeat(np.arange(len(truth)), np.diff(answers.tie_offsets))
    keys = np.concatenate(
        (place_query * size + answers.positions[place_query, place], tie_query * size + answers.tie_positions)
    )
    rank = np.concatenate((place, truth.k + np.arange(len(tie_query)) - answers.tie_offsets[:-1][tie_query]))
    order = np.argsort(keys)
    keys, rank = keys[order], rank[order]
    filled = row >= 0
    wanted = query * size + row
    ranks = np.where(filled, OTHER, EMPTY).astype(np.int64)
    if len(keys):
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        found = filled & (keys[at] == wanted)
        ranks[found] = rank[at[found]]
    filled_place = np.flatnonzero(filled)
    by_item = filled_place[np.argsort(wanted[filled_place], kind="stable")]
    ranks[by_item[1:][wanted[by_item[1:]] == wanted[by_item[:-1]]]] = REPEATED
    return ranks


def _distances(
    returned: ReturnedLists, source: Int64Array, ranks: Int64Array, truth: ExactNeighbors
) -> FloatArray | None:
    shift = METRIC_SHIFTS.get(truth.metric)
    if returned.scores is None or shift is None:
        return None
    scores = returned.scores[source].astype(np.float64)
    wrong = np.flatnonzero(~np.isfinite(scores) & (ranks >= OTHER))
    if wrong.size:
        named = [returned.id_at(int(source[place])) for place in wrong[:5]]
        raise NonFiniteError(
            f"scores: {wrong.size} of returned items are NaN or infinite, first: {first_few(named)}"
        )
    # Rounding may put a cosine a little above 1.
    return np.maximum(shift - scores, 0.0)
