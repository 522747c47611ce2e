from collections.abc import Sequence
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from visual_search.errors import DuplicateIdError, InputError
from visual_search.evaluation.search_service import Gallery, gallery_of
from visual_search.evaluation.searching import search_all
from visual_search.ids import Id
from visual_search.rankings.ranking import Ranking
from visual_search.testing.plain_search import PlainHit, PlainResults, PlainSearch

VECTORS = np.eye(2, dtype=np.float32)


class Fixed:
    """Gives what it was told to, for any query."""

    def __init__(self, hits: list[Any]) -> None:
        self.hits = hits

    def search(self, query_vec: Any, query_id: Any, k: int) -> Any:
        return PlainResults(self.hits)


class Batches(PlainSearch):
    """Also answers many queries at once, in an order of its own."""

    def search_batch(self, vectors: Any, query_ids: Sequence[Id], k: int) -> Any:
        lists = {q: self.search(v, q, k).results for q, v in zip(query_ids, vectors, strict=True)}
        return Ranking.from_dict({q: {hit.image_id: hit.score for hit in lists[q]} for q in reversed(lists)})


@pytest.mark.parametrize("service", [PlainSearch, Batches])
def test_one_by_one_and_in_batches_give_the_same(service: type[PlainSearch]) -> None:
    made = service({"a": [1, 0], "b": [0, 1], "c": [1, 1]})
    ranking = search_all(made, VECTORS, ["q1", "q2"], 2, made.gallery_ids)
    assert [item for item, _ in ranking.listed("q1")] == ["a", "c"]
    assert [item for item, _ in ranking.listed("q2")] == ["b", "c"]


def test_a_known_gallery_is_the_vocabulary_and_an_unknown_one_is_gathered() -> None:
    made = PlainSearch({"a": [1, 0], "b": [0, 1], "c": [1, 1]})
    assert search_all(made, VECTORS, ["q1", "q2"], 1, made.gallery_ids).items is made.gallery_ids
    assert list(search_all(made, VECTORS, ["q1", "q2"], 1).items) == ["a", "b"]


def test_empty_lists_and_numpy_ids_are_taken() -> None:
    ranking = search_all(Fixed([]), VECTORS, ["q1", "q2"], 3)
    assert ranking.lengths.tolist() == [0, 0]
    ranking = search_all(Fixed([PlainHit(np.int64(4), np.float32(0.5))]), VECTORS, ["q1", "q2"], 3)  # type: ignore[arg-type]
    assert ranking.listed("q1") == [(4, 0.5)]


@pytest.mark.parametrize(
    ("hits", "error", "said"),
    [
        (None, InputError, "search for 'q1'"),
        ([object()], InputError, "search for 'q1': a result needs image_id and a number"),
        ([PlainHit("a", "high")], InputError, "search for 'q1'"),  # type: ignore[arg-type]
        ([PlainHit("a", 0.1), PlainHit("b", 0.2)], InputError, "scores must not rise"),
        ([PlainHit("a", 0.2), PlainHit("a", 0.2)], DuplicateIdError, "list each item once"),
        ([PlainHit("a", float("nan"))], InputError, "NaN"),
        ([PlainHit(name, 0.5) for name in "abcd"], InputError, "gave 4 items for 'q1'; at most k = 3"),
    ],
)
def test_answers_that_cannot_be_used(hits: list[Any], error: type[InputError], said: str) -> None:
    with pytest.raises(error, match=said):
        search_all(Fixed(hits), VECTORS, ["q1", "q2"], 3)


def test_a_mock_that_only_sets_search_is_a_service() -> None:
    service = Mock()
    service.search.return_value = PlainResults([PlainHit("a", 0.5)])
    assert search_all(service, VECTORS, ["q1", "q2"], 3).listed("q2") == [("a", 0.5)]
    assert service.search.call_args.kwargs == {"k": 3}
    assert gallery_of(service) == Gallery()


class Wrong(Fixed):
    def search_batch(self, vectors: Any, query_ids: Sequence[Id], k: int) -> Any:
        return self.hits[0]


def test_batches_that_cannot_be_used() -> None:
    with pytest.raises(InputError, match="a Ranking is needed"):
        search_all(Wrong([{"q1": []}]), VECTORS, ["q1", "q2"], 3)
    with pytest.raises(InputError, match="1 query not asked, first 'other'"):
        search_all(Wrong([Ranking.from_dict({"other": {"a": 1.0}})]), VECTORS, ["q1", "q2"], 3)
