"""Queries, groups and pictures in which two results differ are told, and no gate passes over them in silence."""

from pathlib import Path

import pytest

from visual_search import Relevance, evaluate
from visual_search.errors import FingerprintError, InputError
from visual_search.evaluation.comparison import compare
from visual_search.evaluation.evaluator import EvaluationDataset, ModelEvaluator
from visual_search.evaluation.gate import gate
from visual_search.evaluation.joint_groups import joint_groups
from visual_search.evaluation.protocols.query_gallery import leave_one_out
from visual_search.evaluation.protocols.split_dataset import protocol_record
from visual_search.evaluation.result import Result
from visual_search.reports.comparison_tables import comparison_table
from visual_search.testing.plain_search import PlainSearch

QUERIES = [f"q{n}" for n in range(40)]


def found(lost: int) -> Result:
    truth = Relevance.from_dict({query: {"right": 1} for query in QUERIES})
    run = {query: {"wrong" if n < lost else "right": 1.0} for n, query in enumerate(QUERIES)}
    return evaluate(run, truth, ["FirstRank(average=macro)", "RR"])


def test_no_gate_passes_over_queries_that_only_one_result_has() -> None:
    verdict = gate(found(25), found(0), "FirstRank(average=macro)", 1.0)
    assert verdict.verdict == "not decided"
    assert "25 queries have a value in the baseline only, 0 in the candidate only" in verdict.reason
    assert (verdict.contrast.only_a, verdict.contrast.only_b, verdict.contrast.queries) == (0, 25, 15)
    assert gate(found(0), found(0), "RR", 0.01).contrast.only_b == 0
    comparison = compare({"before": found(0), "after": found(25)}, ["FirstRank(average=macro)"])
    assert any(
        "0 queries have a value in 'after' only and 25 in 'before' only" in note for note in comparison.notes
    )
    assert comparison_table(comparison, "csv").splitlines()[1].endswith(",0,25")


def test_groups_that_differ_are_joined_whatever_the_order() -> None:
    pairs, triples = [n // 2 for n in range(12)], [n // 3 for n in range(12)]
    joined, notes = joint_groups([pairs, triples])
    assert joined == joint_groups([triples, pairs])[0] == [0] * 6 + [6] * 6
    assert "which makes 2" in notes[0]
    assert joint_groups([pairs, [f"g{one}" for one in pairs]]) == (pairs, [])
    with pytest.raises(InputError, match=r"first in row 0: \[1\]"):
        compare([found(0), found(1)], ["RR"], groups=[[1]] * 40)  # type: ignore[list-item]
    with pytest.raises(InputError, match="whole number"):
        compare([found(0), found(1)], ["RR"], flips=100.5)  # type: ignore[arg-type]
    for margin in ("0.1", True):
        with pytest.raises(InputError, match="margin is"):
            gate(found(0), found(0), "RR", margin)  # type: ignore[arg-type]


def test_other_pictures_under_the_same_ids_are_other_queries(tmp_path: Path) -> None:
    service = PlainSearch({"a": [1, 0], "b": [0, 1]})
    written = []
    for name, content in (("one", b"cat"), ("two", b"dog"), ("three", b"cat")):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "q.png").write_bytes(content)
        query = {"query_id": "q", "ground_truth": ["a"], "image_path": str(folder / "q.png")}
        dataset = EvaluationDataset.from_dict({"queries": [query]})
        ModelEvaluator(service).evaluate(dataset, [1], {"q": [1, 0]}, folder / "r.json")
        written.append(folder / "r.json")
    compare({"one": written[0], "three": written[2]})
    with pytest.raises(FingerprintError, match="query pictures"):
        compare({"one": written[0], "two": written[1]})


def test_a_split_is_measured_over_its_own_groups() -> None:
    split = leave_one_out({"person": ["ann", "ann", "bo", "bo"]}, group="person")
    assert protocol_record(split, split.relevance, None, ["x", "x", "y", "y"]) is not None
    with pytest.raises(FingerprintError, match="groups of the queries differ"):
        protocol_record(split, split.relevance, None, [None] * 4)
