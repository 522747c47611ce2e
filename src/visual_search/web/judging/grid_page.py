"""All queries, and all candidates of one as tiles."""

# No postponed annotations here: FastAPI reads those of the functions below.

from typing import Annotated, Any

from fastapi import Query

from visual_search.web.judging.judge_page import JudgeName
from visual_search.web.judging.room import RoomOf
from visual_search.web.judging.shapes import candidate_shape, judgement_shape, place_of, query_shape, task_shape
from visual_search.web.page import Page

__all__ = ["PAGES"]

_DEPTHS = (5, 10, 20, 50, 100)
Depth = Annotated[int | None, Query(ge=1, le=1_000_000)]


def _queries(room: RoomOf, judge: JudgeName = None) -> dict[str, Any]:
    queries = room.queries()
    counts = {one["query"]: one for one in room.progress(now=True)["queries"]}
    shown = [
        query_shape(room, query)
        | {"pairs": counts[query.query_id]["pairs"], "judged": counts[query.query_id]["judged"]}
        for query in queries
        if query.query_id in counts
    ]
    return {"judge": judge or None, "queries": shown}


def _grid(room: RoomOf, query: int = 1, judge: JudgeName = None, depth: Depth = None) -> dict[str, Any]:
    asked = room.query(query)
    tiles = room.store.query_pairs(asked.query_id, judge or "", depth=depth)
    return {
        "judge": judge or None,
        "place": place_of(room),
        "task": task_shape(room),
        "query": query_shape(room, asked),
        "queries": len(room.queries()),
        "depth": depth,
        "depths": list(_DEPTHS),
        "tiles": [
            candidate_shape(tile)
            | {"judgement": None if tile.judgement is None else judgement_shape(room, tile.judgement)}
            for tile in tiles
        ],
    }


def _title(data: Any) -> str:
    return f"Query {data['query']['number']}"


PAGES = (
    Page("/judge/queries", "judging/queries.html.j2", _queries, "Queries", navigation="Queries", order=20),
    Page("/judge/grid", "judging/grid.html.j2", _grid, _title),
)
