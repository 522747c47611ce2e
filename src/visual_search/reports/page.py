"""The report: one HTML file that opens from disk, holds its pictures, and asks nothing of any network."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from markupsafe import Markup

from visual_search.errors import FileFormatError, InputError
from visual_search.formats.atomic import write_text
from visual_search.formats.result_tables import STATES
from visual_search.formats.results import StoredResult
from visual_search.ids import Id
from visual_search.reports.cases import (
    Case,
    Contrast,
    QueryValues,
    best_queries,
    cases_of,
    most_different,
    worst_queries,
)
from visual_search.reports.charts import Panel, curve_panels, spread_panel
from visual_search.reports.comparisons import Comparison, comparisons_from
from visual_search.reports.definitions import definitions_of
from visual_search.reports.pictures import Album
from visual_search.reports.provenance import facts_of, provenance
from visual_search.reports.remarks import remarks_of
from visual_search.reports.rendering import render_page
from visual_search.reports.systems import ProtocolGroup, System, group_by_protocol, load_systems, read_all
from visual_search.reports.wording import counted, plural

__all__ = ["Section", "write_report"]

_FOOTNOTES = (
    "Below a value stands its interval, where one was computed; how it was made is told under “Where the numbers come from”.",
    "Random order: the exact expectation when the gallery is shuffled. Best reachable: the mean of a perfect ranking, given "
    "how many right answers each query has and which of them are in the gallery.",
    "mAP and MRR are the means over queries of average precision (AP) and reciprocal rank (RR).",
)
_ROLES = 8  # distinct colours with line styles; further systems take them again


@dataclass(frozen=True)
class Section:
    """A part of the page that another room brings: a sweep, leaks, attribution.

    Parameters
    ----------
    anchor : str
        Its id on the page, letters, digits and hyphens.
    title : str
        Its heading, also its entry in the contents.
    body : Markup
        HTML that escaped what it shows; no scripts, no style attributes (the page's policy blocks both).
    """

    anchor: str
    title: str
    body: Markup


@dataclass
class _Shown:
    """What a page shows of one system's queries."""

    worst: list[Case] = field(default_factory=list)
    best: list[Case] = field(default_factory=list)
    tied: dict[str, int] = field(default_factory=lambda: {"worst": 0, "best": 0})
    undefined: int = 0
    problem: str | None = None


@dataclass
class _ProtocolView:
    """One protocol's part of the page, ready for the template."""

    anchor: str
    group: ProtocolGroup
    roles: dict[str, str]
    panels: list[Panel]
    comparisons: list[Comparison]
    shown: dict[str, _Shown]
    contrast: tuple[System, System] | None = None
    contrasts: list[Contrast] = field(default_factory=list)

    @property
    def facts(self) -> list[str]:
        """Queries, gallery, rules, in a few words."""
        return facts_of(self.group)

    @property
    def question(self) -> str:
        """What the first measure answers."""
        first = self.group.first(self.group.headline_names[0])
        if first.family != "HitRate":
            return first.title
        return (
            "How often is the first result right?"
            if first.depth == 1
            else f"How often is one of the first {first.depth} right?"
        )

    @property
    def has_cases(self) -> bool:
        """Whether there are queries to look at, or a reason to give why not."""
        return any(part.worst or part.best or part.problem for part in self.shown.values())

    @property
    def states(self) -> list[str]:
        """States of the results shown, in the order of the key."""
        cases = [case for part in self.shown.values() for case in (*part.worst, *part.best)]
        cases += [case for one in self.contrasts for case in (one.first, one.second)]
        found = {hit.state for case in cases for hit in case.hits}
        return [state for state in STATES if state in found or state in {"relevant", "not_relevant"}]


def write_report(
    results: Sequence[str | os.PathLike[str] | StoredResult],
    out: str | os.PathLike[str],
    *,
    title: str = "How well does the search find?",
    baseline: str | None = None,
    comparisons: Iterable[Mapping[str, Any]] = (),
    credit: str | None = None,
    sections: Sequence[Section] = (),
    cases: int = 5,
    shown: int = 10,
) -> Path:
    """Write one self-contained HTML page about one or more results.

    Everything comes from the results' files: measures and conventions from the JSON, lists from the ranking file, images
    from where the item file says. An image that has gone is an empty frame with a label, and is counted.

    Parameters
    ----------
    results : sequence of path or StoredResult
        Results JSON files; those of one protocol stand side by side.
    out : path
        The HTML file; written whole or not at all.
    title : str
        Heading of the page.
    baseline : str, optional
        ``model_name`` of the system the others are held against.
    comparisons : iterable of mapping
        Paired differences: ``a``, ``b`` (model names), ``measure``, ``difference`` (b minus a), and where known
        ``low``, ``high``, ``p``, ``wins``, ``losses``, ``ties``, ``protocol`` (its name), ``words``.
    credit : str, optional
        Whose data it is, shown at the foot.
    sections : sequence of Section
        Further parts, after the protocols.
    cases : int
        Worst and best queries shown of each system, each this many; 0 shows none.
    shown : int
        Results shown of each query.

    Returns
    -------
    Path
        ``out``.

    Raises
    ------
    InputError
        No results, an unknown baseline, comparisons without their keys, ``cases`` below 0 or ``shown`` below 1.
    FileFormatError
        A results file that cannot be read.

    How to read it
    --------------
    The cards answer "which system finds more", the tables say how each number is defined and how sure it is, the rows of
    pictures show what a number is made of.
    """
    if cases < 0 or shown < 1:
        raise InputError(f"cases must be at least 0 and shown at least 1; got {cases} and {shown}")
    paired = comparisons_from(comparisons)
    systems = load_systems(read_all(results), baseline=baseline)
    groups = group_by_protocol(systems)
    album = Album()
    views = [_protocol_view(group, number, paired) for number, group in enumerate(groups, start=1)]
    for view in views:
        _choose_cases(view, album, cases, shown)
    elsewhere = [one for one in paired if not any(one in view.comparisons for view in views)]
    target = Path(out)
    definitions = definitions_of(groups)
    html = render_page(
        "report.html.j2",
        title=title,
        lead=_lead(groups),
        contents=_contents(views, bool(elsewhere), sections),
        views=views,
        remarks=remarks_of(groups),
        elsewhere=elsewhere,
        sections=sections,
        definitions=definitions,
        definition_list=list({one.number: one for one in definitions.values()}.values()),
        footnotes=_FOOTNOTES,
        shown_note=_shown_note(cases, shown),
        origin=provenance,
        credit=credit,
        picture_note=_picture_note(album),
        album=album,
    )
    write_text(target, html)
    return target


def _protocol_view(group: ProtocolGroup, number: int, paired: Sequence[Comparison]) -> _ProtocolView:
    anchor = f"protocol-{number}"
    roles = {system.label: f"series-{place % _ROLES + 1}" for place, system in enumerate(group.systems)}
    names = {system.label for system in group.systems} | {s.record["model_name"] for s in group.systems}
    own = [
        one for one in paired if one.protocol == group.name or (one.protocol is None and {one.a, one.b} <= names)
    ]
    panels = [*curve_panels(group, roles, anchor), *spread_panel(group, roles, anchor)]
    return _ProtocolView(anchor, group, roles, panels, own, {system.label: _Shown() for system in group.systems})


def _choose_cases(view: _ProtocolView, album: Album, count: int, shown: int) -> None:
    """Fill in the queries to look at; what cannot be read is said on the page."""
    pair = _pair(view.group)
    for system in view.group.systems:
        part = view.shown[system.label]
        part.undefined = sum(values.ap is None for values in system.per_query)
        if not system.result.has_ranking:
            part.problem = "This result keeps no ranking, so its queries cannot be shown."
            continue
        worst, best = worst_queries(system, count), best_queries(system, count)
        chosen = {values.query: values for values in (*worst, *best)}
        try:
            cases = cases_of(system, chosen.values(), album, shown=shown)
        except FileFormatError as problem:
            part.problem = str(problem)
            continue
        part.tied = {"worst": _tied(system, worst), "best": _tied(system, best)}
        part.worst = [cases[values.query] for values in worst]
        part.best = [cases[values.query] for values in best]
    if pair and not any(view.shown[system.label].problem for system in pair):
        view.contrast = pair
        view.contrasts = _contrasts(*pair, album, count, shown)


def _pair(group: ProtocolGroup) -> tuple[System, System] | None:
    """The two systems whose queries are compared: the baseline, or the second, against the highest AP."""
    if len(group.systems) < 2:
        return None

    def height(system: System) -> float:
        measured = system.find("AP")
        return measured.mean if measured and measured.mean is not None else -1.0

    ranked = sorted(group.systems, key=height, reverse=True)
    lower = next((s for s in group.systems if s.is_baseline), ranked[1])
    upper = next(system for system in ranked if system is not lower)
    return lower, upper


def _contrasts(first: System, second: System, album: Album, count: int, shown: int) -> list[Contrast]:
    chosen: list[QueryValues] = most_different(first, second, count)
    theirs: dict[Id, QueryValues] = {values.query: values for values in second.per_query}
    before = cases_of(first, chosen, album, shown=shown)
    after = cases_of(second, [theirs[values.query] for values in chosen], album, shown=shown)
    return [Contrast(before[values.query], after[values.query]) for values in chosen]


def _tied(system: System, chosen: Sequence[QueryValues]) -> int:
    """How many queries share the value of all chosen ones; 0 when these differ."""
    values = {one.ap for one in chosen}
    return sum(one.ap in values for one in system.per_query) if len(values) == 1 else 0


def _lead(groups: Sequence[ProtocolGroup]) -> str:
    """The whole measurement in two sentences, for somebody who has not met one before."""
    systems = list(dict.fromkeys(s.record["model_name"] for group in groups for s in group.systems))
    queries = sorted({s.record["num_queries"] for group in groups for s in group.systems})
    asked = (
        plural(queries[-1], "query", "queries") if len(queries) == 1 else f"up to {counted(queries[-1])} queries"
    )
    ways = f" under {plural(len(groups), 'protocol')}" if len(groups) > 1 else ""
    does = "was asked" if len(systems) == 1 else "were asked"
    return (
        f"{plural(len(systems), 'search system')} {does} {asked}{ways}. For each query the answer is known, so each result "
        "is right or wrong; the numbers below count how often, how early and how completely the right ones came."
    )


def _contents(
    views: Sequence[_ProtocolView], elsewhere: bool, sections: Sequence[Section]
) -> list[tuple[str, str]]:  # noqa: FBT001 - private
    found = [(view.anchor, view.group.name) for view in views]
    found += [("differences", "Differences")] if elsewhere else []
    found += [(section.anchor, section.title) for section in sections]
    return [*found, ("definitions", "What each number means"), ("origin", "Where the numbers come from")]


def _shown_note(cases: int, shown: int) -> str:
    return (
        f"Of each system the {cases} queries with the lowest and the {cases} with the highest average precision, with the "
        f"first {shown} results; where no right one is among them, the first right one follows after a gap. Among equals: "
        "queries with more right answers first, then one from each group."
    )


def _picture_note(album: Album) -> str:
    text = f"{plural(len(album), 'picture')} shown, each scaled down and stored once."
    missing = "; ".join(f"{reason}: {counted(number)}" for reason, number in album.missing.items())
    return f"{text} Empty frames: {missing}." if missing else text
