"""Joins what a system returned with what the right answers are."""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, first_few
from visual_search.evaluation.positions import Positions, falling_grades
from visual_search.evaluation.ties import TiePlaces, descending_id_places
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Ids
from visual_search.rankings.ranking import Ranking

__all__ = ["join"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

# Cells of the look-up table (query of the block x item); 16 MiB of int32.
_TABLE_CELLS = 1 << 22


def join(ranking: Ranking, relevance: Relevance) -> Positions:
    """Find every judged item of every query in that query's list.

    Ids are compared once, vocabulary against vocabulary, and not at all where both share one `Ids`; after that
    only rows are. No list is sorted, and nothing is computed for items nobody judged. Memory beyond the inputs is a
    table of at most 16 MiB (or one int32 per item of the vocabulary, if that is more) and a few arrays over the
    judged items.

    Parameters
    ----------
    ranking : Ranking
        What a system returned.
    relevance : Relevance
        What the right answers are. Its ignored pairs are taken out of the lists before anything is counted.

    Returns
    -------
    Positions
        One row per query of the relevance. A query the ranking lacks has an empty list and is marked missing; a
        query of the ranking that the relevance lacks is named in ``unjudged_queries``.

    Raises
    ------
    InputError
        One side has string ids and the other integers, or no query is common to both.

    Examples
    --------
    >>> ranking = Ranking.from_dict({"q": {"a": 0.9, "b": 0.5, "c": 0.5}})
    >>> positions = join(ranking, Relevance.from_dict({"q": {"b": 1, "z": 1}}))
    >>> positions.above.tolist(), positions.tied.tolist(), positions.relevant_counts().tolist()
    ([1], [2], [2])
    """
    ranking_query = _matched(relevance.queries, ranking.queries, "query")
    if len(ranking) and len(relevance) and not (ranking_query >= 0).any():
        raise InputError(
            f"ranking and relevance have no query in common: {first_few(ranking.queries, 3)} against "
            f"{first_few(relevance.queries, 3)}; both must name the queries alike"
        )
    hits = _found(ranking, relevance, ranking_query)
    n = len(relevance)
    ignored_position = np.sort(hits.position[hits.ignored])
    kept = ~hits.ignored
    position, query, grades = hits.position[kept], hits.query[kept], hits.grade[kept]
    start, stop = _group_bounds(ranking, ranking_query[query], position)
    list_start = ranking.offsets[ranking_query[query]]

    def ignored_before(place: Int64Array) -> Int64Array:
        return np.searchsorted(ignored_position, place).astype(np.int64)

    above = start - list_start - (ignored_before(start) - ignored_before(list_start))
    tied = stop - start - (ignored_before(stop) - ignored_before(start))
    listed = position - start - (ignored_before(position) - ignored_before(start))
    ignored = np.bincount(hits.query[hits.ignored], minlength=n).astype(np.int64)
    missing = ranking_query < 0
    lengths = np.where(missing, 0, ranking.lengths[ranking_query]) if len(ranking) else np.zeros(n, dtype=np.int64)
    judged_offsets, judged_grades = falling_grades(relevance)
    known = np.zeros(len(ranking), dtype=np.bool_)
    known[ranking_query[~missing]] = True
    return Positions(
        queries=relevance.queries,
        offsets=np.concatenate(([0], np.cumsum(np.bincount(query, minlength=n)))).astype(np.int64),
        grades=grades,
        above=above,
        tied=tied,
        lengths=lengths - ignored,
        judged_offsets=judged_offsets,
        judged_grades=judged_grades,
        ignored=ignored,
        missing=missing,
        unjudged_queries=tuple(ranking.queries.take(np.flatnonzero(~known).tolist())),
        cut_ties=_cut_ties(ranking, ranking_query),
        gallery=len(ranking.items),
        places=TiePlaces(
            lambda: listed, lambda: descending_id_places(ranking, start, stop, position, ignored_position)
        ),
    )


def _matched(wanted: Ids, there: Ids, what: str) -> Int64Array:
    """Row in ``there`` of each id of ``wanted``, -1 where it is not."""
    if wanted is there:
        return np.arange(len(wanted), dtype=np.int64)
    if len(wanted) and len(there) and wanted.kind is not there.kind:
        raise InputError(
            f"{what} ids are {wanted.kind.__name__} in the relevance ({first_few(wanted, 2)}) and "
            f"{there.kind.__name__} in the ranking ({first_few(there, 2)}); nothing would match: convert one side"
        )
    return there.rows(wanted)


class _Hits(NamedTuple):
    """Judged and ignored items that are in their query's list, by query of the relevance and down the list."""

    query: Int64Array
    position: Int64Array
    grade: npt.NDArray[np.float64]
    ignored: BoolArray


def _found(ranking: Ranking, relevance: Relevance, ranking_query: Int64Array) -> _Hits:
    item = _matched(relevance.items, ranking.items, "item")
    entry_row = item[relevance.rows] if len(item) else relevance.rows
    width = max(len(ranking.items), 1)
    block = max(_TABLE_CELLS // width, 1)
    table = np.zeros(min(block, max(len(relevance), 1)) * width, dtype=np.int32)
    positions: list[Int64Array] = []
    entries: list[Int64Array] = []
    for first in range(0, len(relevance), block):
        last = min(first + block, len(relevance))
        found = _found_in_block(ranking, relevance, ranking_query[first:last], entry_row, first, table)
        positions.append(found[0])
        entries.append(found[1])
    position = np.concatenate(positions) if positions else np.zeros(0, dtype=np.int64)
    entry = np.concatenate(entries) if entries else np.zeros(0, dtype=np.int64)
    query = np.searchsorted(relevance.offsets, entry, side="right") - 1
    return _Hits(query, position, relevance.grades[entry], relevance.ignored[entry])


def _found_in_block(
    ranking: Ranking,
    relevance: Relevance,
    ranking_query: Int64Array,
    entry_row: Int64Array,
    first: int,
    table: npt.NDArray[np.int32],
) -> tuple[Int64Array, Int64Array]:
    """Positions of the ranking that hold a judged or ignored item, and the entry of the relevance for each."""
    width = max(len(ranking.items), 1)
    begin = int(relevance.offsets[first])
    counts = np.diff(relevance.offsets[first : first + len(ranking_query) + 1])
    local = np.repeat(np.arange(len(ranking_query)), counts)
    rows = entry_row[begin : begin + len(local)]
    there = np.flatnonzero(rows >= 0)
    cells = local[there] * width + rows[there]
    table[cells] = there + 1
    lengths = (
        np.where(ranking_query >= 0, ranking.lengths[ranking_query], 0) if len(ranking) else np.zeros_like(counts)
    )
    positions = _span(ranking, ranking_query, lengths)
    listed = np.repeat(np.arange(len(ranking_query)) * width, lengths)
    listed += ranking.rows[positions]
    entry = table[listed]
    table[cells] = 0
    hit = np.flatnonzero(entry)
    where = hit + positions.start if isinstance(positions, slice) else positions[hit]
    return where, entry[hit].astype(np.int64) - 1 + begin


def _span(ranking: Ranking, ranking_query: Int64Array, lengths: Int64Array) -> Int64Array | slice:
    """All positions of the given queries' lists, as a slice where they are one run."""
    there = ranking_query[ranking_query >= 0]
    if len(there) and bool((np.diff(there) == 1).all()):
        return slice(int(ranking.offsets[there[0]]), int(ranking.offsets[there[-1] + 1]))
    starts = (
        np.where(ranking_query >= 0, ranking.offsets[ranking_query], 0) if len(ranking) else np.zeros_like(lengths)
    )
    before = np.cumsum(lengths) - lengths
    return np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()), dtype=np.int64)


