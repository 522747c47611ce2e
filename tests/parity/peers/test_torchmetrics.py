"""torchmetrics' retrieval metrics under the preset of their name; its numbers are float32, so agreement is to 1e-6."""

from typing import Any

import numpy as np
import pytest
import torch
from torchmetrics.functional import retrieval
from torchmetrics.retrieval import RetrievalMAP, RetrievalNormalizedDCG, RetrievalRecall

from visual_search import Ranking, Relevance, evaluate

FLOAT32 = 1e-6

# Our text form under the preset -> the peer's function (its name goes on from retrieval_) and its options.
SHARED = {
    "AP": ("average_precision", {}),
    "AP@5": ("average_precision", {"top_k": 5}),
    "Recall@5": ("recall", {"top_k": 5}),
    "Precision@5": ("precision", {"top_k": 5}),
    "Precision(denominator=retrieved)@15": ("precision", {"top_k": 15, "adaptive_k": True}),
    "RR": ("reciprocal_rank", {}),
    "RR@3": ("reciprocal_rank", {"top_k": 3}),
    "HitRate@3": ("hit_rate", {"top_k": 3}),
    "RPrecision": ("r_precision", {}),
    "nDCG": ("normalized_dcg", {}),
    "nDCG@5": ("normalized_dcg", {"top_k": 5}),
}


def of_one(name: str, scores: Any, grades: Any, **options: Any) -> float:
    function = getattr(retrieval, f"retrieval_{name}")
    return float(function(torch.tensor(scores), torch.tensor(grades), **options))


def theirs(text: str, case: Any) -> list[float]:
    name, options = SHARED[text]
    return [of_one(name, *case.dense(query), **options) for query in case.run]


def ours(text: str, case: Any) -> list[float]:
    return [float(v) for v in evaluate(case.ranking, case.relevance, [text], preset="torchmetrics")[text].values]


@pytest.mark.parametrize("lowest", [0, -0.4], ids=["positive", "mixed signs"])
@pytest.mark.parametrize("text", SHARED)
def test_the_preset_is_the_peer(text: str, lowest: float, generated: Any) -> None:
    if "retrieved" in text and lowest < 0:
        # Its adaptive k counts the items of score 0 or below that it takes for not relevant; shown below.
        lowest = 0
    for seed in range(4):
        # The peer knows judged items only where they are listed, and only 0 and 1 outside nDCG.
        case = generated(seed, top=3 if text.startswith("nDCG") else 1, listed_only=True, lowest=lowest)
        assert ours(text, case) == pytest.approx(theirs(text, case), abs=FLOAT32)


def test_adaptive_k_counts_items_that_are_taken_for_not_relevant() -> None:
    # Three items, one above 0: 1 / 3 there. The list here has one item left, so that it is 1 / 1.
    assert of_one("precision", [0.5, -0.1, -0.2], [1, 0, 0], top_k=5, adaptive_k=True) == pytest.approx(1 / 3)
    ranking = Ranking.from_dict({"q": {"a": 0.5, "b": -0.1, "c": -0.2}})
    text = "Precision(denominator=retrieved)@5"
    assert evaluate(ranking, Relevance.from_dict({"q": {"a": 1}}), [text], preset="torchmetrics")[text].mean == 1
    assert evaluate(ranking, Relevance.from_dict({"q": {"a": 1}}), [text])[text].mean == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("metric", "text"),
    [
        (RetrievalMAP, "AP@5"),
        (RetrievalRecall, "Recall@5"),
        (RetrievalNormalizedDCG, "nDCG@5"),
    ],
)
def test_means_with_queries_that_have_nothing_relevant(metric: Any, text: str, generated: Any) -> None:
    case = generated(6, top=1, listed_only=True)
    assert any(not any(grades.values()) for grades in case.grades.values())
    queries = [case.dense(query) for query in case.run]
    indexes = torch.tensor([number for number, (scores, _) in enumerate(queries) for _ in scores])
    scores = torch.tensor([score for listed, _ in queries for score in listed])
    grades = torch.tensor([grade for _, listed in queries for grade in listed])
    for action, preset in (("neg", "torchmetrics"), ("skip", None)):
        peer = metric(top_k=5, empty_target_action=action)
        peer.update(scores, grades, indexes=indexes)
        # Without the preset, undefined queries are left out; its choice of AP's denominator has to be said then.
        form = text if preset else text.replace("AP@", "AP(denominator=found)@")
        mean = evaluate(case.ranking, case.relevance, [form], preset=preset)[form].mean
        assert mean == pytest.approx(float(peer.compute()), abs=FLOAT32)


