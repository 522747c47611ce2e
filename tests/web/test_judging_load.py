"""Twenty judges' browsers at once, over loopback: none doubled, none lost, and nobody waits.

What `benchmarks/judging_pages.py` measures for longer.
"""

import http.client
import json
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from visual_search.indexing.engines.postgres import server_url, stop_embedded_server
from visual_search.judging.store import JudgementStore
from visual_search.testing.sample_pool import sample_pool

JUDGES, EACH, PAUSE, ROUNDS = 20, 5, 0.5, 4


@pytest.fixture(scope="module")
def postgresql() -> Iterator[str]:
    """A schema of its own in a real PostgreSQL."""
    import psycopg

    url = server_url("")
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA judging_pages")
    yield f"{url}{'&' if '?' in url else '?'}options=-csearch_path%3Djudging_pages"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("DROP SCHEMA judging_pages CASCADE")
    stop_embedded_server()


class Browser(threading.Thread):
    """Asks for pairs, judges one after a pause of chance, and sends every other judgement twice, as retries do."""

    def __init__(self, address: str, name: str, seed: int) -> None:
        super().__init__(name=name)
        self.connection = http.client.HTTPConnection(address.rpartition("/")[2], timeout=60)
        self.rng = np.random.default_rng(seed)
        self.given: list[int] = []
        self.confirmed: list[int] = []
        self.seconds: list[float] = []
        self.fault: BaseException | None = None

    def run(self) -> None:
        try:
            for turn in range(EACH):
                pair = self.posted("next", {"judge": self.name, "window": "w", "count": 4})["pairs"][0]["pair"]
                time.sleep(self.rng.random() * 2 * PAUSE)
                mark = {"key": f"{self.name} {turn}", "judge": self.name, "pair": pair, "grade": pair % 3}
                answers = [self.posted("judgements", mark) for _ in range(1 + turn % 2)]
                self.given.append(pair)
                self.confirmed.append(answers[-1]["judgement"]["number"])
                assert answers[0]["judgement"] == answers[-1]["judgement"]
            self.posted("release", {"judge": self.name, "window": "w"})
        except BaseException as fault:
            self.fault = fault
            raise
        finally:
            self.connection.close()

    def posted(self, action: str, body: dict[str, Any]) -> Any:
        """The answer; a connection that the server has closed meanwhile is opened anew."""
        for _ in range(3):
            start = time.perf_counter()
            try:
                path = f"/judge/{action}"
                self.connection.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
                answer = self.connection.getresponse()
                value = answer.read()
            except (ConnectionError, http.client.BadStatusLine):
                self.connection.close()
                continue
            self.seconds.append(time.perf_counter() - start)
            assert answer.status == 200, value
            return json.loads(value)
        raise ConnectionError(action)


class Stretch(threading.Thread):
    """How many times longer some work takes than the processor is at it, since the machine does other work as well."""

    def __init__(self) -> None:
        super().__init__()
        self.over = threading.Event()
        self.times: list[float] = []

    def run(self) -> None:
        while not self.over.wait(0.02):
            start, worked = time.perf_counter(), time.thread_time()
            while time.thread_time() - worked < 0.005:
                pass
            self.times.append((time.perf_counter() - start) / (time.thread_time() - worked))

    def measured(self) -> float:
        self.over.set()
        self.join()
        return float(np.quantile(self.times, 0.95))


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_twenty_browsers_at_once(
    kind: str, judging_site: Callable[..., Any], request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    pool = sample_pool(tmp_path / "pool", queries=12, depth=25, wanted=2)
    place = str(tmp_path / "judgements.db") if kind == "sqlite" else request.getfixturevalue("postgresql")
    site = judging_site(pool, place)
    done: list[Browser] = []
    slow: list[float] = []
    # What else the machine does delays every answer: times are held against how long other work takes meanwhile.
    while len(slow) < ROUNDS and (not slow or min(slow) >= 0.1):
        browsers = [Browser(site.address, f"judge {n} of {len(slow)}", 100 * len(slow) + n) for n in range(JUDGES)]
        stretch = Stretch()
        for thread in (stretch, *browsers):
            thread.start()
        for browser in browsers:
            browser.join()
        done += browsers
        times = [second for browser in browsers for second in browser.seconds]
        slow.append(float(np.quantile(times, 0.95)) / stretch.measured())
    site.kill()
    assert [browser.fault for browser in done if browser.fault is not None] == []
    with JudgementStore(place, create=False) as store:
        log = store.log()
        wanted = store.task.wanted
    assert sorted(number for browser in done for number in browser.confirmed) == [one.number for one in log]
    for browser in done:
        mine = [one.pair for one in log if one.judge == browser.name]
        assert mine == browser.given
        assert len(set(mine)) == EACH
    assert max(Counter(one.pair for one in log).values()) <= wanted
    assert min(slow) < 0.1, f"95th percentiles of the rounds, s of an idle machine: {slow}"
