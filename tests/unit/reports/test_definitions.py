"""Definitions: one number a convention, shared by depths whose words agree."""

from pathlib import Path

from visual_search.formats.results import StoredResult
from visual_search.reports.definitions import definitions_of
from visual_search.reports.protocol_groups import group_by_protocol
from visual_search.reports.systems import Measured, System, load_systems


def a_group(*measures: Measured) -> list[System]:
    record = {"num_queries": 1, "k_values": [1]}
    return [System(StoredResult(Path("none.json"), record), "s", {m.name: m for m in measures}, [])]


def test_depths_share_a_definition_when_only_the_depth_differs() -> None:
    measures = [
        Measured(f"Recall(denominator=all)@{k}", 0.5, f"relevant among the first {k}, over R") for k in (10, 1)
    ]
    found = definitions_of(group_by_protocol(a_group(*measures)))
    (one,) = {id(definition): definition for definition in found.values()}.values()
    assert one.title == "Recall@k"
    assert one.text == "Recall(denominator=all)@k, k = 1, 10"
    assert one.words == "relevant among the first k, over R"


def test_a_number_of_the_formula_is_not_taken_for_the_depth() -> None:
    measures = [Measured(f"DCG@{k}", 0.5, f"gains of the first {k} over log2(rank + 1)") for k in (1, 5)]
    found = definitions_of(group_by_protocol(a_group(*measures)))
    assert found["DCG@1"] is found["DCG@5"]
    assert found["DCG@1"].words == "gains of the first k over log2(rank + 1)"


def test_other_words_or_settings_are_another_definition() -> None:
    measures = [
        Measured("AP(denominator=all)@10", 0.5, "divided by R"),
        Measured("AP(denominator=min)@10", 0.5, "divided by min(R, 10)"),
        Measured("RR", 0.5, "1 over the rank"),
        Measured("RR@10", 0.5, "1 over the rank"),
    ]
    found = definitions_of(group_by_protocol(a_group(*measures)))
    assert len({definition.number for definition in found.values()}) == 4
    assert found["AP(denominator=min)@10"].words == "divided by min(R, 10)"
    assert found["RR@10"].title == "MRR@10"


def test_every_measure_of_a_result_is_defined(sample: list[StoredResult]) -> None:
    found = definitions_of(group_by_protocol(load_systems(sample)))
    assert set(found) == set(sample[0].record["measures"])
    assert sorted({definition.number for definition in found.values()}) == [1, 2, 3, 4, 5, 6]


def test_the_count_of_queries_is_no_part_of_the_convention(sample: list[StoredResult]) -> None:
    stored = []
    for result, count in ((sample[0], 60), (sample[2], 48)):
        measures = {
            name: entry | {"words": f"{entry['words']}; macro over {count} queries"}
            for name, entry in result.record["measures"].items()
        }
        stored.append(StoredResult(result.path, result.record | {"measures": measures}))
    found = definitions_of(group_by_protocol(load_systems(stored)))
    assert len({definition.number for definition in found.values()}) == 6
    assert all(definition.words.endswith("; macro over the queries") for definition in found.values())
