from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psycopg
import pytest
from psycopg import sql

from visual_search.errors import DimensionError, InputError, UnknownIdError
from visual_search.indexing.engines import postgres
from visual_search.indexing.engines.pgvector_engine import PgvectorEngine
from visual_search.indexing.engines.postgres import server_url, stop_embedded_server
from visual_search.indexing.index_table import VectorIndex

VECTORS = np.random.default_rng(1).normal(size=(1000, 16)).astype(np.float32)


@pytest.fixture(autouse=True, scope="module")
def server_stopped() -> Iterator[None]:
    yield
    folder = Path(postgres._running[0].pgdata)
    stop_embedded_server()
    assert not folder.exists()
    stop_embedded_server()  # nothing to stop is nothing to do


def made(**settings: Any) -> PgvectorEngine:
    return PgvectorEngine(dimension=16, metric="l2", settings=settings)


def tables() -> set[str]:
    with psycopg.connect(server_url("")) as connection:
        found = connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'").fetchall()
    return {name for (name,) in found}


def test_a_table_lives_as_long_as_its_engine() -> None:
    before = tables()
    engine = made(method="exact")
    assert tables() == before  # nothing is made before vectors come
    engine.add(np.arange(10), VECTORS[:10])
    (name,) = tables() - before
    assert name.startswith("visual_search_")
    assert engine.library.startswith("pgvector 0.8")
    assert "PostgreSQL 18" in engine.library
    del engine
    assert tables() == before


def test_a_server_by_url_is_used_and_keeps_no_password() -> None:
    engine = made(method="exact", url=server_url(""))
    engine.add(np.arange(10), VECTORS[:10])
    assert engine.search(VECTORS[3:4], 1)[0].tolist() == [[3]]
    for url, words in (
        ("postgresql://me:secret@host/db", "has a password.*PGPASSWORD"),
        ("postgresql://host/db?password=secret", "has a password"),
        ("mysql://host/db", "must begin with postgresql://"),
    ):
        with pytest.raises(InputError, match=words) as caught:
            made(url=url)
        assert "secret" not in str(caught.value)
    nowhere = made(url="postgresql://127.0.0.1:1/db")
    with pytest.raises(InputError, match="cannot connect to PostgreSQL"):
        nowhere.add(np.arange(10), VECTORS[:10])


def test_dimensions_that_pgvector_does_not_take() -> None:
    for method in ("hnsw", "ivfflat"):
        with pytest.raises(DimensionError, match=r"got 2001; pgvector indexes vectors of up to 2,000 dimensions"):
            PgvectorEngine(dimension=2001, metric="l2", settings={"method": method})
    with pytest.raises(DimensionError, match="takes up to 16000"):
        PgvectorEngine(dimension=16_001, metric="l2", settings={"method": "exact"})
    wide = np.random.default_rng(2).normal(size=(20, 2001)).astype(np.float32)
    engine = PgvectorEngine(dimension=2001, metric="l2", settings={"method": "exact"})
    engine.add(np.arange(20), wide)
    assert engine.search(wide[7:8], 1)[0].tolist() == [[7]]
    assert np.array_equal(engine.vectors(np.array([7, 3, 7])), wide[[7, 3, 7]])


def test_settings_that_cannot_be() -> None:
    for settings, words in (
        ({"method": "flat"}, "must be one of exact, hnsw, ivfflat"),
        ({"m": 40, "ef_construction": 64}, "at least 2 m, which is 80"),
        ({"ef_search": 1001}, r"1\.\.1000"),
    ):
        with pytest.raises(InputError, match=words):
            made(**settings)
    assert made(m=40).settings["ef_construction"] == 80


def test_the_index_is_searched_and_its_settings_matter() -> None:
    exact = np.argsort(np.square(VECTORS[:50, None] - VECTORS).sum(axis=2), axis=1)[:, :10]

    def recall(engine: PgvectorEngine) -> float:
        rows, _ = engine.search(VECTORS[:50], 10)
        return float(
            np.mean([len(set(a) & set(b)) / 10 for a, b in zip(rows.tolist(), exact.tolist(), strict=True)])
        )

    lists = made(method="ivfflat", lists=50)
    lists.add(np.arange(1000), VECTORS)
    table, few = lists._table.name, recall(lists)
    lists.configure(probes=50)
    assert few < 0.8 < recall(lists) == 1
    assert lists._table.name == table
    graph = made(method="hnsw", m=4, ef_construction=8, ef_search=10)
    graph.add(np.arange(1000), VECTORS)
    narrow = recall(graph)
    graph.configure(ef_search=1000)
    assert narrow < recall(graph)
    assert graph.search(VECTORS[:1], 500)[0].min() >= 0  # past ef_search, by iterative scans
    assert graph.index_bytes > graph.memory_bytes


def test_lists_follow_the_first_rows_where_none_are_asked_for() -> None:
    engine = made(method="ivfflat")
    engine.add(np.arange(1000), VECTORS)
    assert engine.settings["lists"] == 1
    assert engine.search(VECTORS[:3], 1)[0].tolist() == [[0], [1], [2]]


def test_rows_refused_by_the_server_leave_nothing_behind() -> None:
    engine = made(method="exact")
    engine.add(np.arange(10), VECTORS[:10])
    broken = VECTORS[:3].copy()
    broken[2, 0] = np.nan
    with pytest.raises(psycopg.Error, match="NaN"):
        engine.add(np.arange(10, 13), broken)
    assert len(engine) == 10
    engine.add(np.arange(10, 13), VECTORS[:3])
    assert sorted(engine.search(VECTORS[:1], 2)[0][0].tolist()) == [0, 10]


def test_an_index_keeps_its_engine(tmp_path: Path) -> None:
    index = VectorIndex(engine="pgvector", metric="cosine", method="exact")
    ids = [f"i{row}" for row in range(200)]
    index.add(ids, VECTORS[:200])
    index.remove(ids[:20])
    index.save(tmp_path / "index")
    again = VectorIndex.open(tmp_path / "index")
    first, second = (held.search(VECTORS[:1], 5, query_ids=["q"]).listed("q") for held in (index, again))
    assert first == second
    assert len(again) == 180


def test_rows_that_something_else_deleted_are_no_vectors(tmp_path: Path) -> None:
    before = tables()
    engine = made(method="exact")
    engine.add(np.arange(20), VECTORS[:20])
    (name,) = tables() - before
    with psycopg.connect(server_url(""), autocommit=True) as connection:
        connection.execute(sql.SQL("DELETE FROM {} WHERE row IN (4, 9)").format(sql.Identifier(name)))
    assert np.array_equal(engine.vectors(np.array([7, 3])), VECTORS[[7, 3]])
    with pytest.raises(UnknownIdError, match=r"2 of 3 rows are gone, first: 4, 9; something else changed"):
        engine.vectors(np.array([9, 3, 4]))
    with pytest.raises(UnknownIdError, match="2 of 20 rows are gone"):
        engine.save(tmp_path / "index.parts")
    assert not (tmp_path / "index.parts").exists()
