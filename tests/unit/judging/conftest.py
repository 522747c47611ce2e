"""Stores on both databases: a SQLite file each, and schemas of one PostgreSQL of this process."""

import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from visual_search.indexing.engines.postgres import server_url
from visual_search.judging.pool import Pool, PoolQuery, Source
from visual_search.judging.store import JudgementStore
from visual_search.judging.task import JudgingTask


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a new store may be made: a file, or a schema of a real PostgreSQL."""
    if request.param == "sqlite":
        return str(tmp_path / "judgements.db")
    import psycopg

    url = server_url("")  # started where it does not run: other tests of this process stop it
    schema = f"judging_{secrets.token_hex(6)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
    return f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3D{schema}"


@pytest.fixture
def made(place: str) -> Iterator[Callable[..., JudgementStore]]:
    """Opens the store at the place, as often as asked, and closes all."""
    opened: list[JudgementStore] = []

    def make(pool: Pool | None = None) -> JudgementStore:
        store = JudgementStore(place)
        opened.append(store)
        if pool is not None:
            store.add_pool(pool)
        return store

    yield make
    for store in opened:
        store.close()


def pool_of(queries: int, items: int, task: JudgingTask | None = None, systems: int = 1) -> Pool:
    """Queries q0, q1, ... with items d0, d1, ..., which each system lists in an order of its own."""
    sources = {
        (f"q{query}", f"d{item}"): tuple(
            Source("ranked", f"system {system}", (item + system * 7) % items + 1) for system in range(systems)
        )
        for query in range(queries)
        for item in range(items)
    }
    named = {f"q{query}": PoolQuery(f"q{query}", text=f"find {query}") for query in range(queries)}
    return Pool(named, sources, task=task or JudgingTask())
