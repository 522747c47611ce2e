"""A pool's rows in a database: what is new goes in, what was there stays as it is."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from visual_search.counted import counted
from visual_search.errors import InputError, Problems
from visual_search.formats.results import ImageLocation
from visual_search.ids import Id
from visual_search.judging import schema
from visual_search.judging.pool import Pair, Pool, PoolQuery, Source
from visual_search.judging.schema import id_text, id_value, sa

__all__ = ["PoolAdded", "add_pool_rows", "as_query", "as_source", "image_of"]


@dataclass(frozen=True, slots=True)
class PoolAdded:
    """What a pool brought to a store.

    Attributes
    ----------
    queries, items, pairs, sources : int
        New ones; what was there already is not counted.
    """

    queries: int
    items: int
    pairs: int
    sources: int

    def words(self) -> str:
        """In a line.

        >>> PoolAdded(1, 5, 7, 9).words()
        'added: 1 query, 5 items, 7 pairs'
        """
        return (
            f"added: {counted(self.queries, 'query', 'queries')}, {counted(self.items, 'item', 'items')}, "
            f"{counted(self.pairs, 'pair', 'pairs')}"
        )


def add_pool_rows(connection: sa.Connection, pool: Pool) -> tuple[PoolAdded, set[int]]:
    """Add what a pool has and the database lacks; also gives the queries whose pairs or sources changed."""
    queries, new_queries = _add_queries(connection, pool)
    items, new_items = _add_items(connection, pool)
    there = _pair_ids(connection)
    rows = [
        {
            "query_id": queries[query],
            "item_id": items[item],
            "wanted": (wanted := pool.task.wanted_for(query, item)),
            "free": wanted,
            "priority": 0.0,
            "best_rank": None,
        }
        for query, item in pool.pairs()
        if (queries[query], items[item]) not in there
    ]
    _insert(connection, schema.pairs, rows)
    known = _pair_ids(connection)
    ids = {(query, item): known[queries[query], items[item]] for query, item in pool.sources}
    new_sources, touched = _add_sources(connection, pool, ids)
    changed = {queries[query] for query, item in pool.sources if ids[query, item] in touched}
    if changed:
        _in_parts(connection, sorted(changed), _grow_version)
    return PoolAdded(new_queries, new_items, len(rows), new_sources), changed


def _grow_version(connection: sa.Connection, part: Sequence[int]) -> None:
    grown = schema.queries.c.version + 1
    connection.execute(schema.queries.update().where(schema.queries.c.id.in_(part)).values(version=grown))


def _in_parts(connection: sa.Connection, values: Sequence[int], work: Any) -> None:
    # Databases allow some tens of thousands of values in one statement.
    for start in range(0, len(values), 10_000):
        work(connection, values[start : start + 10_000])


def _insert(connection: sa.Connection, table: sa.Table, rows: Sequence[dict[str, Any]]) -> None:
    for start in range(0, len(rows), 10_000):
        connection.execute(table.insert(), rows[start : start + 10_000])


def _add_queries(connection: sa.Connection, pool: Pool) -> tuple[dict[Id, int], int]:
    found = connection.execute(sa.select(schema.queries)).all()
    there = {id_value(row.name): row for row in found}
    problems = Problems("pool")
    for query, mine in pool.queries.items():
        row = there.get(query)
        if row is not None and row.text is not None and mine.text is not None and row.text != mine.text:
            problems.add(
                f"query {query!r} has the text {mine.text!r}, and {row.text!r} in the store; use another id"
            )
    kinds = {type(query) for query in (*there, *pool.queries)}
    if len(kinds) > 1:
        problems.add("query ids are both strings and integers in store and pool; use the store's kind")
    problems.raise_if_any(InputError)
    new = [query for query in pool.queries.values() if query.query_id not in there]
    _insert(
        connection,
        schema.queries,
        [
            {"name": id_text(query.query_id), "text": query.text, "image": _image_text(query.image), "version": 1}
            for query in new
        ],
    )
    ids = connection.execute(sa.select(schema.queries.c.name, schema.queries.c.id)).all()
    return {id_value(name): number for name, number in ids}, len(new)


def _add_items(connection: sa.Connection, pool: Pool) -> tuple[dict[Id, int], int]:
    found = connection.execute(sa.select(schema.items)).all()
    there = {id_value(row.name): row for row in found}
    wanted = list(dict.fromkeys(item for _, item in pool.pairs()))
    if len({type(item) for item in (*there, *wanted)}) > 1:
        raise InputError("pool: item ids are both strings and integers in store and pool; use the store's kind")
    new = [item for item in wanted if item not in there]
    rows = [{"name": id_text(item), "image": _image_text(pool.items.get(item))} for item in new]
    _insert(connection, schema.items, rows)
    for item in wanted:  # a place that was not known before
        place = pool.items.get(item)
        if place is not None and item in there and there[item].image is None:
            chosen = schema.items.update().where(schema.items.c.id == there[item].id)
            connection.execute(chosen.values(image=_image_text(place)))
    ids = connection.execute(sa.select(schema.items.c.name, schema.items.c.id)).all()
    return {id_value(name): number for name, number in ids}, len(new)


def _pair_ids(connection: sa.Connection) -> dict[tuple[int, int], int]:
    columns = (schema.pairs.c.query_id, schema.pairs.c.item_id, schema.pairs.c.id)
    return {(query, item): number for query, item, number in connection.execute(sa.select(*columns))}


def _add_sources(connection: sa.Connection, pool: Pool, ids: dict[Pair, int]) -> tuple[int, set[int]]:
    there: dict[int, set[Source]] = {}
    for row in connection.execute(sa.select(schema.sources)):
        there.setdefault(row.pair_id, set()).add(as_source(row))
    rows: list[dict[str, Any]] = []
    ranks: list[dict[str, Any]] = []
    for pair in pool.pairs():
        new = [source for source in pool.sources[pair] if source not in there.get(ids[pair], ())]
        rows += [_source_row(ids[pair], source) for source in new]
        found = [source.rank for source in new if source.kind == "ranked" and source.rank is not None]
        if found:
            ranks.append({"pair": ids[pair], "rank": min(found)})
    _insert(connection, schema.sources, rows)
    if ranks:
        number, best = schema.pairs.c.id, schema.pairs.c.best_rank
        rank = sa.bindparam("rank", type_=sa.Integer)
        lower = sa.case((sa.or_(best.is_(None), best > rank), rank), else_=best)
        connection.execute(
            schema.pairs.update().where(number == sa.bindparam("pair")).values(best_rank=lower), ranks
        )
    return len(rows), {row["pair_id"] for row in rows}


def _source_row(pair: int, source: Source) -> dict[str, Any]:
    return {
        "pair_id": pair,
        "kind": source.kind,
        "system": source.system,
        "rank": source.rank,
        "near": None if source.near is None else id_text(source.near),
        "likeness": source.likeness,
    }


def as_source(row: Any) -> Source:
    """A row of sources as what it says."""
    near = None if row.near is None else id_value(row.near)
    return Source(row.kind, row.system, row.rank, near, row.likeness)


def as_query(row: Any) -> PoolQuery:
    """A row of queries as what it says."""
    return PoolQuery(id_value(row.name), image_of(row.image), row.text)


def image_of(text: str | None) -> ImageLocation | None:
    """Where an image is, as a row says."""
    if text is None:
        return None
    path, member = json.loads(text)
    return ImageLocation(Path(path), member)


def _image_text(image: ImageLocation | None) -> str | None:
    # ASCII: a file name may hold bytes that are no text.
    return None if image is None else json.dumps([str(image.path), image.member])
