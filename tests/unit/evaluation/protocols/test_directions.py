"""Both directions, pooled, and their asymmetry; and results that carry the proof."""

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from visual_search import Ranking
from visual_search.errors import FingerprintError, InputError, ProofError
from visual_search.evaluation.comparison import compare
from visual_search.evaluation.model_evaluator import ModelEvaluator
from visual_search.evaluation.protocols.directions import evaluate_directions, evaluate_directions_vectors
from visual_search.evaluation.protocols.image_text import image_text
from visual_search.evaluation.protocols.measured import evaluate_split, evaluate_split_vectors
from visual_search.evaluation.protocols.query_gallery import by_view, leave_one_out
from visual_search.evaluation.protocols.random_images import random_images
from visual_search.evaluation.protocols.split import Split
from visual_search.evaluation.protocols.split_dataset import dataset_of_split
from visual_search.evaluation.slices import slices
from visual_search.evaluation.statistics.bootstrap import bootstrap_mean
from visual_search.indexing.index_table import VectorIndex
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch

Table = dict[str, list[Any]]
VIEWS: dict[str, Any] = {"group": "scene_id", "view": "view_id", "item": "index"}
MEASURES = ["HitRate@1", "AP(denominator=min)@5", "FirstRank(average=median)"]


@pytest.fixture
def split(table: Table) -> Split:
    return by_view(table, **VIEWS, query=0, gallery=1)


def vectors(count: int = 12) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.float32]]:
    rng = np.random.default_rng(5)
    base = rng.normal(size=(count, 6))
    first, second = base + 0.6 * rng.normal(size=base.shape), base + 0.9 * rng.normal(size=base.shape)
    return first.astype(np.float32), second.astype(np.float32)


def relevant_ranks(similarity: npt.NDArray[np.float64]) -> npt.NDArray[np.int64]:
    order = np.argsort(-similarity, axis=1, kind="stable")
    return np.array([int(np.flatnonzero(order[row] == row)[0]) + 1 for row in range(len(similarity))])


def test_both_directions_pooled_know_how_many_right_answers_each_query_has(split: Split) -> None:
    first, second = vectors()
    pooled = evaluate_directions_vectors(split, first, second, ["Precision@20"]).pooled
    assert pooled.relevant_counts is not None
    assert pooled.relevant_counts.tolist() == [1] * 24
    assert compare({"one": pooled, "same": pooled}).contrasts[0].largest == pytest.approx(0.05)


def test_three_results_as_the_chapter_counts_them(split: Split) -> None:
    first, second = vectors()
    unit = [one / np.linalg.norm(one.astype(np.float64), axis=1, keepdims=True) for one in (first, second)]
    similarity = unit[0] @ unit[1].T
    ranks = relevant_ranks(similarity), relevant_ranks(similarity.T)
    found = evaluate_directions_vectors(split, first, second, MEASURES)
    for result, rank in ((found.there, ranks[0]), (found.back, ranks[1]), (found.pooled, np.concatenate(ranks))):
        assert result["HitRate@1"].mean == pytest.approx((rank <= 1).mean(), abs=1e-15)
        wanted = np.where(rank <= 5, 1 / rank, 0).mean()
        assert result["AP(denominator=min)@5"].mean == pytest.approx(wanted, abs=1e-12)
        assert result["FirstRank(average=median)"].mean == np.median(rank)
    assert len(found.pooled.queries) == 24
    assert list(found.pooled.queries) == [*split.query_ids, *split.gallery_ids]


def test_both_directions_of_a_scene_are_drawn_together(split: Split) -> None:
    found = evaluate_directions_vectors(split, *vectors(), ["HitRate@1"])
    interval = found.pooled["HitRate@1"].interval
    groups = [*(split.groups or []), *(split.reversed().groups or [])]
    wanted = bootstrap_mean(found.pooled["HitRate@1"].values, groups=groups)
    assert wanted is not None
    assert interval is not None
    assert (interval.low, interval.high, interval.as_json()["groups"]) == (wanted.low, wanted.high, 12)


