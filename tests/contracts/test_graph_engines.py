"""hnswlib and usearch keep the contract, under each metric."""

from typing import Any, ClassVar

from visual_search.indexing.engines.contract import Metric
from visual_search.indexing.engines.hnswlib_engine import HnswlibEngine
from visual_search.indexing.engines.usearch_engine import UsearchEngine
from visual_search.testing.engine_contract import EngineContract


class Hnswlib(EngineContract):
    engine_class: ClassVar[Any] = HnswlibEngine
    search_settings: ClassVar[dict[str, int]] = {"ef_search": 99, "threads": 1}


class TestHnswlibCosine(Hnswlib):
    metric: ClassVar[Metric] = "cosine"


class TestHnswlibInnerProduct(Hnswlib):
    metric: ClassVar[Metric] = "ip"


class TestHnswlibDistance(Hnswlib):
    metric: ClassVar[Metric] = "l2"


class Usearch(EngineContract):
    engine_class: ClassVar[Any] = UsearchEngine
    search_settings: ClassVar[dict[str, int]] = {"ef_search": 99, "threads": 1}


class TestUsearchCosine(Usearch):
    metric: ClassVar[Metric] = "cosine"


class TestUsearchInnerProduct(Usearch):
    metric: ClassVar[Metric] = "ip"


class TestUsearchDistance(Usearch):
    metric: ClassVar[Metric] = "l2"
