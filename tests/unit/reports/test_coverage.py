"""What the numbers count: queries, groups, judged share, equal scores."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from visual_search.formats.results import StoredResult
from visual_search.reports.coverage import coverage_of
from visual_search.reports.page import write_report
from visual_search.reports.protocol_groups import ProtocolGroup, group_by_protocol
from visual_search.reports.systems import load_systems

Changed = Callable[..., StoredResult]


def group_of(*results: StoredResult) -> ProtocolGroup:
    return group_by_protocol(load_systems(results))[0]


def test_everything_judged_and_no_ties(results: list[StoredResult]) -> None:
    found = coverage_of(group_of(results[0], results[1]))
    assert [one.system.label for one in found] == ["grid", "colour"]
    for one in found:
        assert (one.queries, one.counted, one.undefined, one.groups, one.depth) == (12, (12, 12), 0, 4, 10)
        assert one.judged == 1.0
        assert one.tied == 0


def test_unjudged_results_and_equal_scores_are_counted(results: list[StoredResult], changed: Changed) -> None:
    whole = results[0].ranking().to_pydict()
    query = whole["query"][0]

    def spoiled(columns: dict[str, Any]) -> dict[str, Any]:
        rows = range(len(columns["query"]))
        # The first of each list is unjudged; the first query's ranks 2 and 3 have one score.
        states = ["unjudged" if columns["rank"][r] == 1 else columns["state"][r] for r in rows]
        second = next(r for r in rows if columns["query"][r] == query and columns["rank"][r] == 2)
        scores = list(columns["score"])
        scores[second + 1] = scores[second]
        return columns | {"state": states, "score": scores}

    [found] = coverage_of(group_of(changed(results[0], ranking=spoiled)))
    looked_at = sum(rank is not None and rank <= 10 for rank in whole["rank"])
    assert found.judged == pytest.approx(1 - 12 / looked_at)
    assert found.tied == 1


def test_a_tie_across_the_depth_counts_and_one_behind_it_does_not(
    results: list[StoredResult], changed: Changed
) -> None:
    def tied_at(rank: int) -> StoredResult:
        def spoiled(columns: dict[str, Any]) -> dict[str, Any]:
            scores = list(columns["score"])
            row = next(r for r, one in enumerate(columns["rank"]) if one == rank)
            scores[row + 1] = scores[row]
            return columns | {"score": scores}

        return changed(results[0], ranking=spoiled, k_values=[1, 5, 10])

    assert coverage_of(group_of(tied_at(10)))[0].tied == 1
    assert coverage_of(group_of(tied_at(11)))[0].tied == 0


def test_without_a_ranking_nothing_is_claimed(results: list[StoredResult], tmp_path: Path) -> None:
    (results[0].path.parent / results[0].record["files"]["ranking"]).unlink()
    [found] = coverage_of(group_of(results[0]))
    assert (found.judged, found.tied) == (None, None)
    page = write_report([results[0]], tmp_path / "r.html").read_text("utf-8")
    assert "Judged of the first 10" in page
