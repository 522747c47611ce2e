"""scikit-learn's ranking metrics where they share a convention, and where they do not."""

import numpy as np
import pytest
from sklearn.metrics import (
    average_precision_score,
    coverage_error,
    dcg_score,
    label_ranking_average_precision_score,
    ndcg_score,
    precision_score,
    recall_score,
    top_k_accuracy_score,
)

from visual_search import Ranking, Relevance, evaluate

# scikit-learn's name -> the text form that computes the same, where it is said below.
SHARED = {
    "dcg_score": "DCG(gain=linear)@k",
    "ndcg_score": "nDCG(gain=linear,empty=zero)@k",
    "average_precision_score": "AP(denominator=all)",
    "label_ranking_average_precision_score": "AP(denominator=all)",
    "top_k_accuracy_score": "HitRate@k",
    "coverage_error": "INP",
}


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("k", [3, None])
def test_dcg_and_ndcg_with_their_averaging_over_ties(seed: int, k: int | None) -> None:
    # scikit-learn gives tied items the mean of the group's gains: the exact expectation, as here.
    rng = np.random.default_rng(seed)
    grades, scores = rng.integers(0, 5, (4, 12)), rng.integers(0, 5, (4, 12)) / 4
    at = "" if k is None else f"@{k}"
    ranking, relevance = Ranking.from_similarity(scores), Relevance.from_matrix(grades, zeros="judged")
    result = evaluate(ranking, relevance, [f"DCG{at}", f"nDCG(empty=zero){at}"])
    assert result[f"DCG{at}"].mean == pytest.approx(dcg_score(grades, scores, k=k), abs=1e-12)
    assert result[f"nDCG(empty=zero){at}"].mean == pytest.approx(ndcg_score(grades, scores, k=k), abs=1e-12)


@pytest.mark.parametrize("seed", range(20))
def test_average_precision_without_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    relevant, scores = rng.integers(0, 2, 15), rng.permutation(15) / 15
    relevant[0] = 1
    result = evaluate(Ranking.from_similarity(scores[None]), Relevance.from_matrix(relevant[None]), ["AP"])
    assert result["AP"].mean == pytest.approx(average_precision_score(relevant, scores), abs=1e-12)


def test_average_precision_with_ties_is_neither_expectation_nor_extreme_there() -> None:
    # There a tied group is one threshold: 1/2 for one relevant item of two that tie. Over its two orders AP is
    # 1 and 1/2, so that the expectation is 3/4.
    assert average_precision_score([1, 0], [0.5, 0.5]) == 0.5
    ranking, relevance = Ranking.from_similarity([[0.5, 0.5]]), Relevance.from_matrix([[1, 0]])
    assert evaluate(ranking, relevance, ["AP"])["AP"].mean == 0.75
    assert evaluate(ranking, relevance, ["AP"], ties="worst")["AP"].mean == 0.5


