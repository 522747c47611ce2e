"""A sweep and what was chosen from it as a part of a report: the front, every setting, the queries that pay."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from markupsafe import Markup

from visual_search.evaluation.text_table import decimals
from visual_search.reports.front_panel import front_panel, ladder_roles
from visual_search.reports.page import Section
from visual_search.reports.rendering import render_part
from visual_search.tuning.choice import Candidate, Choice
from visual_search.tuning.pareto import pareto_front
from visual_search.tuning.sweep_record import Sweep, cost_in_words

__all__ = ["choice_section"]


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
    chosen = choice.chosen
    body = render_part(
        "choice_section.html.j2",
        choice=choice,
        lines=choice.words().split("\n"),
        figures=_figures(choice, sweep, anchor),
        legend=ladder_roles(sweep),
        cost=choice.cost or "cost",
        mean=choice.statistic,
        rows=[_cells(one, choice) for one in choice.candidates],
        label=None if chosen is None else chosen.point.label,
        worst=[] if chosen is None else _worst(sweep, chosen, choice.measure, worst),
        origin=_origin(sweep.header),
    )
    return Section(anchor, title, body)


def _figures(choice: Choice, sweep: Sweep, anchor: str) -> list[tuple[str, Markup]]:
    """Quality against the cost it was chosen by, throughput and size; none where times were not measured."""
    if choice.cost is None:
        return []
    return [
        (
            cost,
            front_panel(
                pareto_front(sweep, choice.measure, cost),
                key=f"{anchor}-{cost.replace('_', '-')}",
                target=choice.target if choice.threshold is None else None,
                chosen=None if choice.chosen is None else choice.chosen.point,
            ),
        )
        for cost in dict.fromkeys((choice.cost, "throughput", "index_bytes"))
    ]


def _cells(one: Candidate, choice: Choice) -> tuple[str, list[str], str]:
    cost = "-" if choice.cost is None else cost_in_words(choice.cost, one.cost)
    verdict = "chosen" if one is choice.chosen else one.status
    return one.point.label, [decimals(one.mean, 4), decimals(one.bound, 4), cost], verdict


def _worst(sweep: Sweep, chosen: Candidate, measure: str, count: int) -> list[tuple[str, str]]:
    values = chosen.point.values[measure]
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
