"""What leaks do to the numbers: every measure as it is, without the flagged queries, and with leaked items ignored."""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, first_few
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.parsing import parse_measure
from visual_search.evaluation.protocols.presets import Preset
from visual_search.evaluation.result import Result
from visual_search.evaluation.scoring import evaluate
from visual_search.evaluation.slices import slices
from visual_search.evaluation.statistics.interval import Resampling
from visual_search.evaluation.statistics.paired import PairedDifference, paired_difference
from visual_search.evaluation.ties import TieRule
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id
from visual_search.leaks.ignored_items import ignoring
from visual_search.leaks.short_lists import cut_short
from visual_search.rankings.ranking import Ranking

__all__ = ["ImpactRow", "LeakImpact", "impact_of_values", "leak_impact"]

FloatArray = npt.NDArray[np.float64]

_SHORT = (
    "leaked items not ignored for {}: without the copies lists are shorter than k, and what would have moved up was "
    "not returned; search deeper than the largest k"
)


@dataclass(frozen=True, slots=True)
class ImpactRow:
    """One measure.

    Attributes
    ----------
    measure : str
        Its text form.
    all_queries, without_flagged, flagged_only : float
        Mean over all queries, over those that are not flagged, and over those that are; NaN where it is undefined.
    counted, counted_without, counted_flagged : int
        Queries that entered each mean.
    items_ignored : float or None
        Mean over all queries, the gallery items that a query leaks into taken out of its ranking and its right answers;
        None where the right answers are not known, or lists are too short to tell.
    difference : PairedDifference or None
        As it is minus items ignored, query by query.
    """

    measure: str
    all_queries: float
    without_flagged: float
    flagged_only: float
    counted: int
    counted_without: int
    counted_flagged: int
    items_ignored: float | None = None
    difference: PairedDifference | None = None

    def as_json(self) -> dict[str, Any]:
        """As a JSON object; undefined is null."""
        return {
            "measure": self.measure,
            "all_queries": _plain(self.all_queries),
            "without_flagged": _plain(self.without_flagged),
            "flagged_only": _plain(self.flagged_only),
            "counted": self.counted,
            "counted_without": self.counted_without,
            "counted_flagged": self.counted_flagged,
            "items_ignored": _plain(self.items_ignored),
            "difference": None if self.difference is None else self.difference.as_json(),
        }


@dataclass(frozen=True, slots=True, eq=False)
class LeakImpact:
    """What the leaks are worth.

    Attributes
    ----------
    rows : tuple of ImpactRow
    queries, flagged : int
        Queries evaluated, and those of them that are flagged.
    notes : tuple of str
        What could not be told, and why.
    """

    rows: tuple[ImpactRow, ...]
    queries: int
    flagged: int
    notes: tuple[str, ...] = ()

    def __getitem__(self, measure: str) -> ImpactRow:
        wanted = str(parse_measure(measure))
        for row in self.rows:
            if row.measure == wanted:
                return row
        raise InputError(f"{measure} was not measured; there are {', '.join(row.measure for row in self.rows)}")

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "queries": self.queries,
            "flagged": self.flagged,
            "measures": [row.as_json() for row in self.rows],
            "notes": list(self.notes),
        }

    def words(self) -> str:
        """One line a measure."""
        head = f"{self.flagged:,} of {self.queries:,} queries are flagged"
        return "\n".join([head, *map(_words, self.rows), *self.notes])


