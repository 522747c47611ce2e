"""Pages of results: notes, pictures, comparisons, addresses; nothing in a note becomes markup or a path."""

import json
import re
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from PIL import Image
from starlette.testclient import TestClient

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


def keys_of(client: TestClient) -> dict[str, str]:
    client.app.state.explorer.results.shelf.refresh()  # type: ignore[attr-defined]
    rows = client.get("/results.json").json()["rows"]
    return {row["file"]: row["key"] for row in rows}


def row_of(client: TestClient, file: str, **query: Any) -> dict[str, Any]:
    client.app.state.explorer.results.shelf.refresh()  # type: ignore[attr-defined]
    rows = client.get("/results.json", params=query).json()["rows"]
    found: dict[str, Any] = next(row for row in rows if row["file"] == file)
    return found


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
