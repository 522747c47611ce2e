"""The report: one HTML file that opens from disk, holds its pictures, and asks nothing of any network."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from visual_search.errors import InputError, Problems
from visual_search.formats.atomic import write_text
from visual_search.formats.results import StoredResult
from visual_search.reports.comparisons import comparisons_from
from visual_search.reports.definitions import definitions_of
from visual_search.reports.ledger_tables import ledger_tables
from visual_search.reports.page_section import Section
from visual_search.reports.pictures import Album
from visual_search.reports.protocol_groups import ProtocolGroup, group_by_protocol
from visual_search.reports.protocol_part import ProtocolPart, choose_cases, protocol_part, series_roles
from visual_search.reports.provenance import fingerprints_of, provenance, rules_of
from visual_search.reports.remarks import remarks_of
from visual_search.reports.rendering import render_page
from visual_search.reports.systems import load_systems, read_all
from visual_search.reports.wording import counted, plural

__all__ = ["Section", "write_report"]

_OWN_ANCHORS = re.compile(
    r"main|remarks|definitions?|ledger|origin|differences|(protocol|picture|sign|definition|name)-.*"
)
_FOOTNOTES = (
    "Below a value stands its interval, where one was computed; “Where the numbers come from” says how.",
    "Random order: the exact expectation when the gallery is shuffled.",
    "Best reachable: the mean of a perfect ranking, given the right answers and which of them the gallery holds.",
    "R: how many right answers a query has. k: how many results are looked at.",
    "mAP and MRR are the means over queries of average precision (AP) and reciprocal rank (RR).",
)


def write_report(
    results: Sequence[str | os.PathLike[str] | StoredResult],
    out: str | os.PathLike[str],
    *,
    title: str = "How well does the search find?",
    baseline: str | None = None,
    comparisons: Iterable[Mapping[str, Any]] = (),
    credit: str | None = None,
    warnings: Sequence[str] = (),
    sections: Sequence[Section] = (),
    cases: int = 5,
    shown: int = 10,
) -> Path:
    """Write one self-contained HTML page about one or more results.

    Everything comes from the results' files: measures and conventions from the JSON, lists from the ranking file,
    images from where the item file says. An image that has gone is an empty frame with a label, and is counted.

    Parameters
    ----------
    results : sequence of path or StoredResult
        Results JSON files; those of one protocol stand side by side.
    out : path
        The HTML file; written whole or not at all.
    title : str
        Heading of the page.
    baseline : str, optional
        ``model_name`` of the system the others are held against; of several under one protocol the first.
    comparisons : iterable of mapping
        Paired differences: ``a``, ``b`` (model names, or the labels of results that share one), ``measure``,
        ``difference`` (a minus b), and where known ``low``, ``high``, ``p``, ``wins``, ``losses``, ``ties``,
        ``protocol`` (its name), ``words``.
    credit : str, optional
        Whose data it is, shown at the foot.
    warnings : sequence of str
        What else a reader must know before the numbers, such as why two systems are not compared.
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
        No results, an unknown baseline, comparisons without their keys, a section's anchor that is taken or not
        allowed, ``cases`` below 0 or ``shown`` below 1.
    FileFormatError
        A results file that cannot be read. A missing or damaged companion is told on the page instead.

    How to read it
    --------------
    The cards answer "which system finds more", the tables say how each number is defined and how sure it is, the
    rows of pictures show what a number is made of.
    """
    if cases < 0 or shown < 1:
        raise InputError(f"cases must be at least 0 and shown at least 1; got {cases} and {shown}")
    _check_sections(sections)
    paired = comparisons_from(comparisons)
    groups = group_by_protocol(load_systems(read_all(results), baseline=baseline))
    album = Album()
    roles = series_roles(groups)
    parts = [protocol_part(group, number, roles, paired) for number, group in enumerate(groups, start=1)]
    for part in parts:
        choose_cases(part, album, count=cases, shown=shown)
    elsewhere = [one for one in paired if not any(one in part.comparisons for part in parts)]
    definitions = definitions_of(groups)
    html = render_page(
        "report.html.j2",
        title=title,
        lead=_lead(groups),
        contents=_contents(parts, sections, {"differences": "Differences"} if elsewhere else {}),
        views=parts,
        remarks=remarks_of(groups, warnings),
        elsewhere=elsewhere,
        sections=sections,
        definitions=definitions,
        definition_list=list({one.number: one for one in definitions.values()}.values()),
        rules=rules_of(groups),
        footnotes=_footnotes(groups),
        ledgers=ledger_tables(groups),
        prints=fingerprints_of(groups),
        shown_note=_shown_note(cases, shown),
        origin=provenance,
        credit=credit,
        picture_note=_picture_note(album, groups),
        album=album,
    )
    target = Path(out)
    write_text(target, html)
    return target


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


def _lead(groups: Sequence[ProtocolGroup]) -> str:
    """The whole measurement in two sentences, for somebody who has not met one before."""
    return f"{_who_answered(groups)} {_who_chose(groups)}"


def _who_answered(groups: Sequence[ProtocolGroup]) -> str:
    labels = [{system.label for system in group.systems} for group in groups]
    systems, results = len(set.union(*labels)), sum(len(group.systems) for group in groups)
    queries = max(system.record["num_queries"] for group in groups for system in group.systems)
    same = len({system.record["num_queries"] for group in groups for system in group.systems}) == 1
    asked = plural(queries, "query", "queries") if same else f"up to {plural(queries, 'query', 'queries')}"
    ways = f", under {plural(len(groups), 'protocol')}" if len(groups) > 1 else ""
    if results != systems * len(groups):
        # Not every system was measured under every protocol: what is shown is counted.
        return f"{plural(results, 'result')} of {plural(systems, 'search system')}{ways}, of {asked} each."
    each = " each" if systems > 1 else ""
    return f"{plural(systems, 'search system')} answered {asked}{each}{ways}."


def _who_chose(groups: Sequence[ProtocolGroup]) -> str:
    truths = [system.record.get("truth") or {} for group in groups for system in group.systems]
    pseudo = [truth for truth in truths if truth.get("kind") == "pseudo"]
    if not pseudo:
        return (
            "The right answers are known beforehand, so each result is right or wrong; the numbers below say how "
            "often, how early and how completely the right ones came."
        )
    makers = {str(truth["pseudo_model"]) for truth in pseudo if truth.get("pseudo_model")}
    maker = f"A model, {makers.pop()}," if len(makers) == 1 else "A model"
    chose = "chose what counts as right" if len(pseudo) == len(truths) else "chose some of what counts as right"
    return (
        f"{maker} {chose}; nobody judged it. The numbers below say how often, how early and how completely those "
        "choices came, so how far a system agrees with that model."
    )


def _contents(
    parts: Sequence[ProtocolPart], sections: Sequence[Section], extra: Mapping[str, str]
) -> list[tuple[str, str]]:
    found = [(part.anchor, part.group.heading) for part in parts]
    found += [*extra.items(), *((section.anchor, section.title) for section in sections)]
    return [*found, ("definitions", "What each number means"), ("origin", "Where the numbers come from")]


def _footnotes(groups: Sequence[ProtocolGroup]) -> list[str]:
    """What holds for every table, and what a mark at an interval without width means."""
    made = [one.interval for group in groups for system in group.systems for one in system.measures.values()]
    flat = [one["groups"] for one in made if one and one.get("groups") and one["low"] == one["high"]]
    if not flat:
        return list(_FOOTNOTES)
    share = 1 - 0.05 ** (1 / min(flat))
    marked = (
        f"* All {counted(min(flat))} groups agree, so that resampling finds no spread. That is no certainty: up to "
        f"{100 * share:.1f} % of groups may still differ (95 %, one-sided)."
    )
    return [*_FOOTNOTES, marked]


def _shown_note(cases: int, shown: int) -> str:
    queries = "the query" if cases == 1 else f"the {cases} queries"
    most = "the one" if cases == 1 else f"the {cases}"
    results = "result" if shown == 1 else f"{shown} results"
    missed = "where it is wrong" if shown == 1 else "where none of these is right"
    return (
        f"Of each system {queries} with the lowest and {most} with the highest average precision, with the first "
        f"{results}; {missed}, the first right one follows after a gap. Among equals: queries with more right "
        "answers first, then one from each group."
    )


def _picture_note(album: Album, groups: Sequence[ProtocolGroup]) -> str:
    text = f"{plural(len(album), 'picture')} shown, each scaled down and stored once."
    systems = [system for group in groups for system in group.systems if not system.places_problem]
    roots = dict.fromkeys(root for system in systems for root in system.result.image_roots if album.took_from(root))
    if roots:
        # A result got from others may name any folder; who passes the page on must see what it took along.
        text += (
            " They were taken from "
            + ", ".join(dict.fromkeys(f"\u2068{root.name or root}\u2069" for root in roots))
            + "."
        )
    missing = "; ".join(f"{reason}: {counted(number)}" for reason, number in album.missing.items())
    return f"{text} Empty frames: {missing}." if missing else text
