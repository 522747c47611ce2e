"""Parts of a result by an attribute of its queries."""

import math

import numpy as np
import pytest

from visual_search import Ranking, Relevance, evaluate
from visual_search.errors import InputError
from visual_search.evaluation.result import Result
from visual_search.evaluation.scoring import evaluate_presets
from visual_search.evaluation.slices import slices

SIZES = {"q0": "small", "q1": "large", "q2": "large", "q3": "none", "q4": "small"}


@pytest.fixture
def result() -> Result:
    ranking = Ranking.from_dict({f"q{row}": {"a": 3.0, "b": 2.0, "c": 1.0} for row in range(4)})
    truth = {"q0": {"a": 1}, "q1": {"b": 1, "z": 1}, "q2": {"c": 1}, "q3": {"a": 0}, "q4": {"a": 1}}
    return evaluate(ranking, Relevance.from_dict(truth), ["RR", "Recall(average=micro)@2"])


def test_each_slice_is_what_its_queries_alone_give(result: Result) -> None:
    parts = slices(result, SIZES)
    assert list(parts) == ["small", "large", "none"]
    assert parts["large"]["RR"].values.tolist() == [1 / 2, 1 / 3]
    assert parts["large"]["RR"].mean == pytest.approx((1 / 2 + 1 / 3) / 2)
    assert parts["large"]["Recall(average=micro)@2"].mean == pytest.approx(1 / 3)
    assert list(parts["small"].queries) == ["q0", "q4"]
    assert parts["small"].missing_queries == ("q4",)
    assert parts["small"]["RR"].mean == 0.5
    assert repr(parts) == "Slices('small': 2, 'large': 2, 'none': 1)"


def test_a_slice_where_nothing_is_defined_is_named_and_not_zero(result: Result) -> None:
    parts = slices(result, SIZES)
    assert math.isnan(parts["none"]["RR"].mean)
    assert parts["none"]["RR"].undefined_queries == ("q3",)
    assert parts.undefined("RR") == ("none",)
    assert parts.macro_mean("RR") == pytest.approx((0.5 + 5 / 12) / 2)


def test_values_in_the_order_of_the_queries_serve_too(result: Result) -> None:
    by_array = slices(result, np.array([0, 1, 1, 2, 0]))
    assert [len(part.queries) for part in by_array.values()] == [2, 2, 1]
    with pytest.raises(InputError, match="attribute: 1 query has none, first: 'q4'"):
        slices(result, dict.fromkeys(("q0", "q1", "q2", "q3"), 1))
    with pytest.raises(InputError, match="attribute: 2 given for 5 queries"):
        slices(result, ["a", "b"])


def test_one_run_under_all_presets_side_by_side() -> None:
    ranking = Ranking.from_similarity([[0.9, 0.5, 0.5, 0.1]])
    relevance = Relevance.from_matrix([[0, 1, 0, 1]])
    results = evaluate_presets(ranking, relevance, k_values=[3])
    assert len(results) > 10
    for name, result in results.items():
        alone = evaluate(ranking, relevance, list(result), preset=name)
        assert {text: found.mean for text, found in alone.items()} == pytest.approx(
            {text: found.mean for text, found in result.items()}, nan_ok=True
        )
        assert result.notes == alone.notes
