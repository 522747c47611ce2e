"""The evaluation guide's own lines, on an index of 512 dimensions."""

from pathlib import Path

import numpy as np
import pytest

from visual_search.errors import DimensionError
from visual_search.indexing.index_table import VectorIndex
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    made = VectorIndex(dimension=512)
    vectors = np.random.default_rng(3).normal(size=(40, 512))
    made.add([f"img_{number:03d}" for number in range(40)], vectors)
    made.save(tmp_path / "data" / "index")
    return tmp_path / "data" / "index"


def test_the_guide_loads_searches_and_reads_results(saved: Path) -> None:
    index = VectorIndex(dimension=512)
    index.load(str(saved))
    search_service = NearestNeighborSearch(index=index)
    query_vec = np.random.default_rng(3).normal(size=(40, 512))[7]
    results = search_service.search(query_vec, "q001", k=100)
    relevant = [r.image_id for r in results.results if r.score >= 0.8]
    assert relevant == ["img_007"]
    assert len(results.results) == 40
    assert results.results[0].score == pytest.approx(1)


def test_another_dimension_is_refused_with_both_numbers(saved: Path) -> None:
    with pytest.raises(DimensionError, match=r"512 in the file.*made with 256"):
        VectorIndex(dimension=256).load(saved)