def _group_bounds(
    ranking: Ranking, ranking_query: Int64Array, position: Int64Array
) -> tuple[Int64Array, Int64Array]:
    """First position and one past the last position that have the same score as each hit, within its list.

    Scores do not rise within a list, so both ends are found by bisection, for all hits at once and only for those
    that have an equal neighbour.
    """
    start, stop = position.copy(), position + 1
    scores = ranking.scores
    low, high = ranking.offsets[ranking_query], ranking.offsets[ranking_query + 1]
    if not len(position):
        return start, stop
    mine = scores[position]
    up = np.flatnonzero((position > low) & (scores[np.maximum(position - 1, 0)] == mine))
    left, right = low[up], position[up]
    while (open_ := left < right).any():
        middle = (left + right) // 2
        equal = scores[middle] == mine[up]
        right = np.where(open_ & equal, middle, right)
        left = np.where(open_ & ~equal, middle + 1, left)
    start[up] = right
    down = np.flatnonzero((stop < high) & (scores[np.minimum(stop, len(scores) - 1)] == mine))
    left, right = stop[down], high[down]
    while (open_ := left < right).any():
        # A closed search may stand one past the last score; what is read there is not used.
        middle = np.minimum((left + right) // 2, len(scores) - 1)
        equal = scores[middle] == mine[down]
        left = np.where(open_ & equal, middle + 1, left)
        right = np.where(open_ & ~equal, middle, right)
    stop[down] = right
    return start, stop


def _cut_ties(ranking: Ranking, ranking_query: Int64Array) -> BoolArray:
    cut = np.zeros(len(ranking_query), dtype=np.bool_)
    if ranking.cut_ties is not None:
        known = ranking_query >= 0
        cut[known] = ranking.cut_ties[ranking_query[known]]
        return cut
    there = np.flatnonzero(ranking_query >= 0)
    last = ranking.offsets[ranking_query[there] + 1] - 1
    long = ranking.lengths[ranking_query[there]]
    possible = np.flatnonzero((long >= 2) & (long < len(ranking.items)))
    there, last = there[possible], last[possible]
    cut[there] = ranking.scores[last] == ranking.scores[last - 1]
    return cut
