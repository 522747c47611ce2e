"""The table of results: what it says, its orders and filters, its figure, and the pinned baseline."""

import html
import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from visual_search.formats.results import read_result

Explore = Callable[..., TestClient]
HTML = {"accept": "text/html"}


def keys_of(client: TestClient) -> dict[str, str]:
    client.app.state.explorer.results.shelf.refresh()  # type: ignore[attr-defined]
    rows = client.get("/results.json").json()["rows"]
    return {row["file"]: row["key"] for row in rows}


def row_of(client: TestClient, file: str, **query: Any) -> dict[str, Any]:
    client.app.state.explorer.results.shelf.refresh()  # type: ignore[attr-defined]
    rows = client.get("/results.json", params=query).json()["rows"]
    found: dict[str, Any] = next(row for row in rows if row["file"] == file)
    return found


def test_the_table_says_what_the_files_say(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    measure = "Recall(denominator=all)@5"
    row = row_of(client, "loo-grid.json", column=["embedder", measure])
    record = read_result(folder / "loo-grid.json").record
    assert row["cells"][0]["value"] == "grid"
    told = record["measures"][measure]
    assert (row["cells"][1]["value"], row["cells"][1]["low"]) == (told["mean"], told["interval"]["low"])
    page = client.get("/results", headers=HTML).text
    assert all(name in page for name in ("loo-grid.json", "one-colour.json", "HitRate@1"))


def test_an_interval_without_width_is_marked_and_explained(explore: Explore, folder: Path) -> None:
    measure, words = "Recall(denominator=all)@5", "* All groups agree, so that resampling finds no spread"
    client = explore(results=(folder,))
    query = {"column": measure, "q": "loo-grid"}
    page = client.get("/results", params=query, headers=HTML).text
    assert words in page
    assert page.count("1.000–1.000*</span>") == 1
    path = folder / "loo-grid.json"
    record = json.loads(path.read_text("utf-8"))
    record["measures"][measure]["interval"] |= {"low": 0.9}
    path.write_text(json.dumps(record), "utf-8")
    assert row_of(client, "loo-grid.json", **query)["cells"][0]["low"] == 0.9
    page = client.get("/results", params=query, headers=HTML).text
    assert "0.900–1.000</span>" in page
    assert words not in page


def test_a_result_that_appears_changes_or_goes_is_followed(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    assert len(keys_of(client)) == 4
    (folder / "new").mkdir()
    shutil.copy(folder / "loo-grid.json", folder / "new" / "copy.json")
    (folder / "one-grid.json").unlink()
    (folder / "loo-colour.json").write_text('{"num_queries": 4')
    assert set(keys_of(client)) == {"loo-grid.json", "loo-colour.json", "one-colour.json", "new/copy.json"}
    page = client.get("/results", headers=HTML)
    assert page.status_code == 200
    assert "not JSON, or cut off" in page.text
    broken = client.get("/result", params={"result": keys_of(client)["loo-colour.json"]}, headers=HTML)
    assert (broken.status_code, "not JSON, or cut off" in broken.text) == (422, True)


@pytest.mark.parametrize("sort", ["name", "-name", "-time", "HitRate@1", "-RR", "queries", "difference", "-note"])
def test_every_order_is_one(explore: Explore, folder: Path, sort: str) -> None:
    (folder / "broken.json").write_text('{"num_queries": 4')
    client = explore(results=(folder,))
    keys_of(client)
    rows = client.get("/results.json", params={"sort": sort, "column": ["HitRate@1", "RR", "queries"]}).json()[
        "rows"
    ]
    assert rows[-1]["file"] == "broken.json"
    place = {"HitRate@1": 0, "RR": 1, "queries": 2}.get(sort.lstrip("-"))
    if place is not None:
        values = [row["cells"][place]["value"] for row in rows[:-1]]
        assert values == sorted(values, reverse=sort.startswith("-"))


def test_filters_narrow_the_table(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    keys_of(client)
    by_protocol = client.get("/results.json", params={"protocol": "leave-one-out"}).json()
    assert {row["file"] for row in by_protocol["rows"]} == {"loo-grid.json", "loo-colour.json"}
    by_words = client.get("/results.json", params={"q": "GRID one-grid"}).json()
    assert [row["file"] for row in by_words["rows"]] == ["one-grid.json"]
    nothing = client.get("/results", params={"q": "nowhere at all"}, headers=HTML)
    assert "Nothing fits" in nothing.text


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"column": "nonsense"}, "column: 'nonsense'"),
        ({"sort": "x"}, "sort: 'x'"),
        ({"measure": "y"}, "measure: 'y'"),
    ],
)
def test_what_is_not_there_is_said(explore: Explore, folder: Path, query: dict[str, str], words: str) -> None:
    client = explore(results=(folder,))
    keys_of(client)
    answer = client.get("/results.json", params=query)
    assert answer.status_code == 400
    assert words in answer.json()["error"]["message"]


