import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.errors import FingerprintError, InputError
from visual_search.evaluation.evaluator import EvaluationDataset, ModelEvaluator, compare_baselines, random_baseline
from visual_search.evaluation.statistics.paired import paired_difference
from visual_search.formats.results import read_result
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id


def worse(world: Any, seed: int = 0) -> dict[Id, Any]:
    random = np.random.default_rng(seed)
    return {query: vector + random.normal(0, 1, 3) for query, vector in world.vectors.items()}


def test_random_retrieval_is_there_with_its_exact_expectation(world: Any) -> None:
    result = ModelEvaluator(world.plain()).evaluate(world.dataset, [1, 4], world.vectors)
    compared = compare_baselines(result)
    assert list(compared.baselines) == ["random"]
    found = compared["random"].differences["Recall(denominator=all)@4"]
    assert compared["random"].means["Recall(denominator=all)@4"] == pytest.approx(4 / 12)
    assert found.difference == pytest.approx(result.recall_at_4 - 4 / 12)
    assert compared.as_json()["baselines"]["random"]["differences"]["Recall(denominator=all)@4"]["p_value"] is None


def test_the_expectation_is_the_mean_over_many_random_orders() -> None:
    relevance = Relevance.from_dict({"q": {"a": 1, "b": 2, "gone": 1}})
    random = np.random.default_rng(0)
    gallery = list("abcdefgh")
    hits, ranks = [], []
    for _ in range(4000):
        order = random.permutation(gallery)
        hits.append(sum(item in "ab" for item in order[:3]) / 3)
        ranks.append(1 / next(rank for rank, item in enumerate(order, start=1) if item in "ab"))
    from visual_search.ids import Ids

    found = random_baseline(relevance, Ids(gallery), ["Recall@3", "RR"])
    assert found["Recall@3"].mean == pytest.approx(np.mean(hits), abs=0.02)
    assert found["RR"].mean == pytest.approx(np.mean(ranks), abs=0.03)


def test_a_result_a_stored_result_and_its_path_compare_alike(world: Any, tmp_path: Path) -> None:
    evaluator = ModelEvaluator(world.plain())
    result = evaluator.evaluate(world.dataset, [1, 4], world.vectors)
    other = evaluator.evaluate(world.dataset, [1, 4], worse(world), tmp_path / "old.json")
    path = tmp_path / "old.json"
    compared = compare_baselines(result, {"a": other, "b": read_result(path), "c": path, "d": str(path)})
    assert compared["a"].differences == compared["b"].differences == compared["c"].differences
    assert compared["a"].differences == compared["d"].differences
    groups = [query["group"] for query in world.dataset["queries"]]
    for text, found in compared["a"].differences.items():
        values = result.measures[text].values, other.measures[text].values
        assert found == paired_difference(*values, groups=groups)


def test_queries_in_another_order_are_matched_by_id(world: Any, tmp_path: Path) -> None:
    evaluator = ModelEvaluator(world.plain())
    result = evaluator.evaluate(world.dataset, [1, 4], world.vectors)
    turned = {"queries": world.dataset["queries"][::-1]}
    evaluator.evaluate(turned, [1, 4], world.vectors, tmp_path / "old.json")
    compared = compare_baselines(result, {"turned": tmp_path / "old.json"})
    assert all(found.ties == 12 for found in compared["turned"].differences.values())


def test_a_simpler_service_is_evaluated_on_the_same_images(world: Any, tmp_path: Path) -> None:
    dataset = EvaluationDataset.from_dict(world.on_disk(tmp_path), folder=tmp_path)
    result = ModelEvaluator(world.full()).evaluate(dataset, [1, 4])
    grey = {item: [vector.mean() + 2, 1.0, 0.1] for item, vector in world.items.items()}
    simpler = world.full()
    simpler._vectors = type(simpler)(grey)._vectors
    compared = compare_baselines(result, {"grey": simpler})
    assert compared["grey"].means["RR@4"] < result.mrr
    assert compared["grey"].differences["RR@4"].queries == 12
    table = compared.summary()
    assert "Against random" in table
    assert "Against grey" in table
    assert table.splitlines()[1].split() == [
        "colours",
        "random",
        "difference",
        "interval",
        "wins",
        "losses",
        "ties",
    ]


