"""A sweep and what was chosen from it as a part of a report: the front, every setting, the queries that pay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from markupsafe import Markup

from visual_search.errors import FileFormatError, UnknownNameError
from visual_search.evaluation.text_table import decimals
from visual_search.formats.json_shapes import COUNT, NUMBER, TEXT, There, whole
from visual_search.reports.front_panel import front_panel, ladder_roles
from visual_search.reports.page_section import Section, checked
from visual_search.reports.rendering import render_part
from visual_search.tuning.choice import Choice
from visual_search.tuning.pareto import pareto_front
from visual_search.tuning.sweep_point import COST_WORDS, COSTS, SweepPoint
from visual_search.tuning.sweep_record import Sweep, cost_in_words

__all__ = ["choice_record_section", "choice_section", "is_chosen_from", "sweep_section"]

_CANDIDATE = whole(setting=There(TEXT), status=There(TEXT), mean=NUMBER, bound=NUMBER, cost=NUMBER)
_SHAPE = {
    "measure": There(TEXT),
    "target": There(NUMBER),
    "threshold": NUMBER,
    "cost": TEXT,
    "chosen": {"setting": There(TEXT)},
    "candidates": There([There(_CANDIDATE)]),
    "not_finished": [There(whole(setting=There(TEXT), words=There(TEXT)))],
    "validation": {"queries": COUNT, "groups": COUNT},
    "valid_for": {"gallery": TEXT, "queries": TEXT},
    "words": There(TEXT),
}
_COSTS = ("latency_p50", "throughput", "index_bytes")


def choice_section(
    choice: Choice, sweep: Sweep, *, anchor: str = "choice", title: str = "The choice of a setting", worst: int = 10
) -> Section:
    """Make a choice a section for :func:`visual_search.reports.page.write_report`, or for a page of its own.

    Parameters
    ----------
    choice : Choice
    sweep : Sweep
        What it was chosen from.
    anchor, title : str
    worst : int
        So many of the queries with the lowest values under the chosen setting are named.

    Returns
    -------
    Section

    How to read it
    --------------
    In the figure a setting is worth looking at where none to its left (for throughput: to its right) lies higher. The
    verdict is by the lower bound, and not by the mean that is drawn; costs are of one machine in one hour.
    """
    return choice_record_section(choice.as_json(), sweep, anchor=anchor, title=title, worst=worst)


def choice_record_section(
    record: Mapping[str, Any],
    sweep: Sweep | None = None,
    *,
    anchor: str = "choice",
    title: str = "The choice of a setting",
    worst: int = 10,
) -> Section:
    """Make the section of what ``visual-search choose --json`` prints; without its sweep there are no figures.

    Raises
    ------
    FileFormatError
        Values of another kind; all of them are listed.
    """
    choice = checked(record, _SHAPE, title, needed=("measure", "target", "candidates", "words"))
    if (choice["cost"] or "latency_p50") not in COSTS:
        raise FileFormatError(f"{title}: cost {choice['cost']!r} is not known; known: {', '.join(COSTS)}")
    label = choice["chosen"]["setting"] if choice["chosen"] else None
    chosen = None if sweep is None else next((point for point in sweep.points if point.label == label), None)
    costs = [] if choice["cost"] is None else list(dict.fromkeys((choice["cost"], "throughput", "index_bytes")))
    target = choice["target"] if choice["threshold"] is None else None
    body = render_part(
        "choice_section.html.j2",
        anchor=anchor,
        measure=choice["measure"],
        target=target,
        lines=choice["words"].split("\n"),
        figures=[] if sweep is None else _figures(sweep, choice["measure"], costs, anchor, target, chosen),
        legend={} if sweep is None else ladder_roles(sweep),
        columns=["Mean" if choice["threshold"] is None else "Share", "Lower bound", _heading(choice["cost"])],
        rows=[
            *(_cells(one, choice["cost"], label) for one in choice["candidates"]),
            *((one["setting"], ["-", "-", "-"], one["words"]) for one in choice["not_finished"] or ()),
        ],
        label=label,
        worst=[] if sweep is None or chosen is None else _worst(sweep, chosen, choice["measure"], worst),
        origin=[] if sweep is None else _origin(sweep.header),
    )
    return Section(anchor, title, body)


def sweep_section(
    sweep: Sweep, *, measure: str | None = None, anchor: str = "sweep", title: str = "Quality against cost"
) -> Section:
    """Make a sweep from which nothing was chosen a section: its front against three costs, and every setting.

    Parameters
    ----------
    sweep : Sweep
    measure : str, optional
        The sweep's first by default.
    anchor, title : str
    """
    text = sweep.measure(measure)
    costly = bool(sweep.points) and all(point.cost is not None for point in sweep.points)
    known = bool(sweep.points) and not any(np.isnan(point.values[text]).all() for point in sweep.points)
    costs = [cost for cost in _COSTS if costly or cost == "index_bytes"] if known else []
    body = render_part(
        "choice_section.html.j2",
        anchor=anchor,
        measure=text,
        target=None,
        lines=[f"{len(sweep.points)} settings were measured; none was chosen from them here.", *sweep.notes],
        figures=_figures(sweep, text, costs, anchor, None, None),
        legend=ladder_roles(sweep),
        columns=["Mean", "Lowest", *map(_heading, _COSTS)],
        rows=[
            *(_measured(point, text) for point in sweep.points),
            *((one.label, [one.words(), *("-" * (1 + len(_COSTS)))], "") for one in sweep.not_finished),
        ],
        label=None,
        worst=[],
        origin=_origin(sweep.header),
    )
    return Section(anchor, title, body)


def is_chosen_from(record: Mapping[str, Any], sweep: Sweep) -> bool:
    """Whether a choice's record can be of this sweep: the same data, and every setting of the one in the other."""
    valid = record.get("valid_for")
    data = sweep.header.get("data") or {}
    listed = record.get("candidates")
    if not isinstance(valid, Mapping) or not isinstance(listed, list):
        return False
    same = all(
        valid[key] == data[key] for key in ("gallery", "queries", "metric", "k") if key in valid and key in data
    )
    labels = {point.label for point in sweep.points}
    settings = {one.get("setting") for one in listed if isinstance(one, Mapping)}
    return same and settings == labels and str(record.get("measure")) in sweep.measures


