"""Stored results side by side: first whether they can be compared, then what differs, query by query."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from visual_search.catalogue.opened import OpenedResult
from visual_search.errors import FingerprintError, InputError, UnknownNameError, VisualSearchError
from visual_search.evaluation.comparability import differences
from visual_search.evaluation.compared import ComparedResult, canonical
from visual_search.evaluation.comparison_sides import common_queries
from visual_search.evaluation.contrast import bare_contrast, paired_sums
from visual_search.ids import Id
from visual_search.reports.systems import Measured, load_systems
from visual_search.workflows.explored_results import ExploredResults
from visual_search.workflows.result_differences import comparison_of, names_of

__all__ = ["LEAST", "compare_choice", "compare_view"]

#: What it was measured on, part by part.
_PARTS = {
    "gallery": "items that were searched",
    "queries": "what was asked",
    "relevance": "right answers",
    "exclusions": "what is left out of the lists",
    "metric": "how likeness is measured",
    "ties": "rule for equal scores",
    "preset": "rules for queries without right answers",
}
_SHOWN = 10
#: Results that make a comparison.
LEAST = 2


def compare_choice(explored: ExploredResults, keys: Sequence[str]) -> dict[str, Any]:
    """What the page shows where too few results are chosen: those that are, and how many it takes.

    Raises
    ------
    UnknownIdError
        No such result.
    """
    opened = explored.chosen(keys, least=0)
    names = names_of([one.entry for one in opened])
    about = [_about(one, name, number) for number, (one, name) in enumerate(zip(opened, names, strict=True))]
    return {"results": about, "least": LEAST, "to_choose": True}


def compare_view(
    explored: ExploredResults,
    keys: Sequence[str],
    *,
    measures: Sequence[str] = (),
    by: str = "",
    despite: str | None = None,
) -> dict[str, Any]:
    """What the page of a comparison shows, as a JSON value.

    Differences stand there at once; intervals and p-values of large results are computed behind the page's back and
    ``pending`` until then.

    Parameters
    ----------
    explored : ExploredResults
    keys : sequence of str
        Two to eight results; the first is what the others are compared with.
    measures : sequence of str
        Text forms; a usual choice of those that all have where empty.
    by : str
        The measure by which changed queries are named; the first of AP, or the first.
    despite : str, optional
        Reason for comparing what is not comparable.

    Raises
    ------
    InputError
        Too few or too many results.
    UnknownIdError
        No such result.
    UnknownNameError
        A measure that not all of them have per query.
    """
    opened = explored.chosen(keys, least=LEAST)
    names = names_of([one.entry for one in opened])
    common = [name for name in opened[0].measure_names if all(name in one.measure_names for one in opened[1:])]
    chosen = _chosen(measures, common)
    by = (
        canonical(by)
        if by
        else next((name for name in chosen if name.startswith("AP(")), chosen[0] if chosen else "")
    )
    if by and by not in chosen:
        raise UnknownNameError(f"by: {by[:100]!r} is not among the measures compared: {', '.join(chosen)}")
    told: dict[str, Any] = {
        "results": [
            _about(one, name, number) for number, (one, name) in enumerate(zip(opened, names, strict=True))
        ],
        "to_choose": False,
        "parts": _parts(opened),
        "available": [{"name": name, "title": Measured(name, None, "").title} for name in common],
        "measures": chosen,
        "by": by,
        "despite": despite,
        "refused": None if chosen else "the results have no measure per query in common",
        "differences": [],
        "pending": False,
        "contrasts": [],
        "notes": [],
        "left_out": {},
        "definitions": _definitions(opened, chosen),
    }
    if chosen:
        told |= _compared(explored, opened, names, chosen, despite)
    told["changed"] = [one for one in told["contrasts"] if one["measure"] == by]
    return told


def _definitions(opened: Sequence[OpenedResult], chosen: Sequence[str]) -> list[dict[str, Any]]:
    """What each measure means, in the words of the first result that tells."""
    measured: dict[str, Measured] = {}
    for system in load_systems([one.stored for one in opened]):
        for name, one in system.measures.items():
            measured.setdefault(canonical(name), one)
    told = [(name, measured[name]) for name in chosen if name in measured and measured[name].words]
    return [
        {"number": number, "title": one.title, "text": name, "words": one.words}
        for number, (name, one) in enumerate(told, start=1)
    ]


def _compared(
    explored: ExploredResults,
    opened: Sequence[OpenedResult],
    names: Sequence[str],
    chosen: Sequence[str],
    despite: str | None,
) -> dict[str, Any]:
    found = comparison_of(explored, opened, chosen, despite)
    if found is not None and "refused" not in found:
        return {key: found[key] for key in ("contrasts", "notes", "left_out", "differences")}
    try:
        sides = [ComparedResult.of(one.stored, name) for one, name in zip(opened, names, strict=True)]
    except VisualSearchError as problem:
        return {"refused": str(problem)}
    differ = [said for other in sides[1:] for said in differences(sides[0], other)]
    if found is not None or (differ and not despite):
        return {"differences": differ, "refused": "" if differ else found["refused"] if found else ""}
    try:
        return {"pending": True, "contrasts": _bare(sides, chosen), "differences": differ}
    except (InputError, FingerprintError) as problem:
        return {"refused": str(problem)}


def _bare(sides: Sequence[ComparedResult], chosen: Sequence[str]) -> list[dict[str, Any]]:
    """Differences without what resampling tells."""
    queries: Sequence[Id] = common_queries(sides)
    first, *others = [side.at(queries) if side.queries != queries else side for side in sides]
    made = []
    for other in others:
        for measure in chosen:
            column = paired_sums(other, first, measure)
            if column is not None:
                one = bare_contrast(column, queries, shown=_SHOWN)
                made.append(one.as_json() | {"better": one.better})
    return made


def _chosen(measures: Sequence[str], common: Sequence[str]) -> list[str]:
    wanted = list(dict.fromkeys(map(canonical, measures)))
    if unknown := [name for name in wanted if name not in common]:
        raise UnknownNameError(
            f"measure: {', '.join(name[:100] for name in unknown)} not measured per query in all of them; there are "
            f"{', '.join(common)}"
        )
    if wanted:
        return wanted
    families: dict[str, list[str]] = {}
    for name in common:
        families.setdefault(Measured(name, None, "").family, []).append(name)
    # Of each family the deepest, and of hit rates the first: does the very first result become right?
    deepest = [names[0] if family == "HitRate" else names[-1] for family, names in families.items()]
    return deepest[:6]


def _about(opened: OpenedResult, name: str, number: int) -> dict[str, Any]:
    entry = opened.entry
    return {
        "key": entry.key,
        "name": name,
        "file": entry.file,
        "time": entry.time.strftime("%Y-%m-%d %H:%M"),
        "note": entry.note.text,
        "role": f"series-{number % 8 + 1}",
        "queries": entry.facts.get("queries"),
        "unproven": bool(entry.facts.get("unproven")),
    }


def _parts(opened: Sequence[OpenedResult]) -> list[dict[str, Any]]:
    """For each part of what was measured on, whether all say the same."""
    found = []
    for part, words in _PARTS.items():
        values = [one.entry.parts.get(part) for one in opened]
        told = [value for value in values if value is not None]
        untold = part not in ("exclusions", "preset") and len(told) < len(values)
        state = "not told" if untold else "same" if len(set(values)) == 1 else "different"
        found.append({"part": part, "words": words, "state": state, "values": [_short(value) for value in values]})
    return found


def _short(value: str | None) -> str | None:
    return value if value is None or not value.startswith("sha256:") else value[7:19]
