"""The engines of this package keep the contract, under each metric they take."""

from collections.abc import Iterator
from typing import Any, ClassVar

import faiss
import pytest

from visual_search.indexing.engines.contract import Metric
from visual_search.indexing.engines.flat import FlatEngine
from visual_search.indexing.engines.hamming_engine import HammingEngine
from visual_search.indexing.engines.hnsw import HnswEngine
from visual_search.indexing.engines.ivf import IvfEngine
from visual_search.testing.engine_contract import EngineContract


@pytest.fixture(autouse=True, scope="module")
def one_faiss_thread() -> Iterator[None]:
    # FAISS's threads spin while they wait: on a busy machine they make these small builds ten times slower.
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    yield
    faiss.omp_set_num_threads(before)


class Flat(EngineContract):
    engine_class: ClassVar[Any] = FlatEngine


class TestFlatCosine(Flat):
    metric: ClassVar[Metric] = "cosine"


class TestFlatInnerProduct(Flat):
    metric: ClassVar[Metric] = "ip"


class TestFlatDistance(Flat):
    metric: ClassVar[Metric] = "l2"


class Hnsw(EngineContract):
    engine_class: ClassVar[Any] = HnswEngine
    search_settings: ClassVar[dict[str, int]] = {"ef_search": 99}


class TestHnswCosine(Hnsw):
    metric: ClassVar[Metric] = "cosine"


class TestHnswInnerProduct(Hnsw):
    metric: ClassVar[Metric] = "ip"


class TestHnswDistance(Hnsw):
    metric: ClassVar[Metric] = "l2"


class Ivf(EngineContract):
    engine_class: ClassVar[Any] = IvfEngine
    search_settings: ClassVar[dict[str, int]] = {"nprobe": 3}
    full_lists: ClassVar[bool] = False


class TestIvfCosine(Ivf):
    metric: ClassVar[Metric] = "cosine"


class TestIvfInnerProduct(Ivf):
    metric: ClassVar[Metric] = "ip"


class TestIvfDistance(Ivf):
    metric: ClassVar[Metric] = "l2"


class TestHamming(EngineContract):
    engine_class: ClassVar[Any] = HammingEngine
    metric: ClassVar[Metric] = "hamming"
