"""One protocol's part of the report: its systems, figures, comparisons, and the queries to look at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from visual_search.errors import FileFormatError
from visual_search.formats.result_tables import STATES
from visual_search.ids import Id
from visual_search.reports.cases import (
    Case,
    Contrast,
    best_queries,
    cases_of,
    most_different,
    ranks_of,
    with_moves,
    worst_queries,
)
from visual_search.reports.charts import Panel, change_panel, curve_panels, spread_panel
from visual_search.reports.comparisons import Comparison
from visual_search.reports.coverage import Coverage, coverage_of
from visual_search.reports.pictures import Album
from visual_search.reports.protocol_groups import ProtocolGroup
from visual_search.reports.provenance import facts_of
from visual_search.reports.slice_grids import SliceGrid, slice_grids
from visual_search.reports.slice_tables import SliceTable, slice_tables
from visual_search.reports.stored_slices import stored_slice_tables
from visual_search.reports.systems import QueryValues, System

__all__ = ["ChangedQueries", "ProtocolPart", "ShownQueries", "choose_cases", "protocol_part", "series_roles"]

_ROLES = 8  # distinct colours with line styles; further systems take them again


@dataclass
class ShownQueries:
    """The queries a page shows of one system.

    Parameters
    ----------
    worst, best : list of Case
    tied : dict
        For ``worst`` and ``best``, how many queries share the one value of all shown; 0 when values differ.
    undefined : int
        Queries without a value to order by.
    problem : str or None
        Why there is nothing to show.
    """

    worst: list[Case] = field(default_factory=list)
    best: list[Case] = field(default_factory=list)
    tied: dict[str, int] = field(default_factory=lambda: {"worst": 0, "best": 0})
    undefined: int = 0
    problem: str | None = None


@dataclass(frozen=True)
class ChangedQueries:
    """Two systems, and the queries between them that changed most.

    Parameters
    ----------
    first, second : System
    contrasts : list of Contrast
    """

    first: System
    second: System
    contrasts: list[Contrast]


@dataclass
class ProtocolPart:
    """What the template draws for one protocol."""

    anchor: str
    group: ProtocolGroup
    roles: Mapping[str, str]
    panels: list[Panel]
    comparisons: list[Comparison]
    shown: dict[str, ShownQueries]
    changes: list[Panel] = field(default_factory=list)
    coverage: list[Coverage] = field(default_factory=list)
    slices: list[SliceTable] = field(default_factory=list)
    pairs: list[ChangedQueries] = field(default_factory=list)

    @property
    def facts(self) -> list[str]:
        """Queries, gallery, rules, in a few words."""
        return facts_of(self.group)

    @property
    def has_unjudged(self) -> bool:
        """Whether results that nobody judged are among those looked at."""
        return any(one.judged is not None and one.judged < 1 for one in self.coverage)

    @property
    def slice_grids(self) -> list[SliceGrid]:
        """The slices of a lone system, its measures side by side."""
        return slice_grids(self.slices)

    @property
    def question(self) -> str:
        """What the first measure answers."""
        first = self.group.first(self.group.headline_names[0])
        if first.family != "HitRate":
            return first.title
        if first.depth == 1:
            return "How often is the first result right?"
        return f"How often is one of the first {first.depth} right?"

    @property
    def has_cases(self) -> bool:
        """Whether there are queries to look at, or a reason to give why not."""
        return any(part.worst or part.best or part.problem for part in self.shown.values())

    @property
    def states(self) -> list[str]:
        """States of the results shown, in the order of the key."""
        cases = [case for part in self.shown.values() for case in (*part.worst, *part.best)]
        cases += [case for pair in self.pairs for one in pair.contrasts for case in (one.first, one.second)]
        found = {hit.state for case in cases for hit in case.hits}
        return [state for state in STATES if state in found or state in {"relevant", "not_relevant"}]


def series_roles(groups: Sequence[ProtocolGroup]) -> dict[str, str]:
    """Colour and line style of each label, the same under every protocol."""
    labels = dict.fromkeys(system.label for group in groups for system in group.systems)
    return {label: f"series-{place % _ROLES + 1}" for place, label in enumerate(labels)}


def protocol_part(
    group: ProtocolGroup, number: int, roles: Mapping[str, str], comparisons: Sequence[Comparison]
) -> ProtocolPart:
    """Draw the figures of a protocol and take the comparisons that belong to it."""
    anchor = f"protocol-{number}"
    names = {system.label for system in group.systems} | {s.record["model_name"] for s in group.systems}
    own = [c for c in comparisons if c.protocol == group.name or (c.protocol is None and {c.a, c.b} <= names)]
    panels = [*curve_panels(group, roles, anchor), *spread_panel(group, roles, anchor)]
    shown = {system.label: ShownQueries() for system in group.systems}
    part = ProtocolPart(anchor, group, roles, panels, own, shown)
    part.coverage, part.slices = coverage_of(group), [*slice_tables(group), *stored_slice_tables(group)]
    if own:
        part.changes = change_panel([(pair, roles[pair[1].label]) for pair in _pairs(group)], group, anchor)
    return part


def choose_cases(part: ProtocolPart, album: Album, *, count: int, shown: int) -> None:
    """Fill in the queries to look at; what cannot be read is said on the page.

    Parameters
    ----------
    part : ProtocolPart
    album : Album
        Where their pictures go.
    count : int
        Queries of each kind; 0 leaves everything out.
    shown : int
        Results of each query.
    """
    if not count:
        return
    for system in part.group.systems:
        _choose_of(system, part.shown[system.label], album, count, shown)
    for first, second in _pairs(part.group):
        if part.shown[first.label].problem or part.shown[second.label].problem:
            continue
        if contrasts := _contrasts(first, second, album, count, shown):
            part.pairs.append(ChangedQueries(first, second, contrasts))


def _choose_of(system: System, part: ShownQueries, album: Album, count: int, shown: int) -> None:
    part.undefined = sum(values.ap is None for values in system.per_query)
    if not system.result.has_ranking:
        part.problem = "This result keeps no ranking, so its queries cannot be shown."
        return
    worst, best = worst_queries(system, count), best_queries(system, count)
    chosen = {values.query: values for values in (*worst, *best)}
    try:
        cases = cases_of(system, chosen.values(), album, shown=shown)
    except FileFormatError as problem:
        part.problem = str(problem)
        return
    part.tied = {"worst": _tied(system, worst), "best": _tied(system, best)}
    part.worst = [cases[values.query] for values in worst]
    part.best = [cases[values.query] for values in best]


def _pairs(group: ProtocolGroup) -> list[tuple[System, System]]:
    """The pairs whose queries are compared: the baseline, or the lower of the two highest AP, against each other."""
    if len(group.systems) < 2:
        return []

    def height(system: System) -> float:
        measured = system.find("AP")
        return measured.mean if measured and measured.mean is not None else -1.0

    ranked = sorted(group.systems, key=height, reverse=True)
    against = next((s for s in group.systems if s.is_baseline), ranked[1])
    return [(against, system) for system in ranked if system is not against][: _ROLES - 1]


def _contrasts(first: System, second: System, album: Album, count: int, shown: int) -> list[Contrast]:
    chosen: list[QueryValues] = most_different(first, second, count)
    theirs: dict[Id, QueryValues] = {values.query: values for values in second.per_query}
    before = cases_of(first, chosen, album, shown=shown)
    after = cases_of(second, [theirs[values.query] for values in chosen], album, shown=shown)
    queries = [values.query for values in chosen]
    ranks = [ranks_of(system, queries) for system in (first, second)]
    return [
        Contrast(
            with_moves(before[query], ranks[1][query], is_second=False),
            with_moves(after[query], ranks[0][query], is_second=True),
        )
        for query in queries
    ]


def _tied(system: System, chosen: Sequence[QueryValues]) -> int:
    values = {one.ap for one in chosen}
    return sum(one.ap in values for one in system.per_query) if len(values) == 1 else 0
