import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import visual_search as vs
from visual_search import Ranking, Relevance, evaluate, evaluate_codes, evaluate_similarity
from visual_search.errors import FingerprintError, InputError, UnknownNameError
from visual_search.evaluation.comparison import compare
from visual_search.evaluation.evaluator import EvaluationDataset, ModelEvaluator
from visual_search.evaluation.result import Result
from visual_search.evaluation.run_record import write_run_result
from visual_search.evaluation.slices import slices
from visual_search.evaluation.statistics.interval import Resampling
from visual_search.evaluation.statistics.paired import paired_difference
from visual_search.formats.results import StoredResult
from visual_search.ground_truth.shared_labels import SharedLabels
from visual_search.testing.plain_search import PlainSearch
from visual_search.testing.sample_results import sample_results

QUERIES = 24


def result(places: list[int], measures: tuple[str, ...] = ("RR", "HitRate@1"), **options: Any) -> Result:
    """One relevant item a query, at the given rank."""
    truth = Relevance.from_dict({f"q{n}": {"right": 1} for n in range(len(places))})
    run = {
        f"q{n}": {"right": 0.5, **{f"wrong{m}": 1.0 for m in range(place - 1)}} for n, place in enumerate(places)
    }
    return evaluate(run, truth, measures, ties="expected", **options)


