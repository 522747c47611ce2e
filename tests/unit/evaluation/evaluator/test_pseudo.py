import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.errors import InputError
from visual_search.evaluation.evaluator import EvaluationDataset, ModelEvaluator, create_pseudo_ground_truth
from visual_search.testing.plain_search import PlainSearch


def service() -> PlainSearch:
    """Items at 0, 10, ... 50 degrees."""
    return PlainSearch({f"at{d}": [np.cos(np.radians(d)), np.sin(np.radians(d))] for d in range(0, 60, 10)})


EAST = {"q": np.array([1.0, 0.0])}


def made(**options: Any) -> dict[str, Any]:
    return create_pseudo_ground_truth(service(), EAST, **options)


def test_items_from_the_threshold_up_are_relevant_best_first() -> None:
    value = made(threshold=float(np.cos(np.radians(25))))
    assert value["queries"] == [{"query_id": "q", "ground_truth": ["at0", "at10", "at20"]}]
    assert value["pseudo"]["cut_at_k"] == []
    assert value["pseudo"]["empty"] == []
    assert value["pseudo"]["warnings"] == []


def test_a_score_equal_to_the_threshold_counts() -> None:
    best = service().search(EAST["q"], "q", 1).results[0].score
    assert made(threshold=best)["queries"][0]["ground_truth"] == ["at0"]


def test_the_item_that_is_the_query_itself_is_left_out_and_does_not_cost_a_place() -> None:
    value = create_pseudo_ground_truth(service(), {"at0": [1, 0]}, threshold=0.9, k=2)
    assert value["queries"][0]["ground_truth"] == ["at10", "at20"]
    kept = create_pseudo_ground_truth(service(), {"at0": [1, 0]}, threshold=0.9, k=2, leave_out_self=False)
    assert kept["queries"][0]["ground_truth"] == ["at0", "at10"]


def test_a_list_cut_at_k_while_scores_still_reach_the_threshold_is_flagged() -> None:
    value = create_pseudo_ground_truth(service(), {"q": [1, 0], "r": [0, 1]}, threshold=0.9, k=2)
    assert value["pseudo"]["cut_at_k"] == ["q"]
    assert value["pseudo"]["empty"] == ["r"]
    assert value["pseudo"]["warnings"] == [
        "1 of 2 lists was cut at k while scores still reached the threshold; raise k or the threshold",
        "1 of 2 queries has no item that reaches the threshold; it measures nothing",
    ]


def test_a_list_that_holds_the_whole_gallery_is_not_cut() -> None:
    assert made(threshold=0.5, k=6)["pseudo"]["cut_at_k"] == []
    assert made(threshold=0.5, k=100)["pseudo"]["cut_at_k"] == []
    assert made(threshold=0.5, k=5)["pseudo"]["cut_at_k"] == ["q"]


def test_a_threshold_that_nothing_reaches_says_what_the_highest_score_is() -> None:
    assert (
        "no score reaches 2.0: the highest is 1; scores of L2 search are minus distances"
        in (made(threshold=2)["pseudo"]["warnings"])
    )


def test_image_paths_are_kept(world: Any, tmp_path: Path) -> None:
    assert made(image_paths={"q": tmp_path / "q.jpg"})["queries"][0]["image_path"] == str(tmp_path / "q.jpg")
    world.on_disk(tmp_path)
    paths = {"q00": tmp_path / "queries/q00.txt", "q01": world.vectors["q01"]}
    value = create_pseudo_ground_truth(world.full(), paths, threshold=0.9)
    vectors = {"q00": world.vectors["q00"], "q01": world.vectors["q01"]}
    assert value["queries"][0].pop("image_path") == str(tmp_path / "queries/q00.txt")
    assert value["queries"] == create_pseudo_ground_truth(world.full(), vectors, threshold=0.9)["queries"]


def test_the_file_and_every_result_say_that_the_truth_is_pseudo(world: Any, tmp_path: Path) -> None:
    value = create_pseudo_ground_truth(world.full(), world.vectors, threshold=0.9, k=3)
    assert value["pseudo"]["model_name"] == "colours"
    EvaluationDataset.from_dict(value).to_json(tmp_path / "pseudo.json")
    assert json.loads((tmp_path / "pseudo.json").read_text()) == value
    dataset = EvaluationDataset.from_json(tmp_path / "pseudo.json")
    result = ModelEvaluator(world.full()).evaluate(dataset, [1, 3], world.vectors, tmp_path / "out.json")
    stored = json.loads((tmp_path / "out.json").read_text())
    assert stored["truth"] == {"kind": "pseudo", "pseudo_model": "colours", **value["pseudo"]}
    assert "(pseudo ground truth)" in result.summary()
    said = "\n".join(stored["warnings"])
    assert "made by colours at threshold 0.9, not judged by people" in said
    assert "the model scored (colours) is the one that made this ground truth" in said
    cut = value["pseudo"]["cut_at_k"]
    assert cut
    assert f"{len(cut)} queries' pseudo truth was cut at k = 3" in said


