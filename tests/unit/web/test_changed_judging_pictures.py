"""Who judges a picture that is no longer the one that others judged by is told so."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from starlette.testclient import TestClient

from visual_search.images.kept_thumbnails import KeptThumbnails
from visual_search.judging.records import Verdict
from visual_search.judging.store import JudgementStore
from visual_search.testing.sample_pool import sample_pool
from visual_search.web.judging.app import create_judging_app
from visual_search.web.judging.room import JudgingRoom
from visual_search.web.settings import ExplorerSettings
from visual_search.workflows.open_judging import open_judging

WORDS = "changed since it was first judged"
Opened = Callable[[], tuple[TestClient, JudgementStore]]


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[Opened]:
    """Opens the pages, as often as asked: each time as a server that has shown nothing yet."""
    pool = sample_pool(tmp_path, queries=2, depth=6)
    with ExitStack() as stack:

        def judging() -> tuple[TestClient, JudgementStore]:
            store = stack.enter_context(open_judging(tmp_path / "judgements.db", pool))
            app = create_judging_app(JudgingRoom(store), ExplorerSettings())
            return stack.enter_context(TestClient(app, base_url="http://127.0.0.1:8000")), store

        yield judging


def look(client: TestClient, pair: int) -> None:
    """Have both pictures of a pair of the first query shown."""
    for path in (f"/judge/pictures/candidate/{pair}", "/judge/pictures/query/1"):
        assert client.get(path).status_code == 200


def mark(client: TestClient, judge: str, pair: int) -> None:
    body = {"key": f"{judge}-{pair}", "judge": judge, "pair": pair, "grade": 1}
    assert client.post("/judge/judgements", json=body).status_code == 200


def replace(store: JudgementStore, pair: int, *, query: bool = False) -> None:
    (content,) = store.pairs([pair])
    place = content.query.image if query else content.image
    assert place is not None
    Image.new("RGB", (50, 40), "red").save(place.path)


def pairs_of(store: JudgementStore) -> list[int]:
    """Pairs of the first query, which has a picture."""
    return [one.pair for one in store.query_pairs("query-0", "")]


def told(client: TestClient, **asked: list[int]) -> Any:
    return client.post("/judge/pictures/changed", json=asked).json()


def test_the_next_judge_is_told_of_query_and_candidate(opened: Opened) -> None:
    client, store = opened()
    first, other, *_ = pairs_of(store)
    look(client, first)
    mark(client, "ann", first)
    assert told(client, queries=[1], candidates=[first, other]) == {"queries": [], "candidates": []}
    replace(store, first)
    replace(store, other)  # by which nobody judged
    assert told(client, queries=[1], candidates=[first, other]) == {"queries": [], "candidates": [first]}
    replace(store, first, query=True)
    assert told(client, queries=[1, 2], candidates=[first]) == {"queries": [1], "candidates": [first]}
    # What was judged first stays, also when others judge by what is there now.
    look(client, first)
    mark(client, "bo", first)
    again, _ = opened()
    look(again, first)
    mark(again, "cy", first)
    assert told(again, queries=[1], candidates=[first]) == {"queries": [1], "candidates": [first]}


def test_a_server_that_has_shown_nothing_yet_knows_it_too(opened: Opened) -> None:
    client, store = opened()
    first = pairs_of(store)[0]
    look(client, first)
    mark(client, "ann", first)
    replace(store, first)
    assert told(opened()[0], candidates=[first])["candidates"] == [first]


def test_who_looked_at_no_picture_judged_by_none(opened: Opened) -> None:
    client, store = opened()
    first = pairs_of(store)[0]
    mark(client, "a program", first)
    store.judge("from a file", first, Verdict(2))
    replace(store, first)
    look(client, first)
    assert told(client, queries=[1], candidates=[first]) == {"queries": [], "candidates": []}
    mark(client, "ann", first)
    replace(store, first, query=True)
    assert told(client, queries=[1], candidates=[first]) == {"queries": [1], "candidates": []}


def test_a_picture_that_is_gone_has_not_changed(opened: Opened) -> None:
    client, store = opened()
    first = pairs_of(store)[0]
    look(client, first)
    mark(client, "ann", first)
    (content,) = store.pairs([first])
    assert content.image is not None
    content.image.path.unlink()
    assert told(client, candidates=[first])["candidates"] == []


def test_pages_and_their_twins_say_it(opened: Opened) -> None:
    client, store = opened()
    first, other, *_ = pairs_of(store)
    for judge, grade in (("ann", 0), ("bo", 2)):
        look(client, first)
        body = {"key": judge, "judge": judge, "pair": first, "grade": grade}
        assert client.post("/judge/judgements", json=body).status_code == 200
    replace(store, first)
    grid = client.get("/judge/grid.json", params={"judge": "cy", "query": 1}).json()
    changed = {one["pair"]: one["picture_changed"] for one in grid["tiles"]}
    assert (changed[first], changed[other], grid["query"]["picture_changed"]) == (True, None, False)
    (dispute,) = client.get("/judge/disagreements.json").json()["disagreements"]
    assert (dispute["picture_changed"], dispute["query"]["picture_changed"]) == (True, False)
    assert [one["picture_changed"] for one in client.get("/judge/queries.json").json()["queries"]] == [False, None]
    for path in ("/judge/grid", "/judge/disagreements"):
        page = client.get(path, params={"judge": "cy"}).text.partition("<template")[0]
        assert page.count(f'<span class="changed">{WORDS}</span>') == 1
    grid_page = client.get("/judge/grid", params={"judge": "cy"}).text
    assert f'aria-label="Candidate {list(changed).index(first) + 1}: not judged, {WORDS}"' in grid_page


def test_a_page_reads_no_picture(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    client, store = opened()
    first = pairs_of(store)[0]
    look(client, first)
    mark(client, "ann", first)
    replace(store, first)

    def read(*_: Any) -> None:
        raise AssertionError("a picture was read")

    monkeypatch.setattr(KeptThumbnails, "_read", read)
    page = client.get("/judge/grid", params={"judge": "cy"}).text
    assert WORDS not in page.partition("<template")[0]


def test_numbers_that_are_none_are_refused(opened: Opened) -> None:
    client, _ = opened()
    for asked in ({"queries": [9]}, {"candidates": [999]}):
        assert client.post("/judge/pictures/changed", json=asked).status_code == 404
    assert client.post("/judge/pictures/changed", json={"candidates": [1] * 101}).status_code == 422
