"""The same numbers as trec_eval, through pytrec_eval: ties, grades of all signs, missing queries."""

from pathlib import Path

import numpy as np
import pytest
import pytrec_eval

from visual_search import Ranking, Relevance, evaluate

Run = dict[str, dict[str, float]]
Qrels = dict[str, dict[str, int]]

# trec_eval's name -> the same formula here, and whether R = 0 has to be told to count 0 as it does there.
SHARED = {
    "map": "AP(denominator=all)",
    "map_cut_5": "AP(denominator=all)@5",
    "map_cut_10": "AP(denominator=all)@10",
    "ndcg": "nDCG(gain=linear)",
    "ndcg_cut_5": "nDCG(gain=linear)@5",
    "ndcg_cut_10": "nDCG(gain=linear)@10",
    "P_5": "Precision(denominator=k)@5",
    "P_10": "Precision(denominator=k)@10",
    "recall_5": "Recall(denominator=all)@5",
    "recall_10": "Recall(denominator=all)@10",
    "recip_rank": "RR",
    "Rprec": "RPrecision",
    "bpref": "Bpref(negative=unjudged)",
    "success_1": "HitRate@1",
    "success_5": "HitRate@5",
}
ASKED = {"map", "map_cut.5,10", "ndcg", "ndcg_cut.5,10", "P.5,10", "recall.5,10", "recip_rank", "Rprec", "bpref"}
ASKED |= {"success.1,5"}


def generated(seed: int, *, lowest_grade: int, exact_scores: bool) -> tuple[Run, Qrels]:
    rng = np.random.default_rng(seed)
    run: Run = {}
    qrels: Qrels = {}
    for query in range(6):
        items = [f"d{number}" for number in rng.permutation(20)]
        qrels[f"q{query}"] = {
            item: int(rng.integers(lowest_grade, 4)) for item in items[:14] if rng.random() < 0.8
        } or {"d1": 1}
        if query == 0 or rng.random() < 0.8:
            levels = (
                rng.integers(0, 6, 20) / 4 if exact_scores else rng.integers(0, 6, 20) / 10 + rng.random(20) * 1e-9
            )
            run[f"q{query}"] = {
                item: float(levels[place]) for place, item in enumerate(items) if rng.random() < 0.7
            }
            run[f"q{query}"] = run[f"q{query}"] or {"d2": 0.5}
    return run, qrels


@pytest.mark.parametrize("lowest_grade", [0, -1, -2, -4])
@pytest.mark.parametrize("seed", range(15))
def test_equal_to_1e_12_under_id_desc(seed: int, lowest_grade: int) -> None:
    run, qrels = generated(seed, lowest_grade=lowest_grade, exact_scores=True)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, ASKED).evaluate(run)
    assert len(theirs) == len(run)
    ranking, relevance = Ranking.from_dict(run), Relevance.from_dict(qrels)
    by_formula = evaluate(ranking, relevance, SHARED.values(), ties="id_desc")
    by_name = evaluate(ranking, relevance, SHARED)
    for name, text in SHARED.items():
        for row, query in enumerate(by_formula.queries):
            if query not in theirs:  # missing from the run: pytrec_eval leaves it out, -c of trec_eval makes it 0
                assert by_name[name].values[row] == 0
                continue
            wanted = theirs[query][name]
            assert by_name[name].values[row] == pytest.approx(wanted, abs=1e-12), (name, query)
            here = by_formula[text].values[row]
            assert np.isnan(here) or here == pytest.approx(wanted, abs=1e-12), (text, query)


@pytest.mark.parametrize("seed", range(20))
def test_preset_rounds_scores_to_float32_as_trec_eval_does(seed: int) -> None:
    # Differences of 1e-9 are ties there, since scores are kept in float32.
    run, qrels = generated(seed, lowest_grade=0, exact_scores=False)
    theirs = pytrec_eval.RelevanceEvaluator(qrels, ASKED).evaluate(run)
    ranking, relevance = Ranking.from_dict(run), Relevance.from_dict(qrels)
    result = evaluate(ranking, relevance, SHARED.values(), preset="trec_eval")
    for name, text in SHARED.items():
        for row, query in enumerate(result.queries):
            wanted = theirs[query][name] if query in theirs else 0
            assert result[text].values[row] == pytest.approx(wanted, abs=1e-12), (text, query)
        mean_with_c = sum(theirs[query][name] for query in theirs) / len(qrels)
        assert result[text].mean == pytest.approx(mean_with_c, abs=1e-12)


