"""Ids, labels and scores that an array would make one: kept apart where it can be, refused where it cannot."""

import pickle
from typing import Any

import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from visual_search import IdLists, Ranking, Relevance, SharedLabels, evaluate
from visual_search.errors import FileFormatError, InputError, NonFiniteError
from visual_search.evaluation.returned_lists import ReturnedLists

LARGE = 2**53
UNSIGNED = np.array([LARGE + 1], dtype=np.uint64)
SIGNED = np.array([LARGE, LARGE + 1], dtype=np.int64)


def test_unsigned_and_signed_labels_meet_only_where_they_are_equal() -> None:
    assert SharedLabels.of(UNSIGNED, SIGNED).relevance().rows.tolist() == [1]
    assert Relevance.from_labels(UNSIGNED, SIGNED).rows.tolist() == [1]
    assert Relevance.from_groups(UNSIGNED, SIGNED).rows.tolist() == [1]
    views = Relevance.from_groups([1], [1, 1], query_views=UNSIGNED, gallery_views=SIGNED)
    assert views.ignored.tolist() == [False, True]


@pytest.mark.parametrize(("low", "high"), [(-1, 2**63 + 5), (-1, LARGE), (0, 2**63 + 5)])
def test_labels_that_no_one_width_holds(low: int, high: int) -> None:
    mine = np.array([high, 7], dtype=np.uint64)
    theirs = np.array([low, 7], dtype=np.int64)
    assert Relevance.from_labels(mine, theirs).rows.tolist() == [1]
    assert SharedLabels.of(mine, theirs).relevance().rows.tolist() == [1]


