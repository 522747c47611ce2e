"""Twenty judges at once on a store of judgements: how long each answer takes, on SQLite and on a real PostgreSQL.

Judges are threads of one process, as the served page has them. Each asks for four pairs, to have three loaded ahead,
judges the first, and pauses. Two rates are measured: judges with a pause (by default 0.2 s on average, ten times as
quick as a person), and judges without one, which is as fast as the store goes. Nothing given twice and nothing lost
is checked as well. PostgreSQL is the one of the extra pgvector, on a socket of this machine, unless a URL is given.

    python benchmarks/judging_load.py [--judges 20] [--seconds 10] [--pause 0.2] [--queries 100] [--items 100]
        [--systems 8] [--postgresql URL]
"""

from __future__ import annotations

import argparse
import json
import os
import tempfile
import threading
import time
from collections import Counter
from pathlib import Path

import numpy as np

from visual_search.evaluation.provenance import machine, versions
from visual_search.indexing.engines.postgres import server_url, stop_embedded_server
from visual_search.judging.assignment import Assignment
from visual_search.judging.pool import Pool, PoolQuery, Source
from visual_search.judging.records import Verdict
from visual_search.judging.store import JudgementStore
from visual_search.judging.task import JudgingTask


def simulated_pool(queries: int, items: int, systems: int) -> Pool:
    """A pool of lists in an order of chance, of which a tenth of the pairs want two judgements."""
    rng = np.random.default_rng(0)
    sources: dict[tuple[int, int], tuple[Source, ...]] = {}
    for query in range(queries):
        for system in range(systems):
            for rank, item in enumerate(rng.permutation(items)[: items // 2].tolist(), start=1):
                pair = (query, item)
                sources[pair] = (*sources.get(pair, ()), Source("ranked", f"system {system}", rank))
    named = {query: PoolQuery(query, text=f"query {query}") for query in range(queries)}
    return Pool(named, sources, task=JudgingTask(overlap=0.1))


class Judge(threading.Thread):
    """One judge, for a while."""

    def __init__(self, store: JudgementStore, name: str, *, pause: float, until: float) -> None:
        super().__init__(name=name)
        self._store, self._pause, self._until = store, pause, until
        self._rng = np.random.default_rng(abs(hash(name)) % 2**32)
        self.next_seconds: list[float] = []
        self.judge_seconds: list[float] = []
        self.given: list[int] = []

    def run(self) -> None:
        """Judge until the time is over."""
        work = Assignment(self._store)
        while time.monotonic() < self._until:
            if self._pause:
                time.sleep(self._rng.random() * 2 * self._pause)
            start = time.perf_counter()
            given = work.next(self.name, count=4)
            middle = time.perf_counter()
            if not given:
                return
            self._store.judge(self.name, given[0].pair, Verdict(given[0].pair % 3))
            self.judge_seconds.append(time.perf_counter() - middle)
            self.next_seconds.append(middle - start)
            self.given.append(given[0].pair)


def measured(store: JudgementStore, name: str, *, judges: int, seconds: float, pause: float) -> dict[str, object]:
    """One round of judges; figures in ms."""
    before = len(store.log())
    until = time.monotonic() + seconds
    all_of_them = [Judge(store, f"{name} {number}", pause=pause, until=until) for number in range(judges)]
    for judge in all_of_them:
        judge.start()
    for judge in all_of_them:
        judge.join()
    log = store.log()[before:]
    lost = sum(len(judge.given) for judge in all_of_them) - len(log)
    twice = sum(count - 1 for count in Counter((one.judge, one.pair) for one in log).values())
    if lost or twice:
        raise SystemExit(f"{name}: {lost} judgements lost, {twice} pairs given twice to one judge")
    found: dict[str, object] = {"judgements": len(log), "per second": round(len(log) / seconds, 1)}
    for what in ("next", "judge"):
        taken = [1000 * value for judge in all_of_them for value in getattr(judge, f"{what}_seconds")]
        found[f"{what}, ms"] = {
            part: round(float(np.quantile(taken, share)), 1)
            for part, share in (("median", 0.5), ("95 %", 0.95), ("99 %", 0.99), ("most", 1.0))
        }
    return found


def main() -> None:
    """Measure both databases at both rates and print it all as JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--judges", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--pause", type=float, default=0.2)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--systems", type=int, default=8)
    parser.add_argument(
        "--postgresql", default="", metavar="URL", help="an empty database; one of its own where left out"
    )
    options = parser.parse_args()
    pool = simulated_pool(options.queries, options.items, options.systems)
    report: dict[str, object] = {"machine": machine(), "versions": versions(), "cores": os.cpu_count()}
    report["pool"] = {**pool.counts(), "judges": options.judges}
    with tempfile.TemporaryDirectory() as folder:
        for name, place in (
            ("SQLite", str(Path(folder) / "judgements.db")),
            ("PostgreSQL", server_url(options.postgresql)),
        ):
            with JudgementStore(place) as store:
                store.add_pool(pool)
                for words, pause in ((f"{options.pause} s of pause", options.pause), ("no pause", 0.0)):
                    rate = {"judges": options.judges, "seconds": options.seconds}
                    report[f"{name}, {words}"] = measured(store, f"{name}, {words}", pause=pause, **rate)
    stop_embedded_server()
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
