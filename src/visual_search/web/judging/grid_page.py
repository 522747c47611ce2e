"""All queries, and all candidates of one as tiles."""

# No postponed annotations here: FastAPI reads those of the functions below.

from typing import Annotated, Any

from fastapi import Query, Request

from visual_search.web.judging.judge_page import JudgeName
from visual_search.web.judging.room import RoomOf
from visual_search.web.judging.shapes import (
    candidate_shape,
    changes_told,
    judgement_shape,
    place_of,
    query_shape,
    task_shape,
)
from visual_search.web.page import Page

__all__ = ["PAGES"]

_DEPTHS = (5, 10, 20, 50, 100)
Depth = Annotated[int | None, Query(ge=1, le=1_000_000)]


def _queries(request: Request, room: RoomOf, judge: JudgeName = None) -> dict[str, Any]:
    queries = room.queries()
    counts = {one["query"]: one for one in room.progress(now=True)["queries"]}
    shown = [
        query_shape(room, query)
        | {"pairs": counts[query.query_id]["pairs"], "judged": counts[query.query_id]["judged"]}
        for query in queries
        if query.query_id in counts
    ]
    changes_told(request, room, [], shown)
    return {"judge": judge or None, "queries": shown}


def _grid(
    request: Request, room: RoomOf, query: int = 1, judge: JudgeName = None, depth: Depth = None
) -> dict[str, Any]:
    asked = room.query(query)
    tiles = room.store.query_pairs(asked.query_id, judge or "", depth=depth)
    own = query_shape(room, asked)
    shown = [
        candidate_shape(tile)
        | {"judgement": None if tile.judgement is None else judgement_shape(room, tile.judgement)}
        for tile in tiles
    ]
    changes_told(request, room, shown, [own])
    return {
        "judge": judge or None,
        "place": place_of(room),
        "task": task_shape(room),
        "query": own,
        "queries": len(room.queries()),
        "depth": depth,
        "depths": list(_DEPTHS),
        "tiles": shown,
    }


def _title(data: Any) -> str:
    return f"Query {data['query']['number']}"


PAGES = (
    Page("/judge/queries", "judging/queries.html.j2", _queries, "Queries", navigation="Queries", order=20),
    Page("/judge/grid", "judging/grid.html.j2", _grid, _title),
)
