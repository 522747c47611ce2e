"""The look of a page's drawings: matplotlib's SVG, with colours, fonts and scheme from the page around it."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING
from xml.etree import ElementTree as ET

from markupsafe import Markup

from visual_search.reports.wording import printable

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["FRAME", "HEIGHT", "ROLE_COLOURS", "TEXT_SIZE", "canvas", "drawing", "line_style", "swatch"]

# Roles are drawn in colours nobody would choose; they become classes, and the page's style sheet paints those, so
# that light, dark and print need one drawing.
_ROLES = [*(f"series-{number}" for number in range(1, 9)), "random", "ceiling", "ink", "muted", "rule", "paper"]
ROLE_COLOURS = {role: f"#0{number:x}{number:x}f0f" for number, role in enumerate(_ROLES, start=1)}
_CLASSES = {colour: role for role, colour in ROLE_COLOURS.items()}

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
WIDTH, HEIGHT = 380, 300  # pixels; a third of a wide page and all of a phone's, so that text keeps its size
TEXT_SIZE = 13.0
FRAME = (34, 10, WIDTH - 12, HEIGHT - 44)  # left, top, right and bottom of what is drawn in, of a usual drawing
_SVG = "{http://www.w3.org/2000/svg}"
_XLINK = "{http://www.w3.org/1999/xlink}"
_HREF = f"{_XLINK}href"


def swatch(role: str) -> Markup:
    """A short piece of a series' line with its marker, for a legend or a table's row."""
    dashes, marker = line_style(role)
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


def line_style(role: str) -> tuple[tuple[float, ...], str | None]:
    """Dashes and marker of a role's line; no dashes is a whole line, no marker a reference."""
    if role == "random":
        return (4, 3), None
    if role == "ceiling":
        return (1.2, 2.4), None
    number = int(role.removeprefix("series-")) - 1
    return _DASHES[number], _MARKERS[number]


def canvas(height: float = HEIGHT, width: float = WIDTH) -> tuple[Figure, Axes]:
    """An empty drawing of a page's size, with nothing painted but the axis below."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width / 72, height / 72), layout=None)
    axes = figure.add_axes((34 / width, 44 / height, (width - 46) / width, (height - 54) / height))
    for side in ("top", "right", "left"):
        axes.spines[side].set_visible(False)
    axes.spines["bottom"].set_color(ROLE_COLOURS["muted"])
    axes.spines["bottom"].set_linewidth(0.8)
    axes.tick_params(length=0, labelsize=TEXT_SIZE, labelcolor=ROLE_COLOURS["muted"], pad=5)
    axes.xaxis.label.set_fontsize(TEXT_SIZE)
    axes.patch.set_visible(False)
    figure.patch.set_visible(False)
    return figure, axes


def drawing(
    figure: Figure,
    title: str,
    description: str,
    key: str,
    names: Mapping[str, str] = MappingProxyType({}),
    links: Mapping[str, str] = MappingProxyType({}),
) -> Markup:
    """The drawing as ``<svg>`` for a page.

    ``names`` replaces texts that need no font of the drawing's own; ``links`` has what each address that was set on a
    part of the drawing is called.
    """
    from matplotlib import rc_context

    stream = io.BytesIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": key}):
        figure.savefig(stream, format="svg", metadata={"Date": None, "Creator": None, "Format": None, "Type": None})
    root = ET.fromstring(stream.getvalue())  # noqa: S314 - matplotlib's own output
    for element in root.iter(f"{_SVG}text"):
        element.text = names.get(element.text or "", element.text)
    for element in root.iter(f"{_SVG}a"):
        element.set("aria-label", printable(links[element.attrib[_HREF]]))
        element.attrib.pop("target", None)  # matplotlib would open a new window
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
    # An image has no parts for a screen reader; where some are links, it must.
    role = "img" if next(root.iter("a"), None) is None else "group"
    root.attrib |= {"class": "figure", "role": role, "aria-labelledby": f"{key}-title {key}-desc"}
    for place, (tag, text) in enumerate((("title", title), ("desc", description))):
        named = ET.Element(tag, {"id": f"{key}-{tag}"})
        named.text = printable(text)
        root.insert(place, named)
    return ET.tostring(root, encoding="unicode")


def _references(root: ET.Element) -> set[str]:
    used = {target.removeprefix("#") for target in (one.attrib.get(_HREF, "") for one in root.iter()) if target}
    for element in root.iter():
        used |= set(re.findall(r"url\(#([^)]+)\)", " ".join(element.attrib.values())))
    return used


def _rename_ids(element: ET.Element, used: set[str], key: str) -> None:
    own = element.attrib.pop("id", None)
    if own in used:
        element.attrib["id"] = f"{key}-{own}"
    if (target := element.attrib.pop(_HREF, None)) is not None:
        element.attrib["href"] = f"#{key}-{target[1:]}" if target.startswith("#") else target
        for name in [name for name in element.attrib if name.startswith(_XLINK)]:
            del element.attrib[name]
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
            element.attrib["font-size"] = f"{TEXT_SIZE:g}"
        elif name != "font-family":
            element.attrib[name] = text
    if classes:
        element.attrib["class"] = " ".join(classes)