@pytest.mark.parametrize("changed", ["gallery", "queries", "relevance", "exclusions"])
def test_other_conditions_are_refused_with_what_differs(world: Any, tmp_path: Path, changed: str) -> None:
    result = ModelEvaluator(world.plain()).evaluate(world.dataset, [1], world.vectors)
    items, queries = dict(world.items), [dict(query) for query in world.dataset["queries"]]
    if changed == "gallery":
        items["extra.jpg"] = [1, 1, 1]
    elif changed == "queries":
        queries = [*queries, {"query_id": "new", "ground_truth": []}]
    elif changed == "relevance":
        queries[0]["ground_truth"] = queries[0]["ground_truth"][:-1]
    else:
        queries[0]["ignored"] = ["blue_0.jpg"]
    evaluator = ModelEvaluator(type(world.plain())(items))
    evaluator.evaluate({"queries": queries}, [1], world.vectors | {"new": [1, 1, 1]}, tmp_path / "old.json")
    with pytest.raises(FingerprintError) as caught:
        compare_baselines(result, {"old": tmp_path / "old.json"})
    lines = str(caught.value).splitlines()[1:]
    assert [line.split(":")[0] for line in lines] == [f"  - {changed}"]


def test_a_result_that_cannot_be_verified_is_refused(world: Any, tmp_path: Path) -> None:
    result = ModelEvaluator(world.plain()).evaluate(world.dataset, [1], world.vectors, tmp_path / "old.json")
    record = json.loads((tmp_path / "old.json").read_text())
    keys = list(record)[: list(record).index("model_name") + 1]
    (tmp_path / "guide.json").write_text(json.dumps({key: record[key] for key in keys}))
    with pytest.raises(FingerprintError, match="gallery: the baseline does not tell"):
        compare_baselines(result, {"old": tmp_path / "guide.json"})


def test_measures_that_the_baseline_lacks_are_named(world: Any, tmp_path: Path) -> None:
    evaluator = ModelEvaluator(world.plain())
    evaluator.evaluate(world.dataset, [1, 4], world.vectors, tmp_path / "old.json")
    result = evaluator.evaluate(world.dataset, [1, 6], world.vectors)
    compared = compare_baselines(result, {"old": tmp_path / "old.json"})
    assert "Recall(denominator=all)@1" in compared["old"].differences
    assert "Recall(denominator=all)@6" in compared["old"].not_compared
    assert "AP(denominator=all)@6" in compared["old"].not_compared
    assert "Not compared, since old lacks them: Recall(denominator=all)@6" in compared.summary()
    other = evaluator.evaluate(world.dataset, [2], world.vectors)
    with pytest.raises(InputError, match="no measure in common"):
        compare_baselines(other, {"old": tmp_path / "old.json"})


def test_wrong_use_says_what_to_do(world: Any) -> None:
    result = ModelEvaluator(world.plain()).evaluate(world.dataset, [1], world.vectors)
    with pytest.raises(InputError, match="choose another name"):
        compare_baselines(result, {"random": result})
    with pytest.raises(InputError, match="'x' is int"):
        compare_baselines(result, {"x": 3})  # type: ignore[dict-item]


def test_wrong_types_are_refused_in_words(world: Any) -> None:
    result = ModelEvaluator(world.plain()).evaluate(world.dataset, [1], world.vectors)
    with pytest.raises(InputError, match=r'baselines is PlainSearch; give a mapping.*"histogram": service'):
        compare_baselines(result, world.plain())
    with pytest.raises(InputError, match="result is PlainSearch"):
        compare_baselines(world.plain(), {"a": result})
    with pytest.raises(InputError, match="names must be strings; got 3"):
        compare_baselines(result, {3: result})  # type: ignore[dict-item]


def refusal(result: Any, baseline: Any, name: str = "old") -> str:
    with pytest.raises(FingerprintError) as caught:
        compare_baselines(result, {name: baseline})
    return str(caught.value)


