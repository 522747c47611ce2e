"""Quality against cost as a page draws it: every setting of a sweep, the front, the target, what was chosen."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from html import unescape
from typing import TYPE_CHECKING, TypeAlias

from markupsafe import Markup

from visual_search.reports.page_drawing import FRAME, ROLE_COLOURS, canvas, drawing, line_style
from visual_search.tuning.pareto import Front
from visual_search.tuning.sweep_point import COST_WORDS, COSTS, SweepPoint
from visual_search.tuning.sweep_record import Sweep

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["front_panel", "ladder_roles", "reach_for", "with_ring", "with_target"]

_Places: TypeAlias = tuple[list[float], list[float]]
_LINKED = re.compile(r'<a [^>]*href="(?P<address>[^"]*)">\s*<use x="(?P<x>[0-9.]+)" y="(?P<y>[0-9.]+)"')
_SERIES = 8
_TICKS = 6  # more would run into each other
_ACROSS = 38  # digits of a label that have room side by side along the axis
_SCALES = {"s": (1000.0, "ms"), "bytes": (1e-6, "MB"), "queries/s": (1.0, "queries/s")}


def cost_title(cost: str) -> str:
    """Write a cost for a heading, with the unit that figures and tables use.

    >>> cost_title("latency_p50"), cost_title("index_bytes")
    ('median latency (ms)', 'index size (MB)')
    """
    return f"{COST_WORDS[cost]} ({_SCALES[COSTS[cost][0]][1]})"


def ladder_roles(points: Sweep | Iterable[SweepPoint]) -> dict[str, str]:
    """Role of each structure's points, ``series-1`` to ``series-8``, in the order they were asked for."""
    every = sorted(points.points if isinstance(points, Sweep) else points, key=lambda point: point.place)
    ladders = dict.fromkeys(point.ladder for point in every)
    return {ladder: f"series-{number % _SERIES + 1}" for number, ladder in enumerate(ladders)}


def front_panel(
    front: Front,
    *,
    key: str,
    target: float | None = None,
    chosen: SweepPoint | None = None,
    reach: float | None = None,
    link: Callable[[SweepPoint], str] | None = None,
) -> Markup:
    """Draw a front for a page.

    Parameters
    ----------
    front : Front
    key : str
        Distinct on the page; ids inside the drawing begin with it.
    target : float, optional
        A broken line at this mean.
    chosen : SweepPoint, optional
        Gets a ring.
    reach : float, optional
        A mean that the axis reaches to, where it lies outside the points'.
    link : callable, optional
        From a point to the address that a click on it leads to.

    Returns
    -------
    Markup
        ``<svg>``, the same for the same input.

    How to read it
    --------------
    Cost, or throughput, of which more is better, grows to the right, on a logarithmic axis. Filled points lie on the
    front, hollow ones are beaten by one of them; points of one structure have one colour and one marker.
    """
    factor, unit = _SCALES[COSTS[front.cost][0]]
    words = COST_WORDS[front.cost]
    every = [*front.points, *front.beaten]

    def place(points: Iterable[SweepPoint]) -> _Places:
        shown = list(points)
        return [factor * (point.of(front.cost) or 0.0) for point in shown], [front.mean(point) for point in shown]

    figure, axes = canvas()
    axes.plot(*place(front.points), color=ROLE_COLOURS["rule"], linewidth=1.5, zorder=1)
    for ladder, role in ladder_roles(every).items():
        for filled, points in ((True, front.points), (False, front.beaten)):
            axes.plot(
                *place(point for point in points if point.ladder == ladder),
                linestyle="",
                marker=line_style(role)[1] or "o",
                markersize=7,
                color=ROLE_COLOURS[role],
                markerfacecolor=ROLE_COLOURS[role] if filled else "none",
                zorder=3,
            )
    links = {} if link is None else _link(axes, front, place, link)
    if target is not None:
        axes.axhline(target, color=ROLE_COLOURS["muted"], linewidth=1, dashes=(5, 3))
    if chosen is not None:
        axes.plot(
            *place([chosen]),
            linestyle="",
            marker="o",
            markersize=16,
            color=ROLE_COLOURS["ink"],
            markerfacecolor="none",
            zorder=4,
        )
    xs, ys = place(every)
    _scale(axes, xs, [*ys, *(one for one in (target, reach) if one is not None)])
    axes.set_xlabel(f"{words} ({unit})", color=ROLE_COLOURS["muted"], labelpad=3)
    axes.grid(axis="y", color=ROLE_COLOURS["rule"], linewidth=0.8)
    settings = ", ".join(f"{point.label}: {front.mean(point):.4f}" for point in front.points)
    return drawing(
        figure,
        f"{front.measure} against {words}",
        f"Mean {front.measure} against {words} of {len(every)} settings; on the front {settings}. "
        + (f"{front.left_out()[0].upper()}{front.left_out()[1:]}. " if front.not_finished else "")
        + "The table below has every setting.",
        key,
        links=links,
    )


