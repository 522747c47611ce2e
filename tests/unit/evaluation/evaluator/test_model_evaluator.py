from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from visual_search.errors import DatasetError, InputError, UnknownNameError
from visual_search.evaluation.evaluator import EvaluationDataset, ModelEvaluator, Resampling, evaluate_model
from visual_search.ids import Id
from visual_search.rankings.ranking import Ranking
from visual_search.testing.plain_search import PlainHit, PlainResults, PlainSearch


class Listed:
    """Returns lists written down beforehand."""

    def __init__(self, lists: dict[str, list[str]]) -> None:
        self.lists = lists

    def search(self, query_vec: Any, query_id: Any, k: int) -> PlainResults:
        return PlainResults([PlainHit(item, -float(rank)) for rank, item in enumerate(self.lists[query_id][:k])])


def naive(listed: list[str], relevant: set[str], k_values: list[int]) -> dict[str, float]:
    """The evaluation guide's formulas, read off the page."""
    last = max(k_values)
    hits = [item in relevant for item in listed]
    found: dict[str, float] = {}
    for k in k_values:
        found[f"recall_at_{k}"] = sum(hits[:k]) / len(relevant)
        found[f"precision_at_{k}"] = sum(hits[:k]) / k
        found[f"hit_rate_at_{k}"] = float(any(hits[:k]))
        gain = sum(hit / np.log2(rank + 1) for rank, hit in enumerate(hits[:k], start=1))
        ideal = sum(1 / np.log2(rank + 1) for rank in range(1, min(k, len(relevant)) + 1))
        found[f"ndcg_at_{k}"] = gain / ideal
    found["map"] = sum(sum(hits[:rank]) / rank for rank in range(1, last + 1) if hits[rank - 1 : rank] == [True])
    found["map"] /= len(relevant)
    first = next((rank for rank, hit in enumerate(hits[:last], start=1) if hit), None)
    found["mrr"] = 0.0 if first is None else 1 / first
    return found


item_lists = st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=10)


@settings(deadline=None)
@given(
    st.lists(st.tuples(item_lists, st.sets(st.sampled_from("abcdefghij"))), min_size=1, max_size=5),
    st.lists(st.integers(1, 12), min_size=1, max_size=3, unique=True),
)
def test_every_number_is_the_mean_of_the_formula_over_queries_with_relevant_items(
    queries: list[tuple[list[str], set[str]]], k_values: list[int]
) -> None:
    lists = {f"q{row}": listed for row, (listed, _) in enumerate(queries)}
    value = {
        "queries": [
            {"query_id": f"q{row}", "ground_truth": sorted(truth)} for row, (_, truth) in enumerate(queries)
        ]
    }
    vectors: dict[Id, Any] = {query: [1.0] for query in lists}
    result = ModelEvaluator(Listed(lists)).evaluate(EvaluationDataset.from_dict(value), k_values, vectors)
    expected = [naive(listed, truth, k_values) for listed, truth in queries if truth]
    names = [f"{key}_at_{k}" for key in ("recall", "precision", "ndcg", "hit_rate") for k in k_values]
    for name in [*names, "map", "mrr"]:
        mean = np.mean([found[name] for found in expected]) if expected else np.nan
        assert getattr(result, name) == pytest.approx(mean, nan_ok=True), name
    assert result.num_queries == len(queries)
    assert list(result.audit.empty) == [f"q{row}" for row, (_, truth) in enumerate(queries) if not truth]
    assert all(found.counted == len(expected) for found in result.measures.values())


def test_attributes_and_keys_are_the_same_numbers(world: Any) -> None:
    result = ModelEvaluator(world.plain()).evaluate(world.dataset, [1, 5], world.vectors)
    assert list(result.recall_at_k) == result.k_values == [1, 5]
    assert result.recall_at_k[5] == result.recall_at_5 == result.record["recall_at_5"] == result["Recall@5"].mean
    assert result.map == result.record["map"] == result["AP@5"].mean
    assert result.mrr == result["RR@5"].mean
    assert result["mAP"] is result["map"] is result["mAP@5"] is result["AP@5"]
    assert result["MRR"] is result["mrr"] is result["MRR@5"] is result["RR@5"]
    with pytest.raises(AttributeError, match="recall_at_7"):
        _ = result.recall_at_7
    with pytest.raises(UnknownNameError, match="was not measured"):
        _ = result["Recall@7"]


