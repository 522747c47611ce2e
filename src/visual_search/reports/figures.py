"""Figures of values over depths, and of values query by query."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from markupsafe import Markup

from visual_search.reports.page_drawing import HEIGHT, ROLE_COLOURS, TEXT_SIZE, canvas, drawing, line_style
from visual_search.reports.wording import short_id, value

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["Curve", "Spread", "change_figure", "curve_figure", "spread_figure"]


@dataclass(frozen=True)
class Curve:
    """One line of a figure.

    Parameters
    ----------
    label : str
    role : str
        ``series-1`` ... ``series-8``, ``random`` or ``ceiling``.
    xs, ys : sequence of float, equal lengths
    lows, highs : sequence of float or None, optional
        Interval at each point; None where there is none.
    """

    label: str
    role: str
    xs: Sequence[float]
    ys: Sequence[float]
    lows: Sequence[float | None] = ()
    highs: Sequence[float | None] = ()


@dataclass(frozen=True)
class Spread:
    """One system's per-query values, each in [0, 1]."""

    label: str
    role: str
    values: Sequence[float]


def curve_figure(
    curves: Sequence[Curve],
    *,
    title: str,
    description: str,
    key: str,
    axis: str = "first k results",
    linear: bool = False,
) -> Markup:
    """Draw values over the number of results looked at.

    Parameters
    ----------
    curves : sequence of Curve
        Their x are depths k, on a logarithmic axis with a tick at each; or shares in [0, 1] with ``linear``.
    title, description : str
        What a screen reader says; the title also heads the drawing.
    key : str
        Distinct on the page; ids inside the drawing begin with it.
    axis : str
        What is along the x axis.
    linear : bool
        Whether x are shares.

    Returns
    -------
    Markup
        ``<svg>``, the same for the same input.
    """
    figure, axes = canvas()
    depths = sorted({x for curve in curves for x in curve.xs})
    for curve in curves:
        _draw_curve(axes, curve)
    if linear:
        axes.set_xlim(-0.02, 1.03)
        axes.set_xticks(np.linspace(0, 1, 6), ["0", ".2", ".4", ".6", ".8", "1"])
    else:
        axes.set_xscale("log")
        axes.set_xticks(depths, [f"{depth:g}" for depth in depths])
        axes.minorticks_off()
    if len(depths) > 1 and not linear:
        margin = (depths[-1] / depths[0]) ** 0.05
        axes.set_xlim(depths[0] / margin, depths[-1] * margin)
    axes.set_ylim(-0.02, 1.03)
    axes.set_yticks(np.linspace(0, 1, 6), ["0", ".2", ".4", ".6", ".8", "1"])
    axes.grid(axis="y", color=ROLE_COLOURS["rule"], linewidth=0.8)
    axes.set_xlabel(axis, color=ROLE_COLOURS["muted"], labelpad=3)
    return drawing(figure, title, description, key)


def spread_figure(spreads: Sequence[Spread], *, title: str, description: str, key: str) -> Markup:
    """Draw histograms of per-query values, one system under another on one axis, the mean marked.

    Parameters
    ----------
    spreads : sequence of Spread
    title, description, key : str
        As for :func:`curve_figure`.
    """
    figure, axes = canvas(max(HEIGHT, 54 + 40 * len(spreads)))
    edges = np.linspace(0, 1, 21)
    shares = [np.histogram(np.asarray(one.values), bins=edges)[0] / max(len(one.values), 1) for one in spreads]
    tallest = max((share.max() for share in shares), default=0.0) or 1.0
    for row, (one, share) in enumerate(zip(spreads, shares, strict=True)):
        base = float(len(spreads) - 1 - row)
        colour = ROLE_COLOURS[one.role]
        heights = share / tallest * 0.66
        axes.bar(edges[:-1] + 0.025, heights, width=0.042, bottom=base, color=colour, alpha=0.75, linewidth=0)
        axes.axhline(base, color=ROLE_COLOURS["rule"], linewidth=0.8, zorder=0)
        if len(one.values):
            mean = float(np.mean(np.asarray(one.values)))
            axes.plot([mean, mean], [base, base + 0.7], color=ROLE_COLOURS["ink"], linewidth=1.3)
        axes.text(0, base + 0.76, f"label {row}", color=ROLE_COLOURS["ink"], fontsize=TEXT_SIZE)
        mean_text = f"mean {value(float(np.mean(np.asarray(one.values))))}" if len(one.values) else "no values"
        axes.text(1, base + 0.76, mean_text, color=ROLE_COLOURS["muted"], fontsize=TEXT_SIZE, ha="right")
    axes.set_ylim(-0.02, max(len(spreads), 1))
    axes.set_yticks([])
    axes.set_xlim(-0.02, 1.02)
    axes.set_xticks(np.linspace(0, 1, 6), ["0", ".2", ".4", ".6", ".8", "1"])
    axes.set_xlabel("value of one query", color=ROLE_COLOURS["muted"], labelpad=3)
    # Names come in any script; put in afterwards, they need no font of the drawing's own.
    names = {f"label {row}": short_id(one.label, 30) for row, one in enumerate(spreads)}
    return drawing(figure, title, description, key, names)


