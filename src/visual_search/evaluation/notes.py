"""What a reader of the numbers should know beside them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from visual_search.counted import counted
from visual_search.errors import first_few
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.positions import Positions
from visual_search.evaluation.protocols.preset import Preset
from visual_search.evaluation.result import MeasureResult
from visual_search.evaluation.ties import AnyTies

__all__ = ["beyond_gallery", "notes_on"]


def notes_on(
    positions: Positions,
    measured: Mapping[Measure, MeasureResult],
    ties: AnyTies,
    rules: Preset | None = None,
) -> tuple[str, ...]:
    """Notes on queries that are missing, k beyond the gallery or the lists, and lists cut inside a tie."""
    notes = [] if rules is None else [f"preset {rules.name}: {rules.why}; to be ignored: {rules.exclusions}"]
    notes += [*_missing(positions, rules), *_empty(positions), *_depths(positions, measured), *_cut_ties(positions)]
    if len(positions.judged_grades) and not len(positions.grades) and positions.lengths.any():
        notes.append(
            "no judged item is in any list, so that every measure is at its lowest; check that ranking and truth "
            "name the items alike"
        )
    overridden = [str(measure) for measure, found in measured.items() if found.ties != ties]
    if overridden:
        notes.append(f"ties={ties} does not reach {first_few(overridden)}: their own rule stands in their text")
    return tuple(notes)


def beyond_gallery(positions: Positions, depths: Iterable[int]) -> list[str]:
    """One line for each depth that is more than the whole gallery."""
    size = positions.gallery_size
    return [
        f"k = {k} exceeds the gallery of {counted(size, 'item', 'items')}: values at {k} are those of the full ranking"
        for k in depths
        if k > size
    ]


def _missing(positions: Positions, rules: Preset | None) -> list[str]:
    notes = []
    missing = positions.queries.take(np.flatnonzero(positions.missing).tolist())
    if missing:
        named = first_few(missing)
        dropped = rules is not None and rules.missing == "left out"
        one, many = (
            ("is left out", "are left out") if dropped else ("counts as an empty list", "count as empty lists")
        )
        who = counted(len(missing), "query is missing", "queries are missing")
        notes.append(f"{who} from the ranking and {one if len(missing) == 1 else many}: {named}")
    if positions.unjudged_queries:
        named = first_few(positions.unjudged_queries)
        count = len(positions.unjudged_queries)
        has = "has no relevance entry and was" if count == 1 else "have no relevance entry and were"
        who = counted(count, "query", "queries")
        notes.append(f"{who} of the ranking {has} not evaluated: {named}")
    return notes


def _empty(positions: Positions) -> list[str]:
    empty = positions.queries.take(np.flatnonzero((positions.lengths == 0) & ~positions.missing).tolist())
    if not empty:
        return []
    lists = counted(len(empty), "list is empty", "lists are empty")
    fate = (
        "it scores 0 where a measure is defined" if len(empty) == 1 else "they score 0 where a measure is defined"
    )
    return [f"{lists} (nothing returned, or only what is ignored); {fate}: {first_few(empty)}"]


def _depths(positions: Positions, measured: Mapping[Measure, MeasureResult]) -> list[str]:
    depths = sorted({measure.depth for measure in measured if isinstance(measure.depth, int)})
    there = ~positions.missing
    listed = (positions.lengths + positions.ignored)[there]
    longest = positions.longest_list
    notes = []
    for k in depths:
        # Where the gallery must be counted first, it is only for a k that no list reaches.
        if k > longest and (beyond := beyond_gallery(positions, [k])):
            notes += beyond
        elif short := int((listed < k).sum()):
            who = counted(short, "query, whose value is that", "queries, whose values are those")
            notes.append(f"k = {k} exceeds the list of {who} of the whole list")
    return notes


def _cut_ties(positions: Positions) -> list[str]:
    cut = positions.queries.take(np.flatnonzero(positions.cut_ties).tolist())
    if not cut:
        return []
    lists = counted(
        len(cut), "list is shorter than the gallery and ends", "lists are shorter than the gallery and end"
    )
    seen = "it may have been cut inside a tie" if len(cut) == 1 else "they may have been cut inside a tie"
    fate = "items of that score that are not listed count as not found"
    return [f"{lists} on equal scores; {seen}, and {fate}: {first_few(cut)}"]
