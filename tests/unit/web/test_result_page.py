"""The page of one result shows what the report of it shows, of the same functions and templates."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from visual_search.evaluation.compared import canonical
from visual_search.formats.results import read_result
from visual_search.reports.page import write_report
from visual_search.testing.sample_results import sample_results
from visual_search.workflows import result_parts
from visual_search.workflows.score import score_run

Explore = Callable[..., TestClient]
HTML = {"accept": "text/html"}
LEDGER = {
    "used": 15,
    "changed": 2,
    "left_out": 1,
    "changes": {"rotated": 2},
    "reasons": {"truncated": 1},
    "left_out_files": [{"id": "<b>cut</b>.png", "reason": "truncated: image file is truncated"}],
}
WORDS = re.compile(r"<[^>]+>")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result of pictures with a ledger, and a scored run with slices."""
    folder = tmp_path_factory.mktemp("results")
    sample_results(folder, objects=5, views=3)
    record = json.loads((folder / "loo-grid.json").read_text())
    (folder / "loo-grid.json").write_text(json.dumps(record | {"ledger": LEDGER}))
    elsewhere = tmp_path_factory.mktemp("run")
    run = {f"q{n}": {"a": 0.5, "b": 0.5, "c": 0.25 + n / 100} for n in range(6)}
    (elsewhere / "run.json").write_text(json.dumps(run))
    (elsewhere / "qrels.json").write_text(json.dumps({query: {"abc"[n % 3]: 1} for n, query in enumerate(run)}))
    (elsewhere / "light.tsv").write_text("".join(f"q{n}\t{'day' if n % 2 else 'night'}\n" for n in range(6)))
    score_run(
        elsewhere / "run.json", elsewhere / "qrels.json", ["RR", "AP@2"], attribute=elsewhere / "light.tsv"
    ).write(folder / "run.json")
    return folder


def keys_of(client: TestClient) -> dict[str, str]:
    client.app.state.explorer.results.shelf.refresh()  # type: ignore[attr-defined]
    return {row["file"]: row["key"] for row in client.get("/results.json").json()["rows"]}


def tables_of(page: str, kind: str) -> list[str]:
    """The words of every table of a class."""
    found = re.findall(rf'<table class="[^"]*\b{kind}\b[^"]*">.*?</table>', page, re.DOTALL)
    return [" ".join(WORDS.sub(" ", one).split()) for one in found]


@pytest.mark.parametrize("file", ["loo-grid.json", "run.json"])
@pytest.mark.parametrize("kind", ["headline", "coverage", "every", "slices", "ledger", "prints"])
def test_its_tables_are_the_reports(explore: Explore, folder: Path, tmp_path: Path, file: str, kind: str) -> None:
    client = explore(results=(folder,))
    page = client.get("/result", params={"result": keys_of(client)[file]}, headers=HTML).text
    report = write_report([folder / file], tmp_path / "report.html").read_text("utf-8")
    wanted = tables_of(report, kind)
    assert tables_of(page, kind) == wanted
    has_none = {("loo-grid.json", "slices"), ("run.json", "ledger")}
    assert bool(wanted) is ((file, kind) not in has_none)


