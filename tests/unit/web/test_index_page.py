"""The index page: every setting, the front as links, and the queries that a setting loses with their true ranks."""

import html
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from starlette.testclient import TestClient

from visual_search import exact_neighbors
from visual_search.formats.json_lines import record_line
from visual_search.indexing.index_table import VectorIndex
from visual_search.testing.simulated_sweeps import simulated_sweep
from visual_search.tuning.choose import choose
from visual_search.tuning.costs import CostPlan
from visual_search.tuning.not_finished import NotFinished
from visual_search.tuning.sweep import sweep
from visual_search.tuning.sweep_data import SweepData
from visual_search.tuning.sweep_record import Sweep

Explore = Callable[..., TestClient]
HTML = {"accept": "text/html"}
NAMES = [f"<i>{number}</i>/&?.jpg" for number in range(300)]


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Sweep]:
    """An index, a sweep over its vectors under its ids, and the sweep as it was returned."""
    folder = tmp_path_factory.mktemp("swept")
    rng = np.random.default_rng(3)
    vectors = rng.normal(size=(300, 6)).astype(np.float32)
    index = VectorIndex(dimension=6, metric="cosine")
    index.add(NAMES, vectors)
    index.save(folder / "own.index")
    stored = index.vectors(NAMES)
    asked = NAMES[:40]
    truth = exact_neighbors(stored, stored[:40], 10, metric="cosine", gallery_ids=NAMES, query_ids=asked)
    data = SweepData.of(stored, stored[:40], truth=truth, gallery_ids=NAMES, query_ids=asked)
    found = sweep(
        data,
        ["flat", "ivf(nlist=7)", "hnsw(m=2)"],
        {"nprobe": [1, 3], "ef_search": [10]},
        out=folder / "own.jsonl",
        costs=CostPlan(queries=20, warm_up=2, runs=1),
    )
    return folder / "own.index", folder / "own.jsonl", found


@pytest.fixture
def client(explore: Explore, swept: tuple[Path, Path, Sweep]) -> TestClient:
    return explore(indexes=(swept[0],), sweeps=(swept[1],))


def test_every_setting_stands_in_the_table_with_its_numbers(
    client: TestClient, swept: tuple[Path, Path, Sweep]
) -> None:
    twin = client.get("/index.json").json()["sweep"]
    name = swept[2].measure()
    for told, point in zip(twin["points"], swept[2].points, strict=True):
        values = point.values[name]
        assert (told["label"], told["mean"], told["lowest"]) == (point.label, values.mean(), values.min())
        assert told["lost"] == (values < 1).sum()
        assert told["costs"]["latency_p50"] == point.of("latency_p50")
    page = client.get("/index", headers=HTML).text
    assert [html.unescape(one) for one in re.findall(r"<th scope=\"row\"><code>(.*?)</code>", page)] == [
        told["label"] for told in twin["points"]
    ]


def test_every_point_of_the_figure_is_a_link_with_a_name(client: TestClient) -> None:
    twin = client.get("/index.json").json()["sweep"]
    page = client.get("/index", headers=HTML).text
    figure = re.findall(r"<svg[^>]* class=\"figure\".*?</svg>", page, re.DOTALL)[0]
    links = re.findall(r"<a ([^>]*)>", figure)
    told = {one["lost_queries"]: one for one in twin["points"]}
    seen = {html.unescape(re.search(r'href="([^"]*)"', one)[1]): one for one in links}  # type: ignore[index]
    assert seen.keys() == told.keys()
    for address, attributes in seen.items():
        assert html.escape(told[address]["label"]) in attributes
        assert "target=" not in attributes
    assert [one["cost"] for one in twin["figures"]] == ["latency_p50", "throughput", "index_bytes"]
    titles = [html.unescape(one) for one in re.findall(r"<figcaption><strong>(.*?)</strong>", page)]
    costs = ("median latency (ms)", "throughput (queries/s)", "index size (MB)")
    assert titles == [f"{twin['state']['measure']} against {cost}" for cost in costs]
    assert page.count("Choose a point to see the queries that its setting loses.") == len(costs)
    shown = re.sub(r"<[^>]*>", " ", page)
    assert not re.findall(r"\b(?:latency_\w+|index_bytes|memory_bytes|build_seconds|peak_build_bytes)\b", shown)


