"""Slices that were stored with a result by ``score --slices``: shown as they were computed."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from visual_search.errors import FileFormatError
from visual_search.evaluation.slices import slices
from visual_search.evaluation.statistics.measure_intervals import measure_intervals
from visual_search.formats.results import StoredResult, read_result
from visual_search.reports.page import write_report
from visual_search.reports.protocol_groups import ProtocolGroup, group_by_protocol
from visual_search.reports.slice_grids import slice_grids
from visual_search.reports.slice_tables import MOST_PARTS
from visual_search.reports.stored_slices import stored_slice_tables
from visual_search.reports.systems import load_systems
from visual_search.workflows.score import score_run

MEASURES = ["RR", "Precision@2"]
VALUES = {"q1": "<b>night</b>", "q2": "day", "q3": "<b>night</b>", "q4": "day", "q5": "day"}


@pytest.fixture
def stored(tmp_path: Path) -> StoredResult:
    """Five queries, parted by light, under names that are markup."""
    run = {query: {"a": 0.9, "b": 0.5, "c": 0.1} for query in VALUES}
    right = {"q1": {"a": 1}, "q2": {"b": 1}, "q3": {"c": 1}, "q4": {"a": 1, "b": 1}, "q5": {"b": 1, "c": 1}}
    (tmp_path / "run.json").write_text(json.dumps(run))
    (tmp_path / "qrels.json").write_text(json.dumps(right))
    (tmp_path / "light.tsv").write_text("".join(f"{query}\t{value}\n" for query, value in VALUES.items()))
    scored = score_run(
        tmp_path / "run.json", tmp_path / "qrels.json", MEASURES, attribute=tmp_path / "light.tsv", name="run"
    )
    scored.write(tmp_path / "run-result.json")
    return read_result(tmp_path / "run-result.json")


def group_of(*results: StoredResult) -> ProtocolGroup:
    return group_by_protocol(load_systems(results))[0]


def rewritten(stored: StoredResult, name: str, **changes: Any) -> StoredResult:
    path = stored.path.with_name(name)
    path.write_text(json.dumps(stored.record | changes))
    return read_result(path)


def test_the_tables_say_what_was_scored(stored: StoredResult, tmp_path: Path) -> None:
    tables = stored_slice_tables(group_of(stored))
    assert [(one.attribute, one.measure) for one in tables] == [
        ("light", "Precision(denominator=k)@2"),
        ("light", "RR"),
    ]
    whole = score_run(tmp_path / "run.json", tmp_path / "qrels.json", MEASURES).result
    parts = slices(whole, VALUES)
    for table in tables:
        assert [(row.name, row.queries) for row in table.rows] == [
            ("<b>night</b>", 2),
            ("day", 3),
            ("(mean of slices)", None),
        ]
        for row in table.rows[:2]:
            [cell] = row.cells
            assert cell is not None
            part = parts[row.name]
            assert cell.mean == pytest.approx(part[table.measure].mean, abs=1e-15)
            interval = measure_intervals(part)[part[table.measure].measure]
            assert interval is not None
            assert cell.interval is not None
            assert (cell.interval.low, cell.interval.high) == (interval.low, interval.high)
        [over] = table.rows[2].cells
        assert over is not None
        assert over.mean == pytest.approx(parts.macro_mean(table.measure), abs=1e-15)
        assert over.interval is None


def test_a_report_of_one_has_the_measures_side_by_side(
    stored: StoredResult, tmp_path: Path, parse: Callable[[Path], Any]
) -> None:
    page = parse(write_report([stored], tmp_path / "page.html"))
    [table] = page.all("table", class_="slices")
    assert table.one("caption").text == "By light"
    heads = [one.text for one in table.all("th", scope="col")]
    assert heads == ["Light", "Queries", "Precision(denominator=k)@2", "RR"]
    assert [one.text for one in table.all("th", scope="row")] == ["<b>night</b>", "day", "(mean of slices)"]


def test_of_two_each_measure_has_a_table_with_a_column_a_system(
    stored: StoredResult, tmp_path: Path, parse: Callable[[Path], Any]
) -> None:
    kept = [row for row in stored.record["slices"] if row["slice"] != "day"]
    other = rewritten(stored, "other.json", model_name="other", slices=kept)
    page = parse(write_report([stored, other], tmp_path / "page.html"))
    tables = page.all("table", class_="slices")
    assert [one.one("caption").text for one in tables] == ["Precision(denominator=k)@2 by light", "RR by light"]
    day = tables[1].all("tr")[2]
    assert [one.text for one in day.all("td")][2] == "–"


def test_results_from_before_the_attribute_was_named(stored: StoredResult) -> None:
    tables = stored_slice_tables(group_of(rewritten(stored, "old.json", sliced_by=None)))
    assert {one.attribute for one in tables} == {"slice"}


def test_of_many_parts_the_others_are_counted(stored: StoredResult) -> None:
    many = [{"slice": f"kind {n}", "measure": "RR", "mean": 0.5, "counted": 1} for n in range(MOST_PARTS + 3)]
    [table] = stored_slice_tables(group_of(rewritten(stored, "many.json", slices=many)))
    assert (len(table.rows), table.more) == (MOST_PARTS, 3)
    [grid] = slice_grids([table])
    assert (len(grid.rows), grid.more) == (MOST_PARTS, 3)


def test_without_slices_there_is_no_table(stored: StoredResult) -> None:
    assert stored_slice_tables(group_of(rewritten(stored, "none.json", slices=None))) == []


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("easy", "slices: a list or null is needed"),
        ([{"slice": "easy", "measure": "RR"}], "slices[0].mean: needed"),
        ([{"slice": None, "measure": "RR", "mean": 0.5}], "slices[0].slice: it may be absent, not null"),
        ([{"slice": "easy", "measure": "RR", "mean": "high"}], "slices[0].mean: a number or null is needed"),
    ],
)
def test_slices_of_another_shape_are_refused(stored: StoredResult, rows: Any, said: str) -> None:
    with pytest.raises(FileFormatError) as refused:
        rewritten(stored, "bad.json", slices=rows)
    assert said in str(refused.value)
