"""Pools as files: a JSON record, and beside it a table of pairs with their sources and one of pictures.

::

    pool.json                           task, queries, systems, counts, fingerprint (written last)
    pool.pairs.0123456789ab.parquet     one row a source: query, item, kind, system, rank, near, likeness
    pool.pictures.0123456789ab.parquet  one row an item or query with an image: side, id, path, member

Paths below the record's folder are kept relative to it, so that the folder can move as a whole.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from visual_search.errors import FileFormatError, FingerprintError, InputError, Problems
from visual_search.formats.checks import shown
from visual_search.formats.pools import StoredPool, read_stored_pool, write_stored_pool
from visual_search.formats.results import ImageLocation
from visual_search.ids import Id
from visual_search.judging.pool import Pair, Pool, PooledSystem, PoolQuery, Source
from visual_search.judging.task import JudgingTask

__all__ = ["read_pool", "write_pool"]


def write_pool(path: str | os.PathLike[str], pool: Pool) -> None:
    """Write a pool; see `Pool.save`."""
    target = Path(path)
    record = {
        "task": pool.task.as_json(),
        "queries": [{"query": query.query_id, "text": query.text} for query in pool.queries.values()],
        "systems": {
            name: {"depth": system.depth, "fingerprint": system.fingerprint}
            for name, system in pool.systems.items()
        },
        "counts": pool.counts(),
        "fingerprint": pool.fingerprint(),
    }
    rows = [
        (query, item, source.kind, source.system, source.rank, source.near, source.likeness)
        for query, item in pool.pairs()
        for source in pool.sources[query, item]
    ]
    names = ("query", "item", "kind", "system", "rank", "near", "likeness")
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    images = {query: one.image for query, one in pool.queries.items()}
    pictures = [*_picture_rows("query", images), *_picture_rows("item", pool.items)]
    write_stored_pool(target, StoredPool(record, columns, pictures))


def read_pool(path: str | os.PathLike[str]) -> Pool:
    """Read a pool; see `Pool.load`."""
    source = Path(path)
    stored = read_stored_pool(source)
    record = stored.record
    problems = Problems(source.name)
    try:
        task = JudgingTask.from_json(record.get("task"), subject=f"{source.name}: task")
        queries = _queries(record.get("queries"), stored, problems)
        systems = _systems(record.get("systems"), problems)
        problems.raise_if_any(FileFormatError)
        pool = Pool(queries, _sources(stored.pairs), _places(stored, "item"), systems, task)
    except FileFormatError:
        raise
    except InputError as error:
        raise FileFormatError(f"{source.name}: {error}") from error
    if pool.fingerprint() != record.get("fingerprint"):
        raise FingerprintError(
            f"{source.name}: its pairs are not those that its fingerprint is of; make the pool again"
        )
    return pool


def _picture_rows(side: str, places: Mapping[Id, ImageLocation | None]) -> list[tuple[str, Id, ImageLocation]]:
    return [(side, name, place) for name, place in places.items() if place is not None]


def _places(stored: StoredPool, side: str) -> dict[Id, ImageLocation | None]:
    return {name: place for whose, name, place in stored.pictures if whose == side}


def _queries(value: Any, stored: StoredPool, problems: Problems) -> dict[Id, PoolQuery]:
    images = _places(stored, "query")
    queries: dict[Id, PoolQuery] = {}
    for place, one in enumerate(value if isinstance(value, list) else ()):
        name = one.get("query") if isinstance(one, Mapping) else None
        text = one.get("text") if isinstance(one, Mapping) else None
        if isinstance(name, bool) or not isinstance(name, str | int) or not isinstance(text, str | None):
            problems.add(f"queries[{place}] is {shown(one)}; an object with query, an id, and text is needed")
        elif name in queries:
            problems.add(f"queries[{place}]: {name!r} is there twice")
        else:
            queries[name] = PoolQuery(name, images.get(name), text)
    if not isinstance(value, list):
        problems.add(f"queries is {shown(value)}; it must be a list")
    return queries


def _systems(value: Any, problems: Problems) -> dict[str, PooledSystem]:
    systems: dict[str, PooledSystem] = {}
    for name, one in value.items() if isinstance(value, Mapping) else ():
        depth = one.get("depth") if isinstance(one, Mapping) else None
        if isinstance(depth, bool) or not isinstance(depth, int):
            problems.add(f"systems: {name!r} is {shown(one)}; an object with depth is needed")
        else:
            systems[name] = PooledSystem(depth, one.get("fingerprint"))
    if not isinstance(value, Mapping):
        problems.add(f"systems is {shown(value)}; it must be an object")
    return systems


def _sources(columns: Mapping[str, list[Any]]) -> dict[Pair, tuple[Source, ...]]:
    found: dict[Pair, tuple[Source, ...]] = {}
    rows = zip(
        *(columns[name] for name in ("query", "item", "kind", "system", "rank", "near", "likeness")), strict=True
    )
    for query, item, *source in rows:
        found[query, item] = (*found.get((query, item), ()), Source(*source))
    return found