def test_every_number_of_a_contrast() -> None:
    before, after = [2] * 12 + [1] * 12, [1] * 9 + [2] * 12 + [1] * 3
    groups = [n // 2 for n in range(QUERIES)]
    comparison = compare({"before": result(before), "after": result(after)}, ["RR"], groups=groups)
    found = comparison.contrast("after")
    values = 1 / np.array(after) - 1 / np.array(before)
    reference = paired_difference(1 / np.array(after), 1 / np.array(before), groups=groups)
    assert found.difference == pytest.approx(values.mean())
    assert found.mean_a - found.mean_b == pytest.approx(found.difference)
    assert (found.interval, found.p_value) == (reference.interval, reference.p_value)
    assert (found.wins, found.losses, found.ties) == (reference.wins, reference.losses, reference.ties) == (9, 9, 6)
    assert (found.queries, found.groups) == (24, 12)
    by_group = values.reshape(12, 2).mean(axis=1)
    assert found.spread == pytest.approx(by_group.std(ddof=1))
    assert found.effect_size == pytest.approx(by_group.mean() / by_group.std(ddof=1))
    assert {change for _, change in found.improved} == {0.5}
    assert {query for query, _ in found.worsened} <= {f"q{n}" for n in range(12, 24)}
    assert len(found.improved) == len(found.worsened) == 5
    assert comparison.as_json()["contrasts"][0]["improved"][0]["difference"] == 0.5


ranks = st.lists(st.integers(1, 4), min_size=3, max_size=7)


@settings(deadline=None, max_examples=25)
@given(ranks, st.data())
def test_p_counts_every_sign_of_every_group_once(before: list[int], data: st.DataObject) -> None:
    after = data.draw(st.lists(st.integers(1, 4), min_size=len(before), max_size=len(before)))
    third = data.draw(st.lists(st.integers(1, 4), min_size=len(before), max_size=len(before)))
    found = compare([result(before), result(after), result(third)], ["RR", "HitRate@1"])
    assert len(found.contrasts) == 4
    for one in found:
        places = {"result (1)": before, "result (2)": after, "result (3)": third}
        turn = (lambda r: 1 / r) if one.measure == "RR" else (lambda r: float(r == 1))
        differences = [turn(a) - turn(b) for a, b in zip(places[one.a], places[one.b], strict=True)]
        observed = abs(sum(differences))
        flips = [abs(np.dot(signs, differences)) for signs in itertools.product((1, -1), repeat=len(before))]
        assert one.p_value == pytest.approx(np.mean([flip >= observed - 1e-9 for flip in flips]))
        assert one.p_value <= one.p_max + 1e-12
        assert one.p_value <= one.p_holm


def test_all_pairs_and_the_family_they_make() -> None:
    random = np.random.default_rng(0)
    results = {name: result(random.integers(1, 4, 30).tolist()) for name in "abc"}
    found = compare(results, all_pairs=True)
    assert [(one.a, one.b, one.measure) for one in found][::2] == [
        ("b", "a", "RR"),
        ("c", "a", "RR"),
        ("c", "b", "RR"),
    ]
    ordered = sorted(one.p_value for one in found)
    lowest = min(found, key=lambda one: one.p_value)
    assert lowest.p_holm == pytest.approx(min(1, 6 * ordered[0]))
    swapped = compare({"b": results["b"], "a": results["a"]}, ["RR"]).contrast("a")
    assert swapped.difference == pytest.approx(-found.contrast("b", "a", "RR").difference)
    with pytest.raises(UnknownNameError, match="'a' minus 'c'"):
        found.contrast("a", "c")


def test_where_less_is_better_a_lower_value_wins() -> None:
    first, second = [result(p, ("FirstRank(average=macro)",)) for p in ([3, 3, 1], [1, 2, 2])]
    found = compare([first, second]).contrasts[0]
    assert (found.wins, found.losses, found.difference < 0, found.better) == (2, 1, True, 1)
    assert found.improved[0] == ("q0", -2.0)


def test_a_micro_mean_is_compared_as_the_ratio_it_is_and_a_median_is_not() -> None:
    truth = Relevance.from_dict({"q1": {"a": 1, "b": 1, "c": 1}, "q2": {"a": 1}, "q3": {"b": 1}})
    texts = ["Recall(average=micro)@1", "FirstRank"]
    one = evaluate({"q1": {"a": 1.0}, "q2": {"b": 1.0}, "q3": {"b": 1.0}}, truth, texts)
    two = evaluate({"q1": {"x": 1.0}, "q2": {"a": 1.0}, "q3": {"b": 1.0}}, truth, texts)
    found = compare([one, two])
    assert found.measures == ("Recall(denominator=all,average=micro)@1",)
    assert found.contrasts[0].difference == pytest.approx(two[texts[0]].mean - one[texts[0]].mean)
    assert "medians" in next(iter(found.left_out.values()))
    with pytest.raises(InputError, match="medians"):
        compare([one, two], ["FirstRank"])


def test_groups_of_the_results_are_used_and_kept_by_slices() -> None:
    groups = {f"q{n}": n % 4 for n in range(QUERIES)}
    results = [result([1 + n % k for n in range(QUERIES)], groups=groups) for k in (2, 3)]
    assert results[0]["RR"].interval is not None
    found = compare(results)
    assert found.groups == 4
    assert found.contrasts[0].caution is not None
    assert any("only 4 independent groups" in note for note in found.notes)
    part = [slices(one, [n % 2 for n in range(QUERIES)])[0] for one in results]
    assert compare(part).groups == 2
    assert any("no groups given" in note for note in compare([result([1, 2]), result([2, 1])]).notes)


def test_what_differs_is_refused_all_at_once_and_compared_for_a_reason() -> None:
    one = result([1, 2, 3])
    truth = Relevance.from_dict({"q0": {"right": 1}, "q1": {"right": 1}, "q9": {"right": 2}})
    other = evaluate({"q0": {"right": 1.0}, "q1": {"right": 1.0}}, truth, ["RR"], ties="worst", preset=None)
    with pytest.raises(FingerprintError) as refused:
        compare({"one": one, "other": other})
    said = str(refused.value)
    assert "3 problems" in said
    for part in (
        "queries (",
        "relevance (",
        "ties (",
        "1 query only in 'one', first 'q2'",
        "expected in 'one', worst",
    ):
        assert part in said
    found = compare({"one": one, "other": other}, despite="only the first two were kept")
    assert (found.queries, found.despite, len(found.differences)) == (2, "only the first two were kept", 3)
    assert found.contrasts[0].difference == pytest.approx(0.25)
    assert any("1 query of 'one' not compared" in note for note in found.notes)
    assert compare([one, result([2, 2, 2])], despite="no need").despite is None
    with pytest.raises(InputError, match="despite is empty"):
        compare([one, other], despite=" ")


def test_galleries_and_metrics_are_told_by_full_rankings() -> None:
    vectors = np.random.default_rng(0).normal(size=(6, 3))
    truth = Relevance.from_dict({n: {n: 1} for n in range(3)})
    cosine, l2 = (evaluate_similarity(vectors[:3], vectors, truth, ["RR"], metric=m) for m in ("cosine", "l2"))
    fewer = evaluate_similarity(vectors[:3], vectors[:5], truth, ["RR"])
    with pytest.raises(FingerprintError, match="metric .*cosine in 'a', l2 in 'b'"):
        compare({"a": cosine, "b": l2})
    with pytest.raises(FingerprintError, match="gallery"):
        compare([cosine, fewer])
    listed = evaluate({0: {0: 1.0}}, truth, ["RR"])
    with pytest.raises(FingerprintError, match="gallery .* does not tell"):
        compare([cosine, listed])
    assert any("one gallery is not checked" in note for note in compare([listed, listed]).notes)


def test_label_sets_tell_what_was_measured_on() -> None:
    random = np.random.default_rng(0)
    codes = [random.integers(0, 2, (12, 16)) for _ in range(2)]
    truth = [SharedLabels.of(labels, labels, shared_ids=True) for labels in (np.arange(12) % 3, np.arange(12) % 4)]
    first, second = (evaluate_codes(one, one, truth[0], ["AP"]) for one in codes)
    assert compare([first, second]).queries == 12
    with pytest.raises(FingerprintError, match="relevance"):
        compare([first, evaluate_codes(codes[1], codes[1], truth[1], ["AP"])])


def test_results_in_memory_and_on_disk_give_the_same(tmp_path: Path) -> None:
    items: dict[str | int, Any] = {
        f"i{n}": vector for n, vector in enumerate(np.random.default_rng(1).normal(size=(30, 4)).tolist())
    }
    queries = [
        {"query_id": f"q{n}", "ground_truth": [f"i{n}", f"i{n + 10}"], "group": f"g{n // 2}"} for n in range(20)
    ]
    dataset = EvaluationDataset.from_dict({"queries": queries})
    random = np.random.default_rng(2)
    evaluated = [
        ModelEvaluator(PlainSearch(items), model_name=name).evaluate(
            dataset, [1, 5], {f"q{n}": (np.array(items[f"i{n}"]) + random.normal(0, noise, 4)) for n in range(20)}
        )
        for name, noise in (("calm", 0.1), ("wild", 2.0))
    ]
    stored = [one.to_json(tmp_path / f"{one.model_name}.json") for one in evaluated]
    memory = compare(evaluated).as_json()
    assert memory["groups"] == 10
    assert compare(stored).as_json() == memory
    assert compare([stored[0].path, evaluated[1]]).as_json() == memory
    bare = [
        StoredResult(one.path, {key: value for key, value in one.record.items() if key != "files"})
        for one in stored
    ]
    own = {one["measure"]: one for one in compare(bare).as_json()["contrasts"]}
    assert own == {one["measure"]: one for one in memory["contrasts"]}


def test_files_of_other_queries_than_told_are_refused(tmp_path: Path) -> None:
    first, second = sample_results(tmp_path, objects=3, views=2)[:2]
    record = {key: value for key, value in second.record.items() if key != "files"}
    record["per_query_results"] = record["per_query_results"][1:]
    with pytest.raises(FingerprintError, match="other than a fingerprint says"):
        compare([StoredResult(first.path, {**first.record, "files": None}), StoredResult(second.path, record)])


@pytest.mark.parametrize(
    ("results", "measures", "said"),
    [
        ([result([1, 2])], None, "at least two"),
        (result([1, 2]), None, "a list of at least two"),
        ([result([1, 2]), 3], None, "int given"),
        ([result([1, 2]), result([2, 1])], "RR", "is one text"),
        ([result([1, 2]), result([2, 1])], ["AP", "nDCG@3"], "2 problems"),
        ([result([1, 2]), result([2, 1], ("AP",))], None, "none in common"),
    ],
)
def test_what_cannot_be_compared(results: Any, measures: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        compare(results, measures)


def test_measures_that_one_lacks_are_told() -> None:
    found = vs.compare([result([1, 2]), result([2, 1], ("RR", "AP"))])
    assert found.measures == ("RR",)
    assert found.left_out["HitRate@1"] == "not measured in 'result (2)'"


def test_the_seed_decides() -> None:
    random = np.random.default_rng(3)
    pair = [result(random.integers(1, 5, 40).tolist(), ("RR",)) for _ in range(2)]
    first, again, other = (compare(pair, resampling=Resampling(seed=seed)).as_json() for seed in (1, 1, 2))
    assert first == again != other


def test_lists_cut_at_different_depths_are_told_where_a_measure_reads_on(tmp_path: Path) -> None:
    truth = Relevance.from_dict({f"q{n}": {"right": 1} for n in range(12)})
    run = {f"q{n}": {f"wrong{m}": 2.0 for m in range(5)} | {"right": 1.0} for n in range(12)}
    whole = evaluate(run, truth, ["RR", "RR@5"])
    shorter = {query: dict(list(found.items())[:5]) for query, found in run.items()}
    cut = evaluate(shorter, truth, ["RR", "RR@5"])
    notes = [note for note in compare({"whole": whole, "cut": cut}).notes if "deeper" in note]
    assert len(notes) == 1
    assert notes[0].startswith("RR: the lists of 'cut' have at most 5 items, those of 'whole' 6;")
    assert not any("deeper" in note for note in compare({"whole": whole, "again": whole}).notes)
    for name, lists, found in (("whole", run, whole), ("cut", shorter, cut)):
        write_run_result(
            tmp_path / f"{name}.json", found, Ranking.from_dict(lists), truth, name=name, dataset="right answers"
        )
    stored = compare([tmp_path / "whole.json", tmp_path / "cut.json"])
    assert any(note.startswith("RR: the lists of 'cut'") for note in stored.notes)
