"""What the page says before its numbers: how many systems, who chose the right answers, under which name."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from visual_search.formats.results import StoredResult
from visual_search.reports.page import write_report

Parse = Callable[[Path], Any]


def of(result: StoredResult, **values: Any) -> StoredResult:
    """The same files under a record with other values."""
    return StoredResult(result.path, result.record | values)


@pytest.fixture
def told(tmp_path: Path, parse: Parse) -> Callable[..., Any]:
    def page(*results: StoredResult, **options: Any) -> Any:
        return parse(write_report(results, tmp_path / "r.html", **options))

    return page


def lead(page: Any) -> str:
    text: str = page.one("p", "lead").text
    return text


def test_what_is_shown_is_counted(results: list[StoredResult], told: Callable[..., Any]) -> None:
    loo_grid, loo_colour, one_grid, _ = results
    assert lead(told(*results)).startswith("2 search systems answered up to 12 queries each, under 2 protocols.")
    mixed = told(loo_grid, loo_colour, one_grid)
    assert lead(mixed).startswith("3 results of 2 search systems, under 2 protocols, of up to 12 queries each.")
    assert lead(told(loo_grid, loo_grid)).startswith("2 search systems answered 12 queries each.")
    assert lead(told(loo_grid)).startswith("1 search system answered 12 queries.")


def test_a_model_that_chose_the_right_answers_is_named_at_once(
    results: list[StoredResult], told: Callable[..., Any]
) -> None:
    pseudo = {"kind": "pseudo", "pseudo_model": "teacher", "threshold": 0.5}
    page = told(of(results[0], truth=pseudo))
    assert "A model, teacher, chose what counts as right; nobody judged it." in lead(page)
    assert "known beforehand" not in lead(page)
    assert "A model chose what counts" in lead(told(of(results[0], truth={"kind": "pseudo"})))
    mixed = told(of(results[0], truth=pseudo), results[1])
    assert "A model, teacher, chose some of what counts as right" in lead(mixed)
    assert "The right answers are known beforehand" in lead(told(results[0]))


@pytest.mark.parametrize("dataset", ["shop photographs", {"name": "shop photographs"}])
def test_without_a_protocol_the_data_set_names_the_part(
    results: list[StoredResult], told: Callable[..., Any], dataset: Any
) -> None:
    page = told(of(results[0], protocol=None, dataset=dataset))
    assert page.one("h2", id="protocol-1-title").text == "shop photographs"
    assert page.one("h2", id="protocol-1-card").text == "shop photographs"


def test_without_any_name_the_page_invents_none(results: list[StoredResult], told: Callable[..., Any]) -> None:
    bare = [of(result, protocol=None, dataset=None, warnings=["A warning."]) for result in results[:2]]
    bare[1] = of(bare[1], notes=["About colour."])
    page = told(*bare)
    assert page.one("h2", id="protocol-1-title").text == "Results"
    text = page.one("body").text
    assert "as measured" not in text
    assert "under ," not in text
    assert "(\u2068colour\u2069)" in page.one("section", "remarks").text


def test_one_is_singular(results: list[StoredResult], told: Callable[..., Any]) -> None:
    only = of(
        results[0],
        num_queries=1,
        per_query_results=results[0].record["per_query_results"][:1],
        index=results[0].record["index"] | {"items": 1},
    )
    text = told(only, cases=1, shown=1).one("body").text
    assert "1 query" in text
    assert "a gallery of 1 image" in text
    assert "Of each system the query with the lowest and the one with the highest average precision" in text
    assert "with the first result; where it is wrong," in text
    for plural in ("1 queries", "1 images", "1 results", "first 1 results", "1 groups"):
        assert f" {plural}" not in text


def test_rules_are_named_in_words_and_explained_among_the_definitions(
    results: list[StoredResult], told: Callable[..., Any]
) -> None:
    page = told(*results)
    assert "counted by the rules of the visual search evaluation guide" in page.one("section", id="protocol-1").text
    rules = page.one("section", id="definitions").one("li", "rules").text
    assert rules.startswith("the rules of the visual search evaluation guide: recall and AP are divided by all")
    assert "preset" not in page.one("main").text
    unknown = told(of(results[0], preset="house rules"))
    assert "counted by rules called “house rules”" in unknown.one("section", id="protocol-1").text
    assert not unknown.all("li", "rules")
    none = told(of(results[0], preset=None))
    assert "counted by" not in none.one("main").text
