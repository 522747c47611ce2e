"""A measure over time: one point a result, a line through those that are comparable, a band for their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from markupsafe import Markup

from visual_search.reports.page_drawing import HEIGHT, ROLE_COLOURS, canvas, drawing, line_style

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["HistoryLine", "HistoryPoint", "history_figure"]

_WIDTH = 1100


@dataclass(frozen=True, slots=True)
class HistoryPoint:
    """One result: when, how good, where it leads.

    Parameters
    ----------
    time : datetime
        With a time zone.
    value : float
    low, high : float or None
        Interval.
    name, link : str
    """

    time: datetime
    value: float
    low: float | None
    high: float | None
    name: str
    link: str


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """Results that are comparable with each other, in a role's colour, dashes and marks."""

    role: str
    points: Sequence[HistoryPoint]


def history_figure(lines: Sequence[HistoryLine], *, title: str, description: str, key: str) -> Markup:
    """Draw values over time.

    Parameters
    ----------
    lines : sequence of HistoryLine
        Lines without points are passed over.
    title, description, key : str
        As for :func:`visual_search.reports.figures.curve_figure`.

    Returns
    -------
    Markup
        ``<svg>``; each point is a link named after its result.
    """
    figure, axes = canvas(HEIGHT, _WIDTH)
    names: dict[str, str] = {}
    for line in lines:
        points = sorted(line.points, key=lambda point: point.time)
        if points:
            _draw(axes, line.role, points)
            names |= {point.link: point.name for point in points}
    axes.margins(x=0.03, y=0.08)
    axes.set_xlabel(_tell_time(axes), color=ROLE_COLOURS["muted"], labelpad=3)
    axes.yaxis.set_major_formatter(lambda height, _: f"{height:.3g}")
    axes.locator_params(axis="y", nbins=6)
    axes.grid(axis="y", color=ROLE_COLOURS["rule"], linewidth=0.8)
    return drawing(figure, title, description, key, links=names)


def _tell_time(axes: Axes) -> str:
    """Set ticks that say what they are; what the axis is called, with the day or year that ticks do not repeat."""
    from matplotlib import dates

    locator = dates.AutoDateLocator(minticks=3, maxticks=7)  # type: ignore[no-untyped-call]
    locator.intervald[dates.MICROSECONDLY] = [1_000_000]  # whole seconds: ticks tell no less
    axes.xaxis.set_major_locator(locator)
    # Of years, months, days, hours, minutes and seconds.
    formatter = dates.ConciseDateFormatter(  # type: ignore[no-untyped-call]
        locator,
        formats=["%Y", "%b", "%d %b", "%H:%M", "%H:%M", "%H:%M:%S"],
        zero_formats=["", "%Y", "%d %b", "%d %b", "%H:%M", "%H:%M:%S"],
        offset_formats=["", "%Y", "%Y", "%Y-%m-%d", "%Y-%m-%d", "%Y-%m-%d"],
    )
    axes.xaxis.set_major_formatter(formatter)
    formatter.format_ticks(axes.get_xticks())  # type: ignore[no-untyped-call]
    offset = formatter.get_offset()  # type: ignore[no-untyped-call]
    axes.xaxis.get_offset_text().set_visible(False)
    return f"measured, {offset} (UTC)" if offset else "measured (UTC)"


def _draw(axes: Axes, role: str, points: Sequence[HistoryPoint]) -> None:
    dashes, marker = line_style(role)
    colour = ROLE_COLOURS[role]
    times = [_number(point.time) for point in points]
    heights = [point.value for point in points]
    if len(points) > 1:
        axes.plot(times, heights, color=colour, linewidth=1.2, zorder=2, linestyle=(0, dashes) if dashes else "-")
    marks = axes.scatter(times, heights, color=colour, marker=marker, s=42, linewidths=0, zorder=3, clip_on=False)
    marks.set_urls([point.link for point in points])
    banded = [
        (time, point.low, point.high)
        for time, point in zip(times, points, strict=True)
        if point.low is not None and point.high is not None
    ]
    if len(banded) > 1:
        xs, lows, highs = zip(*banded, strict=True)
        axes.fill_between(xs, lows, highs, color=colour, alpha=0.16, linewidth=0, zorder=1)
    for time, low, high in banded if len(banded) == 1 else ():
        axes.plot([time, time], [low, high], color=colour, linewidth=4, alpha=0.3, zorder=1)


def _number(time: datetime) -> float:
    """Days since 1970, as matplotlib counts."""
    from matplotlib import dates

    return float(dates.date2num(time))  # type: ignore[no-untyped-call]
