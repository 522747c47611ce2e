"""Dictionaries of dictionaries, as rankings and as relevance."""

import numpy as np
import pytest

from visual_search import Ranking, Relevance
from visual_search.errors import InputError, NonFiniteError


def test_sorted_by_score_equal_ones_as_they_came() -> None:
    ranking = Ranking.from_dict({"q": {"a": 1, "b": 3.5, "c": 1}, "empty": {}})
    assert ranking.listed("q") == [("b", 3.5), ("a", 1.0), ("c", 1.0)]
    assert ranking.listed("empty") == []
    assert len(Ranking.from_dict({})) == 0


def test_ignored_pairs_and_grades() -> None:
    relevance = Relevance.from_dict({"q": {"a": 2, "b": 0}, "r": {}}, ignored={"r": ["a", "z", "a"]})
    assert relevance.judged("q") == {"a": 2.0, "b": 0.0}
    assert relevance.judged("r") == {}
    assert relevance.query_of_entry()[relevance.ignored].tolist() == [1, 1]


@pytest.mark.parametrize(
    ("run", "words"),
    [
        ({"q": {"a": "0.9"}}, r"1 value is no number, first \(query, item, value\): \('q', 'a', '0.9'\)"),
        ({"q": {"a": None, "b": 1.0}}, "1 value is no number"),
        ({"q": ["a", "b"]}, "1 query has no .* first: 'q' with a list"),
        ([("q", {"a": 1.0})], "list; a dictionary"),
        ({"q": {"a": 1.0, 2: 0.5}}, "strings or all integers|all strings"),
        ({1.5: {"a": 1.0}}, "ids must be strings or integers"),
        ({"q": {"": 1.0}}, "empty string"),
        ({"q": {"a": 10**400}}, "beyond what float64 holds"),
    ],
)
def test_refusals(run: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Ranking.from_dict(run)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=words):
        Relevance.from_dict(run)  # type: ignore[arg-type]


def test_numpy_numbers_are_numbers() -> None:
    ranking = Ranking.from_dict({np.int64(1): {np.str_("a"): float(np.float32(0.5))}})
    assert ranking.listed(1) == [("a", 0.5)]


def test_relevance_refusals() -> None:
    with pytest.raises(NonFiniteError, match=r"\('q', 'a'\)"):
        Relevance.from_dict({"q": {"a": float("nan")}})
    with pytest.raises(InputError, match="both judged and ignored"):
        Relevance.from_dict({"q": {"a": 1}}, ignored={"q": ["a"]})
    with pytest.raises(InputError, match="ignored: 1 query is not in the relevance, first: 'r'"):
        Relevance.from_dict({"q": {"a": 1}}, ignored={"r": ["a"]})
