"""The page of a query: the order it is gone through in, its lists, and ids of every kind."""

import html
import json
import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

from visual_search.formats.query_runs import QueryRuns
from visual_search.formats.results import read_result
from visual_search.images.decoding import decode
from visual_search.testing.results import SampleTask, write_sample_result

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


def with_queries(folder: Path, ids: list[str]) -> None:
    task = SampleTask(query_ids=ids, item_ids=ids, relevant=np.eye(len(ids), dtype=np.bool_), k_values=(1,))
    write_sample_result(folder / "odd.json", task, np.eye(len(ids))[::-1], model_name="odd")


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
