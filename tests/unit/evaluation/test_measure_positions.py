"""The join and the table it gives."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from visual_search import Ranking, Relevance
from visual_search.errors import InputError
from visual_search.evaluation import joining
from visual_search.evaluation.joining import join
from visual_search.evaluation.positions import Positions, all_tied
from visual_search.evaluation.ties import NEIGHBOR_TIES, TIE_RULES, TIE_WORDS
from visual_search.ids import Ids
from visual_search.testing.strategies import Case, cases


def naive(case: Case, query: str) -> list[tuple[float, int, int, int]]:
    """(grade, above, tied, place as listed) of each judged item of the list, looked up one by one."""
    listed = [(item, score) for item, score in case.run.get(query, {}).items() if item not in case.ignored[query]]
    rows = []
    for item, score in listed:
        if item in case.grades[query]:
            above = sum(other > score for _, other in listed)
            tied = [name for name, other in listed if other == score]
            rows.append((case.grades[query][item], above, len(tied), tied.index(item)))
    return rows


def table(positions: Positions, row: int) -> list[tuple[float, int, int, int]]:
    span = slice(*positions.offsets[row : row + 2].tolist())
    assert positions.places is not None
    columns = positions.grades, positions.above, positions.tied, positions.places.listed()
    return list(zip(*(column[span].tolist() for column in columns), strict=True))


@settings(max_examples=200, deadline=None)
@given(case=cases(max_items=9, max_queries=4))
def test_join_equals_looking_up_one_by_one(case: Case) -> None:
    positions = join(case.ranking, case.relevance)
    for row, query in enumerate(map(str, positions.queries)):
        assert table(positions, row) == naive(case, query)
        scored = case.run.get(query, {})
        assert positions.lengths[row] == sum(item not in case.ignored[query] for item in scored)
        assert positions.ignored[row] == sum(item in case.ignored[query] for item in scored)
        assert positions.missing[row] == (query not in case.run)
        grades = positions.judged_grades[slice(*positions.judged_offsets[row : row + 2])]
        assert grades.tolist() == sorted(case.grades[query].values(), reverse=True)


@settings(max_examples=100, deadline=None)
@given(case=cases(max_items=6, max_queries=4))
def test_blocks_queries_in_another_order_and_shared_vocabularies_change_nothing(case: Case) -> None:
    whole = join(case.ranking, case.relevance)
    ranking = case.ranking
    backwards = Ranking.from_dict({query: case.run[query] for query in reversed(case.run)})
    items = Ids([*ranking.items, *(item for item in case.relevance.items if item not in ranking.items)])
    relevance = case.relevance
    shared = Relevance(
        relevance.queries,
        items,
        relevance.offsets,
        items.rows(relevance.items)[relevance.rows] if len(relevance.items) else relevance.rows,
        relevance.grades,
        relevance.ignored,
    )
    shared_ranking = Ranking(
        ranking.queries,
        items,
        ranking.offsets,
        items.rows(ranking.items)[ranking.rows] if len(ranking.items) else ranking.rows,
        ranking.scores,
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(joining, "_TABLE_CELLS", 1)
        others = [join(case.ranking, relevance), join(backwards, relevance), join(shared_ranking, shared)]
    for other in others:
        for name in ("offsets", "grades", "above", "tied", "lengths", "judged_grades", "ignored", "missing"):
            assert np.array_equal(getattr(other, name), getattr(whole, name)), name


def test_queries_of_one_side_only() -> None:
    ranking = Ranking.from_dict({"b": {"x": 1.0}, "extra": {"x": 1.0}})
    positions = join(ranking, Relevance.from_dict({"a": {"x": 1}, "b": {"x": 1}, "c": {}}))
    assert positions.missing.tolist() == [True, False, True]
    assert positions.unjudged_queries == ("extra",)
    assert positions.lengths.tolist() == [0, 1, 0]


def test_empty_sides() -> None:
    nothing = join(Ranking.from_dict({}), Relevance.from_dict({"q": {"a": 1}}))
    assert nothing.missing.tolist() == [True]
    assert nothing.relevant_counts().tolist() == [1]
    assert len(join(Ranking.from_dict({"q": {"a": 1.0}}), Relevance.from_dict({}))) == 0
    unjudged = join(Ranking.from_dict({"q": {"a": 1.0}}), Relevance.from_dict({"q": {}}))
    assert unjudged.lengths.tolist() == [1]


def test_ties_are_of_scores_as_they_came() -> None:
    apart = Ranking.from_dict({"q": {"a": float(np.nextafter(0.1, 1)), "b": 0.1}})
    relevance = Relevance.from_dict({"q": {"a": 1}})
    assert join(apart, relevance).tied.tolist() == [1]
    assert join(apart.rounded_to_float32(), relevance).tied.tolist() == [2]


def test_long_ties_are_bounded_on_both_sides() -> None:
    scores = np.concatenate([np.full(500, 2.0), np.full(1, 1.0), np.full(700, 0.5)])
    ranking = Ranking.from_similarity(np.stack([scores, scores]))
    positions = join(ranking, Relevance.from_dict({0: {0: 1, 499: 1, 500: 1, 501: 1, 1200: 1}, 1: {700: 1}}))
    assert positions.above.tolist() == [0, 0, 500, 501, 501, 501]
    assert positions.tied.tolist() == [500, 500, 1, 700, 700, 700]


def test_id_orders_compare_strings_by_code_point_and_integers_by_value() -> None:
    def order(run: dict[Any, float], ties: Any) -> list[float]:
        positions = join(
            Ranking.from_dict({"q": run}), Relevance.from_dict({"q": {item: n for n, item in enumerate(run)}})
        )
        grades: list[float] = positions.ordered(ties).grades.tolist()
        return grades

    strings = {"b": 1.0, "B": 1.0, "é": 1.0, "a10": 1.0, "a9": 1.0}
    assert order(strings, "id_desc") == [2, 0, 4, 3, 1]
    assert order(strings, "id_asc") == [1, 3, 4, 0, 2]
    integers = {10: 1.0, 9: 1.0, 100: 1.0}
    assert order(integers, "id_desc") == [2, 0, 1]


def test_ids_are_compared_only_when_a_rule_reads_them(monkeypatch: pytest.MonkeyPatch) -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("ids were compared")

    positions = join(Ranking.from_dict({"q": {"a": 1.0, "b": 1.0}}), Relevance.from_dict({"q": {"a": 1}}))
    monkeypatch.setattr(joining, "descending_id_places", never)
    for ties in ("expected", "best", "worst", "listed"):
        positions.ordered(ties)
    with pytest.raises(AssertionError, match="ids were compared"):
        positions.ordered("id_desc")


def test_all_tied_knows_what_is_not_in_the_gallery() -> None:
    relevance = Relevance.from_dict({"q": {"a": 1, "gone": 1}, "r": {"b": 0}}, ignored={"q": ["b"]})
    positions = all_tied(relevance, Ids(["a", "b", "c"]))
    assert positions.tied.tolist() == [2, 3]
    assert positions.lengths.tolist() == [2, 3]
    assert positions.relevant_counts().tolist() == [2, 0]
    by_size = all_tied(relevance, 5)
    assert by_size.tied.tolist() == [4, 4, 5]
    with pytest.raises(InputError, match="gallery of 1 item: query 'q' has 2 judged and 1 ignored item"):
        all_tied(relevance, 1)
    with pytest.raises(InputError, match="no order within these ties"):
        positions.ordered("listed")


def test_every_rule_has_words() -> None:
    assert set(TIE_WORDS) == {*TIE_RULES, *NEIGHBOR_TIES}
    positions = join(Ranking.from_dict({"q": {"a": 1.0, "b": 1.0}}), Relevance.from_dict({"q": {"a": 1}}))
    with pytest.raises(InputError, match="one of expected, best"):
        positions.ordered("random")  # type: ignore[arg-type]
    assert "2 queries" not in repr(positions)
    assert repr(positions) == "Positions(1 query, 1 of 1 judged items in their lists, 1 tied)"
