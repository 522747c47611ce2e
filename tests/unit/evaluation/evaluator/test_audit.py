from typing import Any

import pytest

from visual_search.evaluation.audit import Audit, audit_dataset
from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.ids import Id


def audit(queries: list[dict[str, Any]], application_k: int | None = None, **seen: str) -> Audit:
    rows = [{"query_id": f"q{row}", "ground_truth": ["x"]} | query for row, query in enumerate(queries)]
    dataset = EvaluationDataset.from_dict({"queries": rows})
    trivial: dict[Id, str] = dict(seen.items())
    return audit_dataset(dataset, k_values=[1, 10], application_k=application_k, trivial=trivial)


def test_a_sound_set_draws_no_warning() -> None:
    found = audit([{"category": "ab"[row % 2], "group": f"g{row}"} for row in range(60)], application_k=10)
    assert found.warnings == ()
    assert found.categories == {"a": 30, "b": 30}
    assert found.groups == 60


@pytest.mark.parametrize(("count", "warned"), [(1, "only 1 query:"), (49, "only 49 queries:"), (50, None)])
def test_fewer_than_fifty_queries(count: int, warned: str | None) -> None:
    said = [line for line in audit([{}] * count).warnings if "fewer than 50" in line]
    assert [line.startswith(warned) for line in said if warned] == ([True] if warned else [])
    assert bool(said) == bool(warned)


def test_sizes_of_the_ground_truth() -> None:
    found = audit([{"ground_truth": []}, {}, {}, {"ground_truth": [f"x{n}" for n in range(10)]}])
    assert found.truth_sizes == {"min": 1, "median": 1.0, "max": 10}
    assert found.empty == ("q0",)
    assert any("the median query has 1 relevant items, the largest 10" in line for line in found.warnings)
    assert any("1 of 4 queries have no relevant item; it is left out" in line for line in found.warnings)


def test_no_truth_at_all() -> None:
    found = audit([{"ground_truth": []}])
    assert found.truth_sizes == {"min": 0, "median": 0, "max": 0}
    assert any("nothing can be measured" in line for line in found.warnings)


def test_grades_below_one_are_pointed_out() -> None:
    assert any("grades between 0 and 1" in line for line in audit([{"ground_truth": {"x": 0.5}}]).warnings)


def test_balance_of_categories() -> None:
    found = audit([{"category": "cat"}] * 10 + [{"category": "dog"}] * 2 + [{}])
    assert found.categories == {"cat": 10, "dog": 2, None: 1}
    assert "categories are unbalanced: 'cat' has 10 queries, 'dog' only 2" in found.warnings
    assert "1 query has no category" in found.warnings
    assert found.as_json()["categories"] == {"cat": 10, "dog": 2, "(none)": 1}
    assert audit([{}]).categories is None


def test_few_groups() -> None:
    found = audit([{"group": f"g{row % 3}"} for row in range(60)])
    assert found.groups == 3
    assert found.warnings == ("only 3 independent groups: intervals over so few are too narrow",)


def test_trivial_queries_are_counted_by_how_they_were_seen() -> None:
    found = audit([{}] * 4, q0="by id", q1="by id", q3="by equal bytes")
    assert found.trivial_share == 0.75
    assert any(
        "3 of 4 queries are trivial" in line and "2 by id, 1 by equal bytes" in line for line in found.warnings
    )
    assert found.as_json()["trivial_queries"] == ["q0", "q1", "q3"]


@pytest.mark.parametrize(("shown", "warned"), [(None, False), (10, False), (12, True)])
def test_the_depth_the_application_shows(shown: int | None, warned: bool) -> None:
    said = "the application shows 12 results, which is not among k = 1, 10"
    assert (said in audit([{}], shown).warnings) == warned
