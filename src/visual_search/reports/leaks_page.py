"""Leaks as a page of their own, or as a section of a report: every pair side by side."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from visual_search.formats.atomic import write_text
from visual_search.formats.json_shapes import COUNT, NUMBER, TEXT, There, filled
from visual_search.formats.result_extensions import INTERVAL
from visual_search.leaks.impact import LeakImpact
from visual_search.leaks.leak_record import read_leak_record
from visual_search.leaks.leak_report import LeakGroup, LeakPair, LeakReport
from visual_search.leaks.picture_pairs import KIND_WORDS
from visual_search.leaks.report_words import counted
from visual_search.reports.page_section import Section, checked
from visual_search.reports.page_words import changed_note
from visual_search.reports.pictures import Album, Picture
from visual_search.reports.rendering import render_page, render_part
from visual_search.reports.wording import counted as grouped

__all__ = ["leaks_record_section", "leaks_section", "write_leaks_page"]

_DIFFERENCE = {"difference": NUMBER, "queries": COUNT, "only_first": COUNT, "interval": INTERVAL}
_ROW = {
    "measure": There(TEXT),
    **dict.fromkeys(("all_queries", "without_flagged", "flagged_only", "items_ignored"), NUMBER),
    **dict.fromkeys(("counted", "counted_without", "counted_flagged"), There(COUNT)),
    "difference": _DIFFERENCE,
}
_IMPACT = {
    "queries": There(COUNT),
    "flagged": There(COUNT),
    "measures": There([There(_ROW)]),
    "notes": There([TEXT]),
}
_SHAPE = {"impact": _IMPACT, "notes": There([TEXT])}
_ROOM = 48_000_000  # bytes of thumbnails: some 10,000 of them


@dataclass(frozen=True, slots=True)
class ShownPair:
    """One pair with its two pictures.

    Attributes
    ----------
    pair : LeakPair
    words : str
        What kind it is.
    measured : str
        The distances that decided, or nothing.
    pictures : tuple of Picture
    """

    pair: LeakPair
    words: str
    measured: str
    pictures: tuple[Picture, Picture]


@dataclass(frozen=True, slots=True)
class ShownGroup:
    """One group with the pairs in it."""

    group: LeakGroup
    pairs: list[ShownPair]


def write_leaks_page(
    report: LeakReport,
    out: str | os.PathLike[str],
    *,
    impact: LeakImpact | None = None,
    notes: Sequence[str] = (),
    title: str = "Pictures that stand in two roles",
) -> Path:
    """Write one self-contained HTML page with every listed pair side by side.

    Parameters
    ----------
    report : LeakReport
    out : path
        The HTML file; written whole or not at all.
    impact : LeakImpact, optional
        What the leaks do to each measure.
    notes : sequence of str
        What else a reader must know.
    title : str

    Returns
    -------
    Path
        ``out``.

    How to read it
    --------------
    Look at each pair: the two are one picture, or the rule was too wide for this data. Then read what the flagged
    queries are worth.
    """
    album = Album(longest=160, max_bytes=_ROOM)
    target = Path(out)
    told = None if impact is None else _told(impact)
    html = render_page("leaks.html.j2", title=title, album=album, **_values(report, told, notes, album))
    write_text(target, html)
    return target


def leaks_section(
    report: LeakReport,
    *,
    impact: LeakImpact | None = None,
    notes: Sequence[str] = (),
    anchor: str = "leaks",
    title: str = "Leaks",
    album: Album | None = None,
) -> Section:
    """Make the same a section for :func:`visual_search.reports.page.write_report`.

    ``album`` takes the pictures where they are not to stand in the section itself.
    """
    own = album or Album(longest=128, max_bytes=_ROOM, name=f"{anchor}-picture")
    return _section(report, None if impact is None else _told(impact), notes, own, (anchor, title))


def leaks_record_section(
    record: Mapping[str, Any], *, anchor: str = "leaks", title: str = "Leaks", album: Album | None = None
) -> Section:
    """Make the section of what ``visual-search leaks --save`` wrote, or of a `LeakReport`'s own file.

    Raises
    ------
    FileFormatError
        Not a leak report, or values of another kind; all of them are listed.
    """
    report = read_leak_record(record, title)
    told = checked(record, _SHAPE, title)
    own = album or Album(longest=128, max_bytes=_ROOM, name=f"{anchor}-picture")
    return _section(report, told["impact"], told["notes"], own, (anchor, title))


def _section(
    report: LeakReport, impact: Mapping[str, Any] | None, notes: Sequence[str], album: Album, named: tuple[str, str]
) -> Section:
    anchor, title = named
    body = render_part("leaks_section.html.j2", anchor=anchor, album=album, **_values(report, impact, notes, album))
    return Section(anchor, title, body)


def _told(impact: LeakImpact) -> dict[str, Any]:
    told: dict[str, Any] = filled(impact.as_json(), _IMPACT)
    return told


def _values(
    report: LeakReport, impact: Mapping[str, Any] | None, notes: Sequence[str], album: Album
) -> dict[str, Any]:
    """What the templates show; all pictures are made before the page is, since it counts them."""
    groups = _groups(report, album)
    missing = "; ".join(f"{reason}: {grouped(number)}" for reason, number in album.missing.items())
    return {
        "report": report,
        "lead": _lead(report),
        "lines": report.words().split("\n"),
        "notes": [*notes, *changed_note(album, "compared"), *([f"Empty frames: {missing}."] if missing else [])],
        "groups": groups,
        "impact": impact,
    }


def _lead(report: LeakReport) -> str:
    total = sum(report.pairs_by_kind.values())
    if report.clean:
        return "No picture stands in two roles, by the rules below."
    found = [counted(total, "pair")] if total else []
    found += (
        [counted(len(report.shared), "shared group or view", "shared groups and views")] if report.shared else []
    )
    return f"{' and '.join(found)} found. Each pair is shown: look whether the two are one picture."


def _groups(report: LeakReport, album: Album) -> list[ShownGroup]:
    of_group: dict[int, list[ShownPair]] = {}
    for pair in report.pairs:
        first, second = (album.picture(report.place(side), since="compared") for side in (pair.first, pair.second))
        shown = ShownPair(pair, KIND_WORDS[pair.kind][0], _measured(pair), (first, second))
        of_group.setdefault(pair.group, []).append(shown)
    return [ShownGroup(group, of_group[group.number]) for group in report.groups if group.number in of_group]


def _measured(pair: LeakPair) -> str:
    parts = []
    if pair.bits64 is not None:
        parts.append(f"{pair.bits64} of 64 and {pair.bits256} of 256 bits differ")
    if pair.detail is not None:
        parts.append(f"detail correlates at {pair.detail:.3f}")
    if pair.cosine is not None:
        parts.append(f"cosine {pair.cosine:.4f}")
    return ", ".join(parts)
