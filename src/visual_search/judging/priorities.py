"""The order in which pairs are given out, kept in the database beside them.

A pair's priority is its place in its query's order (judged pairs count as places before it), by rounds of
``run_length``: all queries give their first pairs, then all their next, so that no query is judged deep before others
have begun. Within a round a query's pairs stand together, since a judge who stays with a query is faster.

Only the query whose judgements changed is ordered anew, and only rows that move are written: those among the next
``HORIZON`` pairs of the query, or that were. Beyond it pairs wait in the order they had, behind all within it, and are
put right as they come nearer; so few rows are written that a judgement costs the same in a pool of any depth.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from visual_search.judging import schema
from visual_search.judging.order import QueryOrder
from visual_search.judging.pool import Source
from visual_search.judging.pool_rows import as_source
from visual_search.judging.schema import id_value, sa
from visual_search.judging.task import JudgingTask, share_hash

__all__ = ["HORIZON", "Priorities", "relevance_of_pairs"]

# How many pairs of a query stand in exact order: more than judges at once hold of one.
HORIZON = 32


_pair, _held, _said = schema.pairs.c, schema.standing.c, schema.judgements.c
_VERSION = (
    sa.select(schema.queries.c.version)
    .where(schema.queries.c.id == sa.bindparam("query"))
    .with_for_update(key_share=True)
)
_MOVE = schema.pairs.update().where(_pair.id == sa.bindparam("pair")).values(priority=sa.bindparam("new"))
# Rows that somebody is giving out or judging at this moment are passed over rather than waited for.
_MOVE_AT_ONCE = sa.text(
    "WITH ours AS (SELECT id FROM judging_pair WHERE id = ANY(CAST(:pairs AS integer[])) "
    "FOR NO KEY UPDATE SKIP LOCKED) "
    "UPDATE judging_pair SET priority = moved.priority FROM ours, "
    "unnest(CAST(:pairs AS integer[]), CAST(:priorities AS double precision[])) AS moved (id, priority) "
    "WHERE judging_pair.id = moved.id AND ours.id = moved.id"
)
_STATE = (
    sa.select(_pair.id, _pair.priority, _held.role, _said.grade)
    .outerjoin(schema.standing, _held.pair_id == _pair.id)
    .outerjoin(schema.judgements, _said.id == _held.judgement_id)
    .where(_pair.query_id == sa.bindparam("query"))
)


@dataclass(frozen=True, slots=True)
class _Shape:
    """What of a query's pairs only a new pool changes."""

    version: int
    pairs: tuple[int, ...]
    order: QueryOrder
    turn: float


class Priorities:
    """Orders queries' pairs anew; what stays the same of each is remembered.

    Parameters
    ----------
    task : JudgingTask
    """

    def __init__(self, task: JudgingTask) -> None:
        self.task = task
        self._shapes: dict[int, _Shape] = {}
        self._asked: set[int] = set()
        self._guard = threading.Lock()

    def ask(self, query: int) -> bool:
        """Whether the caller has to order a query anew; not where another is about to, who will see it all."""
        with self._guard:
            if query in self._asked:
                return False
            self._asked.add(query)
            return True

    def answered(self, query: int) -> None:
        """Let the next one ask again."""
        with self._guard:
            self._asked.discard(query)

    def refresh(self, connection: sa.Connection, query: int) -> None:
        """Order one query's pairs by the judgements that stand; one at a time orders a query."""
        version = connection.execute(_VERSION, {"query": query}).scalar_one()
        self.answered(query)  # what is judged from here on has to ask again
        shape = self._shape(connection, query, version)
        rows = connection.execute(_STATE, {"query": query}).all()
        relevant = relevance_of_pairs([row for row in rows if row.role is not None], self.task.relevant_from)
        places = {pair: place for place, pair in enumerate(shape.pairs)}
        judged = {places[pair]: found for pair, found in relevant.items()}
        old = {row.id: row.priority for row in rows}
        rounds = self.task.run_length
        near = (len(judged) + HORIZON) // rounds
        moved: dict[int, float] = {}
        for after, place in enumerate(shape.order.remaining(judged), start=len(judged)):
            pair, priority = shape.pairs[place], after // rounds + shape.turn + (after % rounds) * 1e-9
            if old[pair] != priority and (old[pair] <= near or priority <= near):
                moved[pair] = priority
        if moved:
            _move(connection, moved)

    def refresh_all(self, connection: sa.Connection, queries: Iterable[int]) -> None:
        """Order several queries' pairs, in one order of locking."""
        for query in sorted(queries):
            self.refresh(connection, query)

    def _shape(self, connection: sa.Connection, query: int, version: int) -> _Shape:
        with self._guard:
            known = self._shapes.get(query)
        if known is not None and known.version == version:
            return known
        made = self._made(connection, query, version)
        with self._guard:
            self._shapes[query] = made
        return made

    def _made(self, connection: sa.Connection, query: int, version: int) -> _Shape:
        name = connection.execute(sa.select(schema.queries.c.name).where(schema.queries.c.id == query)).scalar_one()
        pair, item, source = schema.pairs.c, schema.items.c, schema.sources.c
        found = connection.execute(
            sa.select(pair.id, item.name)
            .join(schema.items, item.id == pair.item_id)
            .where(pair.query_id == query)
            .order_by(pair.id)
        ).all()
        reasons: dict[int, list[Source]] = {number: [] for number, _ in found}
        joined = sa.select(schema.sources).join(schema.pairs, pair.id == source.pair_id)
        for row in connection.execute(joined.where(pair.query_id == query)):
            reasons[row.pair_id].append(as_source(row))
        seed, query_id = self.task.seed, id_value(name)
        ties = [share_hash(seed, query_id, id_value(text)) for _, text in found]
        order = QueryOrder(list(reasons.values()), ties, self.task.order)
        turn = 0.999 * share_hash(seed, "query", query_id)
        return _Shape(version, tuple(reasons), order, turn)


def _move(connection: sa.Connection, moved: dict[int, float]) -> None:
    if connection.dialect.name == "postgresql":  # where each statement is a journey
        connection.execute(_MOVE_AT_ONCE, {"pairs": list(moved), "priorities": list(moved.values())})
    else:
        connection.execute(_MOVE, [{"pair": pair, "new": priority} for pair, priority in moved.items()])


def relevance_of_pairs(rows: Iterable[Any], relevant_from: float) -> dict[int, bool | None]:
    """Whether each judged pair is relevant, by the mean of its grades; None where nobody could tell.

    An adjudicator's grade goes before those of judges.

    Parameters
    ----------
    rows : iterable
        With ``id``, ``role`` and ``grade`` of every judgement that holds.
    relevant_from : float
    """
    grades: dict[int, dict[str, list[float]]] = {}
    for row in rows:
        by_role = grades.setdefault(row.id, {"judge": [], "adjudicator": []})
        if row.grade is not None:
            by_role[row.role].append(row.grade)
    decided: dict[int, bool | None] = {}
    for number, by_role in grades.items():
        given = by_role["adjudicator"] or by_role["judge"]
        decided[number] = sum(given) / len(given) >= relevant_from if given else None
    return decided
