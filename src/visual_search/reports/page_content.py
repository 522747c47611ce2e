"""What a report shows, gathered from result files before any of it is drawn: for a page, a bundle, or a served page."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from visual_search.errors import InputError, Problems
from visual_search.formats.results import StoredResult
from visual_search.reports.comparisons import Comparison, comparisons_from
from visual_search.reports.definitions import definitions_of
from visual_search.reports.ledger_tables import ledger_tables
from visual_search.reports.page_section import Section
from visual_search.reports.page_words import contents_of, footnotes_of, lead_of, picture_note, shown_note
from visual_search.reports.pictures import Album
from visual_search.reports.protocol_groups import ProtocolGroup, group_by_protocol
from visual_search.reports.protocol_part import ProtocolPart, choose_cases, protocol_part, series_roles
from visual_search.reports.provenance import fingerprints_of, provenance, rules_of
from visual_search.reports.remarks import remarks_of
from visual_search.reports.systems import load_systems, read_all

__all__ = ["ReportContent", "report_content"]

_OWN_ANCHORS = re.compile(
    r"main|remarks|definitions?|ledger|origin|differences|(protocol|picture|sign|definition|name)-.*"
)


@dataclass
class ReportContent:
    """Everything that a report shows.

    Attributes
    ----------
    groups : list of ProtocolGroup
    parts : list of ProtocolPart
        One a protocol, with its figures and the queries to look at.
    roles : mapping of label to str
        Colour and line style of each system.
    elsewhere : list of Comparison
        Differences that belong to none of the protocols.
    sections : sequence of Section
    album : Album
        Holds the pictures.
    title : str
    credit : str or None
    warnings : sequence of str
    cases, shown : int
    """

    groups: list[ProtocolGroup]
    parts: list[ProtocolPart]
    roles: Mapping[str, str]
    elsewhere: list[Comparison]
    sections: Sequence[Section]
    album: Album
    title: str
    credit: str | None
    warnings: Sequence[str]
    cases: int
    shown: int

    def values(self) -> dict[str, Any]:
        """The values of the template ``report.html.j2``."""
        definitions = definitions_of(self.groups)
        ledgers = ledger_tables(self.groups)
        extra = {"differences": "Differences"} if self.elsewhere else {}
        found = contents_of(self.parts, self.sections, extra)
        if ledgers:
            found.insert(-2, ("ledger", "Every picture"))
        return {
            "title": self.title,
            "lead": lead_of(self.groups),
            "contents": found,
            "views": self.parts,
            "remarks": remarks_of(self.groups, self.warnings),
            "elsewhere": self.elsewhere,
            "sections": self.sections,
            "definitions": definitions,
            "definition_list": list({one.number: one for one in definitions.values()}.values()),
            "rules": rules_of(self.groups),
            "footnotes": footnotes_of(self.groups),
            "ledgers": ledgers,
            "prints": fingerprints_of(self.groups),
            "shown_note": shown_note(self.cases, self.shown),
            "origin": provenance,
            "credit": self.credit,
            "picture_note": picture_note(self.album, self.groups),
            "album": self.album,
            "bundle": None,
        }


def report_content(
    results: Sequence[str | os.PathLike[str] | StoredResult],
    *,
    title: str = "How well does the search find?",
    baseline: str | None = None,
    comparisons: Iterable[Mapping[str, Any]] = (),
    credit: str | None = None,
    warnings: Sequence[str] = (),
    sections: Sequence[Section] = (),
    cases: int = 5,
    shown: int = 10,
    album: Album | None = None,
) -> ReportContent:
    """Gather what a report shows; the parameters are those of :func:`visual_search.reports.page.write_report`.

    ``album`` takes the pictures; they stand in the page where it is left out.
    """
    if cases < 0 or shown < 1:
        raise InputError(f"cases must be at least 0 and shown at least 1; got {cases} and {shown}")
    _check_sections(sections)
    paired = comparisons_from(comparisons)
    groups = group_by_protocol(load_systems(read_all(results), baseline=baseline))
    own = Album() if album is None else album
    roles = series_roles(groups)
    parts = [protocol_part(group, number, roles, paired) for number, group in enumerate(groups, start=1)]
    for part in parts:
        choose_cases(part, own, count=cases, shown=shown)
    elsewhere = [one for one in paired if not any(one in part.comparisons for part in parts)]
    return ReportContent(groups, parts, roles, elsewhere, sections, own, title, credit, warnings, cases, shown)


def _check_sections(sections: Sequence[Section]) -> None:
    problems = Problems("sections")
    taken: set[str] = set()
    for section in sections:
        if not re.fullmatch(r"[a-z][a-z0-9-]*", section.anchor):
            problems.add(f"{section.anchor!r}: an anchor is of small letters, digits and hyphens, a letter first")
        elif _OWN_ANCHORS.fullmatch(section.anchor) or section.anchor in taken:
            problems.add(f"{section.anchor!r}: the page has this anchor already; choose another")
        if not hasattr(section.body, "__html__"):
            problems.add(f"{section.anchor!r}: body must be Markup whose texts were escaped; got plain text")
        taken.add(section.anchor)
    problems.raise_if_any(InputError)
