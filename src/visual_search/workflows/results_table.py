"""All results as a table over time: chosen columns, sorted, filtered, each against the pinned baseline."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from visual_search.catalogue.entry import Entry
from visual_search.catalogue.notes_file import LONGEST_NOTE
from visual_search.errors import InputError, first_few
from visual_search.evaluation.compared import higher_is_better
from visual_search.reports.history_figure import HistoryLine, HistoryPoint, history_figure
from visual_search.reports.systems import Measured
from visual_search.reports.wording import plural, short_id, value
from visual_search.workflows.comparable_results import ComparableGroups
from visual_search.workflows.explored_results import ExploredResults
from visual_search.workflows.result_differences import difference_to

__all__ = ["FACTS", "TableRequest", "results_table"]

#: Facts that may be columns, with their heads.
FACTS = {
    "time": "Measured",
    "dataset": "Dataset",
    "protocol": "Protocol",
    "queries": "Queries",
    "gallery": "Gallery",
    "embedder": "Embedder",
    "engine": "Engine",
    "metric": "Metric",
    "ties": "Ties",
    "rules": "Rules",
    "truth": "Right answers",
    "warnings": "Warnings",
    "file": "File",
}
_NUMBERS = {"queries", "gallery", "warnings"}
_SHOWN = 100  # rows of one page
_SERIES = 8
_DRAWN = 3  # rises where the figure is drawn in another way, so that kept ones are drawn anew
_PATIENCE = 0.06  # seconds in which differences are made while the page waits


@dataclass(frozen=True, slots=True)
class TableRequest:
    """What is to be shown.

    Attributes
    ----------
    columns : sequence of str
        Facts and canonical texts of measures; a sensible choice where empty.
    sort : str
        A column, or ``name``, ``difference``, ``note``; with ``-`` before it from the highest down.
    text : str
        What model, file, note, dataset or protocol must hold.
    protocol, dataset : str
        Only results of these; all where empty.
    measure : str
        Of the figure and of the differences; the first that most results have where empty.
    page : int
        From 1.
    """

    columns: Sequence[str] = ()
    sort: str = "-time"
    text: str = ""
    protocol: str = ""
    dataset: str = ""
    measure: str = ""
    page: int = 1


def results_table(
    explored: ExploredResults, request: TableRequest, *, link: Callable[[str], str]
) -> dict[str, Any]:
    """The table's data as a JSON value; its figure is text of an ``<svg>``.

    Parameters
    ----------
    explored : ExploredResults
    request : TableRequest
    link : callable
        Address of a result's page by its key.

    Raises
    ------
    InputError
        A column, measure or order that is not there.
    """
    waiting = explored.refreshed()
    entries = explored.entries()
    measures = _measures(entries)
    _check(request, measures)
    measure = request.measure or _leading(measures)
    columns = list(request.columns) or _usual(measures, measure)
    chosen = [entry for entry in entries if _matches(entry, request)]
    groups = ComparableGroups(entries)
    until = time.monotonic() + _PATIENCE
    rows = [
        _row(entry, columns)
        | {"difference": difference_to(explored, entry, groups, measure, at_once=time.monotonic() < until)}
        for entry in chosen
    ]
    _sort(rows, chosen, request.sort)
    pages = max(1, -(-len(rows) // _SHOWN))
    page = min(request.page, pages)
    return {
        "waiting": waiting,
        "working": explored.busy,
        "problems": explored.shelf.problems(),
        "unreadable": sum(entry.problem is not None for entry in chosen),
        "total": len(entries),
        "found": len(rows),
        "page": page,
        "pages": pages,
        "columns": [_column(name) for name in columns],
        "available": [_column(name) | {"chosen": name in columns} for name in [*FACTS, *measures]],
        "sort": request.sort,
        "text": request.text,
        "protocol": request.protocol,
        "dataset": request.dataset,
        "protocols": _values(entries, "protocol"),
        "datasets": _values(entries, "dataset"),
        "measure": measure,
        "measures": list(measures),
        "rows": rows[(page - 1) * _SHOWN : page * _SHOWN],
        "pending": any(row["difference"] and row["difference"]["pending"] for row in rows),
        "figure": _figure(explored, chosen, groups, measure, link),
        "lone_notes": [
            {"file": file, "text": note.text, "time": note.time}
            for file, note in explored.shelf.lone_notes().items()
        ],
        "longest_note": LONGEST_NOTE,
    }


def _measures(entries: Sequence[Entry]) -> dict[str, int]:
    """Every measure with how many results have it, in the order in which they come."""
    counts: dict[str, int] = {}
    for entry in entries:
        for text in entry.measures:
            counts[text] = counts.get(text, 0) + 1
    return counts


def _check(request: TableRequest, measures: Mapping[str, int]) -> None:
    known = {*FACTS, *measures}
    if unknown := [name for name in request.columns if name not in known]:
        raise InputError(f"column: {first_few(unknown)}; there are {', '.join([*FACTS, *measures])}")
    if request.measure and request.measure not in measures:
        raise InputError(f"measure: {request.measure[:100]!r}; there are {', '.join(measures)}")
    sortable = known | {"name", "difference", "note"}
    if request.sort.removeprefix("-") not in sortable:
        raise InputError(
            f"sort: {request.sort[:100]!r}; there are {', '.join(sorted(sortable))}, each also with - before"
        )


def _leading(measures: Mapping[str, int]) -> str:
    """The deepest AP among what most results have, else their first measure."""
    if not measures:
        return ""
    most = max(measures.values())
    common = [text for text, count in measures.items() if count == most]
    precisions = [text for text in common if text.startswith("AP(")]
    return precisions[-1] if precisions else common[0]


def _usual(measures: Mapping[str, int], measure: str) -> list[str]:
    """Columns where none are chosen: when, on what, how many queries, and the first hit rate beside the measure."""
    hit_rates = [text for text in measures if text.startswith("HitRate")]
    return ["time", "protocol", "queries", *dict.fromkeys([*hit_rates[:1], *([measure] if measure else [])])]


def _matches(entry: Entry, request: TableRequest) -> bool:
    for fact, wanted in (("protocol", request.protocol), ("dataset", request.dataset)):
        if wanted and entry.facts.get(fact) != wanted:
            return False
    words = request.text.casefold().split()
    told = (entry.name, entry.file, entry.note.text, entry.facts.get("dataset"), entry.facts.get("protocol"))
    whole = "\n".join(str(one) for one in told if one).casefold()
    return all(word in whole for word in words)


def _row(entry: Entry, columns: Sequence[str]) -> dict[str, Any]:
    return {
        "key": entry.key,
        "name": entry.name,
        "file": entry.file,
        "problem": entry.problem,
        "note": {"text": entry.note.text, "version": entry.note.version, "time": entry.note.time},
        "pinned": entry.pinned > 0,
        "unproven": bool(entry.facts.get("unproven")),
        "warnings": entry.facts.get("warnings") or 0,
        "cells": [_cell(entry, name) for name in columns],
    }


def _cell(entry: Entry, name: str) -> dict[str, Any]:
    if name == "time":
        return {"kind": "time", "value": entry.time.strftime("%Y-%m-%d %H:%M")}
    if name == "file":
        return {"kind": "text", "value": entry.file}
    if name in FACTS:
        return {"kind": "count" if name in _NUMBERS else "text", "value": entry.facts.get(name)}
    mean = entry.measures.get(name)
    if mean is None:
        return {"kind": "measure", "value": None, "low": None, "high": None, "undefined": None}
    return {"kind": "measure", "value": mean.mean, "low": mean.low, "high": mean.high, "undefined": mean.undefined}


def _sort(rows: list[dict[str, Any]], entries: Sequence[Entry], sort: str) -> None:
    """Order rows in place; what has no value comes last either way, equal ones by file."""
    name, down = sort.removeprefix("-"), sort.startswith("-")
    by_key = {entry.key: entry for entry in entries}

    def place(row: dict[str, Any]) -> Any:
        entry = by_key[row["key"]]
        if entry.problem:
            return None
        if name == "time":
            return entry.time.timestamp()
        if name == "difference":
            return (row["difference"] or {}).get("difference")
        if name in ("name", "note", "file"):
            text = {"name": entry.name, "note": entry.note.text, "file": entry.file}[name]
            return text.casefold() or None
        found = entry.measures[name].mean if name in entry.measures else entry.facts.get(name)
        return found.casefold() if isinstance(found, str) else found

    rows.sort(key=lambda row: row["file"])
    valued = [row for row in rows if place(row) is not None]
    empty = [row for row in rows if place(row) is None]
    rows[:] = sorted(valued, key=place, reverse=down) + sorted(empty, key=lambda row: row["problem"] is not None)


def _column(name: str) -> dict[str, Any]:
    if name in FACTS:
        return {"name": name, "title": FACTS[name], "kind": "count" if name in _NUMBERS else "text"}
    return {"name": name, "title": Measured(name, None, "").title, "kind": "measure"}


def _values(entries: Sequence[Entry], fact: str) -> list[str]:
    return sorted({str(entry.facts[fact]) for entry in entries if entry.facts.get(fact)})


def _figure(
    explored: ExploredResults,
    entries: Sequence[Entry],
    groups: ComparableGroups,
    measure: str,
    link: Callable[[str], str],
) -> dict[str, Any] | None:
    """The measure over time, with what each line's results have in common; None where nothing can be drawn."""
    drawn: dict[int, list[HistoryPoint]] = {}
    firsts: dict[int, Entry] = {}
    for entry in entries:
        mean = entry.measures.get(measure)
        if mean is not None and mean.mean is not None:
            group = groups.of(entry)
            firsts.setdefault(group, entry)
            told = f"{short_id(entry.name)}, {entry.time:%Y-%m-%d %H:%M}, {value(mean.mean)}"
            point = HistoryPoint(entry.time, mean.mean, mean.low, mean.high, told, link(entry.key))
            drawn.setdefault(group, []).append(point)
    if not drawn:
        return None
    largest = sorted(drawn, key=lambda group: -len(drawn[group]))
    roles = {group: f"series-{min(place, _SERIES)}" for place, group in enumerate(largest, start=1)}
    lines = []
    for group in largest:
        own = roles[group] != f"series-{_SERIES}" or len(largest) <= _SERIES
        # Beyond the colours there are, results share the last one and are not joined.
        joined = own and groups.joins(firsts[group])
        parts = [drawn[group]] if joined else [[point] for point in drawn[group]]
        lines += [HistoryLine(roles[group], part) for part in parts]
    title = Measured(measure, None, "").title
    direction = "Higher is better." if higher_is_better(measure) else "Lower is better."
    described = f"{plural(sum(map(len, drawn.values())), 'result')}, each a link. {direction}"
    svg = explored.kept_or_later(
        [_DRAWN, title, described, [[line.role, [_told(point) for point in line.points]] for line in lines]],
        lambda: str(history_figure(lines, title=f"{title} over time", description=described, key="history")),
        at_once=True,
        kind="figures 1",
    )
    return {
        "title": title,
        "direction": direction,
        "svg": Markup(svg),  # noqa: S704 - drawn by history_figure, which escapes
        "lines": [
            {"role": roles[group], "words": _in_common(firsts[group]), "results": len(drawn[group])}
            for group in largest[:_SERIES]
        ],
        "others": max(0, len(largest) - _SERIES),
    }


def _told(point: HistoryPoint) -> list[Any]:
    return [point.time.isoformat(), point.value, point.low, point.high, point.name, point.link]


def _in_common(entry: Entry) -> str:
    facts = entry.facts
    dataset, protocol = str(facts.get("dataset") or ""), str(facts.get("protocol") or "")
    # Many datasets are named with their protocol.
    named = [one for one in (dataset, protocol if protocol not in dataset else "") if one]
    told = [plural(facts["queries"], "query", "queries")]
    if facts.get("gallery"):
        told.append(f"{facts['gallery']:,} items")
    if facts.get("metric"):
        told.append(str(facts["metric"]))
    return ", ".join([*named, *told])
