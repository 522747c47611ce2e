"""What the figures of a protocol show, with the same numbers as a table behind each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from markupsafe import Markup

from visual_search.reports.figures import Curve, Spread, change_figure, curve_figure, spread_figure
from visual_search.reports.protocol_groups import ProtocolGroup
from visual_search.reports.systems import Measured, System
from visual_search.reports.wording import counted, short_id, value

__all__ = ["Panel", "change_panel", "curve_panels", "spread_panel"]

_HEADINGS = {
    "HitRate": "At least one right result among the first k",
    "Recall": "Share of all right items found among the first k",
}


@dataclass(frozen=True)
class Panel:
    """A figure with its heading, legend and data.

    Parameters
    ----------
    heading, caption : str
    svg : Markup
    references : list of (role, label)
        Lines beside the systems' own: random order, ceiling.
    columns : list of str
    rows : list of list of str
        The numbers drawn.
    has_legend : bool
        Whether the lines are named below the drawing rather than in it.
    """

    heading: str
    caption: str
    svg: Markup
    references: Sequence[tuple[str, str]]
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    has_legend: bool = True


def curve_panels(group: ProtocolGroup, roles: Mapping[str, str], anchor: str) -> list[Panel]:
    """HitRate@k and Recall@k over the depths that were measured, where there are at least two."""
    panels = []
    for family in ("HitRate", "Recall"):
        names = [name for name in group.measure_names if group.first(name).family == family]
        settings = group.first(names[0]).settings if names else ""
        chosen = [n for n in names if group.first(n).settings == settings and group.first(n).depth is not None]
        if len(chosen) > 1:
            panels.append(_curve_panel(group, chosen, family, roles, anchor))
    return panels


def _curve_panel(
    group: ProtocolGroup, names: Sequence[str], family: str, roles: Mapping[str, str], anchor: str
) -> Panel:
    curves = []
    for system in group.systems:
        points = [system.measures[name] for name in names if name in system.measures]
        if curve := _curve(system.label, roles[system.label], points):
            curves.append(curve)
    firsts = [group.first(name) for name in names]
    references = []
    for role, label, values in (
        ("random", "random order", [one.random for one in firsts]),
        ("ceiling", "best reachable", [one.ceiling for one in firsts]),
    ):
        drawn = [(one.depth, v) for one, v in zip(firsts, values, strict=True) if v is not None]
        if drawn and not (role == "ceiling" and all(v == 1 for _, v in drawn)):
            references.append((role, label))
            curves.append(Curve(label, role, [float(x or 0) for x, _ in drawn], [y for _, y in drawn]))
    heading = f"{family}@k"
    words = _HEADINGS[family]
    svg = curve_figure(
        curves,
        title=f"{heading}{group.after}",
        description=f"{words}, over k, for {_all(curves)}. The table below has the values.",
        key=f"{anchor}-{family.lower()}",
    )
    return Panel(heading, words, svg, references, *_curve_rows(group, names, references))


def _all(named: Sequence[Curve] | Sequence[Spread]) -> str:
    return ", ".join(short_id(one.label) for one in named)


def _curve(label: str, role: str, points: Sequence[Measured]) -> Curve | None:
    drawn = [one for one in points if one.mean is not None]
    if not drawn:
        return None
    return Curve(
        label,
        role,
        [float(one.depth or 0) for one in drawn],
        [one.mean or 0.0 for one in drawn],
        [one.interval["low"] if one.interval else None for one in drawn],
        [one.interval["high"] if one.interval else None for one in drawn],
    )


def _curve_rows(
    group: ProtocolGroup, names: Sequence[str], references: Sequence[tuple[str, str]]
) -> tuple[list[str], list[list[str]]]:
    columns = ["k", *(system.label for system in group.systems), *(label for _, label in references)]
    rows = []
    for name in names:
        first = group.first(name)
        row = [str(first.depth), *(_with_interval(one) for one in group.measured(name))]
        row += [value(first.random if role == "random" else first.ceiling) for role, _ in references]
        rows.append(row)
    return columns, rows


def _with_interval(one: Measured | None) -> str:
    if one is None:
        return value(None)
    span = f" ({value(one.interval['low'])} to {value(one.interval['high'])})" if one.interval else ""
    return value(one.mean) + span


def spread_panel(group: ProtocolGroup, roles: Mapping[str, str], anchor: str) -> list[Panel]:
    """The spread of per-query average precision, one histogram a system; none where no query has a value."""
    spreads = [
        Spread(system.label, roles[system.label], [v.ap for v in system.per_query if v.ap is not None])
        for system in group.systems
    ]
    if not any(len(one.values) for one in spreads):
        return []
    heading = "Average precision, query by query"
    svg = spread_figure(
        spreads,
        title=f"{heading}{group.after}",
        description=f"Histograms of {_all(spreads)}; a line marks the mean. The table below has the counts.",
        key=f"{anchor}-spread",
    )
    edges = np.linspace(0, 1, 11)
    counts = [np.histogram(np.asarray(one.values), bins=edges)[0] for one in spreads]
    rows = [
        [f"{edges[b]:.1f} to {edges[b + 1]:.1f}", *(counted(int(c[b])) for c in counts)]
        for b in range(len(edges) - 1)
    ]
    columns = ["value", *(f"{one.label}, queries" for one in spreads)]
    return [Panel(heading, "How the queries spread over the values", svg, [], columns, rows, has_legend=False)]


def change_panel(
    pairs: Sequence[tuple[tuple[System, System], str]], group: ProtocolGroup, anchor: str
) -> list[Panel]:
    """How average precision changes from one system to another, query by query; one row of bars a pair.

    Parameters
    ----------
    pairs : sequence of ((System, System), str)
        From which system to which, and the role it is drawn in.
    group : ProtocolGroup
    anchor : str
        What ids inside the drawing begin with.
    """
    spreads = []
    for (first, second), role in pairs:
        theirs = {one.query: one.ap for one in second.per_query}
        both = [(one.ap, theirs.get(one.query)) for one in first.per_query]
        changes = [after - before for before, after in both if before is not None and after is not None]
        if changes:
            spreads.append(Spread(second.label, role, changes))
    if not spreads:
        return []
    against = pairs[0][0][0].label
    heading = "Change of average precision, query by query"
    svg = change_figure(
        spreads,
        title=f"{heading}{group.after}",
        description=f"Of {_all(spreads)}, each against {short_id(against)}. The table below has the counts.",
        key=f"{anchor}-change",
    )
    edges = np.linspace(-1, 1, 11)
    counts = [_changed(np.asarray(one.values), edges) for one in spreads]
    names = [f"{edges[b]:.1f} to {edges[b + 1]:.1f}".replace("-", "\u2212") for b in range(10)]
    names[5:5] = ["0, unchanged"]
    rows = [[name, *(counted(c[row]) for c in counts)] for row, name in enumerate(names)]
    columns = ["change", *(f"{one.label}, queries" for one in spreads)]
    caption = f"Against {short_id(against, 40)}: right of the line better, left of it worse"
    return [Panel(heading, caption, svg, [], columns, rows, has_legend=False)]


def _changed(changes: npt.NDArray[np.float64], edges: npt.NDArray[np.float64]) -> list[int]:
    """Queries in each step of change, those that did not change by themselves in the middle."""
    found = [int(one) for one in np.histogram(changes[changes != 0], bins=edges)[0]]
    return [*found[:5], int((changes == 0).sum()), *found[5:]]
