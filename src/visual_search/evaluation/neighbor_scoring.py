"""Evaluates what an index returned against the exact neighbours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from visual_search.counted import counted
from visual_search.errors import InputError, first_few
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.neighbor_measure import NeighborMeasure
from visual_search.evaluation.neighbor_joining import neighbor_positions
from visual_search.evaluation.neighbor_positions import EMPTY, REPEATED, NeighborPositions
from visual_search.evaluation.protocols.preset import Preset
from visual_search.evaluation.result import IntervalMaker, MeasureResult, Result
from visual_search.evaluation.returned_lists import ReturnedLists
from visual_search.evaluation.slices import Attribute, group_codes
from visual_search.evaluation.ties import TieRule
from visual_search.ground_truth.exact_neighbors import ExactNeighbors

__all__ = ["evaluate_neighbors", "notes_on_neighbors"]


def evaluate_neighbors(
    ranking: Any,
    truth: ExactNeighbors,
    measures: Sequence[Measure],
    *,
    ties: TieRule | None = None,
    rules: Preset | None = None,
    groups: Attribute | None = None,
    interval: IntervalMaker | None = None,
) -> Result:
    """Measure what an index returned against the exact neighbours; what `evaluate` does with such a truth.

    Raises
    ------
    InputError
        Measures that read relevance, a tie rule for equal scores, or lists that do not fit the truth.
    DepthError
        k beyond the gallery or the truth.
    """
    chosen = _neighbor_measures(measures, ties)
    if isinstance(ranking, ExactNeighbors):
        raise InputError("the ranking comes first and the truth second; got exact neighbours as the ranking")
    table = neighbor_positions(ReturnedLists.of(ranking), truth)
    codes = None if groups is None else group_codes(groups, table.queries)
    measured: dict[Measure, MeasureResult] = {}
    for measure in chosen:
        parts = measure.neighbor_values(table)
        undefined = np.flatnonzero(~parts.defined)
        measured[measure] = MeasureResult(
            measure=measure,
            parts=parts,
            mean=measure.mean(parts),
            counted=len(table) - len(undefined),
            undefined=len(undefined),
            undefined_queries=tuple(table.queries.take(undefined.tolist())),
            ties=measure.tie_words(),
            interval=None if interval is None else interval(measure, parts, codes),
        )
    notes = [] if rules is None else [f"preset {rules.name}: {rules.why}; to be ignored: {rules.exclusions}"]
    return Result(
        table.queries,
        measured,
        ties="exact",
        preset=rules.name if rules else None,
        reader=rules.read if rules else None,
        missing_queries=tuple(table.queries.take(np.flatnonzero(table.missing).tolist())),
        unjudged_queries=table.unknown_queries,
        notes=(
            *notes,
            *notes_on_neighbors(table, max(measure.k_number for measure in chosen)),
            *_remarks(chosen, table),
        ),
    )


def _neighbor_measures(measures: Sequence[Measure], ties: TieRule | None) -> list[NeighborMeasure]:
    wrong = [str(measure) for measure in measures if not isinstance(measure, NeighborMeasure)]
    if wrong:
        raise InputError(
            f"{first_few(wrong)}: not a measure of exact neighbours, which say what is nearest and not what is "
            "relevant; use NeighborRecall, LowNeighborRecall or DistanceRatio, or give people's relevance"
        )
    if ties is not None:
        raise InputError(
            f"ties={ties!r} is about items a system scored alike, and the recall of an index does not read scores; "
            "write what is meant into the measure, as in NeighborRecall(ties=strict)@10"
        )
    return [measure for measure in measures if isinstance(measure, NeighborMeasure)]


def _remarks(measures: Sequence[NeighborMeasure], table: NeighborPositions) -> list[str]:
    # Measures that differ in their average only would say the same again.
    said: dict[str, None] = {}
    seen: set[tuple[Any, ...]] = set()
    for measure in measures:
        key = (measure.k_number, getattr(measure, "nearest", None), measure.ties, measure.name == "DistanceRatio")
        if key not in seen:
            seen.add(key)
            said |= dict.fromkeys(measure.remarks(table))
    return list(said)


def notes_on_neighbors(table: NeighborPositions, k: int) -> list[str]:
    """What a reader of any recall against this truth should know; k is how deep the lists are read."""

    def named(chosen: Any) -> str:
        return first_few(table.queries.take(np.flatnonzero(chosen).tolist()))

    notes = [f"truth: {table.label}"]
    if table.missing.any():
        who = counted(int(table.missing.sum()), "query has no list and counts", "queries have no list and count")
        notes.append(f"{who} as empty: {named(table.missing)}")
    if table.unknown_queries:
        who = counted(len(table.unknown_queries), "list is", "lists are")
        notes.append(
            f"{who} of queries that the truth does not have, not evaluated: {first_few(table.unknown_queries)}"
        )
    unproven = ~table.certified
    if unproven.any():
        who = counted(int(unproven.sum()), "query is", "queries are")
        notes.append(f"the exact answers of {who} not certified: {named(unproven)}")
    longer = (table.lengths > k).sum()
    if longer:
        notes.append(
            f"{counted(int(longer), 'list is', 'lists are')} longer than k = {k}; what is beyond is not read"
        )
    inside = table.place_in_list < k
    for mark, words in ((EMPTY, "empty places (-1)"), (REPEATED, "repeated ids")):
        wrong = np.bincount(table.query_of_place[inside & (table.ranks == mark)], minlength=len(table)) > 0
        if wrong.any():
            who = counted(int(wrong.sum()), "list has", "lists have")
            notes.append(f"{who} {words}, which are misses: {named(wrong)}")
    few = table.answers < min(k, table.depth)
    if few.any():
        who = counted(int(few.sum()), "query", "queries")
        notes.append(
            f"the filters of {who} leave fewer than {k} items, which are then all that is asked for: {named(few)}"
        )
    return notes