def test_images_are_embedded_when_no_vectors_are_given(world: Any, tmp_path: Path) -> None:
    dataset = EvaluationDataset.from_dict(world.on_disk(tmp_path), folder=tmp_path)
    by_image = ModelEvaluator(world.full()).evaluate(dataset, [1, 5])
    by_vector = ModelEvaluator(world.full()).evaluate(world.dataset, [1, 5], world.vectors)
    assert by_image.record["map"] == pytest.approx(by_vector.record["map"])
    assert by_image.model_name == "colours"


def test_the_convenience_function_does_the_same(world: Any, tmp_path: Path) -> None:
    dataset = EvaluationDataset.from_dict(world.on_disk(tmp_path), folder=tmp_path)
    dataset.to_json(tmp_path / "eval.json")
    result = evaluate_model(
        search_service=world.full(),
        dataset_path=tmp_path / "eval.json",
        k_values="analysis",
        output_path=tmp_path / "out" / "results.json",
        application_k=12,
    )
    assert result.k_values == [1, 5, 10, 50, 100]
    by_path = ModelEvaluator(world.full()).evaluate(str(tmp_path / "eval.json"), "analysis")
    assert by_path.per_query_results == result.per_query_results
    assert (tmp_path / "out" / "results.json").exists()
    assert "the application shows 12 results" in "\n".join(result.warnings)


def test_graded_truth_moves_ndcg_alone(world: Any) -> None:
    graded = {"queries": [dict(query) for query in world.dataset["queries"]]}
    for query in graded["queries"]:
        query["ground_truth"] = {item: 1 + row for row, item in enumerate(query["ground_truth"])}
    plain = ModelEvaluator(world.plain()).evaluate(world.dataset, [3], world.vectors)
    result = ModelEvaluator(world.plain()).evaluate(graded, [3], world.vectors)
    assert result.recall_at_3 == plain.recall_at_3
    assert result.map == plain.map
    assert result.ndcg_at_3 != plain.ndcg_at_3


def test_leave_one_out_ignores_the_query_and_still_looks_k_deep(world: Any) -> None:
    names = list(world.items)
    queries = [
        {"query_id": item, "ground_truth": [o for o in names if str(o).split("_")[0] == str(item).split("_")[0]]}
        for item in names
    ]
    result = ModelEvaluator(world.plain()).evaluate({"queries": queries}, [3, 11], world.items, exclude_self=True)
    assert result.ranking.lengths.tolist() == [12] * 12
    assert {entry["num_relevant"] for entry in result.per_query_results} == {3}
    assert result.recall_at_11 == 1.0
    assert result.audit.trivial == {}
    assert result.protocol is not None
    assert result.protocol["name"] == "leave-one-out"
    kept = ModelEvaluator(world.plain()).evaluate({"queries": queries}, [3, 11], world.items)
    assert set(kept.audit.trivial.values()) == {"by id"}
    assert kept.recall_at_3 > result.recall_at_3 or kept.mrr >= result.mrr


def test_leaving_out_that_did_nothing_is_warned_of_and_not_claimed(world: Any) -> None:
    evaluator = ModelEvaluator(world.plain())
    result = evaluator.evaluate(world.dataset, [3], world.vectors, exclude_self=True)
    (said,) = [line for line in result.warnings if "exclude_self" in line]
    assert "exclude_self did nothing: no query id is an item id" in said
    assert "query ids such as 'q00', 'q01', 'q02', items such as 'red_0.jpg'" in said
    assert result.protocol is None
    mixed = {
        "queries": [*world.dataset["queries"], {"query_id": "red_0.jpg", "ground_truth": ["red_1.jpg"]}],
    }
    result = evaluator.evaluate(mixed, [3], world.vectors | world.items, exclude_self=True)
    assert any("exclude_self did nothing for 12 of 13 queries" in line for line in result.warnings)
    assert result.protocol is not None
    assert result.protocol["words"].startswith("1 of 13 queries")


def test_queries_that_find_themselves_are_told_of_exclude_self(world: Any) -> None:
    own = {"queries": [{"query_id": item, "ground_truth": ["red_0.jpg"]} for item in world.items]}
    said = ModelEvaluator(world.plain()).evaluate(own, [3], world.items).warnings
    assert any("12 by id; exclude_self=True (--exclude-self) takes each query's own item" in line for line in said)
    said = ModelEvaluator(world.plain()).evaluate(own, [3], world.items, exclude_self=True).warnings
    assert not any("exclude" in line for line in said)