def test_another_model_is_not_accused(world: Any) -> None:
    value = create_pseudo_ground_truth(world.full(), world.vectors, threshold=0.9)
    other = world.full(embedder=None)
    said = "\n".join(ModelEvaluator(other, model_name="other").evaluate(value, [1], world.vectors).warnings)
    assert "pseudo" in said
    assert "the model scored" not in said


def test_the_same_weights_under_another_name_are_recognised(world: Any) -> None:
    value = create_pseudo_ground_truth(world.full(), world.vectors, threshold=0.9)
    renamed = world.full()
    renamed.index.embedder.name = "renamed"
    said = "\n".join(ModelEvaluator(renamed).evaluate(value, [1], world.vectors).warnings)
    assert "the model scored (renamed) is the one that made this ground truth" in said


def test_everything_wrong_is_told_at_once() -> None:
    with pytest.raises(InputError) as caught:
        create_pseudo_ground_truth(service(), {}, threshold=float("nan"), k=0, image_paths={"x": "x.jpg"})
    said = str(caught.value)
    assert "4 problems" in said
    for part in (
        "threshold is nan",
        "k is 0; it must be an integer",
        "query_images is empty",
        "image_paths has 1 id",
    ):
        assert part in said
    with pytest.raises(InputError, match="NaN or infinity"):
        create_pseudo_ground_truth(service(), {"q": [np.nan, 1]})


def test_groups_and_categories_are_kept_from_mappings_and_from_a_dataset(world: Any, tmp_path: Path) -> None:
    groups = {query["query_id"]: query["group"] for query in world.dataset["queries"]}
    categories = {query["query_id"]: query["category"] for query in world.dataset["queries"]}
    value = create_pseudo_ground_truth(
        world.full(), world.vectors, threshold=0.9, groups=groups, categories=categories
    )
    assert {query["query_id"]: query["group"] for query in value["queries"]} == groups
    result = ModelEvaluator(world.full()).evaluate(value, [1], world.vectors)
    assert result.audit.groups == 6
    assert result.audit.categories == {"red": 4, "green": 4, "blue": 4}
    dataset = EvaluationDataset.from_dict(world.on_disk(tmp_path), folder=tmp_path)
    taken = create_pseudo_ground_truth(world.full(), dataset, threshold=0.9)
    assert taken["queries"][0].pop("image_path") == str(tmp_path / "queries/q00.txt")
    assert taken["queries"][0] == value["queries"][0]
    other = create_pseudo_ground_truth(world.full(), dataset, threshold=0.9, groups={"q00": "alone"})
    assert [query["group"] for query in other["queries"]][:2] == ["alone", "g1"]
    with pytest.raises(InputError, match="12 queries have no image_path, first 'q00'"):
        create_pseudo_ground_truth(world.full(), EvaluationDataset.from_dict(world.dataset))


def test_groups_of_no_query_and_of_another_kind_are_refused() -> None:
    with pytest.raises(InputError) as caught:
        made(groups={"q": 3, "z": "g"}, categories={"z": "c"})
    said = str(caught.value)
    assert "groups has 1 id that query_images has not, first 'z'" in said
    assert "groups must be strings; 3 is not" in said
    assert "categories has 1 id that" in said


def test_a_threshold_outside_the_scores_is_refused_with_their_range(world: Any) -> None:
    with pytest.raises(InputError, match=r"threshold is 1\.5, .*cosine scores are from -1 to 1"):
        create_pseudo_ground_truth(world.full(), world.vectors, threshold=1.5)
    with pytest.raises(InputError, match=r"threshold is 0\.8, .*l2 scores are minus distances, at most 0"):
        create_pseudo_ground_truth(world.full(metric="l2"), world.vectors, threshold=0.8)
    with pytest.raises(InputError, match="threshold is '0.8'; it must be a number"):
        create_pseudo_ground_truth(world.full(), world.vectors, threshold="0.8")  # type: ignore[arg-type]
    create_pseudo_ground_truth(world.full(), world.vectors, threshold=1.0)


def test_the_record_says_pseudo_whatever_the_file_calls_it() -> None:
    value = made(threshold=0.9)
    value["pseudo"] |= {"kind": "complete", "pseudo_model": "people", "model_name": "m"}
    result = ModelEvaluator(service()).evaluate(
        EvaluationDataset.from_dict(value), [1], precomputed_embeddings=EAST
    )
    assert (result.record["truth"]["kind"], result.record["truth"]["pseudo_model"]) == ("pseudo", "m")
