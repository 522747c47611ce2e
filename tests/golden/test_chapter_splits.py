"""The retrieval chapter's laboratory and exercise 4: 30 test scenes with two views each, and two ways to split them."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from visual_search import Ranking
from visual_search.errors import ProofError
from visual_search.evaluation.protocols.directions import evaluate_directions
from visual_search.evaluation.protocols.query_gallery import by_view, given_split
from visual_search.evaluation.protocols.random_images import random_images

CLASSES = ("vertical", "horizontal", "diagonal")
COLUMNS: dict[str, Any] = {"group": "scene_id", "view": "view_id", "item": "index"}


@pytest.fixture(scope="module")
def meta() -> pd.DataFrame:
    """180 scenes of two views, 30 of them for testing, as the chapter's metadata.csv has them."""
    rows = [
        (f"G{scene % 3}-{scene:04d}", view, "test" if scene >= 150 else "train", CLASSES[scene % 3])
        for scene in range(180)
        for view in (0, 1)
    ]
    table = pd.DataFrame(rows, columns=["scene_id", "view_id", "split", "label"])
    return table.assign(index=range(len(table)))


def test_exercise_4_the_faulty_split_is_not_proven(meta: pd.DataFrame) -> None:
    # The exercise's own three lines.
    test_meta = meta[meta.split == "test"].sample(frac=1, random_state=42)
    query_meta = test_meta.iloc[:30]
    gallery_meta = test_meta.iloc[30:]
    split = given_split(meta, query_meta["index"].tolist(), gallery_meta["index"].tolist(), **COLUMNS)
    assert split.proof.failed == ("groups", "views", "answers")
    # Both views of a scene among the queries: their count, from the table itself.
    doubled = query_meta["scene_id"].value_counts().eq(2).sum()
    assert doubled > 0
    assert split.proof["answers"].counts["without"] == 2 * doubled
    with pytest.raises(ProofError, match=f"{2 * doubled} of 30 queries have no right answer in the gallery"):
        split.require()


def test_exercise_4_the_same_drawn_here_is_refused(meta: pd.DataFrame) -> None:
    with pytest.raises(ProofError, match="a random split of images does not look at scene_id and view_id"):
        random_images(meta, **COLUMNS, queries=30, seed=42, where={"split": "test"})


def test_exercise_4_the_mended_split_is_proven(meta: pd.DataFrame) -> None:
    split = by_view(meta, **COLUMNS, query=0, gallery=1, where={"split": "test"})
    assert split.proof.holds
    # The exercise's own check: equal scene sets, 30 on both sides; and one answer each, on the diagonal.
    assert set(split.groups or []) == set(split.reversed().groups or [])
    assert len(split.queries) == len(split.gallery) == 30
    assert split.proof["answers"].counts == {"without": 0, "least": 1, "most": 1}
    assert split.relevance.rows.tolist() == list(range(30))


def test_counter_examples_are_each_refused_with_their_reason(meta: pd.DataFrame) -> None:
    options: dict[str, Any] = {**COLUMNS, "query": 0, "gallery": 0, "where": {"split": "test"}}
    with pytest.raises(ProofError, match="each finds itself at rank 1, so that R@1 = 1 whatever the model"):
        by_view(meta, **options)
    with pytest.raises(ProofError, match="the number is that of a classifier"):
        by_view(meta, **options, label="label", relevant="same-class-other-group")


def test_the_laboratory_counts_both_directions_and_2n_queries(meta: pd.DataFrame) -> None:
    # Printed by the chapter: 1.0000 everywhere, when each scene's own pair is nearest; and with one of 30 pairs
    # second in one direction R@1 = 29/30 = .967 and mAP@5 = 29.5/30 = .983 there.
    split = by_view(meta, **COLUMNS, query=0, gallery=1, where={"split": "test"})
    perfect = np.eye(30)
    spoiled = perfect.copy()
    spoiled[4, 7] = 2.0
    there: dict[str, Any] = {"query_ids": split.query_ids, "gallery_ids": split.gallery_ids}
    back: dict[str, Any] = {"query_ids": split.gallery_ids, "gallery_ids": split.query_ids}
    for similarity, hits in ((perfect, 30), (spoiled, 29)):
        found = evaluate_directions(
            split,
            Ranking.from_similarity(similarity, **there),
            Ranking.from_similarity(perfect, **back),
            ["HitRate@1", "HitRate@3", "AP(denominator=min)@5"],
        )
        assert found.there["HitRate@1"].mean == pytest.approx(hits / 30, abs=1e-15)
        assert found.there["AP(denominator=min)@5"].mean == pytest.approx((30 + hits) / 60, abs=1e-15)
        assert found.back["HitRate@1"].mean == 1
        assert found.pooled["HitRate@1"].mean == pytest.approx((30 + hits) / 60, abs=1e-15)
        assert found.pooled["HitRate@3"].mean == 1
        assert len(found.pooled.queries) == 60