def test_it_says_what_was_left_out_and_why_and_how_to_read_the_numbers(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    page = client.get("/result", params={"result": keys_of(client)["loo-grid.json"]}, headers=HTML).text
    assert "&lt;b&gt;cut" in page
    assert "<b>cut" not in page
    for words in ("rotated: 2", "truncated: 1", "Random order: the exact expectation", "Equal scores: the rule"):
        assert words in page


def test_the_twin_has_the_counts(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    told = client.get("/result.json", params={"result": keys_of(client)["run.json"]}).json()
    assert told["pending"] is False
    assert told["coverage"] == {
        "queries": 6,
        "counted": [6, 6],
        "undefined": 0,
        "groups": 6,
        "depth": 2,
        "judged": pytest.approx(4 / 12),
        "tied": 6,
    }
    [precision, reciprocal] = told["slices"]
    assert (precision["attribute"], precision["measure"]) == ("light", "AP(denominator=all)@2")
    assert [(row["slice"], row["queries"]) for row in reciprocal["rows"]] == [
        ("night", 3),
        ("day", 3),
        ("(mean of slices)", None),
    ]
    assert told["tied"]["worst"] == 0
    assert told["tied"]["best"] == 0


def test_how_many_queries_share_the_value_of_all_shown(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    key = keys_of(client)["loo-grid.json"]
    values = read_result(folder / "loo-grid.json").queries().column("HitRate@5").to_pylist()
    query = {"result": key, "measure": "HitRate@5"}
    told = client.get("/result.json", params=query).json()
    assert values.count(1.0) > 5
    assert told["tied"]["best"] == values.count(1.0)
    assert f"of {values.count(1.0)} with the same value" in client.get("/result", params=query, headers=HTML).text


def test_of_a_large_result_the_counts_follow(
    explore: Explore, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own").mkdir()  # without the catalogue of the other tests
    for path in folder.glob("run*"):
        shutil.copy(path, tmp_path / "own")
    monkeypatch.setattr(result_parts, "AT_ONCE", 0)
    client = explore(results=(tmp_path / "own",))
    query = {"result": keys_of(client)["run.json"]}
    waiting: list[Callable[[], Any]] = []
    explored = client.app.state.explorer.results  # type: ignore[attr-defined]
    monkeypatch.setattr(explored, "later", lambda _, work: waiting.append(work))
    told = client.get("/result.json", params=query).json()
    assert (told["pending"], told["coverage"], told["slices"]) == (True, None, None)
    page = client.get("/result", params=query, headers=HTML).text
    assert ("data-pending" in page, tables_of(page, "coverage"), tables_of(page, "slices")) == (True, [], [])
    for work in waiting:
        work()
    assert client.get("/result.json", params=query).json()["coverage"]["tied"] == 6
    page = client.get("/result", params=query, headers=HTML).text
    assert ("data-pending" in page, len(tables_of(page, "slices"))) == (False, 1)


def test_counts_are_made_again_when_a_file_beside_the_result_goes_or_comes_back(
    explore: Explore, folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder, tmp_path / "own")
    client = explore(results=(tmp_path / "own",))
    query = {"result": keys_of(client)["loo-grid.json"]}
    ranking = tmp_path / "own" / read_result(folder / "loo-grid.json").record["files"]["ranking"]
    assert client.get("/result.json", params=query).json()["coverage"]["judged"] == 1.0
    kept = ranking.read_bytes()
    ranking.unlink()
    assert client.get("/result.json", params=query).json()["coverage"]["judged"] is None
    ranking.write_bytes(kept)
    assert client.get("/result.json", params=query).json()["coverage"]["judged"] == 1.0


def test_a_comparison_says_what_its_measures_mean(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    keys = keys_of(client)
    query = {"result": [keys["loo-grid.json"], keys["loo-colour.json"]]}
    told = client.get("/compare.json", params=query).json()
    record = read_result(folder / "loo-grid.json").record
    measures = {canonical(name): entry for name, entry in record["measures"].items()}
    assert [one["text"] for one in told["definitions"]] == told["measures"]
    for one in told["definitions"]:
        assert one["words"] == measures[one["text"]]["words"].replace("over 15 queries", "over the queries")
    page = client.get("/compare", params=query, headers=HTML).text
    for number, one in enumerate(told["definitions"], start=1):
        assert f'<a href="#definition-{number}"><code>{one["text"]}</code></a>' in page
        assert f'<li id="definition-{number}"' in page


@pytest.mark.parametrize("path", ["/result?result={0}", "/compare?result={0}&result={1}", "/query?result={0}"])
def test_pages_below_the_table_are_marked_as_its_part(explore: Explore, folder: Path, path: str) -> None:
    client = explore(results=(folder,))
    keys = keys_of(client)
    address = path.format(keys["loo-grid.json"], keys["loo-colour.json"])
    answer = client.get(address, headers=HTML, follow_redirects=True)
    assert '<a href="/results" aria-current="true">Results</a>' in answer.text
    assert '<a href="/results" aria-current="page">Results</a>' in client.get("/results", headers=HTML).text


def test_without_a_pin_the_table_says_what_pinning_does(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    shelf = client.app.state.explorer.results.shelf  # type: ignore[attr-defined]
    key = keys_of(client)["loo-grid.json"]
    assert "Pin a result as the baseline" in client.get("/results", headers=HTML).text
    shelf.pin(key, pinned=True)
    assert "Pin a result as the baseline" not in client.get("/results", headers=HTML).text
    shelf.pin(key, pinned=False)
