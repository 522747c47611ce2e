"""pgvector keeps the contract on a real PostgreSQL, which this module starts and stops."""

from collections.abc import Iterator
from typing import Any, ClassVar

import pytest

from visual_search.indexing.engines.contract import Metric
from visual_search.indexing.engines.pgvector_engine import PgvectorEngine
from visual_search.indexing.engines.postgres import stop_embedded_server
from visual_search.testing.engine_contract import EngineContract


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
