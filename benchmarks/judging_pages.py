"""Twenty judges at once on the served judging pages: how long each answer takes over HTTP, on SQLite and on PostgreSQL.

What a judge's browser does is done by a thread: four pairs are asked for (three to be loaded ahead), the first is
judged after a pause (by default 1 s on average, which is quick for a person), and so on. The server is ``visual-search
judge serve`` in a process of its own, asked over loopback. Nothing given twice, nothing doubled and nothing lost is
checked as well. PostgreSQL is the one of the extra pgvector, on a socket of this machine, unless a URL is given.

    python benchmarks/judging_pages.py [--judges 20] [--seconds 10] [--pause 1.0] [--queries 100] [--items 100]
        [--systems 8] [--postgresql URL]
"""

from __future__ import annotations

import argparse
import http.client
import json
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
from judging_load import simulated_pool

from visual_search.evaluation.provenance import machine, versions
from visual_search.indexing.engines.postgres import server_url, stop_embedded_server
from visual_search.judging.pool import Pool
from visual_search.judging.store import JudgementStore


class Judge(threading.Thread):
    """One judge's browser, for a while."""

    def __init__(self, port: int, name: str, *, pause: float, until: float) -> None:
        super().__init__(name=name)
        self._connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        self._pause, self._until = pause, until
        self._rng = np.random.default_rng(abs(hash(name)) % 2**32)
        self.seconds: dict[str, list[float]] = {"next": [], "judgements": []}
        self.confirmed: list[tuple[int, int]] = []

    def run(self) -> None:
        """Judge until the time is over."""
        time.sleep(self._rng.random() * self._pause)
        while time.monotonic() < self._until:
            given = self._posted("next", {"judge": self.name, "window": "w", "count": 4})["pairs"]
            if not given:
                break
            time.sleep(self._rng.random() * 2 * self._pause)
            pair = given[0]["pair"]
            mark = {
                "key": f"{self.name} {pair}",
                "judge": self.name,
                "pair": pair,
                "grade": pair % 3,
                "seconds": 1.0,
            }
            self.confirmed.append((pair, self._posted("judgements", mark)["judgement"]["number"]))
        self._connection.close()

    def _posted(self, action: str, body: dict[str, Any]) -> Any:
        start = time.perf_counter()
        self._connection.request("POST", f"/judge/{action}", json.dumps(body), {"Content-Type": "application/json"})
        answer = self._connection.getresponse()
        value = json.loads(answer.read())
        self.seconds[action].append(time.perf_counter() - start)
        if answer.status != 200:
            raise RuntimeError(f"{action}: {value}")
        return value


def measured(place: str, pool: Path, *, judges: int, seconds: float, pause: float) -> dict[str, object]:
    """One round of judges on one database; figures in ms."""
    words = ["judge", "serve", str(pool), "--judgements", place, "--port", "0", "--json"]
    command = [sys.executable, "-m", "visual_search.cli.main", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            port = _port_of(server)
            until = time.monotonic() + seconds
            all_of_them = [Judge(port, f"judge {number}", pause=pause, until=until) for number in range(judges)]
            for judge in all_of_them:
                judge.start()
            for judge in all_of_them:
                judge.join()
        finally:
            server.kill()
    with JudgementStore(place, create=False) as store:
        _check(store, all_of_them)
    found: dict[str, object] = {"given": sum(len(judge.confirmed) for judge in all_of_them)}
    for action in ("next", "judgements"):
        times = np.array([second for judge in all_of_them for second in judge.seconds[action]]) * 1000
        found[action] = {
            "p50": round(float(np.quantile(times, 0.5)), 1),
            "p95": round(float(np.quantile(times, 0.95)), 1),
            "most": round(float(times.max()), 1),
        }
    return found


def _port_of(server: subprocess.Popen[str]) -> int:
    assert server.stdout is not None
    told = ""
    while not told.rstrip().endswith("}"):
        line = server.stdout.readline()
        if not line:
            raise RuntimeError("the server ended")
        told += line
    return int(json.loads(told)["address"].rstrip("/").rpartition(":")[2])


def _check(store: JudgementStore, judges: list[Judge]) -> None:
    log = {one.number: one for one in store.log()}
    confirmed = [(judge.name, *one) for judge in judges for one in judge.confirmed]
    lost = [one for one in confirmed if one[2] not in log]
    doubled = [key for key, count in Counter((one.judge, one.pair) for one in log.values()).items() if count > 1]
    if lost or doubled or len(log) != len(confirmed):
        raise RuntimeError(
            f"lost {lost[:3]}, doubled {doubled[:3]}, {len(log)} records of {len(confirmed)} confirmed"
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, kind, value in (
        ("judges", int, 20), ("seconds", float, 10.0), ("pause", float, 1.0),
        ("queries", int, 100), ("items", int, 100), ("systems", int, 8),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=kind, default=value)
    parser.add_argument("--postgresql", default=None, metavar="URL")
    given = parser.parse_args()
    pool: Pool = simulated_pool(given.queries, given.items, given.systems)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pool.json"
        pool.save(path)
        places = {"sqlite": f"{folder}/judgements.db", "postgresql": given.postgresql or server_url("")}
        rounds = {
            name: measured(place, path, judges=given.judges, seconds=given.seconds, pause=given.pause)
            for name, place in places.items()
        }
        if given.postgresql is None:
            stop_embedded_server()
    told = {"pairs": len(pool), "pause_s": given.pause, "ms": rounds, "machine": machine(), "versions": versions()}
    print(json.dumps(told, indent=2))


if __name__ == "__main__":
    main()
