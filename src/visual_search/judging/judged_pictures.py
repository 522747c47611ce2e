"""What pictures were when somebody first judged by them, so that who judges later is told where they are others."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from visual_search.ids import Id
from visual_search.judging import schema
from visual_search.judging.schema import id_text, id_value, sa

__all__ = ["judged_candidates", "judged_queries", "remember_judged"]

_Value = TypeVar("_Value")
_MOST = 500  # ids of one statement


def remember_judged(
    connection: sa.Connection, *, queries: Mapping[Id, str] | None = None, items: Mapping[Id, str] | None = None
) -> None:
    """Keep the hash of a picture that is judged for the first time; one that is kept stays."""
    for table, hashes in ((schema.queries, queries or {}), (schema.items, items or {})):
        for name, sha256 in hashes.items():
            first = sa.and_(table.c.name == id_text(name), table.c.judged_sha256.is_(None))
            connection.execute(table.update().where(first).values(judged_sha256=sha256))


def judged_queries(connection: sa.Connection, queries: Iterable[Id]) -> dict[Id, str]:
    """Hashes of queries' pictures when they were first judged, where that is known."""
    query = schema.queries.c
    chosen = sa.select(query.name, query.judged_sha256).where(query.judged_sha256.is_not(None))
    found: dict[Id, str] = {}
    for names in _parts([id_text(one) for one in queries]):
        rows = connection.execute(chosen.where(query.name.in_(names)))
        found |= {id_value(row.name): row.judged_sha256 for row in rows}
    return found


def judged_candidates(connection: sa.Connection, pairs: Iterable[int]) -> dict[int, str]:
    """The same of the candidates of pairs, by the pairs' numbers; whichever query they were first judged for."""
    pair, item = schema.pairs.c, schema.items.c
    chosen = (
        sa.select(pair.id, item.judged_sha256)
        .join(schema.items, item.id == pair.item_id)
        .where(item.judged_sha256.is_not(None))
    )
    found: dict[int, str] = {}
    for numbers in _parts(list(pairs)):
        rows = connection.execute(chosen.where(pair.id.in_(numbers)))
        found |= {row.id: row.judged_sha256 for row in rows}
    return found


def _parts(values: list[_Value]) -> Iterable[list[_Value]]:
    return (values[start : start + _MOST] for start in range(0, len(values), _MOST))
