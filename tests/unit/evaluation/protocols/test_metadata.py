"""Metadata tables: what is read, what is refused, and what the message says."""

from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from visual_search.errors import DuplicateIdError, FileFormatError, InputError, NonFiniteError
from visual_search.evaluation.protocols.metadata import Metadata
from visual_search.formats.csv_columns import read_csv_columns


def test_every_kind_of_table_reads_the_same(table: dict[str, list[Any]], tmp_path: Path) -> None:
    lines = [",".join(table), *(",".join(map(str, row)) for row in zip(*table.values(), strict=True))]
    (tmp_path / "table.csv").write_text("\ufeff" + "\r\n".join(lines) + "\r\n", "utf-8")
    (tmp_path / "table.tsv").write_text("\n".join(lines).replace(",", "\t"))
    pq.write_table(pa.table(table), tmp_path / "table.parquet")
    sources = [
        table,
        tmp_path / "table.csv",
        tmp_path / "table.tsv",
        tmp_path / "table.parquet",
        pd.DataFrame(table),
        pl.DataFrame(table),
    ]
    for source in sources:
        side = Metadata(source, where={"split": "test"}).side("index", group="scene_id", view="view_id")
        assert list(side.ids) == list(range(112, 124))
        assert side.view is not None
        assert side.view.rows() == [0, 1] * 6


def test_zeros_of_an_id_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("a,b,c\n001,-7,1e3\n2,0,4\n")
    assert read_csv_columns(path) == {"a": ["001", "2"], "b": [-7, 0], "c": ["1e3", "4"]}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "no header"),
        (b"a,a\n1,2\n", "named more than once"),
        (b"a,\n1,2\n", "column 2 has no name"),
        (b"a,b\n1\n1,2\n1,2,3\n", "line 2: 1 cells; the header has 2"),
        (b"a,b\n1\n1,2\n1,2,3\n", "line 4: 3 cells"),
        (b'a,b\n"1,2\n', "not CSV"),
        ("a\nå\n".encode("latin-1"), "not UTF-8"),
    ],
)
def test_a_broken_csv_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "t.csv"
    path.write_bytes(content)
    with pytest.raises(FileFormatError, match=said):
        Metadata(path)


def test_a_wrong_column_lists_those_there_are(table: dict[str, list[Any]]) -> None:
    with pytest.raises(InputError, match=r"no column 'scene'; there are 'index', 'scene_id', 'view_id', 'split'"):
        Metadata(table).column("scene")
    with pytest.raises(InputError, match=r"no column 'part'; there are"):
        Metadata(table, where={"part": "test"})


def test_a_wrong_value_lists_those_there_are(table: dict[str, list[Any]]) -> None:
    with pytest.raises(InputError, match=r"split: no row has 'tset'; there are 'train', 'test'"):
        Metadata(table, where={"split": "tset"})


def test_several_values_and_several_columns_of_where(table: dict[str, list[Any]]) -> None:
    assert len(Metadata(table, where={"split": ["train", "test"], "view_id": "0"})) == 12


def test_empty_cells_repeated_ids_and_floats_are_refused() -> None:
    with pytest.raises(InputError, match=r"column 'g' is empty in 1 rows, first: 1"):
        Metadata({"g": ["a", "", "b"]}).column("g")
    with pytest.raises(DuplicateIdError, match="'a'"):
        Metadata({"i": ["a", "b", "a"]}).ids("i")
    with pytest.raises(InputError, match="never floats"):
        Metadata({"g": [1.0, 2.0]}).column("g")


def test_numbers_are_read_from_text_and_must_be_finite() -> None:
    assert Metadata({"x": ["1.5", "2"]}).numbers("x").tolist() == [1.5, 2.0]
    with pytest.raises(InputError, match="numbers are needed; got 'east'"):
        Metadata({"x": ["1.5", "east"]}).numbers("x")
    with pytest.raises(NonFiniteError, match="rows 1"):
        Metadata({"x": [0.0, float("nan")]}).numbers("x")


def test_without_an_id_column_rows_of_the_whole_table_are_the_ids(table: dict[str, list[Any]]) -> None:
    assert list(Metadata(table, where={"split": "test"}).ids(None)) == list(range(12, 24))
