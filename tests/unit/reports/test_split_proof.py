"""The page says whether a result's split is proven, and what is not."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from markupsafe import escape

from visual_search.evaluation.model_evaluator import ModelEvaluator
from visual_search.evaluation.protocols.directions import evaluate_directions_vectors
from visual_search.evaluation.protocols.query_gallery import by_view
from visual_search.evaluation.protocols.random_images import random_images
from visual_search.evaluation.protocols.split_dataset import dataset_of_split
from visual_search.formats.results import read_result
from visual_search.indexing.index_table import VectorIndex
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch
from visual_search.reports.directions_section import directions_section
from visual_search.reports.page import write_report
from visual_search.reports.wording import signed

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
    assert ("The split is not proven: groups: " in page) is not proven
    assert "8 queries against 8 gallery items" in page


def test_the_section_shows_both_directions_and_every_claim(tmp_path: Path) -> None:
    split = by_view(TABLE, group="scene", view="view", query=0, gallery=1)
    spoiled = np.eye(8)
    spoiled[0] = spoiled[1]
    found = evaluate_directions_vectors(split, spoiled, np.eye(8), ["HitRate@1"], ties="worst")
    section = directions_section(split, {"<eye>": found}, random=found, names=("0 asks", "1 asks"))
    body = str(section.body)
    assert "&lt;eye&gt;" in body
    assert "<eye>" not in body
    for one in (found.there, found.back, found.pooled):
        assert f'<span class="mean">{one["HitRate@1"].mean:.3f}</span>' in body
    gap = found.asymmetry["HitRate@1"].difference
    assert gap != 0
    assert signed(gap) in body
    assert all(escape(claim.words) in body for claim in split.proof.claims)
    assert "0 asks" in body
    assert "16 queries in all" in body
    assert "all 6 claims hold as well" in body