def test_without_the_rounding_the_numbers_differ() -> None:
    run = {"q": {"a": 0.1 + 1e-10, "b": 0.1}}
    qrels = {"q": {"a": 1, "b": 0}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(run)["q"]["recip_rank"]
    ranking, relevance = Ranking.from_dict(run), Relevance.from_dict(qrels)
    assert theirs == 0.5
    assert evaluate(ranking, relevance, ["RR"], ties="id_desc")["RR"].mean == 1
    assert evaluate(ranking, relevance, ["RR"], preset="trec_eval")["RR"].mean == 0.5


@pytest.mark.parametrize("name", ["map", "ndcg_cut.1", "P_1", "recall.1", "recip_rank", "Rprec", "success_1"])
def test_a_name_outside_the_preset_looks_at_float64_scores(name: str) -> None:
    # Scores apart by 1e-10 tie in float32, and then "b" comes first there.
    run = {"q": {"a": 0.1 + 1e-10, "b": 0.1}}
    qrels = {"q": {"a": 1, "b": 0}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {name.replace("_1", ".1")}).evaluate(run)["q"]
    by_name = evaluate(run, qrels, [name])[name].mean
    by_preset = evaluate(run, qrels, [name], preset="trec_eval")[name].mean
    assert by_name == 1
    assert by_preset == pytest.approx(theirs[name.replace(".", "_")], abs=1e-12)
    assert by_preset < 1


def test_integer_ids_are_numbers_here_and_text_there() -> None:
    tied, qrels = {"q": {"9": 1.0, "10": 1.0}}, {"q": {"9": 1, "10": 0}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"}).evaluate(tied)["q"]["recip_rank"]
    as_text = evaluate(tied, qrels, ["RR"], ties="id_desc")["RR"].mean
    assert theirs == as_text == 1  # "9" is above "10"
    as_numbers = evaluate({"q": {9: 1.0, 10: 1.0}}, {"q": {9: 1, 10: 0}}, ["RR"], ties="id_desc")["RR"].mean
    assert as_numbers == 0.5  # 10 is above 9


def test_integers_in_a_trec_file_are_text(tmp_path: Path) -> None:
    path = tmp_path / "run.trec"
    path.write_text("q Q0 9 1 1.0 tag\nq Q0 10 2 1.0 tag\n", "utf-8")
    result = evaluate(Ranking.from_trec(path), {"q": {"9": 1}}, ["RR"], preset="trec_eval")
    assert result["RR"].mean == 1


def test_mteb_drops_missing_queries_and_reads_rr_off_the_list() -> None:
    run = {"q1": {"a": 0.5, "b": 0.5, "c": 0.1}, "q2": {"a": 0.2}}
    qrels = {"q1": {"a": 1}, "q2": {"b": 0}, "q3": {"a": 1}}
    theirs = pytrec_eval.RelevanceEvaluator(qrels, {"map_cut.10", "success.1"}).evaluate(run)
    result = evaluate(
        Ranking.from_dict(run), Relevance.from_dict(qrels), ["AP@10", "HitRate@1", "RR@10"], preset="mteb"
    )
    assert result["AP@10"].mean == pytest.approx(sum(theirs[q]["map_cut_10"] for q in theirs) / 2)
    assert result["AP@10"].undefined_queries == ("q3",)
    assert result["HitRate@1"].mean == sum(theirs[q]["success_1"] for q in theirs) / 2
    # "a" comes first as listed and second by falling id.
    assert result["RR@10"].values[0] == 1
    assert result["AP@10"].values[0] == 0.5
