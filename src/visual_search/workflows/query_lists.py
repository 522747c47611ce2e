"""One query's list under a stored result, as a page shows it: the head, and the first right item behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from visual_search.catalogue.opened import OpenedResult
from visual_search.ids import Id
from visual_search.reports.cases import Case, Hit
from visual_search.reports.pictures import Picture
from visual_search.reports.systems import QueryValues
from visual_search.undefined import none_if_nan

__all__ = ["PictureOf", "case_json", "case_of"]

#: From a result, ``items`` or ``queries``, and an id to its picture.
PictureOf: TypeAlias = Callable[[OpenedResult, str, Id], Picture]


def case_of(opened: OpenedResult, query: str, picture_of: PictureOf, *, shown: int) -> Case:
    """One query with the first ``shown`` items of its list.

    Raises
    ------
    UnknownIdError
        The result has no such query.
    FileFormatError
        A file beside the result is gone or damaged.
    """
    row = opened.row_of(query)
    identifier = opened.query_ids[row]
    case = Case(values_of(opened, row), picture_of(opened, "queries", identifier))
    rows = opened.list_of(query) if opened.has_lists else []
    case.returned = len(rows)
    for one in rows:
        in_head = (one["position"] if one["rank"] is None else one["rank"]) <= shown
        if not in_head and (one["state"] != "relevant" or case.first_relevant is not None):
            continue
        picture = picture_of(opened, "items", one["item"])
        hit = Hit(one["rank"], one["item"], one["score"], one["distance"], one["state"], one["grade"], picture)
        if in_head:
            case.hits.append(hit)
        else:
            case.later = hit
    return case


def values_of(opened: OpenedResult, row: int) -> QueryValues:
    """One query's values that stand beside its list."""

    def value(prefix: str) -> float | None:
        names = [name for name in opened.measure_names if name.startswith(prefix)]
        found = float(opened.values(names[-1])[row]) if names else float("nan")
        return none_if_nan(found)

    facts = opened.facts(row)
    return QueryValues(
        opened.query_ids[row],
        value("AP("),
        value("RR"),
        facts["num_relevant"],
        None if facts["group"] is None else str(facts["group"]),
    )


def case_json(case: Case) -> dict[str, Any]:
    """The same as a JSON value."""
    hits = [*case.hits, *([case.later] if case.later else [])]
    return {
        "query": case.values.query,
        "average_precision": case.values.ap,
        "reciprocal_rank": case.values.rr,
        "num_relevant": case.values.num_relevant,
        "group": case.values.group,
        **_picture_json(case.picture),
        "returned": case.returned,
        "first_relevant": case.first_relevant,
        "list": [
            {
                "rank": hit.rank,
                "item": hit.item,
                "score": hit.score,
                "distance": hit.distance,
                "state": hit.state,
                "grade": hit.grade,
                **_picture_json(hit.picture),
            }
            for hit in hits
        ],
    }


def _picture_json(picture: Picture) -> dict[str, Any]:
    """Where a picture is, whether it changed since it was measured (None: not known), or why there is none."""
    return {"picture": picture.address, "picture_changed": picture.changed, "picture_problem": picture.problem}
