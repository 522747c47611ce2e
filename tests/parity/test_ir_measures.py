"""The same numbers as ir_measures where a name means the same; the difference shown where it does not."""

from typing import Any

import ir_measures
import numpy as np
import pytest

from visual_search import Ranking, Relevance, evaluate, parse_measure
from visual_search.errors import InputError

# Names both read alike.
SHARED = [
    "AP",
    "AP@5",
    "AP(rel=2)",
    "nDCG",
    "nDCG@5",
    "P@5",
    "P(rel=2)@3",
    "R@5",
    "RR",
    "Success@3",
    "Rprec",
    "Bpref",
]
# Of its measures of the whole list, the two that are a form here.
WHOLE_LIST = {"SetP": "Precision(denominator=retrieved)@1000", "SetR": "Recall(denominator=all)"}
# Names that another of its providers computes, by rising id where the others take falling.
OTHER_TIE_RULE = ["RR@2", "RR@5", "Judged@5"]


@pytest.fixture(scope="module")
def data() -> tuple[dict[str, dict[str, float]], dict[str, dict[str, int]]]:
    rng = np.random.default_rng(3)
    run, qrels = {}, {}
    for query in range(30):
        items = [f"d{number}" for number in rng.permutation(25)]
        qrels[f"q{query}"] = {item: int(rng.integers(0, 4)) for item in items if rng.random() < 0.6} | {"d0": 2}
        run[f"q{query}"] = {item: float(rng.integers(0, 8)) / 4 for item in items if rng.random() < 0.8} | {
            "d1": 9.0
        }
    return run, qrels


def theirs(text: str, run: Any, qrels: Any) -> dict[str, float]:
    measure = ir_measures.parse_measure(text)
    return {metric.query_id: metric.value for metric in ir_measures.iter_calc([measure], qrels, run)}


@pytest.mark.parametrize("text", SHARED)
def test_shared_names(text: str, data: Any) -> None:
    run, qrels = data
    wanted = theirs(text, run, qrels)
    result = evaluate(Ranking.from_dict(run), Relevance.from_dict(qrels), [text], ties="id_desc")
    for query, value in zip(result.queries, result[text].values.tolist(), strict=True):
        assert value == pytest.approx(wanted[str(query)], abs=1e-12)


@pytest.mark.parametrize(("text", "form"), WHOLE_LIST.items())
def test_measures_of_a_whole_list(text: str, form: str, data: Any) -> None:
    run, qrels = data
    wanted = theirs(text, run, qrels)
    found = evaluate(run, qrels, [form])[form].values.tolist()
    assert found == pytest.approx([wanted[query] for query in qrels], abs=1e-12)


def test_a_list_cleared_of_what_nobody_judged_is_another_list(data: Any) -> None:
    # judged_only=True takes unjudged items out of the list there. Here they are marked as ignored, which says so.
    run, qrels = data
    wanted = theirs("AP(judged_only=True)", run, qrels)
    with pytest.raises(InputError, match="has no parameter judged_only"):
        parse_measure("AP(judged_only=True)")
    unjudged = {query: [item for item in run[query] if item not in qrels[query]] for query in qrels}
    ranking = Ranking.from_dict(run)
    condensed = evaluate(ranking, Relevance.from_dict(qrels, ignored=unjudged), ["AP"], ties="id_desc")["AP"]
    assert condensed.values.tolist() == pytest.approx([wanted[query] for query in qrels], abs=1e-12)
    assert condensed.mean > evaluate(run, qrels, ["AP"])["AP"].mean


@pytest.mark.parametrize("text", OTHER_TIE_RULE)
def test_names_with_another_tie_rule_there(text: str, data: Any) -> None:
    run, qrels = data
    wanted = theirs(text, run, qrels)
    rising, falling = (
        evaluate(Ranking.from_dict(run), Relevance.from_dict(qrels), [text], ties=ties)[text].values.tolist()
        for ties in ("id_asc", "id_desc")
    )
    assert rising == pytest.approx([wanted[query] for query in qrels], abs=1e-12)
    assert falling != pytest.approx(rising)


def test_constant_scores_give_two_ranks_there_and_one_expectation_here() -> None:
    run, qrels = {"q": dict.fromkeys("abc", 1.0)}, {"q": {"a": 1}}
    assert theirs("RR", run, qrels) == {"q": pytest.approx(1 / 3)}
    assert theirs("RR@10", run, qrels) == {"q": 1}
    result = evaluate(Ranking.from_dict(run), Relevance.from_dict(qrels), ["RR", "RR@10"])
    assert result["RR"].mean == result["RR@10"].mean == pytest.approx((1 + 1 / 2 + 1 / 3) / 3)


def test_exponential_gains_under_their_spelling() -> None:
    assert parse_measure("nDCG(dcg='exp-log2')@10") == parse_measure("nDCG(gain=exponential)@10")
    assert parse_measure("nDCG(dcg='log2')") == parse_measure("nDCG")


@pytest.mark.parametrize("text", SHARED + OTHER_TIE_RULE)
def test_a_name_reads_as_one_measure_under_both_spellings(text: str) -> None:
    assert parse_measure(str(parse_measure(text))) == parse_measure(text)


def test_a_query_without_relevant_items_scores_zero_there_and_is_undefined_here(data: Any) -> None:
    run, _ = data
    qrels = {"q0": {"d0": 0}}
    one = {"q0": run["q0"]}
    assert theirs("AP", one, qrels) == {"q0": 0}
    result = evaluate(Ranking.from_dict(one), Relevance.from_dict(qrels), ["AP", "AP(empty=zero)"])
    assert np.isnan(result["AP"].values[0])
    assert result["AP(empty=zero)"].values[0] == 0
