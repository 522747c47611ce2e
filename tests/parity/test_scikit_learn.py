"""scikit-learn's ranking metrics where they share a convention, and where they do not."""

import numpy as np
import pytest
from sklearn.metrics import average_precision_score, dcg_score, ndcg_score

from visual_search import Ranking, Relevance, evaluate


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
