"""The explorer in a real browser: a picture is dropped, a result is the next query, nothing leaves the machine."""

import base64
import io
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from PIL import Image, ImageDraw
from playwright.sync_api import Browser, Page
from tests.web.waiting import wait_until

from visual_search import exact_neighbors
from visual_search.indexing.index_table import VectorIndex
from visual_search.tuning.costs import CostPlan
from visual_search.tuning.sweep import sweep
from visual_search.tuning.sweep_data import SweepData
from visual_search.web.app import create_app
from visual_search.web.serving import listening_socket
from visual_search.web.settings import ExplorerSettings
from visual_search.workflows.index_images import index_images

Visited = Callable[..., Any]
LOOKS = [(1440, "light"), (390, "dark")]


def drawn(number: int) -> Image.Image:
    picture = Image.new("RGB", (120, 90 + 8 * (number % 5)), (40 * number % 256, 90, 255 - 20 * number % 256))
    ImageDraw.Draw(picture).ellipse((10 + number, 10, 60 + 3 * number % 50, 70), fill=(250, 200, 7 * number % 256))
    return picture


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """An explorer over forty pictures and a sweep of their vectors."""
    folder = tmp_path_factory.mktemp("explored")
    (folder / "shapes").mkdir()
    for number in range(40):
        drawn(number).save(folder / "shapes" / f"<b>{number}'s.png")
    index_images(folder / "shapes", folder / "shapes.index", embedder="pixels")
    index = VectorIndex.open(folder / "shapes.index")
    names, asked = list(index.ids), list(index.ids)[:10]
    vectors, queries = index.vectors(names), index.vectors(asked)
    truth = exact_neighbors(vectors, queries, 5, metric="cosine", gallery_ids=names, query_ids=asked)
    data = SweepData.of(vectors, queries, k=5, truth=truth, gallery_ids=names, query_ids=asked)
    sweep(
        data,
        ["flat", "hnsw(m=2)"],
        {"ef_search": [5, 9]},
        out=folder / "shapes.jsonl",
        costs=CostPlan(queries=10, warm_up=1, runs=1),
    )
    settings = ExplorerSettings(
        indexes=(folder / "shapes.index",), sweeps=(folder / "shapes.jsonl",), max_upload_bytes=1 << 20
    )
    with listening_socket("127.0.0.1", 0) as listening:
        listening.listen(64)
        server = uvicorn.Server(uvicorn.Config(create_app(settings), lifespan="off", log_level="warning"))
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        server.should_exit = True
        thread.join(timeout=20)


def transfer(page: Page, kind: str, data: bytes, name: str = "dropped.png") -> None:
    """Drop or paste a file as a person's browser would tell of it."""
    page.evaluate(
        """([kind, data, name]) => {
            const bytes = Uint8Array.from(atob(data), (one) => one.charCodeAt(0));
            const carried = new DataTransfer();
            carried.items.add(new File([bytes], name, {type: "image/png"}));
            const event = kind === "paste"
              ? new ClipboardEvent("paste", {clipboardData: carried, bubbles: true, cancelable: true})
              : new DragEvent(kind, {dataTransfer: carried, bubbles: true, cancelable: true});
            document.body.dispatchEvent(event);
        }""",
        [kind, base64.b64encode(data).decode(), name],
    )


def png(picture: Image.Image) -> bytes:
    stream = io.BytesIO()
    picture.save(stream, "PNG")
    return stream.getvalue()


def check(page: Page) -> None:
    """No violation of accessibility, nothing wider than the screen, every picture there."""
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    wait_until(page, "[...document.images].every((one) => one.loading === 'lazy' || one.naturalWidth > 0)")


@pytest.mark.parametrize(("width", "scheme"), LOOKS)
def test_from_a_dropped_picture_to_results_to_the_next_query(
    visit: Visited, address: str, width: int, scheme: str
) -> None:
    seen = visit(f"{address}/", width=width, scheme=scheme)
    page: Page = seen.page
    check(page)
    transfer(page, "dragover", b"")
    transfer(page, "drop", png(drawn(7)))
    page.wait_for_url("**/search?upload=*")
    first = page.locator("ol.hits li").first
    assert first.locator("bdi").inner_text() == "<b>7's.png"
    assert "1.000" in first.inner_text()
    check(page)
    first.locator("a").focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/search?item=*")
    assert page.locator(".tile.query bdi").inner_text() == "<b>7's.png"
    assert page.locator("ol.hits li").count() == 24
    check(page)
    page.get_by_role("link", name="Index", exact=True).click()
    page.wait_for_url("**/index")
    check(page)
    point = page.locator(".figure a").first
    assert "NeighborRecall" in (point.get_attribute("aria-label") or "")
    point.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/index/lost?*")
    check(page)
    assert {one.split("/")[2] for one in seen.requests} == {address.split("/")[2]}
    assert seen.messages == []


def test_paste_and_choice_do_what_a_drop_does(visit: Visited, address: str, tmp_path: Path) -> None:
    page: Page = visit(f"{address}/search").page
    transfer(page, "paste", png(drawn(3)))
    page.wait_for_url("**/search?upload=*")
    assert page.locator("ol.hits bdi").first.inner_text() == "<b>3's.png"
    drawn(5).save(tmp_path / "five.png")
    page.set_input_files("#picture", tmp_path / "five.png")
    wait_until(page, "document.querySelector('ol.hits bdi').innerText === \"<b>5's.png\"")


def test_a_picture_that_is_too_long_is_told_before_it_is_sent(visit: Visited, address: str) -> None:
    seen = visit(f"{address}/search")
    page: Page = seen.page
    transfer(page, "drop", bytes(2 << 20), "large.png")
    assert "large.png" in page.get_by_role("alert").inner_text()
    assert not any("/upload" in one for one in seen.requests)


def test_the_first_key_leads_past_the_navigation(visit: Visited, address: str) -> None:
    page: Page = visit(f"{address}/search").page
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "Skip to the page"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_settings_are_changed_by_keys_and_stand_in_the_address(visit: Visited, address: str) -> None:
    page: Page = visit(f"{address}/search?item=%3Cb%3E3%27s.png").page
    page.get_by_text("Settings").click()
    page.get_by_label("Number of results").fill("5")
    page.get_by_label("Hide near-duplicates").check()
    page.keyboard.press("Tab")
    page.get_by_role("button", name="Apply").press("Enter")
    page.wait_for_url("**k=5&hide=1*")
    assert page.locator("ol.hits li").count() == 5
    assert page.get_by_label("Hide near-duplicates").is_checked()


def test_a_picture_whose_file_is_gone_leaves_a_box_with_words(visit: Visited, address: str) -> None:
    page: Page = visit("about:blank").page
    page.route("**/search/picture?*", lambda route: route.fulfill(status=404, body="{}"))
    page.goto(f"{address}/search?item=%3Cb%3E3%27s.png")
    wait_until(page, "document.querySelector('.tile.query .empty')?.innerText === 'picture cannot be shown'")


def test_a_picture_is_searched_by_without_scripts(browser: Browser, address: str, tmp_path: Path) -> None:
    drawn(9).save(tmp_path / "nine.png")
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.goto(f"{address}/search?k=3&hide=1")
        page.set_input_files("#picture", tmp_path / "nine.png")
        page.get_by_role("button", name="Search by it").click()
        page.wait_for_url("**/search?upload=*&k=3&hide=1")
        assert page.locator("ol.hits li").count() == 3
        assert page.locator("ol.hits bdi").first.inner_text() == "<b>9's.png"
