"""A picture that changed since it was measured says so in words on the page, with scripts and without."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Page, Route, expect
from tests.web.waiting import wait_until

from visual_search.web.app import create_app
from visual_search.web.settings import ExplorerSettings
from visual_search.workflows.evaluate import evaluate_index
from visual_search.workflows.index_images import index_images

Visited = Callable[..., Any]
WORDS = "changed since it was measured"
ONE = "1 picture has changed since it was measured"
VIEWS = [(1440, "light"), (1440, "dark"), (390, "light"), (390, "dark")]


@dataclass
class Site:
    """An explorer that listens, and the folder it serves."""

    address: str
    folder: Path

    def result(self) -> str:
        (row,) = json.loads(_get(f"{self.address}/results.json"))["rows"]
        return f"{self.address}/result?result={row['key']}"

    def query(self) -> str:
        return self.result().replace("/result?", "/query?") + "&query=asked/12.png&shown=12"


def _get(address: str) -> bytes:
    with urlopen(address) as answer:
        body: bytes = answer.read()
    return body


def drawn(number: int, ground: str = "") -> Image.Image:
    picture = Image.new("RGB", (120, 90), ground or (20 * number, 120, 250 - 15 * number))
    ImageDraw.Draw(picture).ellipse((10 + 4 * number, 10, 60 + 4 * number, 70), fill=(250, 200, 15 * number))
    return picture


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    """A result of twelve pictures, and of two queries of their own."""
    for number in range(14):
        place = tmp_path / ("asked" if number > 11 else "photos") / f"{number}.png"
        place.parent.mkdir(exist_ok=True)
        drawn(number).save(place)
    index_images(tmp_path / "photos", tmp_path / "photos.index", embedder="histogram")
    queries = [
        {"query_id": f"asked/{number}.png", "image_path": f"asked/{number}.png", "ground_truth": ["1.png", "2.png"]}
        for number in (12, 13)
    ]
    (tmp_path / "eval.json").write_text(json.dumps({"queries": queries}))
    evaluate_index(tmp_path / "photos.index", tmp_path / "eval.json", tmp_path / "results.json", k_values=[1, 12])
    app = create_app(ExplorerSettings(results=(tmp_path,)))
    app.state.explorer.results.shelf.refresh()
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning", lifespan="off"))
    listening = server.config.bind_socket()
    listening.listen(64)
    thread = threading.Thread(target=server.run, args=([listening],))
    thread.start()
    yield Site(f"http://127.0.0.1:{listening.getsockname()[1]}", tmp_path)
    server.should_exit = True
    thread.join()
    listening.close()
    app.state.explorer.close()


def replaced(site: Site, name: str) -> None:
    drawn(3, "red").save(site.folder / name)


def tile(page: Page, name: str) -> Any:
    return page.locator(".hits .tile", has=page.locator(".id", has_text=name)).first


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_it_says_so_over_the_picture_and_in_a_line(visit: Visited, site: Site, width: int, scheme: str) -> None:
    replaced(site, "photos/1.png")
    for address in (site.query(), site.result()):
        seen = visit(address, width=width, scheme=scheme)
        page: Page = seen.page
        expect(page.get_by_role("status").filter(has_text=ONE)).to_be_visible()
        frame = tile(page, "1.png").locator(".frame")
        expect(frame.locator(".changed")).to_have_text(WORDS)
        expect(frame.locator(".changed")).to_be_visible()
        # The words stand once: the picture below them is the bare one.
        assert "words=beside" in (frame.locator("img").get_attribute("src") or "")
        wait_until(page, "[...document.images].every((one) => !one.complete || one.naturalWidth > 0)")
        assert tile(page, "2.png").locator(".changed").count() == 0
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert seen.messages == []


def test_screen_readers_have_it_with_the_picture(visit: Visited, site: Site) -> None:
    replaced(site, "photos/1.png")
    page: Page = visit(site.query(), width=390).page
    expect(page.get_by_role("status").filter(has_text=ONE)).to_be_visible()
    told = page.get_by_role("listitem").filter(has_text="1.png").filter(has_text=WORDS)
    assert WORDS in told.first.aria_snapshot()


def test_without_scripts_the_picture_has_the_words_and_once_known_the_page(browser: Browser, site: Site) -> None:
    replaced(site, "asked/12.png")
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    with page.expect_response("**/result/picture?*side=queries*") as picture:
        page.goto(site.query())
    assert picture.value.headers["content-type"] == "image/svg+xml"
    assert "changed since it" in picture.value.text()
    assert "<noscript><p" in page.content()  # which the browser that is driven does not show
    page.reload()
    expect(page.locator(".tile.query .changed")).to_have_text(WORDS)
    expect(page.get_by_role("status").filter(has_text=ONE)).to_be_visible()
    context.close()


def test_where_the_words_cannot_be_had_the_picture_keeps_its_own(browser: Browser, site: Site) -> None:
    replaced(site, "photos/1.png")
    context = browser.new_context()
    page = context.new_page()
    refused = []

    def refuse(route: Route) -> None:
        refused.append(route.request.url)
        route.abort()

    page.route("**/result/pictures", refuse)
    page.goto(site.query())
    wait_until(page, "[...document.images].some((one) => one.naturalWidth > 0)")
    page.wait_for_timeout(500)
    assert refused
    assert page.locator(".frame .changed").count() == 0
    assert "words=" not in (tile(page, "1.png").locator("img").get_attribute("src") or "")
    context.close()


def test_only_pictures_that_came_in_are_asked_for(visit: Visited, site: Site) -> None:
    asked: list[Any] = []
    page: Page = visit("about:blank", width=390).page
    page.on(
        "request", lambda one: asked.append(one.post_data_json) if one.url.endswith("/result/pictures") else None
    )
    page.goto(site.query())
    wait_until(page, "document.querySelectorAll('.hits img').length === 12")
    page.wait_for_timeout(800)
    came = page.evaluate("[...document.images].filter((one) => one.naturalWidth > 0).length")
    assert 0 < sum(len(one["pictures"]) for one in asked) <= came
    assert len(asked) <= 2


def test_a_picture_that_is_gone_says_so_as_text(visit: Visited, site: Site) -> None:
    (site.folder / "photos" / "2.png").unlink()
    page: Page = visit(site.query()).page
    expect(tile(page, "2.png").locator(".frame .empty")).to_have_text("file is gone")


def test_a_picture_that_is_no_longer_the_indexed_one_says_so_on_the_search_page(visit: Visited, site: Site) -> None:
    replaced(site, "photos/1.png")
    page: Page = visit(f"{site.address}/search?item=1.png").page
    expect(page.locator(".tile.query .empty")).to_contain_text("not the one that was indexed")