def _figures(
    sweep: Sweep,
    measure: str,
    costs: list[str],
    anchor: str,
    target: float | None,
    chosen: SweepPoint | None,
) -> list[tuple[str, Markup]]:
    """Quality against each cost; none where times were not measured."""
    made = []
    for cost in costs:
        try:
            front = pareto_front(sweep, measure, cost)
        except UnknownNameError as problem:
            raise FileFormatError(f"the choice is of another sweep: {problem}") from problem
        key = f"{anchor}-{cost.replace('_', '-')}"
        made.append((COST_WORDS[cost], front_panel(front, key=key, target=target, chosen=chosen)))
    return made


def _heading(cost: str | None) -> str:
    """A cost over a column whose cells have their units."""
    words = "cost" if cost is None else COST_WORDS[cost]
    return words[0].upper() + words[1:]


def _cells(one: Mapping[str, Any], cost: str | None, chosen: str | None) -> tuple[str, list[str], str]:
    price = "-" if cost is None else cost_in_words(cost, one["cost"])
    verdict = "chosen" if one["setting"] == chosen else one["status"]
    return one["setting"], [decimals(one["mean"], 4), decimals(one["bound"], 4), price], verdict


def _measured(point: SweepPoint, measure: str) -> tuple[str, list[str], str]:
    values = point.values[measure]
    known = values[~np.isnan(values)]
    mean, lowest = (float(known.mean()), float(known.min())) if known.size else (None, None)
    costs = [cost_in_words(cost, point.of(cost)) for cost in _COSTS]
    return point.label, [decimals(mean, 4), decimals(lowest), *costs], ""


def _worst(sweep: Sweep, chosen: SweepPoint, measure: str, count: int) -> list[tuple[str, str]]:
    values = chosen.values[measure]
    order = np.argsort(values, kind="stable")[: min(count, int((~np.isnan(values)).sum()))]
    return [(str(sweep.query_ids[row]), decimals(float(values[row]))) for row in order.tolist()]


def _origin(header: Mapping[str, Any]) -> list[str]:
    """On what, how and where the sweep was made, as far as its file says."""
    data, protocol = header["data"], header["protocol"]
    lines = [f"Truth: {data['truth_label']}."] if data.get("truth_label") else []
    costs = protocol.get("costs")
    if costs:
        lines.append(
            f"Latency: up to {costs['queries']:,} different queries one at a time, {costs['runs']} runs, after "
            f"{costs['warm_up']:,} to warm up; threads of a search: {protocol['threads']}, of a build: "
            f"{protocol['build_threads']}."
        )
    for name, told in (("Machine", header.get("machine")), ("Versions", header.get("versions"))):
        if told:
            lines.append(f"{name}: {', '.join(f'{key} {one}' for key, one in told.items())}.")
    return [*lines, *([f"Measured {header['created']}."] if header.get("created") else [])]
