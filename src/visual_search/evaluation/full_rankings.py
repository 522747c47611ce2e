"""Measures full rankings of a gallery, in which only the ranks of judged items are counted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, first_few
from visual_search.evaluation.measures.measure import Measure, MeasureValues
from visual_search.evaluation.positions import Positions
from visual_search.evaluation.protocols.presets import Preset, preset_named
from visual_search.evaluation.result import IntervalMaker, Result
from visual_search.evaluation.scoring import assembled, chosen_measures, chosen_tie_rule, values_of
from visual_search.evaluation.setting import Setting
from visual_search.evaluation.slices import Attribute
from visual_search.evaluation.ties import TieRule
from visual_search.formats.ragged import offsets_of
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id, Ids
from visual_search.kernels.joined import RankHits, hit_offsets
from visual_search.kernels.threads import one_blas_thread, thread_count

__all__ = [
    "WITHOUT_ORDER",
    "Asked",
    "CountRanks",
    "EachPart",
    "Gallery",
    "RightAnswers",
    "evaluate_gallery",
    "measured_in_parts",
]

Int64Array: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Made = TypeVar("Made")

# Counts, for queries first .. last of those that were opened, what is above and level with judged gallery rows, given
# as offsets, columns and flags of what is ignored.
CountRanks: TypeAlias = Callable[[int, int, Int64Array, Int64Array, BoolArray], RankHits]

WITHOUT_ORDER: tuple[TieRule, ...] = ("expected", "best", "worst")
# Judged pairs whose positions are measured at a time; the arrays over them then stay in the caches.
_PAIRS = 1 << 17


class Gallery(Protocol):
    """A gallery and queries that can be ranked against it."""

    @property
    def rows(self) -> int:
        """How many queries may be opened at a time."""
        ...

    def opened(self, chosen: Int64Array) -> AbstractContextManager[CountRanks]:
        """Compare the chosen queries with the gallery; several threads may, each for its own."""
        ...


# As `visual_search.evaluate` takes them.
RightAnswers: TypeAlias = Relevance | Mapping[Any, Mapping[Any, float]]


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What is asked of full rankings; as for `visual_search.evaluate`."""

    measures: Iterable[str | Measure] | None
    ties: TieRule | None
    preset: str | Preset | None
    groups: Attribute | None
    interval: IntervalMaker | None

    @property
    def tie_rule(self) -> TieRule:
        """The rule of the call, else the preset's, else the expectation."""
        rules = None if self.preset is None else preset_named(self.preset)
        return chosen_tie_rule(self.ties, rules)


def evaluate_gallery(
    gallery: Gallery,
    queries: Ids,
    items: Ids,
    relevance: RightAnswers,
    asked: Asked,
    *,
    block: int,
    metric: str,
    ties: Sequence[TieRule] | None = None,
) -> list[Result]:
    """Measure the ranking of a whole gallery for each query.

    Parameters
    ----------
    gallery : Gallery
        What ranks.
    queries, items : Ids
        Names of the queries' and of the gallery's rows.
    relevance : Relevance, or mapping
        What the right answers are, or ``{query: {item: grade}}``.
    asked : Asked
        What to measure.
    block : int
        Queries that are open at a time for each thread, at most.
    metric : str
        What ranks, by name.
    ties : sequence of str, optional
        Tie rules, each of which makes a result; the one that was asked for where left out.
    """
    _check_block(block)
    if not len(queries):
        raise InputError("queries: none came (no row of vectors or codes); there is nothing to rank for")
    relevance = relevance if isinstance(relevance, Relevance) else Relevance.from_dict(relevance)
    task = _Task.of(gallery, queries, items, relevance)
    return measured_in_parts(
        lambda values: task.each_part(values, block),
        task.outline(),
        asked,
        ties=(asked.tie_rule,) if ties is None else ties,
        notes=task.notes(),
        setting=Setting(relevance, items, metric),
    )


def _check_block(block: Any) -> None:
    if isinstance(block, bool) or not isinstance(block, (int, np.integer)) or block < 1:
        raise InputError(f"block={block!r}: a whole number from 1 of queries that are in memory at a time")


# Calls a function with the positions of all queries, some at a time and in their order, and gives what it gave.
EachPart: TypeAlias = Callable[[Callable[[Positions], list[MeasureValues]]], list[list[MeasureValues]]]


