"""Figures drawn by matplotlib as SVG that takes its colours, fonts and scheme from the page around it."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import numpy as np
from markupsafe import Markup

from visual_search.reports.wording import printable, short_id, value

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Curve", "Spread", "curve_figure", "spread_figure", "swatch"]

# Roles are drawn in colours nobody would choose; they become classes, and the page's style sheet paints those, so
# that light, dark and print need one drawing.
_ROLES = [*(f"series-{number}" for number in range(1, 9)), "random", "ceiling", "ink", "muted", "rule", "paper"]
_SENTINELS = {role: f"#0{number:x}{number:x}f0f" for number, role in enumerate(_ROLES, start=1)}
_CLASSES = {colour: role for role, colour in _SENTINELS.items()}

_DASHES: list[tuple[float, ...]] = [
    (),
    (6, 2.4),
    (1.6, 1.8),
    (7, 2, 1.6, 2),
    (10, 3),
    (3, 1.5),
    (6, 1.5, 1, 1.5),
    (1, 3),
]
_MARKERS = ["o", "s", "^", "D", "v", "P", "X", "p"]
_WIDTH, _HEIGHT = 380, 300  # pixels; a third of a wide page and all of a phone's, so that text keeps its size
_TEXT_SIZE = 13.0
_SVG = "{http://www.w3.org/2000/svg}"
_HREF = "{http://www.w3.org/1999/xlink}href"


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
    figure, axes = _canvas()
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
    axes.grid(axis="y", color=_SENTINELS["rule"], linewidth=0.8)
    axes.set_xlabel(axis, color=_SENTINELS["muted"], labelpad=3)
    return _svg(figure, title, description, key)


def spread_figure(spreads: Sequence[Spread], *, title: str, description: str, key: str) -> Markup:
    """Draw histograms of per-query values, one system under another on one axis, the mean marked.

    Parameters
    ----------
    spreads : sequence of Spread
    title, description, key : str
        As for :func:`curve_figure`.
    """
    figure, axes = _canvas(max(_HEIGHT, 54 + 40 * len(spreads)))
    edges = np.linspace(0, 1, 21)
    shares = [np.histogram(np.asarray(one.values), bins=edges)[0] / max(len(one.values), 1) for one in spreads]
    tallest = max((share.max() for share in shares), default=0.0) or 1.0
    for row, (one, share) in enumerate(zip(spreads, shares, strict=True)):
        base = float(len(spreads) - 1 - row)
        colour = _SENTINELS[one.role]
        heights = share / tallest * 0.66
        axes.bar(edges[:-1] + 0.025, heights, width=0.042, bottom=base, color=colour, alpha=0.75, linewidth=0)
        axes.axhline(base, color=_SENTINELS["rule"], linewidth=0.8, zorder=0)
        if len(one.values):
            mean = float(np.mean(np.asarray(one.values)))
            axes.plot([mean, mean], [base, base + 0.7], color=_SENTINELS["ink"], linewidth=1.3)
        axes.text(0, base + 0.76, f"label {row}", color=_SENTINELS["ink"], fontsize=_TEXT_SIZE)
        mean_text = f"mean {value(float(np.mean(np.asarray(one.values))))}" if len(one.values) else "no values"
        axes.text(1, base + 0.76, mean_text, color=_SENTINELS["muted"], fontsize=_TEXT_SIZE, ha="right")
    axes.set_ylim(-0.02, max(len(spreads), 1))
    axes.set_yticks([])
    axes.set_xlim(-0.02, 1.02)
    axes.set_xticks(np.linspace(0, 1, 6), ["0", ".2", ".4", ".6", ".8", "1"])
    axes.set_xlabel("value of one query", color=_SENTINELS["muted"], labelpad=3)
    # Names come in any script; put in afterwards, they need no font of the drawing's own.
    names = {f"label {row}": short_id(one.label, 30) for row, one in enumerate(spreads)}
    return _svg(figure, title, description, key, names)


def swatch(role: str) -> Markup:
    """A short piece of a series' line with its marker, for a legend or a table's row."""
    dashes, marker = _style(role)
    pattern = Markup(' stroke-dasharray="{}"').format(" ".join(f"{dash:g}" for dash in dashes)) if dashes else ""
    shape = _SHAPES[marker] if marker else Markup("")
    return Markup(
        '<svg class="swatch {role}" viewBox="0 0 28 12" width="28" height="12" aria-hidden="true" '
        'focusable="false"><line x1="1" x2="27" y1="6" y2="6" stroke-width="2"{pattern}/>{shape}</svg>'
    ).format(role=role, pattern=pattern, shape=shape)


_SHAPES = {
    "o": Markup('<circle cx="14" cy="6" r="3.6"/>'),
    "s": Markup('<rect x="10.6" y="2.6" width="6.8" height="6.8"/>'),
    "^": Markup('<path d="M14 1.6 18.2 9.4H9.8Z"/>'),
    "D": Markup('<path d="M14 1.4 18.6 6 14 10.6 9.4 6Z"/>'),
    "v": Markup('<path d="M14 10.4 18.2 2.6H9.8Z"/>'),
    "P": Markup('<path d="M12.4 2h3.2v2.4H18v3.2h-2.4V10h-3.2V7.6H10V4.4h2.4Z"/>'),
    "X": Markup('<path d="M11 1.6l3 2.6 3-2.6 1.6 1.6L16 6l2.6 2.8L17 10.4l-3-2.6-3 2.6-1.6-1.6L12 6 9.4 3.2Z"/>'),
    "p": Markup('<path d="M14 1.6 18.4 5 16.8 10.2H11.2L9.6 5Z"/>'),
}


def _style(role: str) -> tuple[tuple[float, ...], str | None]:
    if role == "random":
        return (4, 3), None
    if role == "ceiling":
        return (1.2, 2.4), None
    number = int(role.removeprefix("series-")) - 1
    return _DASHES[number], _MARKERS[number]


def _canvas(height: float = _HEIGHT) -> tuple[Figure, Axes]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(_WIDTH / 72, height / 72), layout=None)
    axes = figure.add_axes((34 / _WIDTH, 44 / height, (_WIDTH - 46) / _WIDTH, (height - 54) / height))
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(_SENTINELS["muted"])
    axes.spines["bottom"].set_linewidth(0.8)
    axes.tick_params(length=0, labelsize=_TEXT_SIZE, labelcolor=_SENTINELS["muted"], pad=5)
    axes.xaxis.label.set_fontsize(_TEXT_SIZE)
    axes.patch.set_visible(False)
    figure.patch.set_visible(False)
    return figure, axes


def _draw_curve(axes: Axes, curve: Curve) -> None:
    dashes, marker = _style(curve.role)
    colour = _SENTINELS[curve.role]
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


def _svg(
    figure: Figure, title: str, description: str, key: str, names: Mapping[str, str] = MappingProxyType({})
) -> Markup:
    from matplotlib import rc_context

    stream = io.BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": key}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    root = ET.fromstring(stream.getvalue())  # noqa: S314 - matplotlib's own output
    for element in root.iter(f"{_SVG}text"):
        element.text = names.get(element.text or "", element.text)
    return Markup(_for_page(root, title, description, key))  # noqa: S704 - serialised by ElementTree, which escapes


def _for_page(root: ET.Element, title: str, description: str, key: str) -> str:
    """Keep the drawing; drop what a page does not need: metadata, style attributes, ids that nothing refers to."""
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in {f"{_SVG}metadata", f"{_SVG}style"}:
                parent.remove(child)
    used = _references(root)
    for element in root.iter():
        element.tag = element.tag.removeprefix(_SVG)
        _rename_ids(element, used, key)
        _class_of_style(element)
    for name in ("width", "height", "version"):
        root.attrib.pop(name, None)
    root.attrib |= {"class": "figure", "role": "img", "aria-labelledby": f"{key}-title {key}-desc"}
    for place, (tag, text) in enumerate((("title", title), ("desc", description))):
        named = ET.Element(tag, {"id": f"{key}-{tag}"})
        named.text = printable(text)
        root.insert(place, named)
    return ET.tostring(root, encoding="unicode")


def _references(root: ET.Element) -> set[str]:
    used = {element.attrib[_HREF].removeprefix("#") for element in root.iter() if _HREF in element.attrib}
    for element in root.iter():
        used |= set(re.findall(r"url\(#([^)]+)\)", " ".join(element.attrib.values())))
    return used


def _rename_ids(element: ET.Element, used: set[str], key: str) -> None:
    own = element.attrib.pop("id", None)
    if own in used:
        element.attrib["id"] = f"{key}-{own}"
    if (target := element.attrib.pop(_HREF, None)) is not None:
        element.attrib["href"] = f"#{key}-{target.removeprefix('#')}"
    for name, text in element.attrib.items():
        element.attrib[name] = re.sub(r"url\(#([^)]+)\)", rf"url(#{key}-\1)", text)


def _class_of_style(element: ET.Element) -> None:
    """Turn a style attribute, which the page's policy forbids, into classes for roles and plain attributes."""
    classes = []
    for rule in filter(None, (part.strip() for part in element.attrib.pop("style", "").split(";"))):
        name, _, text = (part.strip() for part in rule.partition(":"))
        if text.lower() in _CLASSES:
            classes.append(f"{name}-{_CLASSES[text.lower()]}")
        elif name == "font":
            element.attrib["font-size"] = f"{_TEXT_SIZE:g}"
        elif name != "font-family":
            element.attrib[name] = text
    if classes:
        element.attrib["class"] = " ".join(classes)
