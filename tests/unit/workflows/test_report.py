"""A page of result files: what is compared with what, from the stored values, and what is said where it is not."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.errors import InputError
from visual_search.evaluation.statistics.paired import paired_difference
from visual_search.formats.results import StoredResult, read_result, write_result
from visual_search.reports.wording import p_value, signed
from visual_search.testing.sample_results import sample_results
from visual_search.workflows.compare import compare_files
from visual_search.workflows.report import report_results

Changed = Callable[..., Path]


@pytest.fixture
def results(tmp_path: Path) -> list[StoredResult]:
    """Leave-one-out with grid and colour, then one view an object with both."""
    return sample_results(tmp_path / "results", objects=8, views=4)


@pytest.fixture
def changed(tmp_path: Path) -> Changed:
    def rewritten(result: StoredResult, name: str, *, reverse: bool = False, **values: Any) -> Path:
        record = {key: value for key, value in (result.record | values).items() if not key.startswith("file")}
        queries = result.queries().to_pydict()
        if reverse:
            queries = {key: column[::-1] for key, column in queries.items()}
        out = tmp_path / name
        out.parent.mkdir(exist_ok=True)
        return write_result(out, record, ranking=result.ranking().to_pydict(), queries=queries, items=None).path

    return rewritten


def text_of(page: Path) -> str:
    shown = re.sub(r"<style>.*?</style>|<(?!wbr)[^>]*>", " ", page.read_text("utf-8"), flags=re.DOTALL)
    return " ".join(shown.replace("<wbr>", "").split())


def rows_of(page: Path) -> list[list[str]]:
    """Cells of the tables of paired differences."""
    tables = re.findall(
        r'<table class="paired"[^>]*>.*?<tbody[^>]*>(.*?)</tbody>', page.read_text("utf-8"), flags=re.DOTALL
    )
    rows = re.findall(r"<tr[^>]*>(.*?)</tr>", " ".join(tables), flags=re.DOTALL)
    cells = [re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row, flags=re.DOTALL) for row in rows]
    return [[" ".join(re.sub(r"<[^>]*>", " ", cell.replace("<wbr>", "")).split()) for cell in row] for row in cells]


def test_the_others_are_compared_with_the_first_from_the_stored_values(
    results: list[StoredResult], tmp_path: Path
) -> None:
    grid, colour = results[:2]
    page = report_results([colour.path, grid.path], tmp_path / "r.html")
    rows = rows_of(page)
    assert [row[:2] for row in rows] == [
        ["grid instead of colour", "HitRate@1"],
        ["grid instead of colour", "AP(denominator=all)@10"],
    ]
    for row in rows:
        ours, theirs = (np.array(one.queries()[row[1]].to_pylist(), dtype=np.float64) for one in (grid, colour))
        found = paired_difference(ours, theirs, groups=grid.queries()["group"].to_pylist())
        assert row[2].split()[0] == signed(found.difference)
        assert row[3] == f"{p_value(found.p_value)} {p_value(min(1, 2 * found.p_value))} adjusted"
        assert row[4:7] == [str(found.wins), str(found.losses), str(found.ties)]
        assert "all queries of a group together" in row[7]
        assert "of 8 independent groups differ, too few for resampling" in row[7]
    assert found.difference > 0
    text = text_of(page)
    assert "colour baseline" in text
    assert "What changes from one system to another" in text
    assert "Where grid differs most from colour" in text


def test_a_baseline_is_chosen_by_name(results: list[StoredResult], tmp_path: Path) -> None:
    paths = [result.path for result in results]
    page = report_results(paths, tmp_path / "r.html", baseline="colour")
    assert [row[0] for row in rows_of(page)] == ["grid instead of colour"] * 4
    assert [row[0] for row in rows_of(report_results(paths, tmp_path / "s.html"))] == ["colour instead of grid"] * 4
    with pytest.raises(InputError, match="no result of a model named 'else'"):
        report_results(paths, tmp_path / "t.html", baseline="else")


def test_queries_are_paired_by_id_not_by_row(results: list[StoredResult], changed: Changed, tmp_path: Path) -> None:
    straight = report_results([results[1].path, results[0].path], tmp_path / "r.html")
    turned = report_results(
        [results[1].path, changed(results[0], "turned.json", reverse=True)], tmp_path / "s.html"
    )
    assert [row[2].split()[0] for row in rows_of(turned)] == [row[2].split()[0] for row in rows_of(straight)]
    assert [row[4:7] for row in rows_of(turned)] == [row[4:7] for row in rows_of(straight)]


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("gallery", "the gallery"),
        ("queries", "the queries"),
        ("relevance", "the right answers"),
        ("exclusions", "what is left out of the lists"),
    ],
)
def test_results_on_other_data_are_not_compared_and_the_page_says_why(
    results: list[StoredResult], changed: Changed, tmp_path: Path, part: str, words: str
) -> None:
    prints = results[0].record["fingerprints"]
    other = changed(results[0], "other.json", fingerprints=prints | {part: "sha256:0"})
    page = report_results([results[1].path, other], tmp_path / "r.html")
    assert rows_of(page) == []
    assert f"Query by query, grid is not compared with colour: these differ: {words}." in text_of(page)
    untold = changed(results[0], "untold.json", fingerprints=prints | {part: None})
    page = report_results([results[1].path, untold], tmp_path / "r.html")
    assert rows_of(page) == []
    assert f"the files do not tell whether these agree: {words}." in text_of(page)


def test_values_that_are_gone_are_told_on_the_page(results: list[StoredResult], tmp_path: Path) -> None:
    (results[0].path.parent / results[0].record["files"]["queries"]).unlink()
    page = report_results([results[1].path, results[0].path], tmp_path / "r.html")
    assert rows_of(page) == []
    assert "Query by query, grid is not compared with colour: loo-grid.json: its queries file" in text_of(page)


def test_one_result_has_no_baseline_and_no_comparison(results: list[StoredResult], tmp_path: Path) -> None:
    page = report_results([results[0].path], tmp_path / "r.html", title="Grid")
    assert "<h1>Grid</h1>" in page.read_text("utf-8")
    assert rows_of(page) == []
    assert '<span class="tag">' not in page.read_text("utf-8")


def test_results_of_one_model_are_told_apart_by_their_files(
    results: list[StoredResult], changed: Changed, tmp_path: Path
) -> None:
    before, after = changed(results[1], "before/r.json"), changed(results[0], "after/r.json", model_name="colour")
    page = report_results([before, after], tmp_path / "r.html")
    assert {row[0] for row in rows_of(page)} == {"colour (after/r.json) instead of colour (before/r.json)"}
    assert page.read_text("utf-8").count('(before/r.json)</bdi></span> <span class="tag">baseline') > 0
    assert '(after/r.json)</bdi></span> <span class="tag">baseline' not in page.read_text("utf-8")
    assert read_result(after).record["model_name"] == "colour"


def test_every_json_of_a_folder_of_results_may_be_given(results: list[StoredResult], tmp_path: Path) -> None:
    folder = results[0].path.parent
    every = sorted(path for path in folder.iterdir() if path.is_file())
    assert len(every) > len(results)
    whole = report_results(every, tmp_path / "every.html").read_text("utf-8")
    alone = [path for path in every if path in {one.path for one in results}]
    assert whole == report_results(alone, tmp_path / "alone.html").read_text("utf-8")
    two = [one.path for one in results[:2]]
    beside = [path for path in every if path.name.startswith((two[0].stem + ".", two[1].stem + "."))]
    assert len(beside) > 2
    assert compare_files(beside).as_json() == compare_files(sorted(two)).as_json()
