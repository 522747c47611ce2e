"""A real browser, and pages to look at in it."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from visual_search.formats.results import StoredResult
from visual_search.testing.sample_results import sample_results

# Root, containers and missing graphics need the first two; the others keep the browser from calling home.
_FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
Scheme = Literal["light", "dark"]
_NAMES = ("chromium", "chromium-browser", "google-chrome")
_HOW = "Chromium is needed to look at pages: apt-get install -y --no-install-recommends chromium"


@dataclass
class Visit:
    """A page in the browser, and what happened on it."""

    page: Page
    requests: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)


class JudgingSite:
    """``visual-search judge serve`` on a port that stays the same."""

    def __init__(self, pool: Path, judgements: Path | str, *options: str) -> None:
        self._words = ["judge", "serve", str(pool), "--judgements", str(judgements), "--json", *options]
        self._port = "0"
        self.address = ""
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "visual_search.cli.main", *self._words, "--port", self._port]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        told = ""
        while not told.rstrip().endswith("}"):
            line = self._process.stdout.readline()
            assert line, f"the server ended: {told}"
            told += line
        self.address = json.loads(told)["address"].rstrip("/")
        self._port = self.address.rpartition(":")[2]

    def kill(self) -> None:
        """End it at once, as ``kill -9`` does."""
        if self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


@pytest.fixture(scope="module")
def judging_site() -> Iterator[Callable[..., JudgingSite]]:
    """Starts servers of judging pages; those that still run are ended."""
    sites = []

    def started(pool: Path, judgements: Path | str, *options: str) -> JudgingSite:
        sites.append(JudgingSite(pool, judgements, *options))
        return sites[-1]

    yield started
    for site in sites:
        site.kill()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    found = next(filter(None, map(shutil.which, _NAMES)), None)
    if found is None:
        pytest.fail(_HOW, pytrace=False)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, headless=True, args=_FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def visit(browser: Browser) -> Iterator[Callable[..., Visit]]:
    contexts = []

    def visited(place: Path | str, *, width: int = 1440, scheme: Scheme = "light") -> Visit:
        height = 900 if width > 600 else 844
        context = browser.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        seen = Visit(page)
        page.on("request", lambda request: seen.requests.append(request.url))
        page.on("console", lambda message: seen.messages.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: seen.messages.append(str(error)))
        page.goto(place if isinstance(place, str) else place.as_uri())
        return seen

    yield visited
    for context in contexts:
        context.close()


@pytest.fixture(scope="session")
def sample(tmp_path_factory: pytest.TempPathFactory) -> list[StoredResult]:
    return sample_results(tmp_path_factory.mktemp("sample"))
