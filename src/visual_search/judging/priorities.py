"""The order in which pairs are given out, kept in the database beside them.

A pair's priority is its place in its query's order (judged pairs count as places before it), by rounds of
``run_length``: all queries give their first pairs, then all their next, so that no query is judged deep before others
have begun. Within a round a query's pairs stand together, since a judge who stays with a query is faster.

Only the query whose judgements changed is ordered anew, and only rows that move are written.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable
from dataclasses import dataclass

from visual_search.judging import schema
from visual_search.judging.order import QueryOrder
from visual_search.judging.pool import Source
from visual_search.judging.pool_rows import as_source
from visual_search.judging.schema import id_value, sa
from visual_search.judging.task import JudgingTask, share_hash

__all__ = ["Priorities", "relevance_of_pairs"]


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
        self._guard = threading.Lock()

    def refresh(self, connection: sa.Connection, query: int) -> None:
        """Order one query's pairs by the judgements that stand; the caller holds the query's row."""
        shape = self._shape(connection, query)
        relevant = relevance_of_pairs(connection, query, self.task.relevant_from)
        places = {pair: place for place, pair in enumerate(shape.pairs)}
        judged = {places[pair]: found for pair, found in relevant.items()}
        rounds = self.task.run_length
        table = schema.pairs.c
        rows = connection.execute(sa.select(table.id, table.priority).where(table.query_id == query))
        old = {number: priority for number, priority in rows}  # noqa: C416 - rows are no tuples to mypy
        moved = []
        for after, place in enumerate(shape.order.remaining(judged), start=len(judged)):
            priority = after // rounds + shape.turn + (after % rounds) * 1e-9
            if old[shape.pairs[place]] != priority:
                moved.append({"pair": shape.pairs[place], "new": priority})
        if moved:
            change = schema.pairs.update().where(table.id == sa.bindparam("pair"))
            connection.execute(change.values(priority=sa.bindparam("new")), moved)

    def refresh_all(self, connection: sa.Connection, queries: Iterable[int]) -> None:
        """Order several queries' pairs, in one order of locking."""
        for query in sorted(queries):
            self.refresh(connection, query)

    def _shape(self, connection: sa.Connection, query: int) -> _Shape:
        table = schema.queries.c
        row = connection.execute(sa.select(table.name, table.version).where(table.id == query)).one()
        with self._guard:
            known = self._shapes.get(query)
        if known is not None and known.version == row.version:
            return known
        made = self._made(connection, query, row.name, row.version)
        with self._guard:
            self._shapes[query] = made
        return made

    def _made(self, connection: sa.Connection, query: int, name: str, version: int) -> _Shape:
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


def relevance_of_pairs(connection: sa.Connection, query: int, relevant_from: float) -> dict[int, bool | None]:
    """Whether each judged pair of a query is relevant, by the mean of its grades; None where nobody could tell.

    An adjudicator's grade goes before those of judges.
    """
    pair, held, said = schema.pairs.c, schema.standing.c, schema.judgements.c
    rows = connection.execute(
        sa.select(held.pair_id, held.role, said.grade)
        .join(schema.judgements, said.id == held.judgement_id)
        .join(schema.pairs, pair.id == held.pair_id)
        .where(pair.query_id == query)
    )
    grades: dict[int, dict[str, list[float]]] = {}
    for number, role, grade in rows:
        by_role = grades.setdefault(number, {"judge": [], "adjudicator": []})
        if grade is not None:
            by_role[role].append(grade)
    decided: dict[int, bool | None] = {}
    for number, by_role in grades.items():
        given = by_role["adjudicator"] or by_role["judge"]
        decided[number] = sum(given) / len(given) >= relevant_from if given else None
    return decided
