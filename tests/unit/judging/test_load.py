"""Twenty judges at once, each far quicker than a person, on a store as it is served: threads of one process.

What `benchmarks/judging_load.py` measures for longer, and as fast as the store goes.
"""

import threading
import time
from collections import Counter
from collections.abc import Callable

import numpy as np
from tests.unit.judging.conftest import pool_of

from visual_search.judging.assignment import Assignment
from visual_search.judging.records import Verdict
from visual_search.judging.store import JudgementStore
from visual_search.judging.task import JudgingTask

JUDGES, EACH, PAUSE, ROUNDS, LIMIT = 20, 8, 0.25, 4, 0.1


class Judge(threading.Thread):
    """Asks for pairs and judges them, with pauses of chance, and notes how long each answer took."""

    def __init__(self, store: JudgementStore, name: str, seed: int, *, pause: float = PAUSE) -> None:
        super().__init__(name=name)
        self.work, self.store, self.rng = Assignment(store), store, np.random.default_rng(seed)
        self.pause = pause
        self.given: list[int] = []
        self.confirmed: list[int] = []
        self.seconds: list[float] = []
        self.fault: BaseException | None = None

    def run(self) -> None:
        try:
            for turn in range(EACH):
                time.sleep(self.rng.random() * 2 * self.pause)
                start = time.perf_counter()
                pair = self.work.next(self.name, count=4)[0].pair
                middle = time.perf_counter()
                said = self.store.judge(self.name, pair, Verdict(pair % 3), key=f"{self.name} {turn}")
                self.seconds += [middle - start, time.perf_counter() - middle]
                self.given.append(pair)
                self.confirmed.append(said.number)
        except BaseException as fault:
            self.fault = fault
            raise


def round_of_judges(store: JudgementStore, seed: int) -> list[Judge]:
    judges = [Judge(store, f"judge {number} of {seed}", 100 * seed + number) for number in range(JUDGES)]
    for judge in judges:
        judge.start()
    for judge in judges:
        judge.join()
    return judges


def test_twenty_judges_at_once(made: Callable[..., JudgementStore]) -> None:
    store = made(pool_of(40, 30, JudgingTask(overlap=0.3), systems=6))
    done: list[Judge] = []
    rounds = []
    for seed in range(ROUNDS):  # other work on the machine delays any round: the best one counts
        alone = Judge(store, f"alone {seed}", 1000 + seed, pause=0.0)
        alone.start()
        alone.join()
        judges = round_of_judges(store, seed)
        done += [alone, *judges]
        slow = float(np.quantile([s for judge in judges for s in judge.seconds], 0.95))
        rounds.append((slow, float(np.median(alone.seconds))))
        if slow < LIMIT:
            break
    assert [judge.fault for judge in done if judge.fault is not None] == []
    log = store.log()
    assert sorted(number for judge in done for number in judge.confirmed) == [one.number for one in log]
    for judge in done:
        mine = [one.pair for one in log if one.judge == judge.name]
        assert mine == judge.given
        assert len(set(mine)) == len(mine) == EACH
    times = Counter((one.query, one.item) for one in log)
    assert all(count <= store.task.wanted_for(*pair) for pair, count in times.items())
    # On a machine that does much else, even one judge alone waits; then nobody may wait for more than all others once.
    assert any(slow < max(LIMIT, JUDGES * one) for slow, one in rounds), f"95 % of all, median alone, s: {rounds}"
