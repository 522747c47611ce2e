"""From the demonstration to its report, and through the pages of a bundle, from disk, in a real browser."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from tests.web.waiting import wait_until

from visual_search.formats.results import StoredResult
from visual_search.workflows.demo import run_demo
from visual_search.workflows.report import report_bundle

VIEWS = [(1440, "light"), (1440, "dark"), (390, "light"), (390, "dark")]

everywhere = pytest.mark.parametrize(("width", "scheme"), VIEWS)
Visited = Callable[..., Any]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_demo(tmp_path_factory.mktemp("demo") / "out").page


@pytest.fixture(scope="module")
def bundle(sample: list[StoredResult], tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("bundle") / "report"
    return report_bundle([one.path for one in sample], out, baseline="colour", per_page=4)


@everywhere
def test_the_demonstrations_report_opens_from_disk_and_asks_for_nothing(
    visit: Visited, demo: Path, width: int, scheme: str
) -> None:
    seen = visit(demo, width=width, scheme=scheme)
    page = seen.page
    page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
    page.mouse.wheel(0, 40_000)
    page.wait_for_timeout(150)
    assert [url for url in seen.requests if not url.startswith("data:")] == [demo.as_uri()]
    assert seen.messages == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
    for anchor in ("directions", "leaks", "ledger", "definitions", "origin"):
        assert page.locator(f"section#{anchor}").is_visible()
    assert page.locator(".contrast .move").first.is_visible()
    assert page.locator("#origin .prints tbody tr").count() == 6


@everywhere
def test_a_bundle_is_walked_from_disk(visit: Visited, bundle: Path, width: int, scheme: str) -> None:
    seen = visit(bundle, width=width, scheme=scheme)
    page = seen.page
    page.locator(".page-list a").first.click()
    page.locator("a[rel=next]").first.click()
    assert page.locator("h1").inner_text().startswith("Queries 5 to 8")
    drawn = page.locator(".case img").first
    drawn.scroll_into_view_if_needed()
    wait_until(page, "document.querySelector('.case img').naturalWidth > 0")
    assert page.evaluate("document.documentElement.scrollWidth") == width
    violations = Axe().run(page).response["violations"]
    assert [(one["id"], one["nodes"][0]["html"][:160]) for one in violations] == []
    page.get_by_role("link", name="By name").first.click()
    page.locator("tbody a").first.click()
    page.locator(".case:target").wait_for(state="attached")
    page.locator(".kicker a").click()
    assert page.url.endswith("index.html")
    root = bundle.parent.as_uri()
    assert all(url.startswith((root, "data:")) for url in seen.requests)
    assert seen.messages == []
