"""Relevance from labels, groups, matrices and tables."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from visual_search import Relevance
from visual_search.errors import DuplicateIdError, InputError, NonFiniteError
from visual_search.ids import Ids


def judged(relevance: Relevance) -> dict[Any, dict[Any, float]]:
    return {query: relevance.judged(query) for query in relevance.queries}


def ignored(relevance: Relevance) -> set[tuple[Any, Any]]:
    query = relevance.query_of_entry()[relevance.ignored]
    named = relevance.queries.take(query.tolist())
    return set(zip(named, relevance.items.take(relevance.rows[relevance.ignored].tolist()), strict=True))


def test_one_set_of_labels_ignores_each_item_for_itself() -> None:
    relevance = Relevance.from_labels(["cat", "dog", "cat", "cow"], query_ids=["a", "b", "c", "d"])
    assert judged(relevance) == {"a": {"c": 1}, "b": {}, "c": {"a": 1}, "d": {}}
    assert ignored(relevance) == {(name, name) for name in "abcd"}


def test_two_sets_of_labels() -> None:
    relevance = Relevance.from_labels([1, 2], [2, 1, 1, 3])
    assert judged(relevance) == {0: {1: 1, 2: 1}, 1: {0: 1}}
    assert not ignored(relevance)


def test_ids_that_meet_must_be_said_to_be_one_set_or_two() -> None:
    given: dict[str, Any] = {"query_ids": ["a", "b"], "gallery_ids": ["b", "c"]}
    with pytest.raises(InputError, match="1 id in common, first: 'b'; say"):
        Relevance.from_labels([1, 1], [1, 1], **given)
    assert ignored(Relevance.from_labels([1, 1], [1, 1], **given, shared_ids=True)) == {("b", "b")}
    apart = Relevance.from_labels([1, 1], [1, 1], **given, shared_ids=False)
    assert judged(apart)["b"] == {"b": 1, "c": 1}


def test_multi_hot_labels_share_any() -> None:
    mine = [[1, 0, 1], [0, 0, 0]]
    theirs = [[0, 1, 0], [0, 1, 1], [1, 0, 0]]
    assert judged(Relevance.from_labels(mine, theirs)) == {0: {1: 1, 2: 1}, 1: {}}
    alone = Relevance.from_labels(mine)
    assert judged(alone) == {0: {}, 1: {}}
    assert ignored(alone) == {(0, 0), (1, 1)}


def test_labels_against_a_naive_pass() -> None:
    rng = np.random.default_rng(0)
    for _ in range(20):
        mine, theirs = rng.integers(0, 4, 15), rng.integers(0, 5, 20)
        wanted = {i: {j: 1.0 for j in range(20) if mine[i] == theirs[j]} for i in range(15)}
        assert judged(Relevance.from_labels(mine, theirs)) == wanted
        hot, theirs_hot = rng.random((15, 3)) < 0.3, rng.random((20, 3)) < 0.3
        wanted = {i: {j: 1.0 for j in range(20) if (hot[i] & theirs_hot[j]).any()} for i in range(15)}
        assert judged(Relevance.from_labels(hot, theirs_hot)) == wanted


def test_integer_classes_beyond_two_to_24_stay_apart() -> None:
    first = 2**24
    assert np.float32(first) == np.float32(first + 1)
    assert judged(Relevance.from_labels([first], [first, first + 1])) == {0: {0: 1}}
    with pytest.raises(InputError, match="floats may collide"):
        Relevance.from_labels(np.array([first], dtype=np.float32), np.array([first], dtype=np.float32))


@pytest.mark.parametrize(
    ("mine", "theirs", "words"),
    [
        ([1, 2], ["1", "2"], "two kinds"),
        ([[1, 0]], [[1, 0, 0]], "same number of labels"),
        ([[1, 0]], [1], "multi-hot"),
        ([[1, 2]], [[1, 0]], "0 and 1; got 2"),
    ],
)
def test_labels_that_do_not_fit(mine: Any, theirs: Any, words: str) -> None:
    with pytest.raises(InputError, match=words):
        Relevance.from_labels(mine, theirs)


def test_the_callers_labels_are_not_changed() -> None:
    labels = np.array([[1, 0], [0, 1]])
    before = labels.copy()
    Relevance.from_labels(labels, labels.copy())
    assert np.array_equal(labels, before)


def test_groups_and_views_as_person_reidentification_has_them() -> None:
    relevance = Relevance.from_groups(
        ["p1", "p2"],
        ["p1", "p1", "p2", "junk"],
        query_views=[1, 1],
        gallery_views=[1, 2, 2, 3],
        gallery_ids=["a", "b", "c", "d"],
        ignore_groups=["junk"],
    )
    assert judged(relevance) == {0: {"b": 1}, 1: {"c": 1}}
    assert ignored(relevance) == {(0, "a"), (0, "d"), (1, "d")}


def test_one_camera_only_names_the_column() -> None:
    with pytest.raises(InputError, match=r"query_views, gallery_views.*look at the column"):
        Relevance.from_groups([1, 2], [1, 2], query_views=[0, 0], gallery_views=[0, 0])
    with pytest.raises(InputError, match="give both or none"):
        Relevance.from_groups([1], [1], query_views=[0])


def test_groups_without_views() -> None:
    assert judged(Relevance.from_groups([1, 2], [2, 2, 1])) == {0: {2: 1}, 1: {0: 1, 1: 1}}


def test_matrix() -> None:
    relevance = Relevance.from_matrix([[0, 1], [2, 0]], ignored=[[1, 0], [0, 0]], gallery_ids=["a", "b"])
    assert judged(relevance) == {0: {"b": 1}, 1: {"a": 2}}
    assert ignored(relevance) == {(0, "a")}
    assert judged(Relevance.from_matrix([[0, 1]], zeros="judged")) == {0: {0: 0, 1: 1}}
    with pytest.raises(NonFiniteError, match="rows 0"):
        Relevance.from_matrix([[np.nan, 1.0]])
    with pytest.raises(InputError, match="one of unjudged, judged"):
        Relevance.from_matrix([[1]], zeros="both")  # type: ignore[arg-type]


COLUMNS = {"query": ["q2", "q1", "q2"], "item": [4, 4, 5], "grade": [1.0, 0.0, 0.33]}


@pytest.mark.parametrize(
    "make", [dict, pd.DataFrame, pl.DataFrame, pa.table], ids=["mapping", "pandas", "polars", "arrow"]
)
def test_tables(make: Any) -> None:
    assert judged(Relevance.from_frame(make(COLUMNS))) == {"q2": {4: 1, 5: 0.33}, "q1": {4: 0}}
    flagged = Relevance.from_frame(make({**COLUMNS, "junk": [False, True, False]}), ignored="junk")
    assert ignored(flagged) == {("q1", 4)}


def test_parquet_without_grades(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"query": ["q"], "item": ["a"]}), tmp_path / "truth.parquet")
    assert judged(Relevance.from_parquet(tmp_path / "truth.parquet", grade=None)) == {"q": {"a": 1}}


def test_arrays() -> None:
    relevance = Relevance.from_arrays(["q", "q"], ["a", "b"], [2, 0], ignored=[False, True])
    assert judged(relevance) == {"q": {"a": 2}}
    with pytest.raises(DuplicateIdError, match=r"\('q', 'a'\)"):
        Relevance.from_arrays(["q", "q"], ["a", "a"])


@pytest.mark.parametrize(
    ("combine", "grade"), [("mean", 4 / 3), ("median", 1.0), ("max", 3.0), ("min", 0.0), ("majority", 0.0)]
)
def test_several_judges(combine: Any, grade: float) -> None:
    table = {"query": ["q"] * 3, "item": ["a"] * 3, "grade": [3, 0, 1], "judge": ["x", "y", "z"]}
    assert judged(Relevance.from_judgements(table, combine=combine)) == {"q": {"a": pytest.approx(grade)}}


def test_several_judges_need_a_stated_rule() -> None:
    table: dict[str, list[Any]] = {"query": ["q", "q", "q"], "item": ["a", "a", "b"], "grade": [1, 1, 2]}
    with pytest.raises(DuplicateIdError, match="combine= one of mean, median"):
        Relevance.from_judgements(table)
    assert judged(Relevance.from_judgements({key: values[1:] for key, values in table.items()})) == {
        "q": {"a": 1, "b": 2}
    }
    with pytest.raises(InputError, match="combine='best'"):
        Relevance.from_judgements(table, combine="best")  # type: ignore[arg-type]


def test_constructor_refusals() -> None:
    ids = Ids(["q"]), Ids(["a", "b"])
    with pytest.raises(DuplicateIdError, match=r"\('q', 'a'\)"):
        Relevance(*ids, np.array([0, 2]), np.array([0, 0]), np.array([1.0, 0.0]))
    with pytest.raises(InputError, match=r"0\.\.1"):
        Relevance(*ids, np.array([0, 1]), np.array([2]), np.array([1.0]))
    with pytest.raises(InputError, match="go from 0 to 1"):
        Relevance(*ids, np.array([0, 3]), np.array([1]), np.array([1.0]))
    with pytest.raises(NonFiniteError, match=r"\('q', 'b'\)"):
        Relevance(*ids, np.array([0, 1]), np.array([1]), np.array([np.nan]))