def test_the_choice_is_that_of_choose_and_is_marked(client: TestClient, swept: tuple[Path, Path, Sweep]) -> None:
    params: dict[str, Any] = {"target": 0.5, "confidence": 0.9, "cost": "index_bytes"}
    twin = client.get("/index.json", params=params).json()["sweep"]
    choice = choose(swept[2], 0.5, confidence=0.9, cost="index_bytes")
    assert choice.chosen is not None
    assert twin["choice"] == choice.words().split("\n")
    assert [one["label"] for one in twin["points"] if one["verdict"] == "chosen"] == [choice.chosen.point.label]
    assert twin["state"]["target"] == 0.5
    page = client.get("/index", params=params, headers=HTML).text
    assert "Ring: chosen" in page
    assert "<td><b>chosen</b></td>" in page
    none = client.get("/index.json", params={"target": ""}).json()["sweep"]
    assert (none["choice"], none["chosen"]) == (None, None)


def test_lost_queries_stand_worst_first_with_true_ranks(
    client: TestClient, swept: tuple[Path, Path, Sweep]
) -> None:
    point = next(one for one in swept[2].points if one.label == "ivf(nlist=7) nprobe=1")
    told = next(one for one in client.get("/index.json").json()["sweep"]["points"] if one["label"] == point.label)
    twin = client.get(told["lost_queries"].replace("/lost?", "/lost.json?")).json()
    values = point.values[swept[2].measure()]
    assert twin["lost"] == (values < 1).sum() > 20
    assert [one["value"] for one in twin["shown"]] == sorted(values[values < 1])[:20]
    neighbors = swept[2].neighbors
    assert neighbors is not None
    assert twin["index"] == "own.index"
    for one in twin["shown"]:
        assert len(one["missed"]) == round(10 * (1 - one["value"]))
        exact = neighbors[NAMES.index(one["item"])]
        for missed in one["missed"]:
            assert exact[missed["true_rank"] - 1] == missed["item"]
            assert missed["search"].startswith("/search?index=own.index&item=%3Ci%3E")
    following = client.get(twin["after"].replace("/lost?", "/lost.json?")).json()
    assert following["first"] == 20
    assert not {one["item"] for one in following["shown"]} & {one["item"] for one in twin["shown"]}
    assert following["before"] == told["lost_queries"]


def test_the_page_of_lost_queries_shows_what_its_twin_has(client: TestClient) -> None:
    told = client.get("/index.json").json()["sweep"]["points"][1]
    twin = client.get(told["lost_queries"].replace("/lost?", "/lost.json?")).json()
    page = client.get(told["lost_queries"], headers=HTML).text
    ranks = [int(one) for one in re.findall(r"true rank ([\d,]+)", page)]
    assert ranks == [missed["true_rank"] for one in twin["shown"] for missed in one["missed"]]
    assert "<i>1" not in page
    assert twin["shown"][0]["item"] in html.unescape(page)


def test_where_no_query_is_lost_nothing_is_said_of_pictures(explore: Explore, tmp_path: Path) -> None:
    vectors = np.random.default_rng(4).normal(3, 1, (60, 6))
    index = VectorIndex(dimension=6, metric="l2")
    index.add(range(60), vectors)
    index.save(tmp_path / "own.index")
    truth = exact_neighbors(vectors, vectors[:9], 10, metric="l2")
    sweep(SweepData.of(vectors, vectors[:9], truth=truth), ["flat"], {}, out=tmp_path / "own.jsonl")
    client = explore(indexes=(tmp_path / "own.index",), sweeps=(tmp_path / "own.jsonl",))
    place = client.get("/index.json").json()["sweep"]["points"][0]["lost_queries"]
    main = client.get(place, headers=HTML).text.partition("<main")[2].partition("</main>")[0]
    assert "No query is lost." in main
    assert "below 1.\n" in main
    assert "picture" not in main


