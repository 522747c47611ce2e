"""The same numbers as trec_eval, through pytrec_eval: ties, grades of all signs, missing queries."""

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
