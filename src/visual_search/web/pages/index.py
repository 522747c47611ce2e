"""The indexes and the sweeps: what each setting costs, and which queries it loses."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Query
from markupsafe import Markup

from visual_search.errors import FileFormatError, InputError, UnknownNameError, VisualSearchError
from visual_search.ids import Id
from visual_search.reports.front_panel import (
    cost_title,
    front_panel,
    ladder_roles,
    reach_for,
    with_ring,
    with_target,
)
from visual_search.tuning.choice import Choice
from visual_search.tuning.pareto import Front
from visual_search.tuning.sweep_point import COSTS, SweepPoint
from visual_search.tuning.sweep_record import cost_in_words
from visual_search.web.addresses import address
from visual_search.web.explorer import Explorer, ExplorerOf
from visual_search.web.page import Page
from visual_search.web.pages.search import item_picture
from visual_search.web.parameters import OptionalShare, OptionalText
from visual_search.workflows.explored_indexes import ExploredIndex
from visual_search.workflows.explored_sweeps import ExploredSweep, LostQuery, SweepView

__all__ = ["PAGES"]

_USUAL = 20
_MOST = 100
_MOST_MISSED = 50


def _index(
    explorer: ExplorerOf,
    *,
    sweep: OptionalText = None,
    measure: OptionalText = None,
    cost: OptionalText = None,
    target: OptionalShare = None,
    confidence: Annotated[float, Query(gt=0, lt=1)] = 0.95,
) -> dict[str, Any]:
    shown = explorer.sweeps.named(sweep)
    view = SweepView(measure, cost, target, confidence)
    told, problem = None, None
    try:
        told = None if shown is None else _sweep(shown, view)
    except FileFormatError as error:
        if sweep is not None:
            raise
        problem = str(error)  # nobody asked for this one: indexes and other sweeps are shown
    return {
        "indexes": [
            {**one.facts, "search": address("/search", index=one.name if len(explorer.indexes) > 1 else None)}
            for one in explorer.indexes
        ],
        "sweeps": [{"name": one.name, "address": address("/index", sweep=one.name)} for one in explorer.sweeps],
        "sweep": told,
        "sweep_problem": problem,
    }


def _sweep(shown: ExploredSweep, view: SweepView) -> dict[str, Any]:
    held = shown.sweep()
    measure = held.measure(view.measure)
    cost = shown.cost(view)
    choice, problem = None, None
    fronts: dict[str, Front] = {}
    try:
        choice = shown.choice(view)
        for one in dict.fromkeys((cost, "throughput", "index_bytes")):
            fronts[one] = shown.front(replace(view, cost=one))
    except UnknownNameError:
        raise
    except VisualSearchError as error:
        problem = str(error)
    chosen = None if choice is None or choice.chosen is None else choice.chosen.point
    on_front = {point.key for point in fronts[cost].points} if cost in fronts else set()
    verdicts = _verdicts(choice)
    return {
        "name": shown.name,
        "data": {name: value for name, value in held.header["data"].items() if name != "measures"},
        "measures": list(held.measures),
        "costs": list(COSTS),
        "cost_words": {one: cost_title(one) for one in COSTS},
        "state": {
            "sweep": shown.name,
            "measure": measure,
            "cost": cost,
            "target": view.target,
            "confidence": view.confidence,
        },
        "figures": [
            {"cost": one, "figure": _figure(shown, front, measure, view.target, chosen)}
            for one, front in fronts.items()
        ],
        "chosen": None if chosen is None else chosen.key,
        "legend": [{"ladder": ladder, "role": role} for ladder, role in ladder_roles(held).items()],
        "problem": problem,
        "choice": None if choice is None else choice.words().split("\n"),
        "points": [
            {
                **row,
                "on_front": row["key"] in on_front,
                "cost": cost_in_words(cost, row["costs"][cost]),
                **verdicts.get(row["key"], {"bound": None, "verdict": None}),
                "lost_queries": _lost_address(shown, row["key"], measure),
            }
            for row in shown.table(view)
        ],
        "not_finished": [one.told() for one in held.not_finished],
        "notes": list(held.notes),
    }


def _figure(
    shown: ExploredSweep, front: Front, measure: str, target: float | None, chosen: SweepPoint | None
) -> Markup:
    def drawn(line: float | None, ring: SweepPoint | None, reach: float | None = None) -> Markup:
        return front_panel(
            front,
            key=f"front-{front.cost.replace('_', '-')}",
            target=line,
            chosen=ring,
            reach=reach,
            link=lambda point: _lost_address(shown, point, measure),
        )

    # Drawn once; the ring and the line are laid into it.
    reach = None if target is None else reach_for(front, target)
    made: Markup | None = shown.made(("figure", measure, front.cost, reach), lambda: drawn(None, None, reach))
    if made is not None and chosen is not None:
        made = with_ring(made, _lost_address(shown, chosen, measure))
    if made is not None and target is not None:
        made = with_target(made, front, target, reach=reach)
    if made is not None:
        return made
    about = ("figure", measure, front.cost, None if chosen is None else chosen.key, target)
    return shown.made(about, lambda: drawn(target, chosen))


def _verdicts(choice: Choice | None) -> dict[str, dict[str, Any]]:
    if choice is None:
        return {}
    return {
        one.point.key: {"bound": one.bound, "verdict": "chosen" if one is choice.chosen else one.status}
        for one in choice.candidates
    }


def _lost_address(shown: ExploredSweep, point: SweepPoint | str, measure: str) -> str:
    key = point if isinstance(point, str) else point.key
    return address("/index/lost", sweep=shown.name, point=key, measure=measure)


def _lost(
    explorer: ExplorerOf,
    *,
    point: OptionalText = None,
    sweep: OptionalText = None,
    measure: OptionalText = None,
    first: Annotated[int, Query(ge=0, description="how many of the lowest are passed over")] = 0,
    count: Annotated[int, Query(ge=1, le=_MOST)] = _USUAL,
) -> dict[str, Any]:
    shown = explorer.sweeps.named(sweep)
    if shown is None:
        raise UnknownNameError("sweep: none is served; start again with --sweep FILE")
    if point is None:
        raise InputError("point: none is named; choose a setting on the page of the index")
    held = shown.sweep()
    name = held.measure(measure)
    chosen = shown.point(point)
    queries, total = shown.lost(chosen, name, first, count)
    index = shown.index_among(explorer.indexes)
    told = [_query(one, index) for one in queries]

    def turned(to: int) -> str:
        return address(
            "/index/lost", sweep=shown.name, point=point, measure=name, first=to or None, count=_unusual(count)
        )

    return {
        "sweep": shown.name,
        "back": address("/index", sweep=shown.name, measure=name),
        "point": {"key": chosen.key, "label": chosen.label, "settings": dict(chosen.settings)},
        "measure": name,
        "k": held.header["data"].get("k"),
        "index": None if index is None else index.name,
        "queries": len(held.query_ids),
        "lost": total,
        "first": first,
        "count": count,
        "pictured": any(one["picture"] for query in told for one in (query, *(query["missed"] or ()))),
        "shown": told,
        "says_which": chosen.missed is not None,
        "before": turned(max(0, first - count)) if first else None,
        "after": turned(first + count) if first + count < total else None,
    }


def _unusual(count: int) -> int | None:
    return None if count == _USUAL else count


def _query(lost: LostQuery, index: ExploredIndex | None) -> dict[str, Any]:
    missed = None
    if lost.missed is not None:
        missed = [{"true_rank": rank, **_item(one, index)} for rank, one in lost.missed[:_MOST_MISSED]]
    return {
        **_item(lost.query, index if lost.is_item else None),
        "value": lost.value,
        "missed": missed,
        "more_missed": 0 if lost.missed is None else max(0, len(lost.missed) - _MOST_MISSED),
    }


def _item(item: Id | None, index: ExploredIndex | None) -> dict[str, Any]:
    if item is None or index is None or item not in index.index:
        return {"item": item, "picture": None, "search": None}
    return {
        "item": item,
        "picture": item_picture(index, item),
        "search": address("/search", index=index.name, item=item),
    }


def _lost_title(data: Mapping[str, Any]) -> str:
    return f"Queries that {data['point']['label']} loses"


def _get_ready(explorer: Explorer) -> None:
    for one in explorer.sweeps:
        with suppress(VisualSearchError, OSError):  # told on the page
            _sweep(one, SweepView())


PAGES = (
    Page("/index", "index.html.j2", _index, "Index", navigation="Index", order=40, get_ready=_get_ready),
    Page("/index/lost", "lost.html.j2", _lost, _lost_title, order=41),
)