@pytest.mark.parametrize("make", [SharedLabels.of, Relevance.from_labels])
@pytest.mark.parametrize(
    ("mine", "theirs", "said"),
    [
        ([True], [1, 2], "two kinds"),
        ([True, 1], [1, 2], "true or false"),
        (["a\0"], ["a"], "end in NUL"),
        ([b"a\0"], [b"a"], "end in NUL"),
        (["1"], [1], "two kinds"),
        ([b"\xff"], ["a"], "not UTF-8"),
        ([2**70], [1], "64 bits"),
        (np.ma.array([1, 2], mask=[False, True]), [1], "masked"),
    ],
)
def test_labels_that_would_become_others(make: Any, mine: Any, theirs: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        make(mine, theirs)


def test_unsigned_ids_stay_what_they_are() -> None:
    ranking = Ranking.from_arrays(np.array([[2**63 + 5, 7]], dtype=np.uint64))
    assert [item for item, _ in ranking.listed(0)] == [2**63 + 5, 7]
    assert evaluate(ranking, {0: {2**63 + 5: 1}}, ["RR"])["RR"].mean == 1
    lists = [np.array([2**63 + 5], dtype=np.uint64), np.array([7, 8], dtype=np.int64)]
    assert Ranking.from_arrays(lists).listed(0) == [(2**63 + 5, -1.0)]


@pytest.mark.parametrize(
    ("ids", "said"),
    [
        ([[1, 2], ["a"]], "integers and of texts"),
        ([[True], [2, 3]], "true and false"),
        ([[True, 2]], "true or false"),
        ([[1], [2.0, 3.0]], "floats and of integers"),
        ([["a\0", "b"]], "end in NUL"),
        ([[2**70, 1]], "64 bits"),
        ([np.array([2**64 - 1], dtype=np.uint64), np.array([-2, 3])], "64 bits"),
        (np.ma.array([[1, 2]], mask=[[False, True]]), "masked"),
    ],
)
def test_ids_that_would_become_others(ids: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Ranking.from_arrays(ids)


@pytest.mark.parametrize("make", [Ranking.from_arrays, IdLists])
@pytest.mark.parametrize("pad", [2.5, "x", True])
def test_a_pad_that_pads_nothing(make: Any, pad: Any) -> None:
    with pytest.raises(InputError, match="pad="):
        make([[1, 2]], pad=pad)
    assert evaluate(make([[1, 2]], pad=2**64), {0: {2: 1}}, ["RR"])["RR"].mean == 0.5


BEYOND = np.array([[LARGE + 1, LARGE]])


@pytest.mark.parametrize(
    "scored",
    [
        lambda: Ranking.from_arrays([[1, 2]], BEYOND),
        lambda: Ranking.from_arrays([[1, 2]], BEYOND.tolist()),
        lambda: Ranking.from_arrays([[1, 2]], [[2**64 + 1, 2**64]]),
        lambda: Ranking.from_arrays([[1, 2]], [[2**63 + 1, 1]]),
        lambda: Ranking.from_arrays([[1, 2]], np.array([[2**64 - 1, 1]], dtype=np.uint64)),
        lambda: Ranking.from_arrays([[1, 2]], [np.array([np.longdouble(1) + np.longdouble(2) ** -60, 1])]),
        lambda: Ranking.from_similarity(BEYOND),
        lambda: Ranking.from_dict({"q": {"a": LARGE + 1, "b": LARGE}}),
        lambda: Ranking.from_frame({"query": [1, 1], "item": [1, 2], "score": BEYOND[0]}),
        lambda: IdLists([[1, 2]], BEYOND),
        lambda: evaluate({"q": {"a": LARGE + 1, "b": LARGE}}, {"q": {"a": 1}}, ["RR"]),
        lambda: Relevance.from_matrix(BEYOND),
        lambda: Relevance.from_frame({"query": [1, 1], "item": [1, 2], "grade": BEYOND[0]}),
    ],
)
def test_whole_numbers_that_would_tie(scored: Any) -> None:
    with pytest.raises(InputError, match=r"float64|64 bits"):
        scored()


def test_whole_numbers_that_float64_holds() -> None:
    held = np.array([[2**63 - 1024, -(2**63)]])
    assert [score for _, score in Ranking.from_arrays([[1, 2]], held).listed(0)] == [2.0**63 - 1024, -(2.0**63)]
    assert Ranking.from_dict({"q": {"a": 2**60}}).listed("q") == [("a", 2.0**60)]


def test_rank_matrices_of_ids() -> None:
    for row in (2**40, 2**63 + 1):
        with pytest.raises(InputError, match=f"row {row}"):
            Ranking.from_rank_matrix(np.array([[row, 1]], dtype=np.uint64))


def test_a_ranking_knows_whether_its_scores_came_with_it() -> None:
    """Scores -1, -2, -3 may be what a system gave: minus its distances."""
    came = Ranking.from_dict({"q": {"a": -1, "b": -2, "c": -3}})
    assert ReturnedLists.of(came).scores is not None
    assert ReturnedLists.of(pickle.loads(pickle.dumps(came))).scores is not None
    made_up = Ranking.from_arrays([["a", "b", "c"]])
    assert ReturnedLists.of(made_up).scores is None
    assert ReturnedLists.of(pickle.loads(pickle.dumps(made_up))).scores is None


@pytest.mark.parametrize(
    ("returned", "said"),
    [([[2**70, 1]], "64 bits"), (np.array([[2**63]], np.uint64), "64 bits"), (np.zeros((1, 1, 1), int), "shape")],
)
def test_returned_lists_that_are_none(returned: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        ReturnedLists.of(returned)


def test_categories_of_polars() -> None:
    frame = pl.DataFrame({"query": ["q", "q"], "item": ["a", "b"], "grade": [1, 0]})
    for kind in (pl.Categorical, pl.Enum(["q"])):
        assert Relevance.from_frame(frame.with_columns(pl.col("query").cast(kind))).judged("q") == {
            "a": 1.0,
            "b": 0.0,
        }


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (pa.table([[1], [2], [3], [4]], names=["query", "query", "item", "grade"]), "several columns"),
        ({"query": [2**70], "item": [1], "grade": [1]}, "do not make a table"),
        ({"query": 5, "item": [1], "grade": [1]}, "do not make a table"),
        (
            {
                "query": pa.DictionaryArray.from_arrays(pa.array([0, 1]), pa.array(["q", None])),
                "item": pa.array(["a", "b"]),
                "grade": pa.array([1, 0]),
            },
            "empty in 1 row",
        ),
    ],
)
def test_tables_that_are_refused(table: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        Relevance.from_frame(table)


def test_mixed_columns_of_pandas() -> None:
    import pandas as pd

    with pytest.raises(InputError, match="do not make a table"):
        Relevance.from_frame(pd.DataFrame({"query": ["q", 1], "item": ["a", "b"], "grade": [1, 0]}))


def test_integers_of_64_bits_without_a_sign_in_a_mapping() -> None:
    assert Relevance.from_frame({"query": [2**63], "item": [1], "grade": [1]}).queries[0] == 2**63


def test_a_damaged_page_names_the_file(tmp_path: Any) -> None:
    path = tmp_path / "qrels.parquet"
    parquet.write_table(
        pa.table({"query": ["q"] * 99, "item": [f"d{row}" for row in range(99)], "grade": [1] * 99}), path
    )
    damaged = bytearray(path.read_bytes())
    damaged[60:120] = bytes(octet ^ 255 for octet in damaged[60:120])
    path.write_bytes(damaged)
    with pytest.raises(FileFormatError, match=r"qrels\.parquet: not a whole Parquet file"):
        Relevance.from_parquet(path)
    with pytest.raises(FileNotFoundError):
        Relevance.from_parquet(tmp_path / "gone.parquet")


@pytest.mark.parametrize("combine", ["mean", "median", "max", "min", "majority", None])
def test_judgements_without_a_grade(combine: Any) -> None:
    table = {"query": ["q"] * 3, "item": ["a"] * 3 if combine else list("abc"), "grade": [float("nan"), 0.0, 2.0]}
    with pytest.raises(NonFiniteError, match=r"judgements: 1 grade is NaN or infinite, first .*'q', 'a'"):
        Relevance.from_judgements(table, combine=combine)


def test_groups_to_ignore() -> None:
    assert Relevance.from_groups([1], [-1, 1], ignore_groups=[-1]).ignored.tolist() == [True, False]
    with pytest.raises(InputError, match="two kinds"):
        Relevance.from_groups([1], [-1, 1], ignore_groups=["-1"])
    with pytest.warns(UserWarning, match="-1 occur nowhere"):
        Relevance.from_groups(np.array([1], np.uint8), np.array([1, 255], np.uint8), ignore_groups=[-1])