def with_ring(drawn: Markup, address: str) -> Markup | None:
    """A panel that was drawn with links with a ring around one point, at a small part of the cost of drawing it anew.

    Parameters
    ----------
    drawn : Markup
        What :func:`front_panel` gave with links and nothing chosen.
    address : str
        Where the point leads to.

    Returns
    -------
    Markup or None
        None where no point leads there.
    """
    for found in _LINKED.finditer(drawn):
        if unescape(found["address"]) == address:
            ring = Markup(
                '<circle cx="{}" cy="{}" r="8" fill="none" pointer-events="none" class="stroke-ink"/></svg>'
            ).format(found["x"], found["y"])
            return Markup(drawn.removesuffix("</svg>")) + ring  # noqa: S704 - front_panel's own
    return None


def reach_for(front: Front, target: float) -> float | None:
    """How far an axis has to reach for a target, in steps of .05, so that one drawing serves many; None where it does.

    >>> from visual_search.testing.simulated_sweeps import simulated_sweep
    >>> from visual_search.tuning.pareto import pareto_front
    >>> front = pareto_front(simulated_sweep([0.7, 0.9], queries=200, seed=2), None, "latency_p50")
    >>> reach_for(front, 0.8), reach_for(front, 0.53), reach_for(front, 0.53 + 0.01), reach_for(front, 0.97)
    (None, 0.5, 0.5, 1.0)
    """
    means = [front.mean(point) for point in (*front.points, *front.beaten)]
    if not means or min(means) <= target <= max(means):
        return None
    return math.floor(target * 20) / 20 if target < min(means) else math.ceil(target * 20) / 20


def with_target(drawn: Markup, front: Front, target: float, *, reach: float | None = None) -> Markup | None:
    """A panel that was drawn without a target with the line of one, at a small part of the cost of drawing it anew.

    Parameters
    ----------
    drawn : Markup
        What :func:`front_panel` gave for this front, this ``reach`` and no target.
    front : Front
    target : float
    reach : float, optional

    Returns
    -------
    Markup or None
        None where the line lies outside the drawing, which then has to be drawn for it.
    """
    means = [front.mean(point) for point in (*front.points, *front.beaten)]
    means += [] if reach is None else [reach]
    if not means or not min(means) <= target <= max(means):
        return None
    low, high = _heights(means)
    left, top, right, bottom = FRAME
    height = bottom - (target - low) / (high - low) * (bottom - top)
    line = Markup(
        '<path d="M {left:g} {height:.3f} L {right:g} {height:.3f}" fill="none" stroke-dasharray="5,3" '
        'pointer-events="none" class="stroke-muted"/></svg>'
    ).format(left=left, right=right, height=height)
    return Markup(drawn.removesuffix("</svg>")) + line  # noqa: S704 - front_panel's own


def _heights(means: list[float]) -> tuple[float, float]:
    lowest, highest = min(means), max(means)
    room = max(0.06 * (highest - lowest), 0.002)
    return lowest - room, highest + room


def _link(
    axes: Axes, front: Front, place: Callable[[Iterable[SweepPoint]], _Places], link: Callable[[SweepPoint], str]
) -> dict[str, str]:
    """Lay a place to click on over every point; what each address is called."""
    names = {}
    for point in sorted([*front.points, *front.beaten], key=lambda one: one.place):
        address = link(point)
        names[address] = f"{point.label}: {front.measure} {front.mean(point):.4f}"
        # Wider than the marker, for fingers; painted with nothing, but there for the pointer.
        axes.plot(
            *place([point]),
            linestyle="",
            marker="o",
            markersize=20,
            color=ROLE_COLOURS["paper"],
            alpha=0,
            zorder=5,
            url=address,
        )
    return names


def _scale(axes: Axes, xs: list[float], ys: list[float]) -> None:
    """Ticks at 1, 2 and 5 of each power of ten inside, or at 1 and 3, or at 1 alone, so that no label meets another."""
    if min(xs) > 0 and max(xs) > min(xs):
        first, last = min(xs), max(xs)
        margin = (last / first) ** 0.06
        axes.set_xscale("log")
        axes.set_xlim(first / margin, last * margin)
        powers = range(math.floor(math.log10(first)), math.ceil(math.log10(last)) + 1)
        for steps in ((1, 2, 5), (1, 3), (1,)):
            every = [step * 10.0**power for power in powers for step in steps]
            inside = [tick for tick in every if first / margin <= tick <= last * margin]
            if len(inside) <= _TICKS and _labels_fit(inside, (last / first) * margin**2):
                break
        if (
            len(inside) < 2
        ):  # costs that lie close together: where they begin and end tells more than one round number
            inside = [float(f"{end:.3g}") for end in (first, last)]
        axes.set_xticks(inside, [f"{tick:,g}" for tick in inside])
        axes.minorticks_off()
    axes.set_ylim(*_heights(ys))
    axes.yaxis.set_major_formatter(lambda height, _: f"{height:.3g}".replace("0.", ".", 1))


def _labels_fit(ticks: list[float], span: float) -> bool:
    """Whether the labels of ticks on a logarithmic axis of this span, last over first, leave a gap between them."""
    labels = [f"{tick:,g}" for tick in ticks]
    return all(
        _ACROSS * math.log(after / before, span) >= (len(first) + len(second)) / 2 + 1
        for before, after, first, second in zip(ticks, ticks[1:], labels, labels[1:], strict=False)
    )