@pytest.mark.parametrize("seed", range(10))
def test_grades_of_all_signs_but_negative_ones_are_refused_there(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grades, scores = rng.integers(-2, 4, (4, 12)), rng.permutation(48).reshape(4, 12) / 64
    with pytest.raises(ValueError, match="negative"):
        ndcg_score(grades, scores)
    result = evaluate(Ranking.from_similarity(scores), Relevance.from_matrix(grades, zeros="judged"), ["nDCG@5"])
    wanted = ndcg_score(np.maximum(grades, 0), scores, k=5)
    assert result["nDCG@5"].mean == pytest.approx(wanted, abs=1e-12)


def test_ties_may_be_ignored_there_and_then_follow_a_sort() -> None:
    grades, scores = np.array([[1, 0, 0, 0]]), np.full((1, 4), 0.5)
    ranking, relevance = Ranking.from_similarity(scores), Relevance.from_matrix(grades)
    assert evaluate(ranking, relevance, ["nDCG"])["nDCG"].mean == pytest.approx(ndcg_score(grades, scores))
    moved = [ndcg_score(np.eye(4)[[place]], scores, ignore_ties=True) for place in range(4)]
    assert len({round(value, 12) for value in moved}) == 4  # renaming the items changes the number
    assert np.mean(moved) == pytest.approx(evaluate(ranking, relevance, ["nDCG"])["nDCG"].mean, abs=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_rankings_of_labels_without_ties(seed: int) -> None:
    rng = np.random.default_rng(seed)
    relevant, scores = rng.integers(0, 2, (6, 15)), rng.permutation(90).reshape(6, 15) / 128
    relevant[:, 0], relevant[:, 1] = 1, 0
    result = evaluate(Ranking.from_similarity(scores), Relevance.from_matrix(relevant), ["AP", "INP"])
    wanted = label_ranking_average_precision_score(relevant, scores)
    assert result["AP"].mean == pytest.approx(wanted, abs=1e-12)
    # The rank of the last relevant item, whose share of R is INP.
    last = [coverage_error(relevant[[row]], scores[[row]]) for row in range(6)]
    assert result["INP"].values == pytest.approx(relevant.sum(axis=1) / last, abs=1e-12)


def test_label_ranking_counts_a_query_without_relevant_items_as_perfect() -> None:
    relevant, scores = np.array([[0, 0, 0]]), np.array([[0.3, 0.2, 0.1]])
    assert label_ranking_average_precision_score(relevant, scores) == 1
    found = evaluate(Ranking.from_similarity(scores), Relevance.from_matrix(relevant, zeros="judged"), ["AP"])["AP"]
    assert (np.isnan(found.mean), found.undefined) == (True, 1)


@pytest.mark.filterwarnings(
    # What scikit-learn says where there is nothing to find, which this test shows.
    "ignore:No positive class found in y_true:UserWarning"
)
def test_average_precision_of_nothing_relevant_is_zero_there_and_undefined_here() -> None:
    assert average_precision_score([0, 0], [0.5, 0.4]) == 0
    relevance = Relevance.from_matrix([[0, 0]], zeros="judged")
    found = evaluate(Ranking.from_similarity([[0.5, 0.4]]), relevance, ["AP", "AP(empty=zero)"])
    assert np.isnan(found["AP"].mean)
    assert found["AP(empty=zero)"].mean == 0


@pytest.mark.parametrize("seed", range(10))
def test_top_k_accuracy_is_a_hit_rate(seed: int) -> None:
    rng = np.random.default_rng(seed)
    truth, scores = rng.integers(0, 8, 20), rng.permutation(160).reshape(20, 8) / 256
    relevance = Relevance.from_matrix(np.eye(8, dtype=int)[truth])
    result = evaluate(Ranking.from_similarity(scores), relevance, ["HitRate@1", "HitRate@3"])
    for k in (1, 3):
        wanted = top_k_accuracy_score(truth, scores, k=k, labels=range(8))
        assert result[f"HitRate@{k}"].mean == pytest.approx(wanted, abs=1e-12)


def test_top_k_accuracy_gives_ties_to_the_later_class() -> None:
    scores = np.full((1, 4), 0.5)
    ranking = Ranking.from_similarity(scores)
    for truth in range(4):
        there = top_k_accuracy_score([truth], scores, k=1, labels=range(4))
        relevance = Relevance.from_matrix(np.eye(4, dtype=int)[[truth]])
        assert (
            there == evaluate(ranking, relevance, ["HitRate@1"], ties="id_desc")["HitRate@1"].mean == (truth == 3)
        )
        assert evaluate(ranking, relevance, ["HitRate@1"])["HitRate@1"].mean == 0.25


def test_precision_and_recall_there_are_of_a_threshold_and_not_of_a_rank() -> None:
    # Decisions, not scores: the first two of three taken for positive.
    relevant, chosen = [1, 0, 1], [1, 1, 0]
    ranking, relevance = Ranking.from_similarity([[0.9, 0.8, 0.1]]), Relevance.from_matrix([relevant])
    result = evaluate(ranking, relevance, ["Precision@2", "Recall@2"])
    assert result["Precision@2"].mean == precision_score(relevant, chosen)
    assert result["Recall@2"].mean == recall_score(relevant, chosen)
