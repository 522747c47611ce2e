"""One query under one system or several: each one's list, and how items move from one to the next."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from visual_search.catalogue.opened import OpenedResult
from visual_search.errors import FileFormatError, UnknownIdError
from visual_search.reports.cases import Case
from visual_search.reports.rank_moves import RankMoves, rank_moves
from visual_search.undefined import none_if_nan
from visual_search.workflows.explored_results import ExploredResults
from visual_search.workflows.form_ids import FormIds
from visual_search.workflows.query_lists import PictureOf, case_json, case_of
from visual_search.workflows.query_order import ONE_ORDERS, PAIR_ORDERS, neighbours, ordered_rows
from visual_search.workflows.result_differences import names_of

__all__ = ["QueryRow", "QueryView", "query_view"]


@dataclass(frozen=True, slots=True)
class QueryRow:
    """One system's answer to the query.

    Attributes
    ----------
    key, name, role : str
        Of the result, and the colour and line it is drawn in.
    value : float or None
        Of the measure that the queries are ordered by.
    case : Case or None
    problem : str or None
        Why there is no list.
    moves : RankMoves or None
        To the next system's list.
    """

    key: str
    name: str
    role: str
    value: float | None
    case: Case | None
    problem: str | None
    moves: RankMoves | None


@dataclass(frozen=True, slots=True)
class QueryView:
    """What the page of a query shows."""

    query: str
    rows: Sequence[QueryRow]
    measure: str
    measures: Sequence[str]
    order: str
    orders: dict[str, str]
    place: dict[str, Any]
    shown: int

    def as_json(self) -> dict[str, Any]:
        """As a JSON value."""
        return {
            "query": self.query,
            "measure": self.measure,
            "order": self.order,
            **self.place,
            "shown": self.shown,
            "systems": [
                {
                    "result": row.key,
                    "name": row.name,
                    "value": row.value,
                    "problem": row.problem,
                    **({} if row.case is None else case_json(row.case)),
                    "moves": None if row.moves is None else row.moves.as_json(),
                }
                for row in self.rows
            ],
        }


def query_view(
    explored: ExploredResults,
    keys: Sequence[str],
    query: str | None,
    *,
    measure: str,
    order: str,
    shown: int,
    picture_of: PictureOf,
) -> QueryView:
    """Gather one query's lists.

    Parameters
    ----------
    explored : ExploredResults
    keys : sequence of str
        Results, the first of which orders the queries.
    query : str or None
        Id as text; the first in the order where None, or of the file where the order has none. As None is an empty
        text that no result has as an id.
    measure, order : str
        What the queries are gone through by; a usual choice where empty.
    shown : int
        Items of each list.
    picture_of : callable
        Gives pictures.

    Raises
    ------
    UnknownIdError
        No such result or measure, or no result has such a query; none is named and the first result has none.
    InputError
        An order that is not there, no result or too many.
    """
    opened = explored.chosen(keys, least=1)
    query = _meant(opened, query)
    if query is not None and not any(one.has_query(query) for one in opened):
        raise UnknownIdError(f"query: {query[:100]!r} is in none of the results; ids are matched whole")
    order = order or ("changed" if len(opened) > 1 else "worst")
    common = [name for name in opened[0].measure_names if all(name in one.measure_names for one in opened)]
    usual = opened[0].leading_measure
    measure = measure or (usual if usual in common or not common else common[0])
    query = _first(opened, measure, order) if query is None else query
    place: dict[str, Any] = {"place": None, "of": 0, "previous": None, "next": None}
    if opened[0].has_query(query):
        place = neighbours(opened[0], ordered_rows(opened, measure, order), query)
    names = names_of([one.entry for one in opened])
    cases = [_case(one, query, picture_of, shown) for one in opened]
    rows = [
        QueryRow(
            one.entry.key,
            name,
            f"series-{number % 8 + 1}",
            _value(one, query, measure),
            *cases[number],
            _moves(cases, number),
        )
        for number, (one, name) in enumerate(zip(opened, names, strict=True))
    ]
    orders = ONE_ORDERS | (PAIR_ORDERS if len(opened) > 1 else {})
    return QueryView(query, rows, measure, common, order, orders, place, shown)


def _meant(opened: Sequence[OpenedResult], query: str | None) -> str | None:
    """The query that a form or an address names; None where it names none."""
    if query is None or any(one.has_query(query) for one in opened):
        return query
    if query == "":
        return None
    for one in opened:
        if (found := FormIds(one.query_ids).meant(query)) is not None:
            return str(found)
    return query


def _first(opened: Sequence[OpenedResult], measure: str, order: str) -> str:
    ids = opened[0].query_ids
    if not ids:
        raise UnknownIdError(f"query: none is named, and {opened[0].entry.name} has none to begin with")
    rows = ordered_rows(opened, measure, order)
    return str(ids[int(rows[0]) if len(rows) else 0])


def _case(opened: OpenedResult, query: str, picture_of: PictureOf, shown: int) -> tuple[Case | None, str | None]:
    if not opened.has_query(query):
        return None, "This result has no such query."
    if not opened.has_lists:
        return None, "This result keeps no lists, so that nothing can be shown of it."
    try:
        return case_of(opened, query, picture_of, shown=shown), None
    except FileFormatError as problem:
        return None, str(problem)


def _value(opened: OpenedResult, query: str, measure: str) -> float | None:
    if not opened.has_query(query) or measure not in opened.measure_names:
        return None
    found = float(opened.values(measure)[opened.row_of(query)])
    return none_if_nan(found)


def _moves(cases: Sequence[tuple[Case | None, str | None]], number: int) -> RankMoves | None:
    if number + 1 == len(cases):
        return None
    first, second = cases[number][0], cases[number + 1][0]
    return None if first is None or second is None else rank_moves(first, second)
