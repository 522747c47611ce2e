"""Parts of the queries: by category and by the number of right answers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.evaluation.statistics.bootstrap import bootstrap_mean
from visual_search.formats.results import StoredResult, read_result, write_result
from visual_search.reports.page import write_report
from visual_search.reports.protocol_groups import group_by_protocol
from visual_search.reports.slice_tables import slice_tables
from visual_search.reports.systems import load_systems


def with_columns(result: StoredResult, out: Path, **columns: Any) -> StoredResult:
    record = {key: value for key, value in result.record.items() if not key.startswith("file")}
    queries = result.queries().to_pydict() | columns
    written = write_result(out, record, ranking=result.ranking().to_pydict(), queries=queries, items=None)
    return read_result(written.path)


def test_means_and_intervals_are_those_of_each_part(results: list[StoredResult], tmp_path: Path) -> None:
    kinds = ["cup", "<b>vase</b>", None] * 4
    sliced = [with_columns(one, tmp_path / f"{n}.json", category=kinds) for n, one in enumerate(results[:2])]
    [group] = group_by_protocol(load_systems(sliced))
    tables = [one for one in slice_tables(group) if one.attribute == "category"]
    assert [one.measure for one in tables] == ["HitRate@1", "AP(denominator=all)@10"]
    for table in tables:
        assert [(row.name, row.queries) for row in table.rows] == [("cup", 4), ("<b>vase</b>", 4)]
        for place, stored in enumerate(sliced):
            columns = stored.queries()
            values = np.array(columns[table.measure].to_pylist(), dtype=np.float64)
            owners = columns["group"].to_pylist()
            for row in table.rows:
                inside = [r for r, kind in enumerate(kinds) if kind == row.name]
                cell = row.cells[place]
                assert cell is not None
                assert cell.mean == pytest.approx(values[inside].mean())
                assert cell.interval == bootstrap_mean(values[inside], groups=[owners[r] for r in inside])
    page = write_report(sliced, tmp_path / "p.html").read_text("utf-8")
    assert "Parts of the queries" in page
    assert "<b>vase" not in page


def test_queries_are_parted_by_how_many_right_answers_they_have(
    results: list[StoredResult], tmp_path: Path
) -> None:
    sizes = [1, 2, 5, 6, 20, 21, 1, 2, 5, 6, 20, 0]
    [group] = group_by_protocol(load_systems([with_columns(results[0], tmp_path / "s.json", num_relevant=sizes)]))
    first = slice_tables(group)[0]
    assert first.attribute == "number of right answers"
    assert [(row.name, row.queries) for row in first.rows] == [
        ("1", 2),
        ("2 to 5", 4),
        ("6 to 20", 4),
        ("21 or more", 1),
    ]


def test_queries_of_one_kind_are_not_parted(results: list[StoredResult]) -> None:
    [group] = group_by_protocol(load_systems([results[0]]))
    assert slice_tables(group) == []
    (results[0].path.parent / results[0].record["files"]["queries"]).unlink()
    assert slice_tables(group) == []


def test_of_many_parts_the_smaller_ones_are_counted(results: list[StoredResult], tmp_path: Path) -> None:
    many = [f"kind {n}" for n in range(12)]
    [group] = group_by_protocol(load_systems([with_columns(results[0], tmp_path / "m.json", category=many)]))
    [table, _] = [one for one in slice_tables(group) if one.attribute == "category"]
    assert (len(table.rows), table.more) == (12, 0)
