"""Which queries a page shows, and what it shows of each."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from visual_search.formats.results import StoredResult
from visual_search.reports.cases import best_queries, cases_of, most_different, worst_queries
from visual_search.reports.pictures import Album
from visual_search.reports.systems import QueryValues, System, load_systems


def a_system(*values: tuple[Any, ...]) -> System:
    """Queries as (id, ap, rr, number of relevant items, group)."""
    per_query = [QueryValues(*one) for one in values]
    return System(StoredResult(Path("none.json"), {}), "s", {}, per_query)


def ids(chosen: list[QueryValues]) -> list[Any]:
    return [values.query for values in chosen]


class TestOrder:
    def test_by_average_precision_then_reciprocal_rank(self) -> None:
        system = a_system(
            ("a", 0.5, 1.0, 2, None), ("b", 0.1, 0.5, 2, None), ("c", 0.1, 0.2, 2, None), ("d", 0.9, 1, 2, None)
        )
        assert ids(worst_queries(system, 3)) == ["c", "b", "a"]
        assert ids(best_queries(system, 2)) == ["d", "a"]

    def test_among_equals_more_relevant_items_come_first(self) -> None:
        system = a_system(("a", 0.0, 0.0, 1, None), ("b", 0.0, 0.0, 9, None), ("c", 0.0, 0.0, 4, None))
        assert ids(worst_queries(system, 2)) == ["b", "c"]
        full = a_system(("a", 1.0, 1.0, 1, None), ("b", 1.0, 1.0, 9, None))
        assert ids(best_queries(full, 1)) == ["b"]

    def test_among_equals_each_group_comes_before_a_second_of_one(self) -> None:
        system = a_system(*((f"{g}{n}", 1.0, 1.0, 3, g) for g in "xyz" for n in range(3)))
        assert ids(best_queries(system, 5)) == ["x0", "y0", "z0", "x1", "y1"]

    def test_groups_never_overrule_values(self) -> None:
        system = a_system(("x0", 0.1, 1, 3, "x"), ("x1", 0.2, 1, 3, "x"), ("y0", 0.3, 1, 3, "y"))
        assert ids(worst_queries(system, 2)) == ["x0", "x1"]

    def test_without_groups_the_order_of_the_file_stands(self) -> None:
        system = a_system(*((n, 1.0, 1.0, None, None) for n in range(6)))
        assert ids(best_queries(system, 3)) == [0, 1, 2]

    def test_undefined_queries_are_left_out(self) -> None:
        system = a_system(("a", None, None, 0, None), ("b", 0.5, 1.0, 1, None))
        assert ids(worst_queries(system, 5)) == ["b"]

    def test_the_most_different_first_and_equal_ones_not(self) -> None:
        first = a_system(
            ("a", 0.5, 1, 1, None), ("b", 0.9, 1, 1, None), ("c", 0.2, 1, 1, None), ("d", None, None, 0, None)
        )
        second = a_system(
            ("c", 0.6, 1, 1, None), ("b", 0.1, 1, 1, None), ("a", 0.5, 1, 1, None), ("d", 0.3, 1, 1, None)
        )
        assert ids(most_different(first, second, 5)) == ["b", "c"]


class TestCases:
    @pytest.fixture
    def system(self, sample: list[StoredResult]) -> System:
        return load_systems(sample)[1]

    def test_the_head_of_the_list_and_its_first_right_item(self, system: System) -> None:
        cases = cases_of(system, system.per_query, Album(), shown=2)
        rows = system.result.ranking().to_pylist()
        for values in system.per_query:
            own = [row for row in rows if row["query"] == values.query]
            right = [row["rank"] for row in own if row["state"] == "relevant"]
            case = cases[values.query]
            assert [hit.item for hit in case.hits] == [row["item"] for row in own[:2]]
            assert case.returned == len(own)
            assert case.first_relevant == min(right)
            assert (case.later is None) == (min(right) <= 2)
        assert any(case.later for case in cases.values())

    def test_a_query_without_a_list(
        self, results: list[StoredResult], changed: Callable[..., StoredResult]
    ) -> None:
        def emptied(columns: dict[str, Any]) -> dict[str, Any]:
            keep = [query != "object 1/view 1.png" for query in columns["query"]]
            return {name: [v for v, k in zip(column, keep, strict=True) if k] for name, column in columns.items()}

        (system,) = load_systems([changed(results[0], ranking=emptied)])
        case = cases_of(system, system.per_query[:1], Album(), shown=3)["object 1/view 1.png"]
        assert (case.hits, case.later, case.returned, case.first_relevant) == ([], None, 0, None)