def leak_impact(
    ranking: Ranking,
    relevance: Relevance,
    matches: Mapping[Id, Collection[Id]],
    measures: Iterable[str | Measure] | None = None,
    *,
    flagged: Collection[Id] | None = None,
    ties: TieRule | None = None,
    preset: str | Preset | None = None,
    groups: Mapping[Id, Hashable] | None = None,
    resampling: Resampling | None = None,
) -> LeakImpact:
    """Measure a ranking with and without what leaked.

    Parameters
    ----------
    ranking : Ranking
    relevance, measures, ties, preset
        As for :func:`visual_search.evaluation.scoring.evaluate`.
    matches : mapping of query to gallery items
        The gallery items that are the query's picture: ``report.matches("query", "gallery")``.
    flagged : collection of query ids, optional
        Queries to leave out; those of ``matches`` where not given. Give ``report.flagged["query"]`` to leave out those
        that stand in the training set too.
    groups : mapping, optional
        Independent unit of each query; intervals and tests draw its queries together.
    resampling : Resampling, optional

    Returns
    -------
    LeakImpact

    Raises
    ------
    InputError
        No flagged query is among those evaluated.

    Convention
    ----------
    Items ignored: for each flagged query its own copies are taken out of its ranking and of its right answers; a query
    that has no other right answer becomes undefined and stands in ``difference.only_first``. A query that is missing
    from the ranking counts as it does without leaks. Where a list had k items and has fewer once copies are out, what
    would have moved up was never returned: ``items_ignored`` of measures at that k is None, and a note says so.

    How to read it
    --------------
    A copy of the query in the gallery is found by any model, so flagged queries score higher than the others: the gap
    between ``flagged_only`` and ``without_flagged`` says how easy they are, ``difference`` what the copies alone are
    worth on the same queries.

    Examples
    --------
    >>> from visual_search import Ranking, Relevance
    >>> run = Ranking.from_dict({"q1": {"copy": 1.0, "b": 0.5, "a": 0.4}, "q2": {"b": 0.9, "a": 0.8}})
    >>> truth = Relevance.from_dict({"q1": {"copy": 1, "a": 1}, "q2": {"a": 1}})
    >>> row = leak_impact(run, truth, {"q1": ["copy"]}, ["RR"])["RR"]
    >>> row.all_queries, row.without_flagged, row.items_ignored
    (0.75, 0.5, 0.5)
    """
    as_is = evaluate(ranking, relevance, measures, ties=ties, preset=preset)
    out = set(matches if flagged is None else flagged)
    _check_flagged(out, as_is.queries)
    of_query = [query in out for query in as_is.queries]
    parts = slices(as_is, of_query)
    ignored = evaluate(ranking, ignoring(relevance, matches), as_is.measures, ties=ties, preset=preset)
    aligned = ignored.queries.rows(as_is.queries)
    coded = None if groups is None else [groups.get(query) for query in as_is.queries]
    short = {str(measure) for measure in cut_short(ranking, matches, as_is.measures)}
    rows = []
    for name in as_is:
        row = _with_and_without(as_is, name, parts.get(False), parts.get(True))
        if name not in short:
            values = ignored[name].values[aligned]
            change = paired_difference(as_is[name].values, values, groups=coded, resampling=resampling)
            row = replace(row, items_ignored=ignored[name].mean, difference=change)
        rows.append(row)
    notes = [_SHORT.format(", ".join(sorted(short)))] if short else []
    return LeakImpact(tuple(rows), len(as_is.queries), sum(of_query), tuple(notes))


def _with_and_without(as_is: Result, name: str, clean: Result | None, leaked: Result | None) -> ImpactRow:
    return ImpactRow(
        measure=name,
        all_queries=as_is[name].mean,
        without_flagged=math.nan if clean is None else clean[name].mean,
        flagged_only=math.nan if leaked is None else leaked[name].mean,
        counted=as_is[name].counted,
        counted_without=0 if clean is None else clean[name].counted,
        counted_flagged=0 if leaked is None else leaked[name].counted,
    )


def impact_of_values(
    values: Mapping[str, FloatArray], queries: Sequence[Id], flagged: Collection[Id], *, note: str | None = None
) -> LeakImpact:
    """With and without the flagged queries, from values per query that were stored.

    Parameters
    ----------
    values : mapping of measure to float64 array
        One value per query, NaN where undefined.
    queries : sequence of ids
    flagged : collection of ids
    note : str, optional

    Returns
    -------
    LeakImpact
        Without ``items_ignored``. Measures whose mean is a micro average are left out and named in a note, since values
        per query do not give it.

    Raises
    ------
    InputError
        No flagged query is among those evaluated.
    """
    out = set(flagged)
    _check_flagged(out, queries)
    is_out = np.array([query in out for query in queries], dtype=np.bool_)
    rows, micro = [], []
    for name, column in values.items():
        average = parse_measure(name).average
        if average == "micro":
            micro.append(name)
            continue
        mean = np.median if average == "median" else np.mean
        means, counts = [], []
        for part in (column, column[~is_out], column[is_out]):
            defined = part[~np.isnan(part)]
            means.append(float(mean(defined)) if len(defined) else math.nan)
            counts.append(len(defined))
        rows.append(ImpactRow(name, means[0], means[1], means[2], counts[0], counts[1], counts[2]))
    notes = [note] if note else []
    if micro:
        notes.append(f"left out, since values per query do not give their mean: {', '.join(micro)}")
    return LeakImpact(tuple(rows), len(queries), int(is_out.sum()), tuple(notes))


def _check_flagged(flagged: set[Id], queries: Iterable[Id]) -> None:
    listed = list(queries)
    if flagged and flagged.isdisjoint(listed):
        raise InputError(
            f"flagged: none of the flagged queries is among those evaluated; flagged are "
            f"{first_few(sorted(map(str, flagged)), 3)}, evaluated {first_few(listed, 3)}; call pictures in leaks and "
            "result alike"
        )


def _words(row: ImpactRow) -> str:
    line = (
        f"{row.measure}: {_number(row.all_queries)} over {row.counted:,} queries, "
        f"{_number(row.without_flagged)} over the {row.counted_without:,} not flagged, "
        f"{_number(row.flagged_only)} over the {row.counted_flagged:,} flagged"
    )
    if row.items_ignored is None or row.difference is None:
        return line
    line += f"; {_number(row.items_ignored)} with leaked items ignored"
    found = row.difference
    if not found.queries:
        return line
    line += f", {found.difference:+.4f} from them"
    if found.interval is not None:
        line += f" [{found.interval.low:+.4f}, {found.interval.high:+.4f}]"
    if found.only_first:
        line += f"; {found.only_first:,} queries have no other right answer"
    return line


def _number(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.4f}"


def _plain(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else value
