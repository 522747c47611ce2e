"""The judging pages in a real browser: their looks, by keys and by touch, in the grid, and where judges differ."""

from collections.abc import Callable
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, expect

from visual_search.judging.records import Verdict
from visual_search.judging.store import JudgementStore
from visual_search.testing.sample_pool import sample_pool

Visited = Callable[..., Any]
PAGES = ["judge", "judge/queries", "judge/grid", "judge/disagreements", "judge/adjudicate", "judge/agreement"]
VIEWS = [(1440, "light"), (390, "dark")]


@pytest.fixture(scope="module")
def judged(judging_site: Callable[..., Any], tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A site on which two have judged a third of the pairs, and differ."""
    folder = tmp_path_factory.mktemp("judged")
    pool = sample_pool(folder / "pool", queries=3, depth=8, wanted=3)
    (folder / "guideline.md").write_text("## What counts\n\nThe *same* pattern, turned or not.\n")
    (folder / "exact.qrels").write_text(
        "".join(f"query-{q} 0 telling-name-{n}.png 1\n" for q in range(3) for n in range(8))
    )
    site = judging_site(
        pool,
        folder / "judgements.db",
        "--guideline",
        str(folder / "guideline.md"),
        "--suggest",
        str(folder / "exact.qrels"),
        "--suggested-by",
        "exact neighbours",
    )
    with JudgementStore(folder / "judgements.db", create=False) as store:
        for pair in range(1, 9):
            store.judge("bo", pair, Verdict(pair % 3, seconds=1.0))
            store.judge("cy", pair, Verdict(pair // 2 % 3, note="a dark corner", seconds=2.0))
    return site


def opened(visit: Visited, site: Any, path: str, judge: str, **view: Any) -> Any:
    seen = visit(f"{site.address}/{path}{'&' if '?' in path else '?'}judge={judge}", **view)
    if path in ("judge", "judge/adjudicate"):
        seen.page.locator(".judging[data-ready]").wait_for(state="attached")
    return seen


class TestEveryPage:
    @pytest.mark.parametrize(("width", "scheme"), VIEWS)
    @pytest.mark.parametrize("path", [*PAGES, "judge?judge="])
    def test_axe_finds_nothing_nothing_leaves_and_nothing_is_too_wide(
        self, visit: Visited, judged: Any, path: str, width: int, scheme: str
    ) -> None:
        seen = opened(visit, judged, path, "" if path.endswith("=") else "dee", width=width, scheme=scheme)
        page = seen.page
        page.evaluate("document.querySelectorAll('details').forEach(one => one.open = true)")
        found = Axe().run(page)
        assert found.response["passes"], "the audit ran"
        told = [
            f"{one['id']}: {[node['html'][:160] for node in one['nodes'][:3]]}"
            for one in found.response["violations"]
        ]
        assert told == []
        assert seen.messages == []
        assert [url for url in seen.requests if not url.startswith(f"{judged.address}/")] == []
        assert page.evaluate("document.documentElement.scrollWidth") == width

    @pytest.mark.parametrize("scheme", ["dark", "light"])
    def test_the_other_schemes_of_the_page_most_looked_at(self, visit: Visited, judged: Any, scheme: str) -> None:
        width = 1440 if scheme == "dark" else 390
        page = opened(visit, judged, "judge", "dee", width=width, scheme=scheme).page
        assert Axe().run(page).response["violations"] == []


class TestOnePair:
    def test_everything_is_in_one_view_and_the_next_three_are_loaded(self, visit: Visited, judged: Any) -> None:
        seen = opened(visit, judged, "judge", "eve")
        page = seen.page
        for part in ("query", "candidate"):
            box = page.locator(f'[data-part="{part}"] .pane').bounding_box()
            assert box is not None
            assert min(box["width"], box["height"]) > 480
        below = page.locator(".moves").bounding_box()
        assert below is not None
        assert below["y"] + below["height"] <= 900
        keys = page.locator(".hands kbd").all_inner_texts()
        assert keys == ["0", "1", "2", "t", "u", "l", "n"]
        page.wait_for_timeout(200)
        loaded = {url for url in seen.requests if "/candidate/" in url}
        assert len(loaded) == 4

    def test_a_suggestion_stands_beside_ones_own_judgement_only(self, visit: Visited, judged: Any) -> None:
        page = opened(visit, judged, "judge", "fay").page
        assert "exact neighbours" not in page.content()
        page.keyboard.press("0")
        told = page.locator(".step .more").first
        told.get_by_text("Suggestion of exact neighbours: relevant. It is not counted.").wait_for()

    def test_what_was_judged_before_can_be_taken_back_after_a_reload(self, visit: Visited, judged: Any) -> None:
        page = opened(visit, judged, "judge", "gil").page
        first = page.locator(".judging").get_attribute("data-ready")
        page.keyboard.press("2")
        page.locator('.step[data-state="saved"]').wait_for()
        page.reload()
        page.locator(f'.judging[data-ready]:not([data-ready="{first}"])').wait_for(state="attached")
        page.keyboard.press("u")
        page.locator(f'.judging[data-ready="{first}"]').wait_for(state="attached")
        assert page.locator(".hands button.before").inner_text().split() == ["2", "highly", "relevant"]
        page.locator('.judging[data-state="saved"]').wait_for(state="attached")
        assert page.locator('[data-part="count"]').inner_text() == "0"

    def test_what_was_not_sent_when_the_window_was_closed_is_sent_by_the_next(
        self, visit: Visited, judged: Any
    ) -> None:
        page = opened(visit, judged, "judge", "jon").page
        first = page.locator(".judging").get_attribute("data-ready")
        context = page.context
        context.set_offline(True)
        page.keyboard.press("2")
        page.locator(f'.judging[data-ready]:not([data-ready="{first}"])').wait_for(state="attached")
        page.keyboard.press("u")
        page.locator(f'.judging[data-ready="{first}"]').wait_for(state="attached")
        page.keyboard.press("0")
        page.locator('.judging[data-state="away"][data-waiting="3"]').wait_for(state="attached")
        assert page.locator('.step[data-state="saved"]').count() == 0
        page.close()
        context.set_offline(False)
        other = context.new_page()
        other.goto(f"{judged.address}/judge?judge=jon")
        other.locator('.judging[data-state="saved"][data-waiting="0"][data-ready]').wait_for(state="attached")
        assert other.locator(".judging").get_attribute("data-ready") != first
        expect(other.locator('[data-part="count"]')).to_have_text("1")
        other.reload()
        assert other.locator(".step .what").all_inner_texts() == ["not relevant"]
        assert other.locator('[data-part="count"]').inner_text() == "1"

    def test_keys_rest_while_one_writes_and_when_switched_off(self, visit: Visited, judged: Any) -> None:
        page = opened(visit, judged, "judge", "hal").page
        ready = page.locator(".judging").get_attribute("data-ready")
        page.keyboard.press("n")
        page.keyboard.type("0 1 2 u l t")
        page.keyboard.press("Escape")
        page.locator('[data-part="keys"]').uncheck()
        page.locator("body").press("1")
        assert page.locator(".judging").get_attribute("data-ready") == ready
        assert page.locator(".step").count() == 0
        page.locator('[data-grade="1.0"]').focus()
        page.keyboard.press("Enter")
        page.locator('.step[data-state="saved"]').wait_for()

    def test_on_a_phone_by_touch(self, browser: Browser, judged: Any) -> None:
        context = browser.new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)
        page = context.new_page()
        page.goto(f"{judged.address}/judge?judge=ida")
        ready = page.locator(".judging[data-ready]")
        ready.wait_for(state="attached")
        buttons = page.locator(".hands button:visible")
        assert buttons.all_inner_texts() == [
            "not relevant",
            "relevant",
            "highly relevant",
            "can't tell",
            "undo",
            "later",
        ]
        for button in buttons.all():
            box = button.bounding_box()
            assert box is not None
            assert box["height"] >= 44
            assert box["y"] + box["height"] <= 844, "within reach without scrolling"
        first = ready.get_attribute("data-ready")
        page.locator('[data-grade="2.0"]').tap()
        page.locator('.step[data-state="saved"]').wait_for()
        page.locator('[data-part="undo"]').tap()
        page.locator(f'.judging[data-ready="{first}"]').wait_for(state="attached")
        page.locator('[data-move="unsure"]').tap()
        page.get_by_role("button", name="not my field").tap()
        page.locator(".step", has_text="not my field").wait_for()
        context.close()


class TestGridAndDecisions:
    def test_a_grid_by_arrows_and_keys(self, visit: Visited, judged: Any) -> None:
        page = opened(visit, judged, "judge/grid?query=1", "kim").page
        tiles = page.locator(".pick")
        assert tiles.count() == 8
        page.keyboard.press("ArrowRight")
        page.keyboard.press("2")
        assert page.evaluate("[...document.querySelectorAll('.pick')].indexOf(document.activeElement)") == 2
        page.keyboard.press("0")
        page.keyboard.press("ArrowLeft")
        page.keyboard.press("1")  # thinks again: a record in place of the one before
        page.locator('.judging[data-state="saved"]').wait_for(state="attached")
        page.keyboard.press("Home")
        page.keyboard.press("t")
        page.keyboard.press("2")
        page.locator('.judging[data-state="saved"]').wait_for(state="attached")
        assert tiles.locator(".mark").all_inner_texts()[:3] == ["can't tell", "highly relevant", "relevant"]
        page.reload()
        assert tiles.locator(".mark").all_inner_texts()[:3] == ["can't tell", "highly relevant", "relevant"]
        page.locator(".pick").nth(1).click()
        page.keyboard.press("u")
        page.locator('.judging[data-state="saved"]').wait_for(state="attached")
        page.reload()
        assert tiles.locator(".mark").all_inner_texts()[:3] == ["can't tell", "", "relevant"]
        heights = tiles.evaluate_all("all => all.map(one => one.getBoundingClientRect().height)")
        assert len(set(heights)) == 1

    def test_disagreements_are_decided_one_by_one(self, visit: Visited, judged: Any) -> None:
        page = opened(visit, judged, "judge/disagreements", "lea").page
        shown = page.locator(".disputes > li").count()
        assert shown > 1
        page.get_by_role("link", name="Decide them one by one").click()
        page.locator(".judging[data-ready]").wait_for(state="attached")
        assert page.locator('[data-part="votes"] li').count() >= 2
        assert "a dark corner" in page.locator('[data-part="votes"]').inner_text()
        page.keyboard.press("1")
        page.locator('.step[data-state="saved"]').wait_for()
        page.get_by_role("link", name="Disagreements").click()
        assert page.locator(".disputes > li").count() == shown - 1
