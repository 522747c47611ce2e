"""The queries a page shows: worst, best, and where two systems differ most; each with what was returned."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from visual_search.ids import Id
from visual_search.reports.pictures import Album, Picture
from visual_search.reports.systems import QueryValues, System

__all__ = [
    "Case",
    "Contrast",
    "Hit",
    "RankMove",
    "best_queries",
    "case_of",
    "cases_of",
    "most_different",
    "ranks_of",
    "with_moves",
    "worst_queries",
]


@dataclass(frozen=True, slots=True)
class RankMove:
    """Where the other of two systems has the same item.

    Parameters
    ----------
    rank : int or None
        This system's.
    other : int or None
        The other's; None where it did not return the item among those looked at.
    is_second : bool
        Whether this is the second of the two, so that the move leads here.
    beyond : int, optional
        How deep the other list was looked at, where not to its end.
    """

    rank: int
    other: int | None
    is_second: bool
    beyond: int | None = None

    @property
    def sign(self) -> str:
        """``up``, ``down`` or ``same`` on the way from the first system to the second; ``in`` and ``out``."""
        if self.other is None:
            return "in" if self.is_second else "out"
        before, after = (self.other, self.rank) if self.is_second else (self.rank, self.other)
        return "same" if before == after else "up" if after < before else "down"

    @property
    def words(self) -> str:
        """In a few words: ``from 7``, ``to 3``, ``same``, ``new``, ``gone``; ``from >10`` where no more is known."""
        if self.sign == "same":
            return "same"
        if self.other is None:
            if self.beyond is not None:
                return f"from >{self.beyond}" if self.is_second else f"to >{self.beyond}"
            return "new" if self.is_second else "gone"
        return f"from {self.other:,}" if self.is_second else f"to {self.other:,}"


@dataclass(frozen=True)
class Hit:
    """One returned item: where it stood, what it scored, whether it was right; an ignored one has no rank."""

    rank: int | None
    item: Id
    score: float
    distance: float | None
    state: str
    grade: float | None
    picture: Picture
    move: RankMove | None = None


@dataclass
class Case:
    """One query with the head of its list.

    Parameters
    ----------
    values : QueryValues
    picture : Picture
        The query's image.
    hits : list of Hit
        The first results, in order.
    later : Hit or None
        The first relevant item, when it lies behind the hits shown.
    returned : int
        Length of the whole list.
    """

    values: QueryValues
    picture: Picture
    hits: list[Hit] = field(default_factory=list)
    later: Hit | None = None
    returned: int = 0

    @property
    def first_relevant(self) -> int | None:
        """Rank of the first relevant item, None when none was returned."""
        right = [hit for hit in (*self.hits, *([self.later] if self.later else [])) if hit.state == "relevant"]
        return right[0].rank if right else None


@dataclass(frozen=True)
class Contrast:
    """One query under two systems."""

    first: Case
    second: Case

    @property
    def difference(self) -> float:
        """Average precision of the second minus that of the first."""
        return (self.second.values.ap or 0.0) - (self.first.values.ap or 0.0)


def with_moves(case: Case, others: Mapping[Id, int | None], *, is_second: bool, beyond: int | None = None) -> Case:
    """The same query with, at each item, where the other of two systems has it.

    Parameters
    ----------
    case : Case
    others : mapping of item to its rank under the other system
    is_second : bool
        Whether the case is the second system's.
    beyond : int, optional
        How deep the other list was looked at, where not to its end.
    """

    def moved(hit: Hit) -> Hit:
        if hit.rank is None:
            return hit
        return replace(hit, move=RankMove(hit.rank, others.get(hit.item), is_second, beyond))

    later = None if case.later is None else moved(case.later)
    return replace(case, hits=[moved(hit) for hit in case.hits], later=later)


def worst_queries(system: System, count: int) -> list[QueryValues]:
    """Lowest average precision first, then lowest reciprocal rank.

    Convention
    ----------
    Among equals the query with more relevant items (it missed more) comes first, then groups not yet shown, then
    the order of the file. Queries without a value are left out.
    """
    ranked = sorted(_defined(system), key=lambda v: (v.ap, v.rr, -(v.num_relevant or 0)))
    return _spread_over_groups(ranked, count)


def best_queries(system: System, count: int) -> list[QueryValues]:
    """Highest average precision first, then highest reciprocal rank; among equals as for the worst."""
    ranked = sorted(_defined(system), key=lambda v: (-(v.ap or 0), -(v.rr or 0), -(v.num_relevant or 0)))
    return _spread_over_groups(ranked, count)


def most_different(first: System, second: System, count: int) -> list[QueryValues]:
    """Queries whose average precision differs most between two systems; equal ones are left out."""
    theirs = {values.query: values for values in _defined(second)}
    gaps = {v.query: abs((theirs[v.query].ap or 0) - (v.ap or 0)) for v in _defined(first) if v.query in theirs}
    ranked = sorted((v for v in first.per_query if gaps.get(v.query)), key=lambda v: -gaps[v.query])
    return ranked[:count]


def _defined(system: System) -> list[QueryValues]:
    return [values for values in system.per_query if values.ap is not None and values.rr is not None]


def _spread_over_groups(ranked: Sequence[QueryValues], count: int) -> list[QueryValues]:
    """Take the first, but among equals one a group before a second of the same."""
    chosen: list[QueryValues] = []
    shown: dict[str | None, int] = {}
    start = 0
    while start < len(ranked) and len(chosen) < count:
        key = (ranked[start].ap, ranked[start].rr, ranked[start].num_relevant)
        stop = start
        while stop < len(ranked) and (ranked[stop].ap, ranked[stop].rr, ranked[stop].num_relevant) == key:
            stop += 1
        rounds: dict[str | None, int] = dict(shown)
        order = []
        for place in range(start, stop):
            group = ranked[place].group
            order.append((rounds.get(group, 0) if group is not None else 0, place))
            rounds[group] = rounds.get(group, 0) + 1
        for _, place in sorted(order)[: count - len(chosen)]:
            chosen.append(ranked[place])
            shown[ranked[place].group] = shown.get(ranked[place].group, 0) + 1
        start = stop
    return chosen


def cases_of(system: System, chosen: Iterable[QueryValues], album: Album, *, shown: int) -> dict[Id, Case]:
    """Read the chosen queries' lists: the first ``shown`` items of each, and its first right one.

    Raises
    ------
    FileFormatError
        The ranking file is gone, damaged, or not the one the record was written with.
    """
    wanted = list(chosen)
    rows: dict[Id, list[dict[str, Any]]] = {}
    for row in _rows(system, [values.query for values in wanted], shown):
        rows.setdefault(row["query"], []).append(row)
    return {values.query: case_of(system, values, rows.get(values.query, ()), album) for values in wanted}


def case_of(system: System, values: QueryValues, rows: Iterable[Mapping[str, Any]], album: Album) -> Case:
    """One query with the rows of its list that are shown.

    Parameters
    ----------
    system : System
    values : QueryValues
    rows : iterable of mapping
        As :meth:`visual_search.formats.ranking_heads.RankingHeads.rows` gives them.
    album : Album
        Where the pictures go.
    """
    case = Case(values, album.picture(system.query_location(values.query)))
    for row in rows:
        case.returned = row["returned"]
        hit = Hit(
            row["rank"],
            row["item"],
            row["score"],
            row["distance"],
            row["state"],
            row["grade"],
            album.picture(system.item_location(row["item"])),
        )
        if row["head"]:
            case.hits.append(hit)
        elif case.first_relevant is None:
            case.later = hit
    return case


def ranks_of(system: System, queries: Sequence[Id]) -> dict[Id, dict[Id, int | None]]:
    """For some queries, the rank of every item that was returned; None for what is ignored.

    Raises
    ------
    FileFormatError
        As for :func:`cases_of`.
    """
    table = system.result.ranking(queries=queries).select(["query", "item", "rank"])
    found: dict[Id, dict[Id, int | None]] = {query: {} for query in queries}
    for row in table.to_pylist():
        found[row["query"]][row["item"]] = row["rank"]
    return found


def _rows(system: System, queries: list[Id], shown: int) -> list[dict[str, Any]]:
    """Rows to show, by query and rank: the head of each list, and the first relevant item behind it."""
    import pyarrow.compute as pc

    table = system.result.ranking(queries=queries)
    in_head = pc.if_else(pc.is_null(pc.field("rank")), pc.field("position"), pc.field("rank")) <= shown
    is_relevant = pc.field("state") == "relevant"
    lengths = _by_query(table, "position", "count")
    firsts = _by_query(table.filter(is_relevant), "rank", "min")
    wanted = table.filter(in_head | is_relevant)
    rows = wanted.sort_by([("query", "ascending"), ("position", "ascending")]).to_pylist()
    for row in rows:
        row["head"] = (row["position"] if row["rank"] is None else row["rank"]) <= shown
        row["returned"] = lengths[row["query"]]
    return [row for row in rows if row["head"] or row["rank"] == firsts.get(row["query"])]


def _by_query(table: Any, column: str, what: str) -> dict[Id, int]:
    rows = table.group_by("query").aggregate([(column, what)]).to_pylist()
    return {row["query"]: row[f"{column}_{what}"] for row in rows}