def test_the_asymmetry_is_that_of_the_means_and_pairs_scenes(split: Split) -> None:
    found = evaluate_directions_vectors(split, *vectors(), ["HitRate@1"])
    told = found.asymmetry["HitRate@1"]
    assert told.difference == pytest.approx(found.there["HitRate@1"].mean - found.back["HitRate@1"].mean, abs=1e-15)
    assert told.queries == 12
    assert told.wins + told.losses + told.ties == 12
    assert "front -> back" in found.summary()
    assert "difference by group" in found.summary()
    # So few scenes differ that every flip of their signs is counted, the one that was seen aside.
    assert found.as_json()["asymmetry"]["HitRate@1"]["flips"] == 2 ** (told.wins + told.losses) - 1


def test_rankings_give_the_same_as_vectors(split: Split) -> None:
    first, second = vectors()
    similarity = first @ second.T
    names: dict[str, Any] = {"query_ids": split.query_ids, "gallery_ids": split.gallery_ids}
    back: dict[str, Any] = {"query_ids": split.gallery_ids, "gallery_ids": split.query_ids}
    rankings = Ranking.from_similarity(similarity, **names), Ranking.from_similarity(similarity.T, **back)
    one = evaluate_directions(split, *rankings, MEASURES)
    other = evaluate_directions_vectors(split, first, second, MEASURES, metric="ip")
    for name in ("there", "back", "pooled"):
        for text in MEASURES:
            assert getattr(one, name)[text].mean == pytest.approx(getattr(other, name)[text].mean, abs=1e-12)


def test_images_and_captions_pool_under_names_that_tell_the_direction() -> None:
    split = image_text({"image": [0, 0, 0, 1, 2, 2]}, image="image")
    images, texts = np.eye(3), np.eye(3)[[0, 0, 1, 1, 2, 2]]
    found = evaluate_directions_vectors(split, images, texts, ["HitRate@1"])
    assert list(found.pooled.queries)[:4] == ["there: 0", "there: 1", "there: 2", "back: 0"]
    assert found.there["HitRate@1"].values.tolist() == [1, 0.5, 1]  # a caption of image 0 ties with that of 1
    assert found.back["HitRate@1"].values.tolist() == [1, 1, 0, 1, 1, 1]
    # Image 0: 1 - 2/3; image 1: 1/2 - 1; image 2: 0.
    assert found.asymmetry["HitRate@1"].difference == pytest.approx((1 / 3 - 1 / 2) / 3, abs=1e-15)
    interval = found.pooled["HitRate@1"].interval
    assert interval is not None
    assert interval.as_json()["groups"] == 3


def test_queries_that_a_ranking_lacks_are_named_by_direction(split: Split) -> None:
    there = {100: {101: 1.0}}
    back = {101: {100: 1.0}}
    found = evaluate_directions(split, there, back, ["HitRate@1"])
    assert len(found.pooled.missing_queries) == 22
    assert found.pooled["HitRate@1"].mean == pytest.approx(2 / 24)


def test_an_unproven_split_is_not_measured(table: Table) -> None:
    cut = {name: values[:-1] for name, values in table.items()}
    unproven = by_view(cut, **VIEWS, query=0, gallery=1)
    for measure in (
        lambda: evaluate_split(unproven, {100: {101: 1.0}}),
        lambda: evaluate_split_vectors(unproven, np.eye(12), np.eye(12)[:11]),
        lambda: evaluate_directions(unproven, {100: {101: 1.0}}, {101: {100: 1.0}}),
        lambda: dataset_of_split(unproven),
    ):
        with pytest.raises(ProofError, match="answers: 1 of 12 queries"):
            measure()


def test_vectors_must_be_those_of_the_split(split: Split) -> None:
    with pytest.raises(InputError, match="gallery_vectors: 11 rows; the split has 12"):
        evaluate_split_vectors(split, np.eye(12), np.eye(12)[:11])


