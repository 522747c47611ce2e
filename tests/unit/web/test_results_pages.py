"""Pages of results: what they show, what they take, and that nothing in a result or a note becomes markup or a path."""

import html
import json
import re
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

from visual_search.formats.query_runs import QueryRuns
from visual_search.formats.results import read_result
from visual_search.images.decoding import decode
from visual_search.testing.results import SampleTask, write_sample_result
from visual_search.testing.sample_results import sample_results

Explore = Callable[..., TestClient]
HTML = {"accept": "text/html"}
HOSTILE = [
    '<script>alert("x")</script>',
    "'\"><img src=x onerror=alert(1)>",
    "../../../etc/passwd",
    "..\\..\\windows",
    "%2e%2e%2f&id=1#frag?x=y",
    "\u05e9\u05dc\u05d5\u05dd/\u4e2d\u6587 \u202e",
    "x" * 10_000,
    "{{ 7 * 7 }}{% raw %}",
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    sample_results(folder, objects=5, views=3)
    return folder


@pytest.fixture
def folder(made: Path, tmp_path: Path) -> Path:
    shutil.copytree(made, tmp_path / "results")
    return tmp_path / "results"


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


def test_two_tabs_that_write_one_note_lose_nothing(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    key = keys_of(client)["loo-grid.json"]
    first = client.post(
        "/results/note", data={"result": key, "version": "0", "text": "from the first tab"}, headers=HTML
    )
    assert (first.status_code, first.headers["location"]) == (303, f"/result?result={key}#note")
    second = client.post(
        "/results/note", data={"result": key, "version": "0", "text": "from the second"}, headers=HTML
    )
    assert second.status_code == 409
    assert "from the first tab" in second.text
    assert "from the second" in second.text
    assert client.get("/result.json", params={"result": key}).json()["note"]["text"] == "from the first tab"
    version = re.search(r'name="version" value="(\d+)"', second.text)
    assert version is not None
    both = {"result": key, "version": version[1], "text": "from the first tab\r\nfrom the second"}
    assert client.post("/results/note", data=both).json()["version"] == 2
    assert row_of(client, "loo-grid.json")["note"]["text"] == "from the first tab\nfrom the second"
    told = client.post("/results/note", data=both).json()["error"]
    assert (told["kind"], told["status"]) == ("NoteConflict", 409)
    assert {one["where"]: one["message"] for one in told["details"]}["offered"].endswith("second")


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_note_is_shown_and_never_run(explore: Explore, folder: Path, text: str) -> None:
    client = explore(results=(folder,))
    key = keys_of(client)["loo-grid.json"]
    client.post("/results/note", data={"result": key, "version": "0", "text": text})
    assert client.get("/result.json", params={"result": key}).json()["note"]["text"] == text
    for page in ("/results", f"/result?result={key}"):
        shown = client.get(page, headers=HTML).text
        assert "<script>alert" not in shown
        assert "<img src=x" not in shown


def test_ids_of_every_kind_walk_through_the_pages(explore: Explore, tmp_path: Path) -> None:
    ids = [*HOSTILE, "plain"]
    images = {f"{number}.png": (20 * number, 90, 200 - 20 * number) for number in range(len(ids))}
    (tmp_path / "images").mkdir()
    for name, shade in images.items():
        Image.new("RGB", (30, 20), shade).save(tmp_path / "images" / name)
    places = {"root": "images", "paths": dict(zip(ids, images, strict=True))}
    truth = np.eye(len(ids), dtype=np.bool_)
    task = SampleTask(ids, ids, truth, images={"items": places, "queries": places}, k_values=(1, 5))
    for name in ("<b>one</b>", "two\"'"):
        similarity = np.random.default_rng(len(name)).random((len(ids), len(ids)))
        write_sample_result(tmp_path / f"{len(name)}.json", task, similarity, model_name=name)
    client = explore(results=(tmp_path,))
    keys = list(keys_of(client).values())
    for number, identifier in enumerate(ids):
        shown = client.get("/query.json", params={"result": keys, "query": identifier, "order": "file"})
        assert shown.status_code == 200
        assert shown.json()["place"] == number + 1
        pages = [
            client.get("/query", params={"result": keys, "query": identifier}, headers=HTML),
            client.get("/result", params={"result": keys[0]}, headers=HTML),
            client.get("/compare", params={"result": keys}, headers=HTML),
        ]
        for page in pages:
            assert page.status_code == 200
            assert "<script>alert" not in page.text
            assert "<img src=x" not in page.text
            assert "<b>one" not in page.text
        picture = client.get(shown.json()["systems"][0]["picture"])
        assert picture.headers["content-type"] == "image/webp"
        pixel = decode(picture.content).pixels.getpixel((5, 5))
        assert np.abs(np.array(pixel) - np.array(images[f"{number}.png"])).max() < 12


def test_only_pictures_that_the_result_names_and_that_may_be_looked_at_are_served(
    explore: Explore, folder: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "elsewhere"
    outside.mkdir()
    Image.new("RGB", (8, 8), (1, 2, 3)).save(outside / "secret.png")
    record = json.loads((folder / "loo-grid.json").read_text())
    items = json.loads((folder / record["files"]["items"]).read_text())
    first, second, third = list(items["items"]["paths"])[:3]
    items["queries"]["root"] = str(outside)
    items["queries"]["paths"] = {"far": "secret.png"}
    items["items"]["paths"][first] = "link.png"
    items["items"]["paths"][second] = "gone.png"
    items["items"]["paths"][third] = "text.png"
    (folder / "images" / "link.png").symlink_to(outside / "secret.png")
    (folder / "images" / "text.png").write_text("root:x:0:0")
    (folder / "loo-grid.places.json").write_text(json.dumps(items))
    record["files"]["items"] = "loo-grid.places.json"
    del record["file_checksums"]["items"]
    (folder / "loo-grid.json").write_text(json.dumps(record))
    client = explore(results=(folder,))
    key = keys_of(client)["loo-grid.json"]

    def asked(side: str, identifier: str, of: TestClient = client) -> tuple[str, str]:
        answer = of.get("/result/picture", params={"result": key, "side": side, "id": identifier})
        assert answer.status_code == 200
        kind = answer.headers["content-type"]
        words = " ".join(re.findall(r"<tspan[^>]*>([^<]*)</tspan>", answer.text)) if "svg" in kind else ""
        return kind, words

    assert "outside the folders served" in asked("queries", "far")[1]
    assert "outside the folders served" in asked("items", first)[1]
    assert "file is gone" in asked("items", second)[1]
    assert "not a readable image" in asked("items", third)[1]
    for spelling in (
        "../elsewhere/secret.png",
        "%2e%2e/elsewhere/secret.png",
        str(outside / "secret.png"),
        "link.png",
    ):
        assert "no file is named" in asked("items", spelling)[1]
    allowed = explore(results=(folder,), images=(outside,))
    keys_of(allowed)
    assert asked("queries", "far", allowed)[0] == "image/webp"
    assert asked("items", first, allowed)[0] == "image/webp"


def test_comparability_comes_first(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    keys = keys_of(client)
    same = client.get("/compare.json", params={"result": [keys["loo-colour.json"], keys["loo-grid.json"]]}).json()
    assert (same["refused"], same["differences"], same["pending"]) == (None, [], False)
    assert {part["state"] for part in same["parts"]} == {"same"}
    one = next(c for c in same["contrasts"] if c["measure"] == "HitRate@1")
    assert one["wins"] + one["losses"] + one["ties"] == one["queries"] == 15
    foreign = {"result": [keys["loo-colour.json"], keys["one-grid.json"]]}
    refused = client.get("/compare.json", params=foreign).json()
    assert refused["contrasts"] == []
    assert any(said.startswith("gallery") for said in refused["differences"])
    page = client.get("/compare", params=foreign, headers=HTML).text
    assert "They cannot be compared" in page
    forced = client.get("/compare.json", params=foreign | {"despite": "only to see"}).json()
    assert forced["contrasts"]
    assert "only to see" in client.get("/compare", params=foreign | {"despite": "only to see"}, headers=HTML).text


def test_large_comparisons_show_differences_at_once_and_intervals_later(
    explore: Explore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from visual_search.workflows import result_differences

    monkeypatch.setattr(result_differences, "AT_ONCE", 0)
    client = explore(results=(folder,))
    keys = keys_of(client)
    explored = client.app.state.explorer.results  # type: ignore[attr-defined]
    waiting: list[Callable[[], object]] = []
    monkeypatch.setattr(explored, "later", lambda _, work: waiting.append(work))
    query = {"result": [keys["loo-colour.json"], keys["loo-grid.json"]]}
    at_once = client.get("/compare.json", params=query).json()
    assert at_once["pending"]
    assert "data-pending" in client.get("/compare", params=query, headers=HTML).text
    for work in waiting:
        work()
    whole = client.get("/compare.json", params=query).json()
    assert not whole["pending"]
    for early, late in zip(at_once["contrasts"], whole["contrasts"], strict=True):
        same = (
            "a",
            "b",
            "measure",
            "difference",
            "wins",
            "losses",
            "ties",
            "improved",
            "worsened",
            "mean_a",
            "queries",
        )
        assert {key: early[key] for key in same} == {key: late[key] for key in same}
        assert early["interval"] is None
        assert late["interval"] is not None


def test_a_query_page_goes_on_in_the_order_one_came_from(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    keys = keys_of(client)
    chosen = [keys["loo-colour.json"], keys["loo-grid.json"]]
    before, after = (read_result(folder / f"loo-{name}.json").queries() for name in ("colour", "grid"))
    measure = "AP(denominator=all)@10"
    ids = before.column("query").to_pylist()
    change = after.column(measure).to_numpy() - before.column(measure).to_numpy()
    order = np.argsort(-change, kind="stable")
    expected = [ids[row] for row in order if change[row] > 0]
    query, walked = expected[0], []
    while query is not None:
        found = client.get(
            "/query.json", params={"result": chosen, "query": query, "order": "improved", "measure": measure}
        ).json()
        walked.append(found["query"])
        query = found["next"]
    assert walked == expected
    assert found["previous"] == expected[-2]


def test_a_query_page_shows_states_ranks_and_moves(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    keys = keys_of(client)
    query = "object 2/view 1.png"
    chosen = [keys["loo-colour.json"], keys["loo-grid.json"]]
    found = client.get("/query.json", params={"result": chosen, "query": query, "shown": 5}).json()
    for system, name in zip(found["systems"], ("colour", "grid"), strict=True):
        rows = read_result(folder / f"loo-{name}.json").ranking(queries=[query]).to_pylist()
        head = [(row["rank"], row["item"], row["state"]) for row in rows if row["rank"] <= 5]
        assert [(hit["rank"], hit["item"], hit["state"]) for hit in system["list"]][: len(head)] == head
    ranks = [{hit["item"]: hit["rank"] for hit in system["list"]} for system in found["systems"]]
    for move in found["systems"][0]["moves"]:
        assert (move["before"], move["after"]) == (ranks[0].get(move["item"]), ranks[1].get(move["item"]))
    page = client.get("/query", params={"result": chosen, "query": query}, headers=HTML).text
    assert page.count('rel="next"') == 1
    assert 'class="move relevant"' in page


@pytest.mark.parametrize("asked", [{}, {"query": ""}])
@pytest.mark.parametrize(
    ("files", "order"),
    [
        (["loo-grid.json"], ""),
        (["loo-grid.json"], "best"),
        (["loo-grid.json"], "file"),
        (["loo-colour.json", "loo-grid.json"], ""),
        (["loo-colour.json", "loo-grid.json"], "improved"),
    ],
)
def test_without_a_query_the_first_in_the_order_is_shown(
    explore: Explore, folder: Path, files: list[str], order: str, asked: dict[str, str]
) -> None:
    client = explore(results=(folder,))
    keys = keys_of(client)
    state: dict[str, Any] = {"result": [keys[file] for file in files], "measure": "RR"}
    state |= {"order": order} if order else {}
    twin = client.get("/query.json", params=state | asked).json()
    assert (twin["place"], twin["previous"]) == (1, None)
    assert twin == client.get("/query.json", params=state | {"query": twin["query"]}).json()
    page = client.get("/query", params=state | asked | {"shown": 7}, headers=HTML, follow_redirects=False)
    led = parse_qs(urlsplit(page.headers["location"]).query)
    wanted = {"result": state["result"], "query": [twin["query"]], "measure": ["RR"], "shown": ["7"]}
    assert (page.status_code, led) == (303, wanted | ({"order": [order]} if order else {}))
    assert client.get(page.headers["location"], headers=HTML).status_code == 200


def test_without_a_query_an_order_that_has_none_begins_with_the_file(explore: Explore, folder: Path) -> None:
    record = json.loads((folder / "loo-grid.json").read_text())
    (folder / "again.json").write_text(json.dumps(record | {"timestamp": "2020-01-01T00:00:00Z"}))
    client = explore(results=(folder,))
    keys = keys_of(client)
    both = {"result": [keys["loo-grid.json"], keys["again.json"]]}
    twin = client.get("/query.json", params=both).json()
    first = client.get("/query.json", params=both | {"order": "file"}).json()
    assert (twin["order"], twin["of"], twin["place"]) == ("changed", 0, None)
    assert (twin["query"], first["place"]) == (first["query"], 1)


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/result.json?result=0000000000000000", 404),
        ("/result.json?result=../../etc/passwd", 404),
        ("/compare.json?result=0000000000000000", 404),
        ("/compare.json?result={one}&result={two}&measure=nonsense", 404),
        ("/query.json?result={one}&query=nobody", 404),
        ("/query.json?result={one}&order=changed", 400),
        ("/query.json?result={one}&query=object%201/view%201.png&order=changed", 400),
        ("/query.json?result={one}&query=object%201/view%201.png&shown=0", 422),
        ("/result.json?result={one}&measure=nonsense", 404),
    ],
)
def test_wrong_addresses_are_told_apart(explore: Explore, folder: Path, address: str, status: int) -> None:
    client = explore(results=(folder,))
    keys = keys_of(client)
    answer = client.get(address.format(one=keys["loo-grid.json"], two=keys["loo-colour.json"]))
    assert (answer.status_code, set(answer.json())) == (status, {"error"})


def test_a_result_whose_companions_are_gone_or_changed_says_so(explore: Explore, folder: Path) -> None:
    client = explore(results=(folder,))
    keys = keys_of(client)
    record = json.loads((folder / "loo-grid.json").read_text())
    (folder / record["files"]["ranking"]).unlink()
    page = client.get("/result", params={"result": keys["loo-grid.json"]}, headers=HTML)
    assert (page.status_code, "cannot be read" in page.text) == (200, True)
    (folder / record["files"]["queries"]).write_bytes(b"PAR1 something else")
    page = client.get("/result", params={"result": keys["one-grid.json"]}, headers=HTML)
    assert page.status_code == 200
    again = explore(results=(folder,))
    keys_of(again)
    page = again.get("/result", params={"result": keys["loo-grid.json"]}, headers=HTML)
    assert (page.status_code, "is not the queries file" in page.text) == (200, True)


def test_without_results_the_pages_say_how_to_have_some(explore: Explore) -> None:
    client = explore()
    assert "visual-search serve FOLDER" in client.get("/results", headers=HTML).text
    assert client.get("/results.json").json()["rows"] == []


def test_a_guides_file_alone_has_its_pages(explore: Explore, folder: Path) -> None:
    record = json.loads((folder / "loo-grid.json").read_text())
    kept = {"num_queries", "k_values", "map", "mrr", "per_query_results", "timestamp", "model_name"}
    plain = {key: value for key, value in record.items() if key in kept or key.startswith(("recall", "precision"))}
    (folder / "plain.json").write_text(json.dumps(plain))
    client = explore(results=(folder,))
    key = keys_of(client)["plain.json"]
    page = client.get("/result", params={"result": key}, headers=HTML)
    assert page.status_code == 200
    query = quote("object 1/view 1.png")
    page = client.get(f"/query?result={key}&query={query}", headers=HTML)
    assert (page.status_code, "keeps no lists" in page.text) == (200, True)


@pytest.mark.parametrize("chosen", [0, 1, 2])
def test_compare_with_too_few_results_says_how_to_go_on(explore: Explore, folder: Path, chosen: int) -> None:
    client = explore(results=(folder,))
    query = {"result": [keys_of(client)["loo-grid.json"]] * chosen}  # twice the same is one
    told = client.get("/compare.json", params=query).json()
    assert (told["to_choose"], told["least"], len(told["results"])) == (True, 2, min(chosen, 1))
    page = client.get("/compare", params=query, headers=HTML)
    assert page.status_code == 200
    assert '<a href="/results">' in page.text
    assert ("One more result" in page.text) is (chosen > 0)


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


@pytest.mark.parametrize("path", ["/query", "/result"])
def test_without_a_result_those_there_are_are_offered(explore: Explore, folder: Path, path: str) -> None:
    client = explore(results=(folder,))
    keys = keys_of(client)
    (folder / "broken.json").write_text('{"num_queries": 3,')
    client.post("/results/pin", data={"result": keys["one-grid.json"], "pinned": "true"})
    told = client.get(f"{path}.json").json()
    assert (told["to_choose"], told["total"]) == (True, 4)
    assert told["results"][0]["file"] == "one-grid.json"  # the pinned one
    page = client.get(path, headers=HTML)
    assert page.status_code == 200
    for key in keys.values():
        assert f'href="{path}?result={key}"' in page.text
    assert "no result to show yet" in explore().get(path, headers=HTML).text


def with_queries(folder: Path, ids: list[str]) -> None:
    task = SampleTask(query_ids=ids, item_ids=ids, relevant=np.eye(len(ids), dtype=np.bool_), k_values=(1,))
    write_sample_result(folder / "odd.json", task, np.eye(len(ids))[::-1], model_name="odd")


def test_an_empty_id_is_a_query_like_any_other(explore: Explore, folder: Path) -> None:
    with_queries(folder, ["first", "", "last"])
    client = explore(results=(folder,))
    key = keys_of(client)["odd.json"]
    assert client.get("/query.json", params={"result": key, "query": ""}).json()["query"] == ""
    page = client.get("/query", params={"result": key, "query": ""}, headers=HTML)
    assert page.status_code == 200  # not led on to itself for ever
    led = client.get("/query", params={"result": key, "order": "file"}, headers=HTML)
    assert (led.status_code, "query=first" in led.headers["location"]) == (303, True)


@pytest.mark.parametrize("odd", ["two\nlines", "two\rlines", "nul\0", "red\x1b[31m", "tab\there"])
def test_an_id_that_no_form_can_send_is_found_by_what_it_sends(explore: Explore, folder: Path, odd: str) -> None:
    with_queries(folder, ["plain", odd])
    client = explore(results=(folder,))
    key = keys_of(client)["odd.json"]
    page = client.get("/query", params={"result": key, "query": odd}, headers=HTML)
    sent = html.unescape(re.search(r'name="query" value="([^"]*)"', page.text)[1])  # type: ignore[index]
    assert sent != odd
    assert client.get("/query.json", params={"result": key, "query": sent}).json()["query"] == odd


def test_what_is_computed_beside_the_pages_is_what_would_be_computed_here(
    explore: Explore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from visual_search.workflows import result_differences, result_parts

    for large in (0, 10**9):
        monkeypatch.setattr(result_differences, "AT_ONCE", large)
        monkeypatch.setattr(result_parts, "AT_ONCE", large)
        client = explore(results=(folder,))
        keys = keys_of(client)
        pages: list[tuple[str, dict[str, Any]]] = [
            ("/compare.json", {"result": [keys["loo-colour.json"], keys["loo-grid.json"]]}),
            ("/result.json", {"result": keys["loo-grid.json"]}),
        ]
        for address, query in pages:
            client.get(address, params=query)
        explored = client.app.state.explorer.results  # type: ignore[attr-defined]
        until = time.monotonic() + 120
        while explored.busy and time.monotonic() < until:
            time.sleep(0.02)
        told = [client.get(address, params=query).json() for address, query in pages]
        if not large:
            beside = told
        (folder / "catalogue.sqlite3").unlink()
    assert not beside[0]["pending"]
    assert beside == told


def test_a_page_answers_while_what_is_beside_it_is_busy(
    explore: Explore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from visual_search.workflows import result_differences

    monkeypatch.setattr(result_differences, "AT_ONCE", 0)
    client = explore(results=(folder,))
    keys = keys_of(client)
    explored = client.app.state.explorer.results  # type: ignore[attr-defined]
    query = {"result": [keys["loo-colour.json"], keys["loo-grid.json"]]}
    release, begun = threading.Event(), threading.Event()

    def busy(*_: object, **__: object) -> None:
        begun.set()
        release.wait(60)

    monkeypatch.setattr(explored.beside, "call", busy)
    try:
        assert client.get("/compare.json", params=query).json()["pending"]
        assert begun.wait(60)
        for number in range(100):  # more comparisons than may wait
            client.get("/compare.json", params=query | {"despite": f"reason {number}"})
        assert client.get("/compare", params=query, headers=HTML).status_code == 200
        assert client.get("/query.json", params=query).status_code in (200, 303)
        assert 1 < explored.busy < 100
    finally:
        release.set()


def test_a_query_is_found_in_a_ranking_without_reading_every_row_again(
    explore: Explore, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = explore(results=(folder,))
    keys = keys_of(client)
    query = {"result": [keys["loo-grid.json"]], "order": "file"}
    first = client.get("/query.json", params=query, follow_redirects=True).json()
    explored = client.app.state.explorer.results  # type: ignore[attr-defined]
    until = time.monotonic() + 120
    while explored.busy and time.monotonic() < until:
        time.sleep(0.02)

    def read(*_: object) -> None:
        raise AssertionError("read again")

    monkeypatch.setattr(QueryRuns, "of_column", read)
    later = explore(results=(folder,))
    assert later.get("/query.json", params=query, follow_redirects=True).json() == first