def test_ignored_items_count_neither_way_and_cost_no_depth() -> None:
    service = PlainSearch({"a": [1, 0], "b": [1, 0.1], "c": [1, 0.2], "d": [1, 0.3]})
    value = {"queries": [{"query_id": "q", "ground_truth": ["c"], "ignored": ["a", "b", "gone"]}]}
    result = ModelEvaluator(service).evaluate(value, [1], {"q": [1, 0]})
    assert result.recall_at_1 == 1.0
    assert result.record["left_out"]["pairs_ignored"] == 3


def test_ignored_items_cost_no_depth_where_the_gallery_is_not_known() -> None:
    value = {"queries": [{"query_id": "q", "ground_truth": ["c"], "ignored": ["a", "b"]}]}
    result = ModelEvaluator(Listed({"q": ["a", "b", "c", "d"]})).evaluate(value, [1], {"q": [0.0]})
    assert result.recall_at_1 == 1.0


def test_absent_items_stay_in_r_and_lower_the_ceiling(world: Any) -> None:
    queries = [dict(query) for query in world.dataset["queries"]]
    queries[0]["ground_truth"] = [*queries[0]["ground_truth"], "red_9"]
    result = ModelEvaluator(world.plain()).evaluate({"queries": queries}, [5], world.vectors)
    assert result.per_query_results[0]["num_relevant"] == 5
    assert result.ceilings is not None
    assert result.ceilings["Recall@5"].values.tolist() == [0.8] + [1.0] * 11
    assert result.record["audit"]["absent_items"] == {"red_9": ["red_3.jpg", "red_2.jpg", "red_1.jpg"]}
    assert any("1 ground-truth id is not in the index" in line for line in result.warnings)
    with pytest.raises(DatasetError, match="the only ground-truth id is not in the index of 12 items"):
        ModelEvaluator(world.plain()).evaluate(
            {"queries": [{"query_id": "q", "ground_truth": ["red_0"]}]}, [5], {"q": [1, 0, 0]}
        )


def test_ceilings_and_random_expectation_stand_around_every_value(world: Any) -> None:
    result = ModelEvaluator(world.plain()).evaluate(world.dataset, [1, 3, 5], world.vectors)
    assert result.ceilings is not None
    assert result.random_baseline is not None
    assert result.ceilings["Recall@1"].mean == 0.25
    assert result.ceilings["Precision@5"].mean == pytest.approx(0.8)
    assert result.random_baseline["Recall@3"].mean == pytest.approx(3 / 12)
    assert result.random_baseline["Precision@1"].mean == pytest.approx(4 / 12)
    for text, found in result.measures.items():
        assert found.mean <= result.ceilings[text].mean + 1e-12
        assert result.random_baseline[text].mean <= result.ceilings[text].mean + 1e-12


def test_references_leave_out_the_queries_that_the_means_leave_out(world: Any) -> None:
    queries = [*world.dataset["queries"], {"query_id": "empty", "ground_truth": []}]
    result = ModelEvaluator(world.plain()).evaluate({"queries": queries}, [4], world.vectors | {"empty": [1, 1, 1]})
    assert result.ceilings is not None
    assert result.random_baseline is not None
    assert result.ceilings["Precision@4"].mean == pytest.approx(1.0)
    assert result.random_baseline["Precision@4"].mean == pytest.approx(4 / 12)
    for reference in (result.ceilings, result.random_baseline, result.measures):
        assert reference["Precision@4"].undefined_queries == ("empty",)


def test_a_service_that_tells_nothing_still_gives_the_guides_numbers() -> None:
    result = ModelEvaluator(Listed({"q": ["a", "b"]})).evaluate(
        {"queries": [{"query_id": "q", "ground_truth": ["b"]}]}, [1, 5], {"q": [0.0]}
    )
    assert result.mrr == 0.5
    assert result.random_baseline is None
    assert result.ceilings is None
    assert result.model_name == "unknown"
    assert result.record["fingerprints"]["gallery"] is None
    assert len([note for note in result.notes if "the search service does not tell" in note]) == 4
    assert not any("exceeds the gallery" in note for note in result.notes)


