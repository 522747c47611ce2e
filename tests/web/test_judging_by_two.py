"""Two people judge in two windows of a real browser, by keys, and the server is killed under them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page
from tests.web.waiting import wait_until

from visual_search.judging.store import JudgementStore
from visual_search.testing.sample_pool import sample_pool

Visited = Callable[..., Any]
_NEW_PAIR = """was => {
    const root = document.querySelector('.judging');
    const none = document.querySelector('[data-part="none"]');
    return (root.dataset.ready && root.dataset.ready !== was) || !none.hidden;
}"""


@dataclass
class Judge:
    """Somebody at a page, who goes by keys; ``said`` is what ought to be kept of him."""

    page: Page
    name: str
    said: dict[int, tuple[float | None, str, str]] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)
    records: int = 0

    def pair(self) -> int | None:
        """The pair that can be seen, or None where nothing is left."""
        wait_until(self.page, _NEW_PAIR, "", seconds=90)
        ready = self.page.locator(".judging").get_attribute("data-ready")
        return None if ready is None else int(ready)

    def press(self, key: str) -> None:
        """Press a key and wait for another pair."""
        was = self.page.locator(".judging").get_attribute("data-ready")
        self.page.keyboard.press(key)
        wait_until(self.page, _NEW_PAIR, was, seconds=90)

    def grade(self, pair: int, grade: int, *, note: str = "") -> None:
        """Give a grade, with a note before it."""
        if note:
            self.page.keyboard.press("n")
            self.page.keyboard.type(note)
            self.page.keyboard.press("Escape")
        self.press(str(grade))
        self._kept(pair, (float(grade), "", note))

    def cannot_tell(self, pair: int, reason: str) -> None:
        """Open the reasons and take the first, or write one."""
        self.page.keyboard.press("t")
        self.page.locator("dialog[open]").wait_for()
        was = str(pair)
        if reason == "the image cannot be seen":
            self.page.keyboard.press("1")
        else:
            self.page.locator("#reason").focus()
            self.page.keyboard.type(reason)
            self.page.keyboard.press("Enter")
        wait_until(self.page, _NEW_PAIR, was, seconds=90)
        self._kept(pair, (None, reason, ""))

    def undo(self) -> int:
        """Take the last back; its pair stands there again."""
        last = self.order.pop()
        self.page.keyboard.press("u")
        wait_until(
            self.page, "was => document.querySelector('.judging').dataset.ready === was", str(last), seconds=90
        )
        del self.said[last]
        self.records += 1
        return last

    def saved(self) -> None:
        """Wait until the page says that all is saved."""
        self.page.locator('.judging[data-state="saved"][data-waiting="0"]').wait_for(state="attached")

    def count(self) -> int:
        """How many judgements the page says are saved."""
        return int(self.page.locator('[data-part="count"]').inner_text())

    def _kept(self, pair: int, what: tuple[float | None, str, str]) -> None:
        self.said[pair] = what
        self.order.append(pair)
        self.records += 1


def watch(page: Page, address: str) -> list[str]:
    """What should not happen on a page: words on its console, and requests that leave the machine."""
    seen: list[str] = []
    # A browser tells by itself that the server is away; the page shows it, too.
    page.on("console", lambda said: None if "net::ERR_" in said.text else seen.append(said.text))
    page.on("pageerror", lambda error: seen.append(str(error)))
    page.on("request", lambda one: None if one.url.startswith(f"{address}/") else seen.append(one.url))
    return seen


class TestTwoJudges:
    """One after the other goes on where the other stopped: what is kept is what they said, whatever happened."""

    def test_forty_pairs_by_keyboard_with_the_server_killed_in_the_middle(
        self, browser: Browser, judging_site: Callable[..., Any], tmp_path: Path
    ) -> None:
        pool = sample_pool(tmp_path / "pool", overlap=0.25, overlap_wanted=2)
        place = tmp_path / "judgements.db"
        site = judging_site(pool, place)
        context = browser.new_context(viewport={"width": 1440, "height": 900})
        context.set_default_timeout(90_000)  # a machine that does other work may stand still for a while
        judges = [Judge(context.new_page(), name) for name in ("ann", "bo")]
        seen = [watch(judge.page, site.address) for judge in judges]
        for judge in judges:
            judge.page.goto(f"{site.address}/judge?judge={judge.name}")
        self.some(judges, 14)
        for judge in judges:
            judge.saved()
        shown = [judge.count() for judge in judges]
        site.kill()
        with JudgementStore(place, create=False) as store:
            assert [store.progress().judges[judge.name].judged for judge in judges] == shown, "confirmed, so kept"
        # The next ones were loaded ahead: judging goes on, and the page says what is not saved.
        for judge in judges:
            for _ in range(2):
                pair = judge.pair()
                assert pair is not None
                judge.grade(pair, 1)
            judge.page.locator('.judging[data-state="away"]').wait_for(state="attached")
            assert "2 actions kept in this browser" in judge.page.locator('[data-part="state"]').inner_text()
            assert judge.count() == shown[judges.index(judge)], "nothing is called saved that is not"
        site.start()
        self.some(judges, 60)
        for judge in judges:
            assert judge.pair() is None
            judge.saved()
        self.check(place, judges)
        assert seen == [[], []]
        context.close()

    def some(self, judges: list["Judge"], most: int) -> None:
        """Judge in turn: a note, a can't tell, a later and an undo each at their places."""
        for turn in range(most):
            for judge in judges:
                pair = judge.pair()
                if pair is None:
                    continue
                grade = pair % 3 if judge.name == "ann" else pair // 2 % 3
                if turn == 2:
                    judge.cannot_tell(pair, "the image cannot be seen" if judge.name == "ann" else "too dark")
                elif turn == 4:
                    judge.press("l")
                elif turn == 6:
                    judge.grade(pair, grade, note=f"seen by {judge.name}")
                    assert judge.undo() == pair
                    judge.grade(pair, (grade + 1) % 3, note="thought again")
                else:
                    judge.grade(pair, grade)

    def check(self, place: Path, judges: list["Judge"]) -> None:
        """The export holds exactly what they said."""
        with JudgementStore(place, create=False) as store:
            standing, log, progress = store.standing(), store.log(), store.progress()
        assert progress.given == progress.wanted
        assert progress.judged == 40
        kept: dict[str, dict[int, tuple[float | None, str, str]]] = {judge.name: {} for judge in judges}
        for one in standing:
            assert one.verdict is not None
            assert one.verdict.seconds is not None
            assert 0 < one.verdict.seconds < 60
            assert one.pair not in kept[one.judge], "none doubled"
            kept[one.judge][one.pair] = (one.grade, one.verdict.reason, one.verdict.note)
        assert kept == {judge.name: judge.said for judge in judges}
        assert len(log) == sum(judge.records for judge in judges)
        both = kept["ann"].keys() & kept["bo"].keys()
        assert any(kept["ann"][pair][0] != kept["bo"][pair][0] for pair in both), "they disagree"
