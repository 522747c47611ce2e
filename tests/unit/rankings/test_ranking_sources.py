"""Rankings from arrays, matrices and tables."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import parquet

from visual_search import Ranking
from visual_search.errors import (
    DepthError,
    DuplicateIdError,
    FileFormatError,
    InputError,
    NonFiniteError,
    UnknownIdError,
)
from visual_search.ids import Ids


def listed(ranking: Ranking) -> dict[Any, list[tuple[Any, float]]]:
    return {query: ranking.listed(query) for query in ranking}


class OnlyDlpack:
    """A tensor of another library that speaks nothing but DLPack."""

    def __init__(self, array: np.ndarray[Any, Any]) -> None:
        self._array = array

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


class OnTheGpu:
    """A tensor whose memory the processor cannot see."""

    device = "cuda:0"

    def __dlpack__(self, **_options: Any) -> Any:
        raise BufferError("cannot export memory of a device")

    def __dlpack_device__(self) -> tuple[int, int]:
        return (2, 0)


def test_arrays_with_pads_lists_of_any_length_and_strings() -> None:
    padded = Ranking.from_arrays(np.array([[7, 3], [3, -1]]), np.array([[0.9, 0.2], [0.5, -np.inf]]))
    assert listed(padded) == {0: [(7, 0.9), (3, 0.2)], 1: [(3, 0.5)]}
    ragged = Ranking.from_arrays([["a", "b"], [], ["b"]], [[2, 1], [], [5]], query_ids=["x", "y", "z"])
    assert listed(ragged) == {"x": [("a", 2.0), ("b", 1.0)], "y": [], "z": [("b", 5.0)]}
    negative = Ranking.from_arrays([[-1, 4]], [[2.0, 1.0]], pad=None)
    assert listed(negative) == {0: [(-1, 2.0), (4, 1.0)]}


def test_arrays_without_scores_have_no_ties() -> None:
    ranking = Ranking.from_arrays([[5, 6, 7], [7, 5, -1]])
    assert [item for item, _ in ranking.listed(0)] == [5, 6, 7]
    assert len(set(ranking.scores[:3])) == 3
    assert len(ranking.listed(1)) == 2


def test_large_integer_ids_are_not_a_table() -> None:
    ranking = Ranking.from_arrays([[2**62, 5], [2**62 + 1, 2**62]])
    assert [item for item, _ in ranking.listed(1)] == [2**62 + 1, 2**62]


def test_gallery_ids_are_the_vocabulary() -> None:
    gallery = Ids(["a", "b", "c"])
    ranking = Ranking.from_arrays([["c", "a"]], [[1.0, 0.5]], gallery_ids=gallery)
    assert ranking.items is gallery
    assert ranking.rows.tolist() == [2, 0]
    with pytest.raises(UnknownIdError, match="'z'"):
        Ranking.from_arrays([["z"]], gallery_ids=gallery)


@pytest.mark.parametrize(
    ("ids", "scores", "error", "words"),
    [
        ([[1, 2]], [[0.1, 0.9]], InputError, "scores must not rise.*negatives"),
        ([[1, 1]], [[0.9, 0.1]], DuplicateIdError, r"\(0, 1\)"),
        ([[1, 2]], [[0.9, np.nan]], NonFiniteError, "item 2"),
        ([[1, 2]], [[0.9]], InputError, "other numbers of ids and scores, first rows: 0"),
        ([[1.5, 2.5]], None, InputError, "never floats"),
        ([["a", 1]], None, InputError, "int, str"),
        ([1, 2], None, InputError, r"\(queries, items\)|not an array|shape"),
    ],
)
def test_what_arrays_are_refused_for(ids: Any, scores: Any, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Ranking.from_arrays(ids, scores)


def test_similarity_sorted_whole_and_cut() -> None:
    matrix = np.array([[1.0, 3.4, 1.6], [2.0, 2.0, 2.0]])
    whole = Ranking.from_similarity(matrix)
    assert whole.rows.tolist() == [1, 2, 0, 0, 1, 2]
    assert whole.cut_ties is not None
    assert not whole.cut_ties.any()
    cut = Ranking.from_similarity(matrix, k=2, query_ids=["p", "q"], gallery_ids=["a", "b", "c"])
    assert listed(cut) == {"p": [("b", 3.4), ("c", 1.6)], "q": [("a", 2.0), ("b", 2.0)]}
    assert cut.cut_ties is not None
    assert cut.cut_ties.tolist() == [False, True]


def test_similarity_cut_is_the_head_of_the_whole() -> None:
    rng = np.random.default_rng(0)
    matrix = rng.integers(0, 6, (50, 40)).astype(np.float32)
    whole = Ranking.from_similarity(matrix).rows.reshape(50, 40)
    for k in (1, 7, 39, 40):
        assert np.array_equal(Ranking.from_similarity(matrix, k=k).rows.reshape(50, k), whole[:, :k])


def test_similarity_keeps_float32_and_takes_other_libraries() -> None:
    matrix = np.array([[0.1, 0.3]], dtype=np.float32)
    assert Ranking.from_similarity(matrix).scores.dtype == np.float32
    assert Ranking.from_similarity(OnlyDlpack(matrix)).rows.tolist() == [1, 0]
    assert Ranking.from_similarity(np.array([[3, 1]])).scores.dtype == np.float64
    with pytest.raises(InputError, match=r"cuda:0.*move it to the CPU"):
        Ranking.from_similarity(OnTheGpu())


def test_similarity_refusals() -> None:
    with pytest.raises(DepthError, match="gallery has 2 items"):
        Ranking.from_similarity([[1.0, 2.0]], k=3)
    with pytest.raises(NonFiniteError, match=r"\(0, 1\)"):
        Ranking.from_similarity([[1.0, np.nan, 3.0, 2.0]], k=2)
    with pytest.raises(NonFiniteError):
        Ranking.from_similarity([[1.0, np.nan]])
    with pytest.raises(InputError, match="3 ids for 1 row"):
        Ranking.from_similarity([[1.0, 2.0]], query_ids=["a", "b", "c"])
    with pytest.raises(InputError, match="matrix"):
        Ranking.from_similarity([1.0, 2.0])


def test_rank_matrix() -> None:
    ranking = Ranking.from_rank_matrix([[2, 0, 1], [0, 1, 2]], gallery_ids=["a", "b", "c"])
    assert [item for item, _ in ranking.listed(0)] == ["c", "a", "b"]
    with pytest.raises(DuplicateIdError):
        Ranking.from_rank_matrix([[1, 1]])
    with pytest.raises(InputError, match="rows must lie in"):
        Ranking.from_rank_matrix([[5]], gallery_ids=["a"])
    with pytest.raises(InputError, match="integers"):
        Ranking.from_rank_matrix([[0.0, 1.0]])


COLUMNS = {"query": ["q2", "q1", "q1"], "item": [4, 5, 6], "score": [0.5, 0.25, 0.75]}


@pytest.mark.parametrize(
    "make", [dict, pd.DataFrame, pl.DataFrame, pa.table], ids=["mapping", "pandas", "polars", "arrow"]
)
def test_tables(make: Any) -> None:
    assert listed(Ranking.from_frame(make(COLUMNS))) == {"q2": [(4, 0.5)], "q1": [(6, 0.75), (5, 0.25)]}


def test_parquet_and_other_column_names(tmp_path: Path) -> None:
    parquet.write_table(pa.table({"q": ["a", "a"], "d": ["x", "y"], "s": [1, 2]}), tmp_path / "run.parquet")
    ranking = Ranking.from_parquet(tmp_path / "run.parquet", query="q", item="d", score="s")
    assert ranking.listed("a") == [("y", 2.0), ("x", 1.0)]
    with pytest.raises(InputError, match="no column 'query'; there are 'q', 'd', 's'"):
        Ranking.from_parquet(tmp_path / "run.parquet")
    (tmp_path / "no.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(FileFormatError, match="Parquet"):
        Ranking.from_parquet(tmp_path / "no.parquet")


def test_what_tables_are_refused_for() -> None:
    with pytest.raises(InputError, match="never floats"):
        Ranking.from_frame({**COLUMNS, "item": [1.0, 2.0, 3.0]})
    with pytest.raises(InputError, match="empty in 1 row, first: 1"):
        Ranking.from_frame({**COLUMNS, "score": [0.5, None, 0.1]})
    with pytest.raises(InputError, match="numbers are needed"):
        Ranking.from_frame({**COLUMNS, "score": ["a", "b", "c"]})
    with pytest.raises(InputError, match="do not make a table"):
        Ranking.from_frame({**COLUMNS, "score": [1.0]})
    with pytest.raises(InputError, match="is not a table"):
        Ranking.from_frame(42)


def test_float32_scores_of_a_table_stay_float32() -> None:
    table = pa.table({**COLUMNS, "score": pa.array([0.1, 0.2, 0.3], pa.float32())})
    assert Ranking.from_frame(table).scores.dtype == np.float32


def test_pickles_whole() -> None:
    ranking = Ranking.from_similarity([[2.0, 2.0, 1.0]], k=1)
    again = pickle.loads(pickle.dumps(ranking))
    assert listed(again) == listed(ranking)
    assert again.cut_ties.tolist() == [True]


def test_rounding_and_positive_scores() -> None:
    ranking = Ranking.from_dict({"q": {"a": 0.1 + 1e-12, "b": 0.1, "c": 0.0, "d": -0.5}})
    rounded = ranking.rounded_to_float32()
    assert rounded.scores[0] == rounded.scores[1]
    assert [item for item, _ in ranking.where_positive().listed("q")] == ["a", "b"]
    beyond = Ranking.from_dict({"q": {"a": 1e300, "b": 1e299, "c": 3.4e38, "d": -1e300}}).rounded_to_float32()
    assert beyond.scores[0] == beyond.scores[1]
    assert (np.diff(beyond.scores[1:]) < 0).all()
