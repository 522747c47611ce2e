"""The headline of a result: what the whole file says, without parsing its queries; nothing unchecked is returned."""

import json
from pathlib import Path
from typing import Any

import pytest

from visual_search.errors import FileFormatError
from visual_search.formats.result_record import record_text
from visual_search.formats.results import read_headline, read_result
from visual_search.testing.sample_results import sample_results


@pytest.fixture
def path(tmp_path: Path) -> Path:
    sample_results(tmp_path, objects=3, views=2)
    return tmp_path / "loo-grid.json"


def changed(path: Path, **values: Any) -> str:
    return record_text(json.loads(path.read_text()) | values)


def test_the_headline_is_that_of_the_whole_file(path: Path) -> None:
    whole = read_result(path).record
    assert len(whole["per_query_results"]) == 6
    assert read_headline(path) == whole | {"per_query_results": []}


@pytest.mark.parametrize("indent", [None, 1, 2, 4])
def test_however_it_is_written(path: Path, indent: int | None) -> None:
    whole = read_result(path).record
    path.write_text(json.dumps(whole, indent=indent))
    assert read_headline(path) == whole | {"per_query_results": []}


def test_a_result_without_a_file_of_queries_keeps_its_own(path: Path) -> None:
    path.write_text(changed(path, files={}))
    assert read_headline(path) == read_result(path).record


def test_the_queries_lines_are_not_parsed_and_not_returned(path: Path) -> None:
    text = path.read_text()
    first = text.index("    {", text.index("per_query_results"))
    path.write_text(text[: first + 5] + "not JSON, " + text[first + 5 :])
    assert read_headline(path)["per_query_results"] == []
    with pytest.raises(FileFormatError):
        read_result(path)


@pytest.mark.parametrize(
    "values", [{"map": "high"}, {"num_queries": -1}, {"k_values": []}, {"model_name": 3}, {"format_version": 99}]
)
def test_the_rest_is_checked_as_ever(path: Path, values: dict[str, Any]) -> None:
    path.write_text(changed(path, **values))
    with pytest.raises(FileFormatError) as of_whole:
        read_result(path)
    with pytest.raises(FileFormatError) as of_headline:
        read_headline(path)
    assert str(of_headline.value) == str(of_whole.value)


def test_keys_among_the_lines_of_queries_are_not_passed_over(path: Path) -> None:
    text = path.read_text()
    start = text.index("\n  ]", text.index("per_query_results"))
    path.write_text(text[:start] + '\n  ],\n  "map": NaN,\n  "more": [' + text[start:])
    with pytest.raises(FileFormatError, match="NaN"):
        read_headline(path)


def test_a_file_that_is_cut_off_is_refused(path: Path) -> None:
    text = path.read_text()
    middle = text.index("per_query_results") + 100
    path.write_text(text[:middle])
    with pytest.raises(FileFormatError, match="cut off"):
        read_headline(path)
