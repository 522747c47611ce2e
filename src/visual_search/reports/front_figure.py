"""Draws quality against cost: every setting of a sweep, the front, and what was chosen."""

from __future__ import annotations

import os
from pathlib import Path
from textwrap import wrap

from visual_search.errors import InputError
from visual_search.formats.atomic import atomic_path
from visual_search.tuning.pareto import Front
from visual_search.tuning.sweep_point import COSTS, SweepPoint

__all__ = ["write_front_figure"]

_SUFFIXES = (".svg", ".png", ".pdf")
_MARKERS = "os^DvPXp"
_LINE = 100  # letters
_SCALES = {"s": (1000.0, "ms"), "bytes": (1e-6, "MB"), "queries/s": (1.0, "queries/s")}


def write_front_figure(
    front: Front, path: str | os.PathLike[str], *, target: float | None = None, chosen: SweepPoint | None = None
) -> None:
    """Write the figure; the suffix says as what.

    Parameters
    ----------
    front : Front
    path : path
        ``.svg``, ``.png`` or ``.pdf``.
    target : float, optional
        A line at this mean.
    chosen : SweepPoint, optional
        Gets a ring.

    Raises
    ------
    InputError
        Another suffix.

    How to read it
    --------------
    Cost grows to the right, on a logarithmic axis; throughput, of which more is better, too. Filled points lie on the
    front; hollow ones are beaten by one of them. One marker a structure. Settings that were given up at a time limit
    are named below.
    """
    target_path = Path(path)
    if target_path.suffix not in _SUFFIXES:
        raise InputError(f"figure: {target_path.name!r} must end in one of {', '.join(_SUFFIXES)}")
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    factor, unit = _SCALES[COSTS[front.cost][0]]
    with rc_context({"svg.hashsalt": "front", "svg.fonttype": "none"}):
        figure = Figure(figsize=(7, 4.6), layout="constrained")
        axes = figure.add_subplot()
        everyone = [*front.points, *front.beaten]
        for number, ladder in enumerate(dict.fromkeys(point.ladder for point in sorted(everyone, key=_place))):
            marker, colour = _MARKERS[number % len(_MARKERS)], f"C{number % 10}"
            for on_front, points in ((True, front.points), (False, front.beaten)):
                own = [point for point in points if point.ladder == ladder]
                axes.plot(
                    [factor * (point.of(front.cost) or 0.0) for point in own],
                    [front.mean(point) for point in own],
                    linestyle="",
                    marker=marker,
                    color=colour,
                    markerfacecolor=colour if on_front else "none",
                    label=ladder if on_front or not any(p.ladder == ladder for p in front.points) else None,
                )
        axes.plot(
            [factor * (point.of(front.cost) or 0.0) for point in front.points],
            [front.mean(point) for point in front.points],
            color="0.6",
            linewidth=1,
            zorder=0,
        )
        if target is not None:
            axes.axhline(target, color="0.3", linewidth=1, linestyle="--")
        if chosen is not None and chosen.of(front.cost) is not None:
            x, y = factor * (chosen.of(front.cost) or 0.0), front.mean(chosen)
            axes.plot([x], [y], linestyle="", marker="o", markersize=15, markerfacecolor="none", color="0.1")
        if all((point.of(front.cost) or 0.0) > 0 for point in everyone):
            axes.set_xscale("log")
        axes.set_xlabel(f"{front.cost} ({unit})")
        axes.set_ylabel(f"mean {front.measure}")
        axes.grid(color="0.9")
        axes.legend(fontsize="small")
        if front.not_finished:
            figure.supxlabel("\n".join(wrap(front.left_out(), _LINE)), fontsize="small", color="0.3")
        kind = target_path.suffix[1:]
        metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}}.get(kind)
        with atomic_path(target_path) as temporary:
            figure.savefig(temporary, format=kind, metadata=metadata)


def _place(point: SweepPoint) -> int:
    return point.place
