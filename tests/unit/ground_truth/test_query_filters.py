"""Filters that do not fit: what is wrong with all of them is told at once, with the queries and ids that come first."""

from typing import Any

import numpy as np
import pytest

from visual_search import exact_neighbors
from visual_search.errors import InputError, UnknownIdError
from visual_search.ground_truth.gallery_ids import GalleryIds
from visual_search.ground_truth.query_filters import filtered_rows

GALLERY = GalleryIds(["a", "b", "c"])


def told(allowed: Any, query_ids: list[str] | None = None) -> str:
    named = None if query_ids is None else GalleryIds(query_ids)
    with pytest.raises(InputError) as found:
        filtered_rows(allowed, GALLERY, len(allowed), query_ids=named)
    return str(found.value)


def test_all_that_is_wrong_is_told_at_once() -> None:
    filters = [
        ["a"],
        ["x", "a", "y"],
        ["b", "b", "c"],
        [True, False],
        np.ones(4, bool),
        "abc",
        None,
        ["x"],
        [["a"]],
    ]
    assert told(filters, [f"q{row}" for row in range(9)]) == (
        "allowed: 4 problems\n"
        "  - 3 filters (of queries 'q5', 'q6', 'q8') are no list of ids and no mask, but 'str', 'NoneType', "
        "'lists in a list'\n"
        "  - 2 filters (of queries 'q3', 'q4') have shape (2,), (4,); one value for each of the gallery's 3 rows is "
        "needed\n"
        "  - 1 filter (of query 'q2') names ids twice: 'b'; name each once\n"
        "  - 2 filters (of queries 'q1', 'q7') name ids that the gallery does not have: 'x', 'y'; its ids are such as "
        "'a', 'b'"
    )


def test_of_many_the_first_five_stand_for_all() -> None:
    assert "1,000 filters (of queries 0, 1, 2, 3, 4 and 995 more) name ids twice: 'a'" in told([["a", "a"]] * 1000)


def test_ids_that_are_not_there_are_unknown_ids_where_nothing_else_is_wrong() -> None:
    with pytest.raises(UnknownIdError, match=r"2 filters \(of queries 'one', 'two'\) name ids .* not have: 4, 3;"):
        exact_neighbors(np.eye(3), np.eye(3)[:2], 1, query_ids=["one", "two"], allowed=[[0, 4], [3, 4]])


@pytest.mark.parametrize("given", [5, None, iter([[1]])])
def test_what_is_no_row_of_filters(given: Any) -> None:
    with pytest.raises(InputError, match="allowed: got .*; a filter of each query is needed"):
        filtered_rows(given, GALLERY, 1)


def test_sets_tuples_arrays_and_masks_are_filters() -> None:
    given = [{"c", "a"}, ("a", "c"), np.array(["c", "a"]), [True, False, True], np.array([True, False, True]), []]
    rows = filtered_rows(given, GALLERY, 6).rows
    assert [one.tolist() for one in rows] == [[0, 2]] * 5 + [[]]