def change_figure(spreads: Sequence[Spread], *, title: str, description: str, key: str) -> Markup:
    """Draw histograms of per-query changes, one system under another on one axis; a line marks no change.

    Parameters
    ----------
    spreads : sequence of Spread
        Values in [-1, 1]; what did not change is counted in words and not drawn, since it would dwarf the rest.
    title, description, key : str
        As for :func:`curve_figure`.
    """
    figure, axes = canvas(max(HEIGHT, 54 + 40 * len(spreads)))
    edges = np.linspace(-1, 1, 21)
    changed = [np.asarray(one.values)[np.asarray(one.values) != 0] for one in spreads]
    counts = [np.histogram(values, bins=edges)[0] for values in changed]
    tallest = max((int(count.max()) for count in counts), default=0) or 1
    names = {}
    for row, (one, count, values) in enumerate(zip(spreads, counts, changed, strict=True)):
        base = float(len(spreads) - 1 - row)
        heights = count / tallest * 0.66
        axes.bar(
            edges[:-1] + 0.05, heights, width=0.084, bottom=base, color=ROLE_COLOURS[one.role], alpha=0.75, lw=0
        )
        axes.axhline(base, color=ROLE_COLOURS["rule"], linewidth=0.8, zorder=0)
        axes.plot([0, 0], [base, base + 0.7], color=ROLE_COLOURS["ink"], linewidth=1.3)
        axes.text(-1, base + 0.76, f"label {row}", color=ROLE_COLOURS["ink"], fontsize=TEXT_SIZE)
        told = f"{int((values > 0).sum()):,} better, {int((values < 0).sum()):,} worse"
        axes.text(1, base + 0.76, told, color=ROLE_COLOURS["muted"], fontsize=TEXT_SIZE, ha="right")
        names[f"label {row}"] = short_id(one.label, 22)
    axes.set_ylim(-0.02, max(len(spreads), 1))
    axes.set_yticks([])
    axes.set_xlim(-1.04, 1.04)
    axes.set_xticks(np.linspace(-1, 1, 5), ["\u22121", "\u2212.5", "0", "+.5", "+1"])
    axes.set_xlabel("change of one query", color=ROLE_COLOURS["muted"], labelpad=3)
    return drawing(figure, title, description, key, names)


def _draw_curve(axes: Axes, curve: Curve) -> None:
    dashes, marker = line_style(curve.role)
    colour = ROLE_COLOURS[curve.role]
    reference = marker is None
    options: dict[str, Any] = {"dashes": dashes} if dashes else {}
    axes.plot(
        curve.xs,
        curve.ys,
        color=colour,
        linewidth=1.4 if reference else 2.0,
        marker=marker or "",
        markersize=6.0,
        markeredgewidth=0,
        zorder=2 if reference else 3,
        solid_capstyle="round",
        clip_on=False,
        **options,
    )
    rows = [
        (x, low, high)
        for x, low, high in zip(curve.xs, curve.lows, curve.highs, strict=False)
        if low is not None and high is not None
    ]
    if rows:
        xs, lows, highs = zip(*rows, strict=True)
        axes.fill_between(xs, lows, highs, color=colour, alpha=0.16, linewidth=0, zorder=1)