def test_vectors_as_they_were_given_are_those_that_an_index_keeps_under_cosine(
    explore: Explore, tmp_path: Path
) -> None:
    rng = np.random.default_rng(4)
    vectors, queries = rng.normal(3, 1, (200, 6)), rng.normal(3, 1, (20, 6))
    index = VectorIndex(dimension=6, metric="cosine")
    index.add(range(200), vectors)
    index.save(tmp_path / "own.index")
    truth = exact_neighbors(vectors, queries, 10, metric="cosine")
    sweep(
        SweepData.of(vectors, queries, truth=truth), ["ivf(nlist=5)"], {"nprobe": [1]}, out=tmp_path / "own.jsonl"
    )

    def lost(*, indexes: tuple[Path, ...]) -> tuple[dict[str, Any], str]:
        client = explore(indexes=indexes, sweeps=(tmp_path / "own.jsonl",))
        place = client.get("/index.json").json()["sweep"]["points"][0]["lost_queries"]
        return client.get(place.replace("/lost?", "/lost.json?")).json(), client.get(place, headers=HTML).text

    twin, page = lost(indexes=(tmp_path / "own.index",))
    assert twin["index"] == "own.index"
    assert all(missed["search"] for one in twin["shown"] for missed in one["missed"])
    # Query 7 of one file is not item 7 of the other.
    assert twin["shown"]
    assert not any(one["search"] for one in twin["shown"])
    assert "no picture<" not in page
    assert "Each neighbour leads to a search in" in page
    twin, page = lost(indexes=())
    assert twin["index"] is None
    assert "add it with <code>--index</code>" in page
    assert "no picture<" not in page


def test_without_times_or_neighbours_it_says_so(explore: Explore, tmp_path: Path) -> None:
    held = simulated_sweep([0.9, 0.97], queries=50, costs=False)
    lines = tmp_path / "old.jsonl"
    write(held, lines)
    client = explore(sweeps=(lines,))
    twin = client.get("/index.json").json()["sweep"]
    assert twin["state"]["cost"] == "index_bytes"
    assert [one["cost"] for one in twin["figures"]] == ["index_bytes"]
    assert "throughput not measured" in twin["problem"]
    lost = client.get(twin["points"][0]["lost_queries"], headers=HTML).text
    assert "does not say which neighbours were missed" in lost


def test_a_sweep_that_grows_is_read_again(explore: Explore, tmp_path: Path) -> None:
    lines = tmp_path / "growing.jsonl"
    write(simulated_sweep([0.9], queries=50), lines)
    client = explore(sweeps=(lines,))
    assert len(client.get("/index.json").json()["sweep"]["points"]) == 1
    lines.unlink()
    write(simulated_sweep([0.9, 0.97, 0.99], queries=50), lines)
    assert len(client.get("/index.json").json()["sweep"]["points"]) == 3


def test_a_sweep_that_has_just_begun_is_shown(
    explore: Explore, swept: tuple[Path, Path, Sweep], tmp_path: Path
) -> None:
    begun = tmp_path / "begun.jsonl"
    begun.write_bytes(swept[1].read_bytes().partition(b"\n")[0] + b"\n")
    client = explore(sweeps=(begun,))
    page = client.get("/index", headers=HTML)
    assert (page.status_code, "no point is finished" in page.text) == (200, True)
    assert 'Sweeps and indexes stand under <a href="/index">' in client.get("/results", headers=HTML).text
    assert client.get("/index.json", params={"target": 0.9}).json()["sweep"]["figures"] == []