def test_queries_that_a_batch_leaves_out_are_counted_as_empty_lists_and_named(world: Any) -> None:
    class Forgets(PlainSearch):
        def search_batch(self, vectors: Any, query_ids: Any, k: int) -> Ranking:
            asked = list(zip(query_ids, vectors, strict=True))[1:]
            return Ranking.from_dict(
                {q: {h.image_id: h.score for h in self.search(v, q, k).results} for q, v in asked}
            )

    result = ModelEvaluator(Forgets(world.items)).evaluate(world.dataset, [12], world.vectors)
    assert result.record["left_out"]["queries_missing_from_ranking"] == ["q00"]
    assert result.recall_at_12 == pytest.approx(11 / 12)
    assert any("1 query is missing from the ranking" in note for note in result.notes)


def test_more_measures_may_be_asked_for_and_deepen_the_search(world: Any) -> None:
    evaluator = ModelEvaluator(world.plain(), measures=["AP(denominator=min)@8", "Recall(average=micro)@2"])
    result = evaluator.evaluate(world.dataset, [1, 3], world.vectors)
    assert result.ranking.lengths.tolist() == [8] * 12
    assert result["AP(denominator=min)@8"].interval is not None
    assert result["Recall(average=micro)@2"].interval is not None
    assert "AP(denominator=min)@8" in result.summary()
    with pytest.raises(InputError, match=r"AP\(denominator=all\) read the whole ranking"):
        ModelEvaluator(world.plain(), measures=["AP(denominator=all)"]).evaluate(world.dataset, [1], world.vectors)


def test_intervals_come_from_groups_where_there_are_some(world: Any) -> None:
    settings = Resampling(resamples=500, seed=7, confidence=0.8, enumerated=0)
    result = ModelEvaluator(world.plain(), resampling=settings).evaluate(world.dataset, [1], world.vectors)
    interval = result["RR@1"].interval
    assert interval is not None
    as_json = interval.as_json()
    assert as_json["method"] == "widened BCa bootstrap over groups"
    assert (as_json["groups"], as_json["resamples"], as_json["seed"], as_json["confidence"]) == (6, 500, 7, 0.8)
    assert result.record["seeds"] == {"bootstrap": 7}
    alone = [{**query, "group": None} for query in world.dataset["queries"]]
    result = ModelEvaluator(world.plain()).evaluate({"queries": alone}, [1], world.vectors)
    assert result.record["measures"]["RR@1"]["interval"]["method"] == "Wilson score interval over queries"


def test_wrong_use_says_what_to_do(world: Any, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"object has no search\(query_vec, query_id, k\)"):
        ModelEvaluator(object())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="is a folder"):
        ModelEvaluator(world.plain()).evaluate(world.dataset, [1], world.vectors, tmp_path)
    with pytest.raises(InputError, match="k_values"):
        ModelEvaluator(world.plain()).evaluate(world.dataset, [0], world.vectors)
    with pytest.raises(InputError, match="has no embed_images; pass precomputed_embeddings"):
        ModelEvaluator(world.plain()).evaluate(world.dataset, [1])


def test_the_summary_shows_values_intervals_references_and_warnings(world: Any) -> None:
    queries = [*world.dataset["queries"], {"query_id": "empty", "ground_truth": []}]
    vectors = world.vectors | {"empty": [1, 1, 1]}
    value = {"name": "colours", "queries": queries}
    text = ModelEvaluator(world.full()).evaluate(value, [1, 5], vectors).summary()
    lines = text.splitlines()
    assert lines[0] == "colours: 13 queries of colours against 12 items"
    assert lines[2].split() == ["value", "95%", "interval", "random", "ceiling", "queries", "undefined"]
    rows = {line.split()[0]: line.split() for line in lines[3:15] if line}
    assert list(rows) == [
        *["Recall@1", "Recall@5", "Precision@1", "Precision@5", "mAP@5", "MRR@5"],
        *["NDCG@1", "NDCG@5", "HitRate@1", "HitRate@5", "*"],
    ]
    assert any(row[2].endswith("*") for row in rows.values())
    assert rows["*"][1] == "all"
    assert rows["Recall@1"][3:] == ["0.083", "0.250", "12", "1"]
    assert "Recall@5 is Recall(denominator=all)@5: relevant items found among the first 5, divided by R" in text
    assert "  only 13 queries: fewer than 50 give rough numbers" in lines
    assert "  1 of 13 queries have no relevant item; it is left out of every mean" in lines
