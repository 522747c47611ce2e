"""Results, compare and query in a real browser: walked by keys, at two widths, in two schemes."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, expect
from tests.web.waiting import wait_until

from visual_search.testing.sample_results import sample_results
from visual_search.web.app import create_app
from visual_search.web.settings import ExplorerSettings

VIEWS = [(1440, "light"), (1440, "dark"), (390, "light"), (390, "dark")]
AUDITED = {(1440, "light"), (390, "dark")}  # the other two have the same elements in the same colours
NOTE = '<b>the camera was moved</b> & "so on"\nsecond line'

everywhere = pytest.mark.parametrize(("width", "scheme"), VIEWS)


@dataclass
class Served:
    """An explorer that listens, and the keys of its results by file."""

    address: str
    keys: dict[str, str]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("results")
    sample_results(folder, objects=8, views=4)
    _fuller(folder / "loo-grid.json")
    _older(folder, "loo-grid.json", "older.json")
    (folder / "broken.json").write_text('{"num_queries": 3,')
    app = create_app(ExplorerSettings(results=(folder,)))
    shelf = app.state.explorer.results.shelf
    shelf.refresh()
    keys = {entry.file: entry.key for entry in shelf.entries()}
    shelf.write_note(keys["loo-grid.json"], NOTE, version=0)
    shelf.pin(keys["loo-colour.json"], pinned=True)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", lifespan="off"))
    listening = server.config.bind_socket()
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    yield Served(f"http://127.0.0.1:{listening.getsockname()[1]}", keys)
    server.should_exit = True
    thread.join()
    listening.close()


def _fuller(path: Path) -> None:
    """Pictures that were left out, and slices, as evaluations and ``score --slices`` write them."""
    record = json.loads(path.read_text())
    files = [{"id": f"cut {n}.png", "reason": "truncated: image file is truncated"} for n in range(3)]
    ledger = {"used": 32, "changed": 4, "left_out": 3, "changes": {"rotated": 4}, "reasons": {"truncated": 3}}
    counts = {"counted": 16, "undefined": 0, "low": 0.25, "high": 0.75}
    slices = [
        {"slice": part, "measure": measure, "mean": 0.5} | counts
        for part in ("by night", "by day")
        for measure in record["measures"]
    ]
    more = {"ledger": ledger | {"left_out_files": files}, "sliced_by": "light", "slices": slices}
    path.write_text(json.dumps(record | more))


def _older(folder: Path, file: str, name: str) -> None:
    record = json.loads((folder / file).read_text())
    (folder / name).write_text(
        json.dumps(record | {"timestamp": "2025-11-02T08:00:00Z", "model_name": "grid, older"})
    )


@pytest.fixture
def opened(browser: Browser, served: Served) -> Iterator[Callable[..., Page]]:
    """Opens a page of the explorer; at the end nothing may have been asked of others, nor said on the console."""
    contexts, requests, messages = [], [], []

    def visited(path: str, *, width: int = 1440, scheme: Literal["light", "dark"] = "light") -> Page:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        page.on("request", lambda request: requests.append(request.url))
        page.on("console", lambda message: messages.append(message.text))
        page.on("pageerror", lambda error: messages.append(str(error)))
        page.goto(served.address + path)
        return page

    yield visited
    for context in contexts:
        context.close()
    assert [url for url in requests if not url.startswith(served.address)] == []
    # Of a note that two wrote the browser itself says that it was refused.
    assert [said for said in messages if "status of 409 (Conflict)" not in said] == []


def addresses(served: Served) -> dict[str, str]:
    colour, grid, one = (served.keys[f"{name}.json"] for name in ("loo-colour", "loo-grid", "one-grid"))
    query = "object%202/view%201.png"
    return {
        "results": "/results",
        "result": f"/result?result={grid}",
        "compare": f"/compare?result={colour}&result={grid}",
        "not comparable": f"/compare?result={colour}&result={one}",
        "query": f"/query?result={colour}&result={grid}&query={query}",
        "query of one": f"/query?result={colour}&query={query}&order=worst",
    }


def wider_than_the_window(page: Page) -> int:
    wider: int = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
    return wider


@everywhere
def test_every_page_is_accessible_and_fits(
    opened: Callable[..., Page], served: Served, width: int, scheme: Literal["light", "dark"]
) -> None:
    for name, path in addresses(served).items():
        page = opened(path, width=width, scheme=scheme)
        for fold in page.locator("details").all():
            fold.evaluate("fold => { fold.open = true; }")
        assert wider_than_the_window(page) <= 0, name
        if (width, scheme) in AUDITED:
            found: Any = Axe().run(page).response["violations"]
            assert [(one["id"], [node["html"] for node in one["nodes"]][:3]) for one in found] == [], name
        page.context.close()


def test_from_the_table_to_a_comparison_to_its_queries_by_keys(opened: Callable[..., Page], served: Served) -> None:
    page = opened("/results")
    expect(page.get_by_text("1 file cannot be read")).to_be_visible()
    expect(page.locator("tr.pinned")).to_contain_text("loo-colour.json")
    assert "+" in page.locator("tr", has_text="loo-grid.json").inner_text()
    for file in ("loo-colour.json", "loo-grid.json"):
        page.get_by_label(f"{file}").locator("visible=true").first.check()
    page.get_by_role("button", name="Compare the ticked").click()
    expect(page.get_by_role("heading", name="They answer the same questions")).to_be_visible()
    page.locator(".changes a").last.click()
    expect(page.get_by_role("heading", level=1)).to_contain_text("object")
    place = page.get_by_role("navigation", name="Queries").get_by_role("status")
    first = place.inner_text()
    assert page.locator(".lists ol.hits").count() == 2
    assert page.locator("svg.moves line").count() > 0
    page.keyboard.press("k")
    expect(place).not_to_have_text(first)
    second = place.inner_text()
    page.keyboard.press("j")
    expect(place).to_have_text(first)
    page.keyboard.press("k")
    expect(place).to_have_text(second)
    page.locator("select[name=order]").focus()
    page.keyboard.press("j")  # belongs to the field, not to the page
    page.wait_for_timeout(100)
    assert place.inner_text() == second
    page.get_by_role("link", name="Back to the comparison").click()
    expect(page.get_by_role("heading", name="The queries that changed most")).to_be_visible()


def test_a_result_is_shown_whole(opened: Callable[..., Page], served: Served) -> None:
    page = opened(addresses(served)["result"])
    for heading in ("Every picture accounted for", "What each number means", "Where the numbers come from"):
        expect(page.get_by_role("heading", name=heading)).to_be_visible()
    expect(page.get_by_role("region", name="What the numbers count")).to_be_visible()
    page.locator("summary", has_text="Parts of the queries").press("Enter")
    expect(
        page.get_by_role("cell", name="by night").or_(page.get_by_role("rowheader", name="by night"))
    ).to_be_visible()
    expect(page.locator("table.files")).to_contain_text("cut 0.png")


def test_on_paper_lists_are_whole_and_what_is_folded_is_open(opened: Callable[..., Page], served: Served) -> None:
    page = opened(addresses(served)["query"], width=760)
    page.emulate_media(media="print")
    assert page.locator(".lists .hits").first.evaluate("list => list.scrollWidth <= list.clientWidth")
    assert wider_than_the_window(page) <= 0
    assert not page.locator("svg.moves").first.is_visible()
    assert page.locator(".moved li").first.is_visible()
    page = opened(addresses(served)["result"], width=760)
    assert not page.locator("p.noted").is_visible()
    page.emulate_media(media="print")
    expect(page.locator("p.noted")).to_contain_text("the camera was moved")
    assert not page.locator("form.noting").is_visible()
    tops = page.locator(".case .hits").first.locator(".tile").evaluate_all("all => all.map(one => one.offsetTop)")
    assert len(set(tops)) == 1, "ten results beside their query"
    page = opened(f"/result?result={served.keys['one-colour.json']}")
    assert page.get_by_role("heading", name="Note", exact=True).is_visible()
    page.emulate_media(media="print")
    assert not page.get_by_role("heading", name="Note", exact=True).is_visible()


def test_pictures_stand_in_boxes_that_do_not_move(opened: Callable[..., Page], served: Served) -> None:
    page = opened(addresses(served)["query"])
    before = page.locator(".lists .tile").first.bounding_box()
    wait_until(page, "[...document.images].filter(i => i.complete && i.naturalWidth).length > 5")
    assert page.locator(".lists .tile").first.bounding_box() == before
    assert {box["width"] for tile in page.locator(".lists .tile").all()[:8] if (box := tile.bounding_box())} == {
        104
    }
    assert page.locator("img[loading=lazy]").count() == page.locator("img.thumb").count()


def test_a_systems_name_stays_beside_the_end_of_its_list(opened: Callable[..., Page], served: Served) -> None:
    page = opened(addresses(served)["query"], width=390)
    names = page.locator(".lists h2")
    before = [name.bounding_box() for name in names.all()]
    page.evaluate("document.querySelector('.lists').scrollLeft = 100000")
    page.wait_for_timeout(200)
    assert page.evaluate("document.querySelector('.lists').scrollLeft") > 300
    after = [name.bounding_box() for name in names.all()]
    assert len(after) == 2
    for one, other in zip(before, after, strict=True):
        assert one is not None
        assert other is not None
        assert abs(one["x"] - other["x"]) <= 24


def test_the_figures_points_lead_to_their_results(opened: Callable[..., Page], served: Served) -> None:
    page = opened("/results")
    points = page.locator("figure.history svg a")
    assert points.count() == 5
    names = points.evaluate_all("all => all.map(one => one.getAttribute('aria-label'))")
    assert any(name.startswith("grid, older, 2025-11-02") for name in names)
    points.nth(0).focus()
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/result?" in url)


def test_a_note_is_written_and_a_second_tab_is_told(opened: Callable[..., Page], served: Served) -> None:
    path = f"/result?result={served.keys['one-grid.json']}"
    first, second = opened(path), opened(path)
    first.get_by_label("Note on this result").fill(NOTE)
    first.get_by_role("button", name="Save the note").click()
    expect(first.get_by_label("Note on this result")).to_have_value(NOTE)
    with second.expect_navigation():
        second.get_by_label("Note on this result").fill("another")
        second.evaluate("document.querySelector('form.noting').requestSubmit()")
    expect(second.get_by_role("heading", name="Two notes")).to_be_visible()
    expect(second.locator("p.noted")).to_have_text(NOTE)
    second.get_by_role("button", name="Save this as the note").click()
    expect(second.get_by_label("Note on this result")).to_have_value("another")


def test_without_scripts_the_walk_is_the_same(browser: Browser, served: Served) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(served.address + addresses(served)["query"])
    place = page.get_by_role("navigation", name="Queries").get_by_role("status").inner_text()
    page.get_by_role("link", name="next").click()
    assert page.get_by_role("navigation", name="Queries").get_by_role("status").inner_text() != place
    context.close()