def test_a_result_and_its_slices_carry_the_proof(split: Split) -> None:
    result = evaluate_split_vectors(split, *vectors(), ["HitRate@1"])
    assert result.as_json()["protocol"] == split.record()
    part = slices(result, [query < 110 for query in split.query_ids])[True]  # type: ignore[operator]
    assert part.protocol == split.record()


def service_of(split: Split) -> tuple[ModelEvaluator, dict[Any, Any]]:
    first, second = vectors(len(split.queries))
    index = VectorIndex(metric="cosine")
    index.add(list(split.gallery_ids), second)
    evaluator = ModelEvaluator(NearestNeighborSearch(index=index), model_name="vectors")
    return evaluator, dict(zip(split.query_ids, first, strict=True))


def test_the_record_of_a_service_carries_the_proof(split: Split) -> None:
    evaluator, embeddings = service_of(split)
    result = evaluator.evaluate(dataset_of_split(split), [1, 5], embeddings, protocol=split)
    assert result.record["protocol"] == split.record()
    assert result.record["protocol"]["proof"]["holds"] is True
    plain = evaluate_split_vectors(split, *vectors(), ["HitRate@1"])
    assert result.hit_rate_at_k[1] == plain["HitRate@1"].mean
    assert "NOT A PROVEN SPLIT" not in result.summary()


def test_a_dataset_of_another_split_is_refused(table: Table, split: Split) -> None:
    evaluator, embeddings = service_of(split)
    other = by_view(table, **VIEWS, query=0, gallery=1, label="label", relevant="same-class-other-group")
    with pytest.raises(FingerprintError, match="right answers and ignored pairs differ"):
        evaluator.evaluate(dataset_of_split(other), [1, 5], embeddings, protocol=split)


def test_an_index_that_is_not_the_gallery_is_refused(split: Split) -> None:
    index = VectorIndex(metric="cosine")
    index.add([*list(split.gallery_ids)[1:], 100], vectors()[1])
    evaluator = ModelEvaluator(NearestNeighborSearch(index=index))
    embeddings = dict(zip(split.query_ids, vectors()[0], strict=True))
    with pytest.raises(FingerprintError, match="1 items more, such as 100 and 1 items fewer, such as 101"):
        evaluator.evaluate(dataset_of_split(split), [1], embeddings, protocol=split)


def test_a_marked_split_is_marked_in_the_record_and_the_summary(table: Table) -> None:
    marked = random_images(table, **VIEWS, queries=12, seed=1, allow_shared_groups=True)
    evaluator, embeddings = service_of(marked)
    result = evaluator.evaluate(dataset_of_split(marked), [1, 5], embeddings, protocol=marked)
    assert result.record["protocol"]["proof"]["allowed"] == ["groups", "views", "answers"]
    assert "NOT A PROVEN SPLIT; allowed by name: groups, views, answers" in result.summary()
    assert any("drawn image by image" in warning for warning in result.warnings)


def test_what_is_ignored_goes_into_the_dataset(table: Table) -> None:
    own = leave_one_out(table, group="scene_id", item="index")
    dataset = dataset_of_split(own, image_paths={100: "a.png"}, name="scenes")
    assert (dataset.queries[0].ignored, dataset.queries[0].image_path, dataset.name) == ((100,), "a.png", "scenes")


def test_a_proof_is_made_anew_when_a_field_was_replaced(split: Split) -> None:
    broken = replace(split, gallery=split.queries).proven_anew()
    assert {"items", "views", "relevance"} <= set(broken.proof.failed)


def test_groups_stay_with_the_results_so_that_a_comparison_draws_them_together(split: Split) -> None:
    found = evaluate_directions_vectors(split, *vectors(), ["HitRate@1"])
    for result, groups in (
        (found.there, split.groups),
        (found.pooled, [*(split.groups or ()), *(split.groups or ())]),
    ):
        assert groups is not None
        assert result.groups is not None
        assert len(result.groups) == len(groups)
        assert len(set(zip(result.groups.tolist(), groups, strict=True))) == len(set(groups)) == 12
    compared = compare({"one": found.pooled, "other": found.pooled})
    assert (compared.queries, compared.groups) == (24, 12)
