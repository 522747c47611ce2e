"""The demonstration's figures, from its own run."""

import json
from pathlib import Path

import pytest

from visual_search.cli.main import main
from visual_search.datasets.orl_faces import load_orl_faces
from visual_search.formats.results import read_result
from visual_search.reports.page import write_report
from visual_search.workflows.demo import BASELINE, NETWORK, DemoReport, run_demo


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> DemoReport:
    return run_demo(tmp_path_factory.mktemp("demo") / "out")


def test_leave_one_out_finds_the_person_first(demo: DemoReport) -> None:
    result = demo.results["leave-one-out", NETWORK]
    assert result.num_queries == 400
    assert result.hit_rate_at_k[1] >= 0.98
    # Recall@1 divides by all nine photographs of the person, so 1/9 is all it can reach.
    assert result.ceilings is not None
    assert result.ceilings["Recall@1"].mean == pytest.approx(1 / 9, abs=1e-12)
    assert result.recall_at_k[1] == pytest.approx(result.hit_rate_at_k[1] / 9, abs=1e-12)


def test_with_one_photograph_each_the_network_is_far_above_the_histogram(demo: DemoReport) -> None:
    found = demo.differences["one photograph each"]
    assert demo.results["one photograph each", NETWORK].num_queries == 360
    assert found.difference >= 0.15
    assert found.interval is not None
    assert found.interval.low > 0
    assert found.interval.groups == 40


def test_figures_equal_a_plain_recount(demo: DemoReport) -> None:
    """From the stored ranking, by the person's name, with loops."""
    person = {photograph.id: photograph.person for photograph in load_orl_faces().photographs}
    for (protocol, embedder), result in demo.results.items():
        stored = read_result(demo.folder / f"{protocol.replace(' ', '-')}.{embedder}.json")
        lists: dict[str, list[str]] = {}
        for row in stored.ranking().to_pylist():
            if row["item"] != row["query"]:
                lists.setdefault(row["query"], []).append(row["item"])
        relevant = 9 if protocol == "leave-one-out" else 1
        hits, precisions = [], []
        for query, items in lists.items():
            right = [person[item] == person[query] for item in items[:20]]
            hits.append(right[0])
            precisions.append(
                sum(sum(right[: rank + 1]) / (rank + 1) for rank, hit in enumerate(right) if hit) / relevant
            )
        assert result.hit_rate_at_k[1] == pytest.approx(sum(hits) / len(hits), abs=1e-12)
        assert result.map == pytest.approx(sum(precisions) / len(precisions), abs=1e-12)


def test_the_page_can_be_built_from_the_files_alone(demo: DemoReport, tmp_path: Path) -> None:
    results = sorted(path for path in demo.folder.glob("*.json") if path.stem.split(".")[-1] in {NETWORK, BASELINE})
    page = write_report(results, tmp_path / "again.html").read_text("utf-8")
    assert page.count("data:image/") >= 40
    assert "no file is named" not in page


def test_the_verb_prints_the_figures_and_where_the_page_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["demo", "--out", str(tmp_path / "demo"), "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert Path(told["report"]).is_file()
    assert {row["embedder"] for row in told["results"]} == {NETWORK, BASELINE, "pixels"}
