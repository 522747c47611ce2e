"""The demonstration's figures, from its own run."""

import json
from pathlib import Path

import numpy as np
import pytest

from visual_search.cli.main import main
from visual_search.datasets.orl_faces import load_orl_faces
from visual_search.evaluation.protocols.split import Split
from visual_search.formats.results import read_result
from visual_search.indexing.index_table import VectorIndex
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
    assert found.contrast.difference >= 0.15
    assert found.contrast.interval is not None
    assert found.contrast.interval.low > 0
    assert found.contrast.interval.groups == 40


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


def test_both_directions_equal_a_plain_recount(demo: DemoReport) -> None:
    """Photographs 1 to 5 against 6 to 10 and back, from the index's vectors, with NumPy alone."""
    photographs = load_orl_faces().photographs
    people = np.array([photograph.person for photograph in photographs])
    late = np.array([photograph.photo > 5 for photograph in photographs])
    for embedder in (NETWORK, "pixels", BASELINE):
        index = VectorIndex.open(demo.folder / f"{embedder}.index")
        vectors = index.vectors([photograph.id for photograph in photographs]).astype(np.float64)
        vectors /= np.linalg.norm(vectors, axis=1)[:, None]
        found = demo.directions.systems[embedder]
        means = []
        for asking, result in ((~late, found.there), (late, found.back)):
            best = (vectors[asking] @ vectors[~asking].T).argmax(axis=1)
            means.append((people[~asking][best] == people[asking]).mean())
            assert result["HitRate@1"].mean == pytest.approx(means[-1], abs=1e-12)
        pooled = found.pooled["HitRate@1"]
        assert pooled.mean == pytest.approx(sum(means) / 2, abs=1e-12)
        assert pooled.counted == 400
        assert pooled.interval is not None
        assert pooled.interval.as_json()["groups"] == 40
        assert found.asymmetry["HitRate@1"].difference == pytest.approx(means[0] - means[1], abs=1e-12)
    chance = demo.directions.random.pooled
    assert chance["HitRate@1"].mean == pytest.approx(5 / 200, abs=1e-12)


def test_the_view_split_is_proven_and_written(demo: DemoReport) -> None:
    split = Split.load(demo.folder / "both-directions.split.json").require()
    assert (len(split.queries), len(split.gallery), len(set(split.groups or []))) == (200, 200, 40)
    told = json.loads((demo.folder / "both-directions.json").read_text("utf-8"))
    assert told["systems"][NETWORK]["pooled"]["protocol"]["proof"]["holds"] is True


def test_p_holds_for_all_comparisons_of_the_page(demo: DemoReport) -> None:
    page = demo.page.read_text("utf-8")
    assert set(demo.differences) == {"leave-one-out", "one photograph each", "both directions"}
    for found in demo.differences.values():
        assert found.p_adjusted is not None
        # Two systems against the baseline on two measures under three protocols.
        assert found.contrast.p_value < found.p_adjusted <= min(1, 12 * found.contrast.p_value)
        assert found.contrast.groups == 40
    assert page.count(" adjusted</span>") == 12
    assert "draw queries one by one" not in page


def test_leaks_are_checked_on_the_page(demo: DemoReport) -> None:
    assert demo.leaks.clean
    assert [(role.name, role.pictures) for role in demo.leaks.roles] == [("query", 200), ("gallery", 200)]
    assert demo.leaks.thresholds.cosine is not None
    assert demo.leaks.within
    page = demo.page.read_text("utf-8")
    for words in ('id="leaks"', 'id="directions"', "no view is in both sets", "No picture stands in two roles"):
        assert words in page
    summary = demo.summary()
    assert "leaks: no picture is there twice among 400 photographs" in summary
    assert "the split is proven" in summary
    assert max(map(len, summary.splitlines())) < 160


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
    assert told["directions"]["split"]["proof"]["holds"] is True
    assert told["leaks"]["clean"] is True