def test_the_figure_joins_only_what_is_comparable(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    keys_of(client)
    figure = client.get("/results.json").json()["figure"]
    assert sorted(line["results"] for line in figure["lines"]) == [2, 2]
    links = re.findall(r'<a [^>]*href="/result\?result=([0-9a-f]{16})"', figure["svg"])
    assert len(set(links)) == 4


def test_each_row_is_held_against_the_pinned_baseline_where_it_can_be(explore: Explore, folder: Path) -> None:
    from visual_search.evaluation.comparison import compare

    client = explore(results=(folder,))
    keys = keys_of(client)
    assert row_of(client, "loo-grid.json")["difference"] is None
    pinned = client.post("/results/pin", data={"result": keys["loo-colour.json"], "pinned": "true"})
    assert pinned.json() == {"result": keys["loo-colour.json"], "pinned": True}
    measure = "RR"
    found = row_of(client, "loo-grid.json", measure=measure)["difference"]
    expected = compare(
        {"a": read_result(folder / "loo-colour.json"), "b": read_result(folder / "loo-grid.json")}, [measure]
    ).contrast("b")
    assert expected.interval is not None
    assert found["difference"] == pytest.approx(expected.difference)
    assert (found["baseline"], found["pending"]) == (keys["loo-colour.json"], False)
    assert row_of(client, "loo-colour.json")["difference"]["is_baseline"]
    assert "not comparable" in row_of(client, "one-grid.json")["difference"]["why_not"]
    client.post("/results/pin", data={"result": keys["loo-colour.json"], "pinned": "false"})
    assert row_of(client, "loo-grid.json")["difference"] is None


def test_pinning_leads_back_to_the_table_as_it_was_and_nowhere_else(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    key = keys_of(client)["loo-grid.json"]
    form = {"result": key, "pinned": "true", "back": "?sort=name&q=grid"}
    assert client.post("/results/pin", data=form, headers=HTML).headers["location"] == "/results?sort=name&q=grid"
    page = client.get("/results?sort=name&q=grid", headers=HTML).text
    (back,) = set(re.findall(r'name="back" value="([^"]*)"', page))
    answer = client.post("/results/pin", data=form | {"back": html.unescape(back)}, headers=HTML)
    assert answer.headers["location"] == "/results?sort=name&q=grid"
    for elsewhere in ("https://evil.example", "//evil.example", "?\r\nset-cookie: a=b"):
        answer = client.post("/results/pin", data=form | {"back": elsewhere}, headers=HTML)
        assert answer.status_code == 303
        assert answer.headers["location"].startswith(("/results?", "/result?"))
        assert "set-cookie" not in answer.headers


def test_pinning_on_a_later_page_leads_back_to_it(
    explore: Explore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("visual_search.workflows.results_table._SHOWN", 1)
    client = explore(results=(folder,))
    keys_of(client)
    asked = {"sort": "name", "q": "grid", "page": "2"}
    before = client.get("/results", params=asked, headers=HTML).text
    assert "page 2 of 2" in before
    key, back = re.findall(r'name="result" value="([^"]+)">.*?name="back" value="([^"]+)"', before, re.DOTALL)[-1]
    answer = client.post(
        "/results/pin", data={"result": key, "pinned": "true", "back": html.unescape(back)}, headers=HTML
    )
    told = client.get(answer.headers["location"].replace("/results?", "/results.json?")).json()
    assert (told["page"], told["sort"], told["text"]) == (2, "name", "grid")
    assert [(row["key"], bool(row["pinned"])) for row in told["rows"]] == [(key, True)]


def test_a_line_of_the_figure_names_its_protocol_once(explore: Explore, folder: Path) -> None:
    for path in folder.glob("loo-????*.json"):
        if ".items." not in path.name:
            record = json.loads(path.read_text())
            protocol = record["protocol"]["name"]
            path.write_text(json.dumps(record | {"dataset": f"faces, {protocol}"}))
    client = explore(results=(folder,))
    keys_of(client)
    words = [line["words"] for line in client.get("/results.json").json()["figure"]["lines"]]
    assert [one.count(protocol) for one in words if "faces" in one] == [1]