def measured_in_parts(
    each_part: EachPart,
    outline: Positions,
    asked: Asked,
    *,
    ties: Sequence[TieRule],
    notes: tuple[str, ...] = (),
    setting: Setting | None = None,
) -> list[Result]:
    """Measure positions of full rankings, which come some queries at a time, under one or several tie rules.

    Parameters
    ----------
    each_part : callable
        Calls what it is given with the positions of some queries after the other.
    outline : Positions
        All queries and their list lengths, without hits.
    asked : Asked
        What to measure.
    ties : sequence of str
        Tie rules, each of which makes a result.
    notes : tuple of str
        Notes on the ranking.
    setting : Setting, optional
        What is measured on, by which the result is found comparable.
    """
    rules = None if asked.preset is None else preset_named(asked.preset)
    chosen = chosen_measures(asked.measures, rules)
    for rule in ties:
        _refuse_order(chosen, rule)

    def values(positions: Positions) -> list[MeasureValues]:
        return [values_of(measure, positions, rule, rules) for rule in ties for measure in chosen]

    columns = [_joined(column) for column in zip(*each_part(values), strict=True)]
    return [
        assembled(
            outline,
            dict(zip(chosen, columns[at * len(chosen) : (at + 1) * len(chosen)], strict=True)),
            ties=rule,
            rules=rules,
            notes=notes,
            groups=asked.groups,
            interval=asked.interval,
            setting=setting,
        )
        for at, rule in enumerate(ties)
    ]


def _refuse_order(measures: Iterable[Measure], ties: TieRule) -> None:
    reading = sorted({rule for measure in measures if (rule := measure.tie_rule(ties)) not in WITHOUT_ORDER})
    if reading:
        raise InputError(
            f"ties={reading[0]!r}: a full ranking of a gallery has no order within ties; use one of "
            f"{', '.join(WITHOUT_ORDER)}, or evaluate a Ranking.from_similarity"
        )


