"""A judge sees in words that a picture is not the one that others judged by, at laptop and phone, in both schemes."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import Request, urlopen

import pytest
from axe_playwright_python.sync_playwright import Axe
from PIL import Image
from playwright.sync_api import Browser, Page, expect
from tests.web.waiting import wait_until

from visual_search.judging.store import JudgementStore
from visual_search.testing.sample_pool import sample_pool

Visited = Callable[..., Any]
WORDS = "changed since it was first judged"
VIEWS = [(1440, "light"), (1440, "dark"), (390, "light"), (390, "dark")]


@dataclass
class Judged:
    """Where two have judged one pair differently, by pictures of which the candidate's is another now."""

    address: str
    pair: int
    place: Path


@pytest.fixture(scope="module")
def judged(judging_site: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Judged:
    folder: Path = tmp_path_factory.mktemp("judged")
    pool = sample_pool(folder, queries=2, depth=6, overlap=1.0, overlap_wanted=3)
    site = judging_site(pool, folder / "judgements.db")
    with JudgementStore(folder / "judgements.db") as store:
        content = store.pairs([store.query_pairs("query-0", "")[0].pair])[0]
    assert content.image is not None
    _ask(site.address, f"/judge/pictures/candidate/{content.pair}")
    _ask(site.address, "/judge/pictures/query/1")
    for judge, grade in (("ann", 0), ("bo", 2)):
        body = {"key": judge, "judge": judge, "pair": content.pair, "grade": grade}
        _ask(site.address, "/judge/judgements", body)
    Image.new("RGB", (150, 110), "crimson").save(content.image.path)
    return Judged(site.address, content.pair, content.image.path)


def _ask(address: str, path: str, body: Any = None) -> None:
    data = None if body is None else json.dumps(body).encode()
    headers = {} if body is None else {"Content-Type": "application/json"}
    with urlopen(Request(address + path, data, headers)) as answer:
        assert answer.status == 200


def check(page: Page, messages: list[str]) -> None:
    found = Axe().run(page)
    assert found.violations_count == 0, found.generate_report()
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert messages == []


@pytest.mark.parametrize(("width", "scheme"), VIEWS)
def test_the_pair_the_grid_and_the_disagreement_say_it(
    visit: Visited, judged: Judged, width: int, scheme: str
) -> None:
    address, pair = judged.address, judged.pair
    seen = visit(f"{address}/judge/adjudicate?judge=cy", width=width, scheme=scheme)
    page: Page = seen.page
    wait_until(page, "(pair) => document.querySelector('.judging').dataset.ready === String(pair)", pair)
    candidate = page.locator("[data-part=candidate]")
    expect(candidate.locator(".changed")).to_be_visible()
    expect(candidate.locator(".changed")).to_have_text(WORDS)
    expect(page.locator("[data-part=query] .changed")).to_be_hidden()
    expect(page.locator("[data-part=said]")).to_have_text("Changed since it was first judged: candidate.")
    check(page, seen.messages)
    page.goto(f"{address}/judge/grid?judge=cy&query=1")
    tile = page.locator(f".pick[data-pair='{pair}']")
    expect(tile.locator(".changed")).to_be_visible()
    expect(page.get_by_role("option", name=WORDS)).to_have_count(1)
    check(page, seen.messages)
    page.goto(f"{address}/judge/disagreements?judge=cy")
    expect(page.locator(".disputes .changed")).to_have_text(WORDS)
    check(page, seen.messages)


def test_a_pair_that_is_given_out_says_it_and_the_next_does_not(visit: Visited, judged: Judged) -> None:
    """Also where the browser kept the picture that was."""
    address, pair = judged.address, judged.pair
    page: Page = visit(f"{address}/judge?judge=dee").page
    for _ in range(12):
        wait_until(page, "document.querySelector('.judging').dataset.ready")
        shown = int(page.locator(".judging").get_attribute("data-ready") or 0)
        changed = page.locator("[data-part=candidate] .changed")
        if shown == pair:
            expect(changed).to_be_visible()
            assert "now=" in (page.locator("[data-part=candidate] img").get_attribute("src") or "")
            page.keyboard.press("l")
            wait_until(page, "(was) => document.querySelector('.judging').dataset.ready !== String(was)", pair)
            expect(changed).to_be_hidden()
            return
        page.keyboard.press("1")
        wait_until(page, "(was) => document.querySelector('.judging').dataset.ready !== String(was)", shown)
    raise AssertionError("the pair was never given out")


def test_what_the_server_does_not_know_is_asked_when_the_pictures_come(
    visit: Visited, judged: Judged, browser: Browser
) -> None:
    Image.new("RGB", (90, 110), "navy").save(judged.place)
    with browser.new_context(java_script_enabled=False) as context:
        page = context.new_page()
        page.route("**/judge/pictures/**", lambda route: route.abort())
        page.goto(f"{judged.address}/judge/grid?judge=eve&query=1")
        assert page.locator(".tiles .changed").count() == 0
    page = visit(f"{judged.address}/judge/grid?judge=eve&query=1").page
    expect(page.locator(f".pick[data-pair='{judged.pair}'] .changed")).to_have_text(WORDS)
    expect(page.get_by_role("option", name=WORDS)).to_have_count(1)