def test_what_differs_is_said_with_the_first_ids_and_the_file(world: Any, tmp_path: Path) -> None:
    evaluator = ModelEvaluator(world.plain())
    result = evaluator.evaluate(world.dataset, [1], world.vectors)
    queries = [dict(query) for query in world.dataset["queries"]][1:]
    queries[0]["ground_truth"] = [*queries[0]["ground_truth"][:-1], "red_0.jpg"]
    queries[1]["ground_truth"] = queries[1]["ground_truth"][:-1]
    queries[2]["ignored"] = ["blue_0.jpg"]
    items = dict(world.items) | {"extra.jpg": [1, 1, 1]}
    other = ModelEvaluator(type(world.plain())(items)).evaluate(
        {"queries": queries}, [1], world.vectors, tmp_path / "old.json"
    )
    said = refusal(result, other)
    assert "gallery: 1 item only there, first 'extra.jpg' (" in said
    assert "queries: 1 query only here, first 'q00' (" in said
    assert (
        "relevance: 2 queries have other right answers; 'q01' has 'green_3.jpg' only here and 'red_0.jpg'" in said
    )
    assert "'q02' has 'blue_3.jpg' only here (" in said
    assert "exclusions: 1 query ignores other items; 'q03' has 'blue_0.jpg' only there (" in said
    stored = refusal(result, tmp_path / "old.json")
    assert f"baseline 'old' ({tmp_path / 'old.json'}) cannot be compared" in stored
    assert "queries: 1 query only here, first 'q00' (" in stored
    assert "relevance: 1 query has another number of relevant items: 'q02' has 4 here and 3 there (" in stored
    assert "exclusions: 0 pairs of query and item are ignored here, 1 there (" in stored


def test_another_grade_is_told_with_its_grade(world: Any) -> None:
    evaluator = ModelEvaluator(world.plain())
    result = evaluator.evaluate(world.dataset, [1], world.vectors)
    queries = [dict(query) for query in world.dataset["queries"]]
    queries[0]["ground_truth"] = dict.fromkeys(queries[0]["ground_truth"], 1) | {"red_0.jpg": 2}
    other = evaluator.evaluate({"queries": queries}, [1], world.vectors)
    assert "'q00' has 'red_0.jpg' only here and {'red_0.jpg': 2.0} only there" in refusal(result, other)


def test_the_column_of_a_baseline_has_a_name_that_tells(world: Any, tmp_path: Path) -> None:
    named = {
        name: ModelEvaluator(world.plain(), model_name=name).evaluate(
            world.dataset, [1], world.vectors, tmp_path / f"{name}.json"
        )
        for name in ("new", "histogram")
    }

    def column(baselines: Any) -> str:
        return compare_baselines(named["new"], baselines).summary().split("\n\n")[1]

    assert column({"baseline": named["histogram"]}).splitlines()[1].split()[:2] == ["new", "histogram"]
    assert column({"baseline": named["histogram"]}).startswith("Against baseline (histogram)")
    assert column({str(tmp_path / "histogram.json"): tmp_path / "histogram.json"}).splitlines()[1].split()[1] == (
        "histogram"
    )
    assert column({"last week": named["histogram"]}).splitlines()[1].split()[:3] == ["new", "last", "week"]
    assert column({"baseline": named["new"]}).splitlines()[1].split()[:3] == ["new", "new", "(baseline)"]


def test_few_groups_are_cautioned_beside_the_table(world: Any) -> None:
    evaluator = ModelEvaluator(world.plain())
    result = evaluator.evaluate(world.dataset, [1], world.vectors)
    compared = compare_baselines(result, {"worse": evaluator.evaluate(world.dataset, [1], worse(world))})
    random, tested = compared.summary().split("\n\n")
    assert "only 6 independent groups" in random
    assert "go by p" not in random
    assert "of 6 independent groups differ, too few for resampling" in tested
    assert "p counts sign flips" in tested
    alone = {"queries": [{**query, "group": query["query_id"]} for query in world.dataset["queries"]]}
    result = evaluator.evaluate(alone, [1], world.vectors)
    same = compare_baselines(result, {"same": result}).summary()
    assert f"none of {len(result.dataset)} independent groups differs" in same