def _joined(parts: Iterable[MeasureValues]) -> MeasureValues:
    columns = [(part.numerator, part.denominator, part.value) for part in parts]
    return MeasureValues(*(np.concatenate(column) for column in zip(*columns, strict=True)))


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """Vectors and right answers that fit each other, query by query of the relevance."""

    gallery: Gallery
    relevance: Relevance
    gallery_size: int
    vector: Int64Array  # row of each query's vector, -1 where it has none
    column: Int64Array  # gallery row of each item of the relevance, -1 where it is not there
    unjudged_queries: tuple[Id, ...]

    @classmethod
    def of(cls, gallery: Gallery, queries: Ids, items: Ids, relevance: Relevance) -> _Task:
        """Match queries and gallery with the names of the relevance."""
        vector = _rows_of(queries, relevance.queries, "query")
        column = _rows_of(items, relevance.items, "gallery")
        judged = np.zeros(len(queries), dtype=np.bool_)
        judged[vector[vector >= 0]] = True
        unjudged = tuple(queries.take(np.flatnonzero(~judged).tolist()))
        return cls(gallery, relevance, len(items), vector, column, unjudged)

    def each_part(self, values: Callable[[Positions], Made], block: int) -> list[Made]:
        """Call ``values`` with the positions of all queries, some at a time and in their order."""
        step = min(block, self.gallery.rows)
        begins = range(0, max(len(self.relevance), 1), step)

        def measured(begin: int) -> list[Made]:
            end = min(begin + step, len(self.relevance))
            with self.gallery.opened(np.maximum(self.vector[begin:end], 0)) as count:
                return [
                    values(self._positions(begin, first, last, count)) for first, last in self._parts(begin, end)
                ]

        with one_blas_thread(), ThreadPoolExecutor(min(thread_count(), len(begins))) as pool:
            return [part for parts in pool.map(measured, begins) for part in parts]

    def _parts(self, begin: int, end: int) -> list[tuple[int, int]]:
        """Queries in runs that have about `_PAIRS` judged pairs together; one run even where there is no query."""
        offsets, bounds = self.relevance.offsets, [begin]
        while bounds[-1] < end:
            stop = int(np.searchsorted(offsets, offsets[bounds[-1]] + _PAIRS, side="right")) - 1
            bounds.append(min(max(stop, bounds[-1] + 1), end))
        return list(pairwise(bounds)) or [(begin, end)]

    def _positions(self, begin: int, first: int, last: int, count: CountRanks) -> Positions:
        """Positions of queries first .. last, of which those from ``begin`` on are open."""
        relevance = self.relevance
        span = slice(int(relevance.offsets[first]), int(relevance.offsets[last]))
        offsets = relevance.offsets[first : last + 1] - span.start
        columns, ignored = self.column[relevance.rows[span]], relevance.ignored[span]
        missing = self.vector[first:last] < 0
        there = (columns >= 0) & np.repeat(~missing, np.diff(offsets))
        kept = offsets_of(there)[offsets]
        hits = count(first - begin, last - begin, kept, columns[there], ignored[there])
        grades = relevance.grades[span]
        out = hit_offsets(kept, ~ignored[there])
        judged_offsets, judged_grades = _falling(hit_offsets(offsets, ignored), grades[~ignored])
        n_ignored = np.diff(out)
        return Positions(
            queries=Ids(relevance.queries[first:last], what="queries"),
            offsets=hits.offsets,
            grades=grades[there][hits.entry],
            above=hits.above,
            tied=hits.tied,
            lengths=np.where(missing, 0, self.gallery_size - n_ignored),
            judged_offsets=judged_offsets,
            judged_grades=judged_grades,
            ignored=n_ignored,
            missing=missing,
            unjudged_queries=(),
            cut_ties=np.zeros(last - first, dtype=np.bool_),
            gallery=self.gallery_size,
            places=None,
        )

    def outline(self) -> Positions:
        """Queries and list lengths, without any hit."""
        n = len(self.relevance)
        missing = self.vector < 0
        nothing = np.zeros(n + 1, dtype=np.int64)
        none = np.zeros(0, dtype=np.int64)
        return Positions(
            queries=self.relevance.queries,
            offsets=nothing,
            grades=np.zeros(0),
            above=none,
            tied=none,
            lengths=np.where(missing, 0, self.gallery_size),
            judged_offsets=nothing,
            judged_grades=np.zeros(0),
            ignored=np.zeros(n, dtype=np.int64),
            missing=missing,
            unjudged_queries=self.unjudged_queries,
            cut_ties=np.zeros(n, dtype=np.bool_),
            gallery=self.gallery_size,
            places=None,
        )

    def notes(self) -> tuple[str, ...]:
        """What a reader should know of judged items that are not in the gallery."""
        absent = np.flatnonzero(self.column < 0)
        if not len(absent):
            return ()
        named = first_few(self.relevance.items.take(absent[:5].tolist()))
        more = "; none is, so check that both name the items alike" if len(absent) == len(self.column) else ""
        note = (
            f"{len(absent)} of {len(self.column)} judged or ignored items are not in the gallery and cannot be found, "
            f"first {named}{more}"
        )
        return (note,)


def _rows_of(there: Ids, wanted: Ids, what: str) -> Int64Array:
    """Row of each wanted id, -1 where it is not there."""
    if wanted is there or (len(wanted) == len(there) and wanted == there):
        return np.arange(len(wanted), dtype=np.int64)
    if len(wanted) and len(there) and wanted.kind is not there.kind:
        raise InputError(
            f"{what}_ids are {there.kind.__name__} ({first_few(there, 2)}) and the relevance has "
            f"{wanted.kind.__name__} ({first_few(wanted, 2)}); nothing would match: give {what}_ids as it names them"
        )
    rows = there.rows(wanted)
    if what == "query" and len(wanted) and len(there) and (rows < 0).all():
        raise InputError(
            f"query_ids and relevance have no query in common: {first_few(there, 3)} against {first_few(wanted, 3)}; "
            "both must name the queries alike"
        )
    return rows


def _falling(offsets: Int64Array, grades: npt.NDArray[np.float64]) -> tuple[Int64Array, npt.NDArray[np.float64]]:
    """The grades sorted to fall within each query, which those of labels do as they are."""
    rises = grades[1:] > grades[:-1]
    begins = offsets[1:-1] - 1
    rises[begins[(begins >= 0) & (begins < len(rises))]] = False
    if not rises.any():
        return offsets, grades
    query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    return offsets, grades[np.lexsort((-grades, query))]
