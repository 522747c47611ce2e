import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from visual_search.evaluation.evaluator import EvaluationDataset, ModelEvaluator
from visual_search.formats.results import read_result


def test_what_the_service_tells_stands_in_the_record(world: Any) -> None:
    ledger = {"used": 12, "changed": 1, "left_out": 2, "reasons": {"truncated": 2}}
    service = world.full(ledger=ledger)
    record = ModelEvaluator(service).evaluate(world.dataset, [1], world.vectors).record
    assert record["embedder"] == {
        "name": "colours",
        "dimension": 3,
        "preprocessing": "none",
        "weights_hash": "sha256:0",
    }
    assert record["index"] == {"engine": "flat", "metric": "cosine", "settings": {}, "items": 12, "exact": True}
    assert record["ledger"] == ledger
    assert record["preset"] == "guide"
    assert record["ties"] == "listed"
    assert record["truth"] == {"kind": "complete"}
    assert record["machine"]["cores"] >= 1
    assert record["versions"]["visual_search"]


def test_every_measure_states_its_words_counts_interval_and_references(world: Any) -> None:
    record = ModelEvaluator(world.plain()).evaluate(world.dataset, [1], world.vectors).record
    texts = [
        *["Recall(denominator=all)@1", "Precision(denominator=k)@1", "AP(denominator=all)@1", "RR@1"],
        *["nDCG(gain=linear)@1", "HitRate@1"],
    ]
    assert list(record["measures"]) == list(record["random_baseline"]) == list(record["ceilings"]) == texts
    for text in texts:
        found = record["measures"][text]
        assert found["counted"] == 12
        assert found["undefined_queries"] == []
        assert found["interval"]["low"] <= found["mean"] <= found["interval"]["high"]
        assert found["words"]


def test_undefined_numbers_are_null(world: Any, tmp_path: Path) -> None:
    value = {"queries": [{"query_id": "q", "ground_truth": []}]}
    result = ModelEvaluator(world.plain()).evaluate(value, [1], {"q": [1, 0, 0]}, tmp_path / "out.json")
    stored = json.loads((tmp_path / "out.json").read_text())
    assert stored["map"] is stored["recall_at_1"] is stored["precision_at_1"] is None
    assert stored["per_query_results"][0]["average_precision"] is None
    assert stored["per_query_results"][0]["recall_at_k"] == {"1": None}
    assert stored["measures"]["RR@1"]["undefined_queries"] == ["q"]
    assert stored["measures"]["RR@1"]["interval"] is None
    assert "-" in result.summary()


def test_the_companions_say_what_was_returned_and_where_its_images_are(world: Any, tmp_path: Path) -> None:
    dataset = EvaluationDataset.from_dict(world.on_disk(tmp_path), folder=tmp_path)
    places = {"root": str(tmp_path / "images"), "paths": {item: f"colours/{item}" for item in world.items}}
    service = world.full(places=places)
    result = ModelEvaluator(service).evaluate(dataset, [1, 5], output_path=tmp_path / "out" / "results.json")
    stored = read_result(tmp_path / "out" / "results.json")
    assert stored.record == result.record | {key: stored.record[key] for key in ("files", "file_checksums")}
    table = stored.ranking().to_pylist()
    assert len(table) == 12 * 5
    assert [row["rank"] for row in table[:5]] == [1, 2, 3, 4, 5]
    hits = sum(row["state"] == "relevant" for row in table if row["query"] == "q00")
    assert hits / 4 == stored.record["per_query_results"][0]["recall_at_k"]["5"]
    queries = stored.queries().to_pylist()
    assert queries[0]["AP(denominator=all)@5"] == stored.record["per_query_results"][0]["average_precision"]
    assert (queries[0]["group"], queries[0]["category"], queries[0]["num_relevant"]) == ("g0", "red", 4)
    query, item = stored.query_location("q00"), stored.item_location("red_0.jpg")
    assert query is not None
    assert item is not None
    assert query.path.samefile(tmp_path / "queries/q00.txt")
    assert item.path == tmp_path / "images/colours/red_0.jpg"


def test_what_the_images_were_stands_beside_their_places(world: Any, tmp_path: Path) -> None:
    dataset = EvaluationDataset.from_dict(world.on_disk(tmp_path), folder=tmp_path)
    places = {"root": str(tmp_path / "images"), "paths": {item: f"colours/{item}" for item in world.items}}
    first, second, third, *_ = world.items
    told = {first: "a1" * 32, second: f"sha256:{'B2' * 32}", third: "md5 of something"}
    service = world.full(places=places, hashes=told)
    stored = ModelEvaluator(service).evaluate(dataset, [1]).to_json(tmp_path / "results.json")
    kept = [stored.item_location(item) for item in (first, second, third)]
    assert [place and place.sha256 for place in kept] == ["a1" * 32, "b2" * 32, None]
    query = stored.query_location("q00")
    assert query is not None
    assert query.sha256 == hashlib.sha256(query.path.read_bytes()).hexdigest()


def test_integer_ids_go_through_to_the_files(tmp_path: Path) -> None:
    from visual_search.testing.plain_search import PlainSearch

    value = {"queries": [{"query_id": 7, "ground_truth": [1]}, {"query_id": 8, "ground_truth": [2]}]}
    result = ModelEvaluator(PlainSearch({1: [1, 0], 2: [0, 1]})).evaluate(value, [1], {7: [1, 0], 8: [1, 0]})
    stored = result.to_json(tmp_path / "out.json")
    assert stored.record["per_query_results"][0]["query_id"] == 7
    assert stored.ranking().column("item").to_pylist() == [1, 1]
    assert result.mrr == pytest.approx(0.5)