def test_ndcg_averages_over_ties_there_too(generated: Any) -> None:
    case = generated(7, ties=True, listed_only=True)
    assert ours("nDCG@5", case) == pytest.approx(theirs("nDCG@5", case), abs=FLOAT32)


def test_other_measures_take_ties_as_a_sort_leaves_them(generated: Any) -> None:
    # No order is promised there, so that the numbers can only be bounded, and by the extremes over orders.
    for text in ("AP@5", "Recall@5", "RR"):
        case = generated(8, top=1, ties=True, listed_only=True)
        found = theirs(text, case)
        extremes = (
            evaluate(case.ranking, case.relevance, [text], preset="torchmetrics", ties=ties)[text].values
            for ties in ("worst", "best")
        )
        lowest, highest = extremes
        assert (np.array(found) >= lowest - FLOAT32).all()
        assert (np.array(found) <= highest + FLOAT32).all()
        assert not np.allclose(lowest, highest)


def test_negative_scores_cost_there_and_not_here() -> None:
    # One relevant item, ranked first, all cosines below 0.
    ranking = Ranking.from_dict({"q": {"a": -0.1, "b": -0.5}})
    relevance = Relevance.from_dict({"q": {"a": 1, "b": 0}})
    dropped = {"AP": "average_precision", "RR": "reciprocal_rank", "Recall@1": "recall", "Precision@1": "precision"}
    kept = {"HitRate@1": "hit_rate", "nDCG": "normalized_dcg", "RPrecision": "r_precision"}
    for text, name in {**dropped, **kept}.items():
        wanted = 0 if text in dropped else pytest.approx(1)
        assert of_one(name, [-0.1, -0.5], [1, 0]) == wanted
        assert evaluate(ranking, relevance, [text], preset="torchmetrics")[text].mean == wanted
        assert evaluate(ranking, relevance, [text])[text].mean == pytest.approx(1)


def test_its_average_precision_divides_by_what_was_found() -> None:
    # Two relevant items, one among the first two: 1 / 1 there, 1 / 2 over all of them.
    ranking = Ranking.from_dict({"q": {"a": 0.9, "b": 0.8, "c": 0.7}})
    relevance = Relevance.from_dict({"q": {"a": 1, "c": 1}})
    assert of_one("average_precision", [0.9, 0.8, 0.7], [1, 0, 1], top_k=2) == 1
    assert evaluate(ranking, relevance, ["AP(denominator=found)@2"])["AP(denominator=found)@2"].mean == 1
    assert evaluate(ranking, relevance, ["AP@2"])["AP@2"].mean == 0.5


def test_negative_grades_gain_less_than_nothing_there_and_nothing_here() -> None:
    log3 = np.log2(3)
    wanted = (-1 + 2 / log3) / (2 - 1 / log3)
    assert of_one("normalized_dcg", [0.5, 0.4], [-1, 2]) == pytest.approx(wanted, abs=FLOAT32)
    ranking, relevance = (
        Ranking.from_dict({"q": {"a": 0.5, "b": 0.4}}),
        Relevance.from_dict({"q": {"a": -1, "b": 2}}),
    )
    assert evaluate(ranking, relevance, ["nDCG"])["nDCG"].mean == pytest.approx(1 / log3)


def test_what_was_not_listed_is_unknown_there_and_in_the_ideal_ranking_here() -> None:
    assert of_one("normalized_dcg", [0.5], [1]) == 1
    ranking, relevance = Ranking.from_dict({"q": {"a": 0.5}}), Relevance.from_dict({"q": {"a": 1, "missed": 3}})
    assert evaluate(ranking, relevance, ["nDCG"])["nDCG"].mean == pytest.approx(1 / (3 + 1 / np.log2(3)))
