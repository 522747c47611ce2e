"""Joins a dictionary of dictionaries with what the right answers are, looking up only what is judged.

A run of ten million results has a few judged items per query. Making a `Ranking` of it would look up every item of
every list; here only the judged ones are, and of the others nothing but the scores is read.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError, NonFiniteError, first_few
from visual_search.evaluation.positions import Positions, falling_grades
from visual_search.evaluation.ties import TiePlaces
from visual_search.formats.nested import nested_keys, nested_numbers
from visual_search.formats.ragged import offsets_of
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id, Ids
from visual_search.kernels.dispatch import kernels
from visual_search.kernels.joined import DictHits

__all__ = ["join_dicts"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Run: TypeAlias = Mapping[Any, Mapping[Any, float]]


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
    lists: list[Mapping[Any, float]] = [run.get(query, {}) for query in relevance.queries]
    items = relevance.items.take(relevance.rows.tolist())
    found = _counted(run, lists, relevance, items)
    kept = np.flatnonzero(~np.isnan(found.score))
    hits = _Hits(
        relevance.query_of_entry()[kept],
        [items[place] for place in kept.tolist()],
        found.score[kept],
        relevance.grades[kept],
        relevance.ignored[kept],
    )
    ends_tied = found.ends_tied[: len(lists)]
    return _positions(run, lists, relevance, hits, found.above[kept], found.tied[kept], ends_tied)


def _counted(run: Run, lists: list[Mapping[Any, float]], relevance: Relevance, items: list[Id]) -> DictHits:
    """Judged items among the scores; lists of unjudged queries are looked at too, as `Ranking.from_dict` does."""
    queries = Ids.distinct(run, what="queries")
    first = next(chain.from_iterable(run.values()), "")
    _check_kinds(queries, first, relevance)
    others = [scored for query, scored in run.items() if query not in relevance.queries]
    offsets = np.concatenate((relevance.offsets, np.full(len(others), len(items), dtype=np.int64)))
    try:
        return kernels().count_in_dicts([*lists, *others], offsets, items, texts=isinstance(first, str))
    except (TypeError, ValueError, OverflowError):
        # What tells which id or score it is looks at all of them.
        Ids.distinct(chain.from_iterable(run.values()), what="items")
        _check_finite(nested_numbers(run, what="run"), run)
        raise


@dataclass(frozen=True, slots=True, eq=False)
class _Hits:
    """Judged and ignored items that are in their query's list, by query."""

    query: Int64Array
    item: list[Id]
    score: FloatArray
    grade: FloatArray
    ignored: BoolArray


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


def _check_kinds(queries: Ids, item: Any, relevance: Relevance) -> None:
    if queries and len(relevance):
        _check_kind(queries[0], relevance.queries[0], "query")
        if not any(query in relevance.queries for query in queries):
            raise InputError(
                f"ranking and relevance have no query in common: {first_few(queries, 3)} against "
                f"{first_few(relevance.queries, 3)}; both must name the queries alike"
            )
    if item != "" and len(relevance.items):
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
        f"run: {counted(len(wrong), 'score is', 'scores are')} NaN or infinite, first (query, item): "
        f"{first_few(wrong)}; leave out items the "
        "system could not score"
    )
