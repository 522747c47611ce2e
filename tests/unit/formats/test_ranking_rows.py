"""Rows of one query are those that reading everything gives, however they are stored."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from visual_search.errors import FileFormatError
from visual_search.formats.query_runs import QueryRuns
from visual_search.formats.ranking_rows import RankingRows
from visual_search.formats.result_tables import ranking_table


def table(queries: list[Any]) -> pa.Table:
    count = len(queries)
    position = np.arange(1, count + 1)
    return ranking_table(
        {
            "query": queries,
            "position": position,
            "rank": position,
            "item": [f"i{n}" for n in range(count)],
            "score": np.linspace(1, 0, count),
            "state": ["relevant"] * count,
        }
    )


@pytest.mark.parametrize("group", [1, 3, 7, 1000])
@pytest.mark.parametrize("dictionary", [True, False])
@pytest.mark.parametrize(
    "queries",
    [
        ["b"] * 5 + ["a"] + ["c"] * 9,
        [7] * 4 + [3] * 4 + [2**62],
        ["a", "b", "a", "c", "c", "b"],
        ["only"] * 12,
        [],
    ],
    ids=["runs", "numbers", "scattered", "one", "none"],
)
def test_one_query_as_from_the_whole(tmp_path: Path, queries: list[Any], group: int, dictionary: bool) -> None:
    whole = table(queries)
    path = tmp_path / "r.parquet"
    pq.write_table(whole, path, row_group_size=group, use_dictionary=dictionary)
    rows = RankingRows(path)
    assert len(rows) == len(set(queries))
    for query in [*dict.fromkeys(queries), "nobody" if not queries or isinstance(queries[0], str) else -1]:
        of_query = [row for row in whole.to_pylist() if row["query"] == query]
        expected = [{name: value for name, value in row.items() if name != "query"} for row in of_query]
        assert rows.rows(query).to_pylist() == expected


def test_a_file_that_is_damaged_or_foreign_is_named(tmp_path: Path) -> None:
    (tmp_path / "cut.parquet").write_bytes(b"PAR1 and nothing else")
    with pytest.raises(FileFormatError, match=r"cut\.parquet: damaged"):
        RankingRows(tmp_path / "cut.parquet")
    pq.write_table(pa.table({"query": ["a"]}), tmp_path / "foreign.parquet")
    with pytest.raises(FileFormatError, match="'item': column missing"):
        RankingRows(tmp_path / "foreign.parquet")


def test_a_file_that_goes_after_it_was_opened_is_told(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    pq.write_table(table(["a", "b"]), path)
    rows = RankingRows(path)
    path.unlink()
    with pytest.raises(FileFormatError, match="gone since it was opened"):
        rows.rows("a")


@pytest.mark.parametrize(
    "queries", [["b", "b", "a", "b", "c"], [7, 7, 3], []], ids=["scattered", "numbers", "none"]
)
def test_known_runs_give_the_same_rows_and_go_through_json(tmp_path: Path, queries: list[Any]) -> None:
    path = tmp_path / "r.parquet"
    pq.write_table(table(queries), path, row_group_size=2)
    found = RankingRows(path)
    known = RankingRows(path, QueryRuns(**json.loads(json.dumps(found.runs.as_json()))))
    for query in set(queries):
        assert known.rows(query).equals(found.rows(query))
    assert len(known) == len(found)


def test_runs_of_another_file_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.parquet"
    pq.write_table(table(["a", "a", "b"]), path)
    with pytest.raises(FileFormatError, match=r"r\.parquet: has 3 rows; the runs given have 2"):
        RankingRows(path, QueryRuns(["a"], [2]))