def test_a_setting_that_was_given_up_stands_in_the_table_and_is_on_no_front(
    explore: Explore, tmp_path: Path
) -> None:
    lines = tmp_path / "late.jsonl"
    write(simulated_sweep([0.9, 0.97], queries=500), lines)
    late = NotFinished("late", 9, "hnsw(m=16) ef_search=<9>", "hnsw(m=16)", "search", 60.0)
    with lines.open("ab") as stream:
        stream.write(record_line(late.as_record()))
    client = explore(sweeps=(lines,))
    twin = client.get("/index.json", params={"target": 0.8}).json()["sweep"]
    assert [one["setting"] for one in twin["not_finished"]] == [late.label]
    assert late.label not in {one["label"] for one in twin["points"]}
    assert any("1 setting was given up, not finished within 60 s" in line for line in twin["choice"])
    for target in (None, 0.8):
        page = client.get("/index", headers=HTML, params={} if target is None else {"target": target}).text
        assert "ef_search=&lt;9&gt;</code></th>" in page
        assert ">not finished within 60 s</td>" in page
        assert "Not shown: hnsw(m=16) ef_search=&lt;9&gt; (not finished within 60 s)." in page


def take_away(path: Path) -> None:
    path.unlink()


def put_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def put_a_pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def put_something_else(path: Path) -> None:
    path.write_bytes(record_line({"format": "visual-search sweep 1"}))


@pytest.mark.parametrize("change", [take_away, put_a_folder, put_a_pipe, put_something_else])
def test_a_sweep_that_goes_leaves_the_rest(
    explore: Explore, swept: tuple[Path, Path, Sweep], tmp_path: Path, change: Callable[[Path], None]
) -> None:
    for name in ("first.jsonl", "second.jsonl"):
        shutil.copy(swept[1], tmp_path / name)
    client = explore(indexes=(swept[0],), sweeps=(tmp_path / "first.jsonl", tmp_path / "second.jsonl"))
    change(tmp_path / "first.jsonl")
    page = client.get("/index", headers=HTML)
    assert (page.status_code, "first.jsonl" in page.text, "own.index" in page.text) == (200, True, True)
    assert 'href="/index?sweep=second.jsonl"' in page.text
    refused = client.get("/index.json", params={"sweep": "first.jsonl"})
    assert (refused.status_code, refused.json()["error"]["kind"]) == (422, "FileFormatError")
    assert client.get("/index.json", params={"sweep": "second.jsonl"}).json()["sweep"]["points"]


def test_what_looks_like_a_sweep_and_is_none_does_not_stop_the_server(explore: Explore, tmp_path: Path) -> None:
    put_something_else(tmp_path / "odd.jsonl")
    client = explore(results=(tmp_path,))
    assert any("odd.jsonl is not served" in line for line in client.app.state.explorer.told())  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("address", "status"),
    [
        ("/index.json?sweep=../own.jsonl", 404),
        ("/index.json?cost=beauty", 404),
        ("/index.json?measure=nDCG@7", 404),
        ("/index.json?measure=((", 400),
        ("/index.json?target=2", 422),
        ("/index/lost.json?point=[]", 404),
        ("/index/lost.json", 400),
        ("/index/lost.json?point=x&first=-1", 422),
    ],
)
def test_what_is_not_there_is_told(client: TestClient, address: str, status: int) -> None:
    answer = client.get(address)
    assert (answer.status_code, set(answer.json()["error"])) == (status, {"kind", "message", "status", "details"})


def write(held: Sweep, path: Path) -> None:
    """A sweep as a file of the version before, which kept no missed neighbours."""
    from visual_search.formats.json_lines import JsonLines

    with JsonLines(path) as lines:
        lines.append(dict(held.header))
        for point in held.points:
            record = point.as_json()
            del record["missed"]
            lines.append(record)


def test_a_sweep_and_its_index_in_the_folder_are_found(explore: Explore, swept: tuple[Path, Path, Sweep]) -> None:
    client = explore(results=(swept[0].parent,))
    told = client.get("/index.json").json()
    assert ([one["name"] for one in told["indexes"]], told["sweep"]["name"]) == (["own.index"], "own.jsonl")
    lines = client.app.state.explorer.told()  # type: ignore[attr-defined]
    assert lines == [
        "found 1 index beside the results: 'own.index'",
        "found 1 sweep beside the results: 'own.jsonl'",
    ]
