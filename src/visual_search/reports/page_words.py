"""What a report says around its numbers: who was measured on what, how to read it, which pictures it took."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from visual_search.reports.page_section import Section
from visual_search.reports.pictures import Album, Since
from visual_search.reports.protocol_groups import ProtocolGroup
from visual_search.reports.protocol_part import ProtocolPart
from visual_search.reports.wording import counted, plural

__all__ = ["changed_note", "contents_of", "footnotes_of", "lead_of", "picture_note", "shown_note"]

_FOOTNOTES = (
    "Below a value stands its interval, where one was computed; “Where the numbers come from” says how.",
    "Random order: the exact expectation when the gallery is shuffled.",
    "Best reachable: the mean of a perfect ranking, given the right answers and which of them the gallery holds.",
    "R: how many right answers a query has. k: how many results are looked at.",
    "mAP and MRR are the means over queries of average precision (AP) and reciprocal rank (RR).",
)


def lead_of(groups: Sequence[ProtocolGroup]) -> str:
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
    judged = [truth.get("kind") == "judged" for truth in truths]
    if not pseudo and any(judged):
        who = "The right answers are" if all(judged) else "Some right answers are known beforehand, the others are"
        return (
            f"{who} those that were judged, which may be few of what was found. The numbers below say how often, how "
            "early and how completely the right ones came, and how much of the results was judged."
        )
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


def contents_of(
    parts: Sequence[ProtocolPart], sections: Sequence[Section], extra: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Anchor and words of each part of the page; ``extra`` stands between the protocols and the sections."""
    found = [(part.anchor, part.group.heading) for part in parts]
    found += [*extra.items(), *((section.anchor, section.title) for section in sections)]
    return [*found, ("definitions", "What each number means"), ("origin", "Where the numbers come from")]


def footnotes_of(groups: Sequence[ProtocolGroup]) -> list[str]:
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


def shown_note(cases: int, shown: int) -> str:
    """Which queries are shown."""
    queries = "the query" if cases == 1 else f"the {cases} queries"
    most = "the one" if cases == 1 else f"the {cases}"
    results = "result" if shown == 1 else f"{shown} results"
    missed = "where it is wrong" if shown == 1 else "where none of these is right"
    return (
        f"Of each system {queries} with the lowest and {most} with the highest average precision, with the first "
        f"{results}; {missed}, the first right one follows after a gap. Among equals: queries with more right "
        "answers first, then one from each group."
    )


def picture_note(album: Album, groups: Sequence[ProtocolGroup]) -> str:
    """How many pictures are shown, from where they were taken, and how many could not be."""
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
    if changed := album.changed():
        files = plural(changed, "file has", "files have")
        text += f" {files} changed since the measurement: {_shown(changed, 'measured')}"
    missing = "; ".join(f"{reason}: {counted(number)}" for reason, number in album.missing.items())
    return f"{text} Empty frames: {missing}." if missing else text


def changed_note(album: Album, since: Since) -> list[str]:
    """How many of an album's files are not what was indexed or compared any more; nothing where all are."""
    changed = album.changed(since)
    if not changed:
        return []
    files = "file has changed since it was" if changed == 1 else "files have changed since they were"
    return [f"{counted(changed)} {files} {since}: {_shown(changed, since)}"]


def _shown(changed: int, since: Since) -> str:
    return f"what is shown of {'it' if changed == 1 else 'them'} is not what was {since}."
