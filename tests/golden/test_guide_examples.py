"""The example numbers of the evaluation guide, from its own lists, through the whole evaluation."""

from typing import Any

import pytest

from visual_search.evaluation.evaluator import EvaluationResult, ModelEvaluator
from visual_search.testing.plain_search import PlainHit, PlainResults


class Retrieved:
    """Returns the lists that the guide writes down."""

    def __init__(self, lists: dict[str, list[str]]) -> None:
        self.lists = lists

    def search(self, query_vec: Any, query_id: Any, k: int) -> PlainResults:
        return PlainResults([PlainHit(item, 1 - rank / 100) for rank, item in enumerate(self.lists[query_id][:k])])


def evaluate(lists: dict[str, list[str]], truth: dict[str, Any], k_values: list[int]) -> EvaluationResult:
    queries = [{"query_id": query, "ground_truth": items} for query, items in truth.items()]
    vectors = {query: [1.0] for query in lists}
    return ModelEvaluator(Retrieved(lists)).evaluate({"queries": queries}, k_values, vectors)


@pytest.fixture
def example() -> EvaluationResult:
    # "Ground truth: [img1, img2, img3]; Retrieved@5: [img1, img4, img2, img5, img6]"
    return evaluate({"q": ["img1", "img4", "img2", "img5", "img6"]}, {"q": ["img1", "img2", "img3"]}, [1, 5])


def test_recall_at_5_is_two_thirds(example: EvaluationResult) -> None:
    assert example.recall_at_k[5] == 2 / 3
    assert round(example.recall_at_k[5], 3) == 0.667


def test_precision_at_5_is_two_fifths(example: EvaluationResult) -> None:
    assert example.precision_at_k[5] == 0.4


def test_average_precision_follows_its_formula(example: EvaluationResult) -> None:
    # (1/3) (P(1) + P(3)) = (1/3) (1 + 2/3) = 5/9
    assert example.map == pytest.approx(5 / 9, abs=1e-15)


def test_mean_reciprocal_rank_of_first_hits_at_ranks_1_and_3() -> None:
    # "Query 1: rank 1 -> 1.0; Query 2: rank 3 -> 0.333; MRR = 0.667"
    result = evaluate({"q1": ["a", "b", "c"], "q2": ["a", "b", "c"]}, {"q1": ["a"], "q2": ["c"]}, [1, 3])
    assert [entry["reciprocal_rank"] for entry in result.per_query_results] == [1.0, 1 / 3]
    assert result.mrr == pytest.approx(2 / 3, abs=1e-15)
    assert round(result.mrr, 3) == 0.667


def test_ndcg_of_grades_in_rank_order_0_5_1_4_2() -> None:
    # The value of the conventions: DCG 6.151 of an ideal 8.954.
    grades = {"a": 0, "b": 5, "c": 1, "d": 4, "e": 2}
    result = evaluate({"q": list("abcde")}, {"q": grades}, [5])
    assert round(result.ndcg_at_k[5], 3) == 0.687


def test_the_sample_result_contradicts_the_formulas_so_only_its_keys_are_taken() -> None:
    # recall_at_k 1.0 from k = 1 on with precision 1.0, 0.6 and 0.3 at 1, 5 and 10: one item found at rank 1 is all
    # there is, so precision at 5 can be no more than 0.2 and AP is 1, not 0.85.
    result = evaluate({"q": [f"i{n}" for n in range(10)]}, {"q": ["i0"]}, [1, 5, 10])
    assert result.recall_at_k == {1: 1.0, 5: 1.0, 10: 1.0}
    assert result.precision_at_k == {1: 1.0, 5: 0.2, 10: 0.1}
    assert result.map == 1.0
