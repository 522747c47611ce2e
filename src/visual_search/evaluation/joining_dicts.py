"""Joins a dictionary of dictionaries with what the right answers are, looking up only what is judged.

A run of ten million results has a few judged items per query. Making a `Ranking` of it would look up every item of
every list; here only the judged ones are, and of the others nothing but the scores is read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, NonFiniteError, first_few
from visual_search.evaluation.positions import Positions, falling_grades
from visual_search.evaluation.ties import TiePlaces
from visual_search.formats.nested import nested_keys, nested_numbers
from visual_search.formats.ragged import offsets_of
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id

__all__ = ["join_dicts"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Run: TypeAlias = Mapping[Any, Mapping[Any, float]]

# Scores sorted at a time, 32 MiB of float64.
_BLOCK_SCORES = 1 << 22


def join_dicts(run: Run, relevance: Relevance) -> Positions:
    """Find every judged item of every query in that query's list.

    Parameters
    ----------
    run : mapping
        ``{query: {item: score}}``; equal scores stand as they came.
    relevance : Relevance
        What the right answers are.

    Returns
    -------
    Positions
        The same as ``join(Ranking.from_dict(run), relevance)``.

    Raises
    ------
    InputError, NonFiniteError
        Not a dictionary of dictionaries of finite numbers; ids of two kinds; no query in common.

    Examples
    --------
    >>> positions = join_dicts({"q": {"a": 0.9, "b": 0.5, "c": 0.5}}, Relevance.from_dict({"q": {"b": 1, "z": 1}}))
    >>> positions.above.tolist(), positions.tied.tolist(), positions.relevant_counts().tolist()
    ([1], [2], [2])
    """
    nested_keys(run, what="run")
    _check_ids(run, relevance)
    names = list(relevance.queries)
    lists: list[Mapping[Any, float]] = [run.get(query, {}) for query in names]
    offsets = offsets_of(np.fromiter(map(len, lists), dtype=np.int64, count=len(lists)))
    try:
        hits = _hits(lists, relevance)
    except (TypeError, ValueError):
        # A score that is no number; what tells which one it is looks at all of them.
        nested_numbers(dict(zip(names, lists, strict=True)), what="run")
        raise
    above, tied = np.zeros(len(hits.query), dtype=np.int64), np.ones(len(hits.query), dtype=np.int64)
    ends_tied = np.zeros(len(lists), dtype=np.bool_)
    for first, last in _blocks(offsets):
        block = dict(zip(names[first:last], lists[first:last], strict=True))
        scores = nested_numbers(block, what="run")
        _check_finite(scores, block)
        part = slice(*np.searchsorted(hits.query, (first, last)).tolist())
        local = offsets[first : last + 1] - offsets[first]
        table = _sorted_lists(scores, local)
        above[part], tied[part] = _counts(table, local, hits.query[part] - first, hits.score[part])
        ends_tied[first:last] = _ends_tied(table, local)
    return _positions(run, lists, relevance, hits, above, tied, ends_tied)


@dataclass(frozen=True, slots=True, eq=False)
class _Hits:
    """Judged and ignored items that are in their query's list, by query."""

    query: Int64Array
    item: list[Id]
    score: FloatArray
    grade: FloatArray
    ignored: BoolArray


def _hits(lists: list[Mapping[Any, float]], relevance: Relevance) -> _Hits:
    named = relevance.items.take(relevance.rows.tolist())
    query = relevance.query_of_entry()
    # NaN stands for an item that is not in the list; scores themselves are checked to be finite.
    nowhere = float("nan")
    found = (lists[row].get(item, nowhere) for row, item in zip(query.tolist(), named, strict=True))
    score = np.fromiter(found, dtype=np.float64, count=len(named))
    kept = np.flatnonzero(~np.isnan(score))
    return _Hits(
        query[kept],
        [named[place] for place in kept.tolist()],
        score[kept],
        relevance.grades[kept],
        relevance.ignored[kept],
    )


def _blocks(offsets: Int64Array) -> Iterable[tuple[int, int]]:
    """Runs of queries with a bounded number of scores."""
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


