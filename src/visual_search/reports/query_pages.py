"""All queries of a protocol, in pages: each with what every system returned for it, the lowest first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

from visual_search.errors import FileFormatError
from visual_search.formats.ranking_heads import RankingHeads
from visual_search.ids import Id
from visual_search.reports.cases import Case, case_of, with_moves
from visual_search.reports.pictures import Album
from visual_search.reports.protocol_part import ProtocolPart
from visual_search.reports.systems import QueryValues, System

__all__ = ["NamePage", "QueryPage", "QueryPages", "ShownQuery", "query_pages"]

_NAMES = 400  # queries of a page of names


@dataclass(frozen=True, slots=True)
class QueryPage:
    """One page of queries.

    Attributes
    ----------
    number : int
        From 1.
    file : str
        Its name in the folder of such pages.
    first, last : int
        Places of its queries among all, from 1.
    queries : tuple of ids
    lowest, highest : float or None
        Average precision of its first and of its last query under the system that orders them.
    """

    number: int
    file: str
    first: int
    last: int
    queries: tuple[Id, ...]
    lowest: float | None
    highest: float | None


@dataclass(frozen=True, slots=True)
class NamePage:
    """One page of the list by name."""

    number: int
    file: str
    rows: tuple[Id, ...]


@dataclass(frozen=True, slots=True)
class ShownQuery:
    """One query with a row for each system that answered it.

    Attributes
    ----------
    anchor : str
        Its id on the page.
    query : Id
    rows : list of (System, Case or str)
        What was returned; or why it cannot be shown.
    """

    anchor: str
    query: Id
    rows: list[tuple[System, Case | str]]

    @property
    def first(self) -> Case | None:
        """A case that has the query's own picture."""
        return next((case for _, case in self.rows if isinstance(case, Case)), None)


@dataclass
class QueryPages:
    """The pages of one protocol.

    Attributes
    ----------
    part : ProtocolPart
    lead : System
        The system whose average precision orders the queries.
    shown : int
        Results shown of each.
    queries : list of ids
        The lowest average precision first; those without a value last.
    pages : list of QueryPage
    names : list of NamePage
    place : dict of query to str
        The page that shows it and where on it: ``1-0001.html#query-3``.
    """

    part: ProtocolPart
    lead: System
    shown: int
    queries: list[Id]
    pages: list[QueryPage]
    names: list[NamePage]
    place: dict[Id, str]
    _heads: dict[str, RankingHeads | str] = field(default_factory=dict)

    def cases(self, page: QueryPage, album: Album) -> list[ShownQuery]:
        """What a page shows; pictures go to the album."""
        found = []
        for number, query in enumerate(page.queries, start=1):
            rows = [(system, self._case(system, query, album)) for system in self.part.group.systems]
            found.append(ShownQuery(f"query-{number}", query, self._moved(rows)))
        return found

    def neighbour(self, page: QueryPage, step: int) -> QueryPage | None:
        """The page before (-1) or after (1)."""
        place = page.number - 1 + step
        return self.pages[place] if 0 <= place < len(self.pages) else None

    def _case(self, system: System, query: Id, album: Album) -> Case | str:
        values = self._values[system.label].get(query)
        if values is None:
            return "This query was not put to it."
        heads = self._heads_of(system)
        return heads if isinstance(heads, str) else case_of(system, values, heads.rows(query), album)

    def _moved(self, rows: Sequence[tuple[System, Case | str]]) -> list[tuple[System, Case | str]]:
        """Each case with rank moves from the system that others are held against, as deep as is shown."""
        against = next((one for one in rows if one[0].is_baseline), rows[0])
        if isinstance(against[1], str) or len(rows) < 2:
            return list(rows)
        ranks = {hit.item: hit.rank for hit in against[1].hits}
        return [
            (system, case)
            if isinstance(case, str) or system is against[0]
            else (system, with_moves(case, ranks, is_second=True, beyond=self._beyond(against[1])))
            for system, case in rows
        ]

    def _beyond(self, case: Case) -> int | None:
        """How deep the list was looked at; None where all of it was."""
        return self.shown if case.returned > len(case.hits) else None

    @cached_property
    def _values(self) -> dict[str, dict[Id, QueryValues]]:
        return {one.label: {value.query: value for value in one.per_query} for one in self.part.group.systems}

    def _heads_of(self, system: System) -> RankingHeads | str:
        found = self._heads.get(system.label)
        if found is None:
            found = self._heads[system.label] = _read(system, self.shown)
        return found


def query_pages(part: ProtocolPart, *, shown: int, per_page: int) -> QueryPages:
    """Put all queries of a protocol into pages.

    Parameters
    ----------
    part : ProtocolPart
    shown : int
        Results shown of each query.
    per_page : int
        Queries of a page.

    Convention
    ----------
    Queries are ordered by their average precision under the system with the highest mean, the lowest first; among
    equals by the order of its file. Queries that only other systems answered follow at the end.
    """
    lead = max(part.group.systems, key=_height)
    own = {value.query: value.ap for value in lead.per_query}
    others = [value.query for system in part.group.systems for value in system.per_query if value.query not in own]
    ordered = sorted(own, key=lambda query: (own[query] is None, own[query] or 0.0))
    queries = [*ordered, *dict.fromkeys(others)]
    stem = part.anchor.rpartition("-")[2]
    pages = []
    for number, start in enumerate(range(0, len(queries), per_page), start=1):
        chosen = queries[start : start + per_page]
        values = [value for query in chosen if (value := own.get(query)) is not None]
        ends = (values[0], values[-1]) if values else (None, None)
        name = f"{stem}-{number:04}.html"
        pages.append(QueryPage(number, name, start + 1, start + len(chosen), tuple(chosen), *ends))
    place = {q: f"{page.file}#query-{n}" for page in pages for n, q in enumerate(page.queries, start=1)}
    by_name = sorted(queries, key=str)
    names = [
        NamePage(number, f"{stem}-{number:04}.html", tuple(by_name[start : start + _NAMES]))
        for number, start in enumerate(range(0, len(by_name), _NAMES), start=1)
    ]
    return QueryPages(part, lead, shown, queries, pages, names, place)


def _height(system: System) -> float:
    measured = system.find("AP")
    return measured.mean if measured and measured.mean is not None else -1.0


def _read(system: System, shown: int) -> RankingHeads | str:
    if not system.result.has_ranking:
        return "This result keeps no ranking, so its lists cannot be shown."
    try:
        return system.result.heads(shown)
    except FileFormatError as problem:
        return str(problem)
