"""Structures from FAISS factory strings keep the contract: packed, in lists, as graphs, rotated."""

from collections.abc import Iterator
from typing import Any, ClassVar

import faiss
import pytest

from visual_search.indexing.engines.contract import Metric
from visual_search.indexing.engines.faiss_factory import FaissFactoryEngine
from visual_search.testing.engine_contract import EngineContract


@pytest.fixture(autouse=True, scope="module")
def one_faiss_thread() -> Iterator[None]:
    # FAISS's threads spin while they wait: on a busy machine they make these small builds ten times slower.
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    yield
    faiss.omp_set_num_threads(before)


class Factory(EngineContract):
    engine_class: ClassVar[Any] = FaissFactoryEngine


class TestListsOfPackedDistance(Factory):
    metric: ClassVar[Metric] = "l2"
    settings: ClassVar[dict[str, Any]] = {"factory": "IVF2,PQ12x4"}
    search_settings: ClassVar[dict[str, Any]] = {"nprobe": 1, "refine": 4}
    recall_floor: ClassVar[float] = 0.4  # 12 codes of 4 bits hold little of 24 Gaussian numbers
    full_lists: ClassVar[bool] = False


class TestScalarsInnerProduct(Factory):
    metric: ClassVar[Metric] = "ip"
    settings: ClassVar[dict[str, Any]] = {"factory": "SQ8"}
    search_settings: ClassVar[dict[str, Any]] = {"refine": 3}


class TestGraphOfScalarsCosine(Factory):
    metric: ClassVar[Metric] = "cosine"
    settings: ClassVar[dict[str, Any]] = {"factory": "HNSW16,SQ8"}
    search_settings: ClassVar[dict[str, Any]] = {"ef_search": 99}


class TestRotatedDistance(Factory):
    metric: ClassVar[Metric] = "l2"
    settings: ClassVar[dict[str, Any]] = {"factory": "PCAR20,IVF2,SQ8", "refine": 3}
    search_settings: ClassVar[dict[str, Any]] = {"nprobe": 2}
    full_lists: ClassVar[bool] = False