def _positions(
    run: Run,
    lists: list[Mapping[Any, float]],
    relevance: Relevance,
    hits: _Hits,
    above: Int64Array,
    tied: Int64Array,
    ends_tied: BoolArray,
) -> Positions:
    n = len(lists)
    skipped = hits.ignored
    ignored = np.bincount(hits.query[skipped], minlength=n).astype(np.int64)
    for row in np.flatnonzero(ignored).tolist():
        mine = slice(*np.searchsorted(hits.query, (row, row + 1)).tolist())
        gone = hits.score[mine][skipped[mine]]
        above[mine] -= (gone[None] > hits.score[mine][:, None]).sum(axis=1)
        tied[mine] -= (gone[None] == hits.score[mine][:, None]).sum(axis=1)
    kept = np.flatnonzero(~skipped)
    order = kept[np.lexsort((above[kept], hits.query[kept]))]
    query = hits.query[order]
    judged_offsets, judged_grades = falling_grades(relevance)
    lengths = np.fromiter(map(len, lists), dtype=np.int64, count=n)
    return Positions(
        queries=relevance.queries,
        offsets=offsets_of(np.bincount(query, minlength=n)),
        grades=hits.grade[order],
        above=above[order],
        tied=tied[order],
        lengths=lengths - ignored,
        judged_offsets=judged_offsets,
        judged_grades=judged_grades,
        ignored=ignored,
        missing=np.fromiter((name not in run for name in relevance.queries), dtype=np.bool_, count=n),
        unjudged_queries=tuple(name for name in run if name not in relevance.queries),
        cut_ties=ends_tied & ((lengths < lengths.max(initial=0)) | _beyond_the_longest(run, lists, ends_tied)),
        gallery=lambda: len(set(chain.from_iterable(run.values()))),
        places=_places(lists, hits, order, tied),
    )


def _beyond_the_longest(run: Run, lists: list[Mapping[Any, float]], ends_tied: BoolArray) -> bool:
    """Whether some list holds an item that the longest lacks, so that the gallery is larger than any list."""
    if not ends_tied.any():
        return False
    longest = max(lists, key=len).keys()
    return any(not (scored.keys() <= longest) for scored in run.values())


def _places(lists: list[Mapping[Any, float]], hits: _Hits, order: Int64Array, tied: Int64Array) -> TiePlaces:
    """Order within ties, looked at only when a rule asks for it."""

    def by(place_of: Any) -> Int64Array:
        places = np.zeros(len(order), dtype=np.int64)
        skipped = _ignored_items(hits)
        for place, hit in enumerate(order.tolist()):
            if tied[hit] > 1:
                row, score = int(hits.query[hit]), float(hits.score[hit])
                gone = skipped.get(row, ())
                group = [item for item, other in lists[row].items() if other == score and item not in gone]
                places[place] = place_of(group, hits.item[hit])
        return places

    return TiePlaces(
        lambda: by(lambda group, item: group.index(item)),
        lambda: by(lambda group, item: sum(other > item for other in group)),
    )


def _ignored_items(hits: _Hits) -> dict[int, set[Id]]:
    skipped: dict[int, set[Id]] = {}
    for hit in np.flatnonzero(hits.ignored).tolist():
        skipped.setdefault(int(hits.query[hit]), set()).add(hits.item[hit])
    return skipped


def _check_ids(run: Run, relevance: Relevance) -> None:
    first = next(iter(run), None)
    if first is not None and len(relevance):
        _check_kind(first, relevance.queries[0], "query")
        if not any(query in run for query in relevance.queries):
            raise InputError(
                f"ranking and relevance have no query in common: {first_few(run, 3)} against "
                f"{first_few(relevance.queries, 3)}; both must name the queries alike"
            )
    item = next(chain.from_iterable(run.values()), None)
    if item is not None and len(relevance.items):
        _check_kind(item, relevance.items[0], "item")


def _check_kind(there: Any, wanted: Any, what: str) -> None:
    if isinstance(there, str) is not isinstance(wanted, str):
        raise InputError(
            f"{what} ids are {type(wanted).__name__} in the relevance ({wanted!r}) and {type(there).__name__} in the "
            f"ranking ({there!r}); nothing would match: convert one side"
        )


def _check_finite(scores: FloatArray, block: Run) -> None:
    if np.isfinite(scores).all():
        return
    wrong = [(query, item) for query, scored in block.items() for item, s in scored.items() if not np.isfinite(s)]
    raise NonFiniteError(
        f"run: {len(wrong)} scores are NaN or infinite, first (query, item): {first_few(wrong)}; leave out items the "
        "system could not score"
    )
