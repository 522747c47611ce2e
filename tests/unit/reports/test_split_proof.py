"""The page says whether a result's split is proven, and what is not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.evaluation.model_evaluator import ModelEvaluator
from visual_search.evaluation.protocols.query_gallery import by_view
from visual_search.evaluation.protocols.random_images import random_images
from visual_search.evaluation.protocols.split_dataset import dataset_of_split
from visual_search.formats.results import read_result
from visual_search.indexing.index_table import VectorIndex
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch
from visual_search.reports.page import write_report

TABLE = {"scene": [scene for scene in range(8) for _ in (0, 1)], "view": [0, 1] * 8}


@pytest.mark.parametrize(
    ("proven", "said"), [(True, "split proven"), (False, "split not proven: groups, views, answers")]
)
def test_the_page_says_whether_the_split_is_proven(tmp_path: Path, *, proven: bool, said: str) -> None:
    names: Any = {"group": "scene", "view": "view"}
    split = (
        by_view(TABLE, **names, query=0, gallery=1)
        if proven
        else random_images(TABLE, **names, queries=8, seed=1, allow_shared_groups=True)
    )
    index = VectorIndex(metric="cosine")
    index.add(list(split.gallery_ids), np.eye(8, dtype=np.float32))
    vectors = dict(zip(split.query_ids, np.eye(8, dtype=np.float32), strict=True))
    evaluator = ModelEvaluator(NearestNeighborSearch(index=index), model_name="eye")
    evaluator.evaluate(dataset_of_split(split), [1, 5], vectors, tmp_path / "result.json", protocol=split)
    assert read_result(tmp_path / "result.json").record["protocol"] == split.record()
    page = write_report([tmp_path / "result.json"], tmp_path / "page.html").read_text("utf-8")
    assert said in page
    assert "8 queries against 8 gallery items" in page
