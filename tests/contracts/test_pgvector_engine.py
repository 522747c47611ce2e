"""pgvector keeps the contract on a real PostgreSQL, which this module starts and stops."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest

from visual_search.indexing.engines import postgres
from visual_search.indexing.engines.contract import Metric
from visual_search.indexing.engines.pgvector_engine import PgvectorEngine
from visual_search.indexing.engines.postgres import Connections, server_url, stop_embedded_server
from visual_search.testing.engine_contract import EngineContract
from visual_search.testing.exact_answers import exact_by_brute_force
from visual_search.tuning.sweep import sweep
from visual_search.tuning.sweep_data import SweepData


@pytest.fixture(autouse=True, scope="module")
def server_stopped() -> Iterator[None]:
    yield
    stop_embedded_server()


class Pgvector(EngineContract):
    engine_class: ClassVar[Any] = PgvectorEngine


class TestExactDistance(Pgvector):
    metric: ClassVar[Metric] = "l2"
    settings: ClassVar[dict[str, Any]] = {"method": "exact"}


class TestHnswCosine(Pgvector):
    metric: ClassVar[Metric] = "cosine"
    settings: ClassVar[dict[str, Any]] = {"method": "hnsw"}
    # Wide enough to find all: the index is built anew when loaded, and the answers must be the same.
    search_settings: ClassVar[dict[str, Any]] = {"ef_search": 600}


class TestIvfflatInnerProduct(Pgvector):
    metric: ClassVar[Metric] = "ip"
    # All lists looked into: the server learns other centres at every build, and two builds are compared.
    settings: ClassVar[dict[str, Any]] = {"method": "ivfflat", "lists": 4, "probes": 4}
    search_settings: ClassVar[dict[str, Any]] = {"probes": 4}


def test_a_process_with_a_time_limit_takes_the_server_of_the_sweep(tmp_path: Path) -> None:
    """One of its own would outlive it when it is ended, and its tables with it."""
    vectors = np.random.default_rng(2).normal(size=(80, 4)).astype(np.float32)
    data = SweepData.of(vectors, vectors[:9], k=3, truth=exact_by_brute_force(vectors, vectors[:9], 3))
    file = tmp_path / "sweep.jsonl"
    (point,) = sweep(data, ["pgvector(method=exact)"], out=file, costs=None, time_limit=120).points
    assert (point.values["NeighborRecall(ties=exact)@3"] == 1).all()
    assert point.build["own_process"] is True
    assert point.settings["url"] == ""
    assert postgres._running  # started here
    names = "SELECT relname FROM pg_class WHERE relkind = 'r' AND relname LIKE 'visual_search_%'"
    connections = Connections(server_url(""))
    with connections.one() as connection:
        before = set(connection.execute(names).fetchall())
        sweep(data, ["pgvector(method=exact,ef_search=50)"], out=file, costs=None, time_limit=120)
        assert set(connection.execute(names).fetchall()) == before  # it drops its table when it ends
    connections.close()
