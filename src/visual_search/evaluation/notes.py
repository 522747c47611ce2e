"""What a reader of the numbers should know beside them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from visual_search.errors import first_few
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.positions import Positions
from visual_search.evaluation.protocols.preset import Preset
from visual_search.evaluation.result import MeasureResult
from visual_search.evaluation.ties import TieRule

__all__ = ["notes_on"]


def notes_on(
    positions: Positions,
    measured: Mapping[Measure, MeasureResult],
    ties: TieRule,
    rules: Preset | None = None,
) -> tuple[str, ...]:
    """Notes on queries that are missing, k beyond the gallery or the lists, and lists cut inside a tie."""
    notes = [] if rules is None else [f"preset {rules.name}: {rules.why}; to be ignored: {rules.exclusions}"]
    notes += [*_missing(positions, rules), *_depths(positions, measured), *_cut_ties(positions)]
    if len(positions.judged_grades) and not len(positions.grades) and positions.lengths.any():
        notes.append(
            "no judged item is in any list, so that every measure is at its lowest; check that ranking and truth "
            "name the items alike"
        )
    overridden = [str(measure) for measure, found in measured.items() if found.ties != ties]
    if overridden:
        notes.append(f"ties={ties} does not reach {first_few(overridden)}: their own rule stands in their text")
    return tuple(notes)


def _missing(positions: Positions, rules: Preset | None) -> list[str]:
    notes = []
    missing = positions.queries.take(np.flatnonzero(positions.missing).tolist())
    if missing:
        named = first_few(missing)
        dropped = rules is not None and rules.missing == "left out"
        fate = "are left out" if dropped else "count as empty lists"
        notes.append(f"{len(missing)} queries are missing from the ranking and {fate}: {named}")
    if positions.unjudged_queries:
        named = first_few(positions.unjudged_queries)
        count = len(positions.unjudged_queries)
        notes.append(f"{count} queries of the ranking have no relevance entry and were not evaluated: {named}")
    return notes


def _depths(positions: Positions, measured: Mapping[Measure, MeasureResult]) -> list[str]:
    depths = sorted({measure.depth for measure in measured if isinstance(measure.depth, int)})
    there = ~positions.missing
    listed = (positions.lengths + positions.ignored)[there]
    longest = int(listed.max(initial=0))
    notes = []
    for k in depths:
        # Where the gallery must be counted first, it is only for a k that no list reaches.
        if k > longest and k > positions.gallery_size:
            gallery = f"the gallery of {positions.gallery_size} items"
            notes.append(f"k = {k} exceeds {gallery}: values at {k} are those of the full ranking")
        elif short := int((listed < k).sum()):
            notes.append(f"k = {k} exceeds the list of {short} queries, whose values are those of the whole list")
    return notes


def _cut_ties(positions: Positions) -> list[str]:
    cut = positions.queries.take(np.flatnonzero(positions.cut_ties).tolist())
    if not cut:
        return []
    note = (
        f"{len(cut)} lists are shorter than the gallery and end on equal scores, so that they may have been cut "
        f"inside a tie, of which only the listed part is seen: {first_few(cut)}"
    )
    return [note]
