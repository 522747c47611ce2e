"""Costs: what is timed is what is said, and the peers' faults stay out."""

import threading
import time
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from visual_search.errors import InputError
from visual_search.tuning.costs import CostPlan, distinct_rows, measure_cost, percentiles
from visual_search.tuning.load import LoadedLatency, arrival_times, measure_under_load

Vectors = npt.NDArray[np.float32]


class FakeEngine:
    """Takes a known time: 1 ms a query, 50 ms for query 7, a tenth of a millisecond each in a batch."""

    def __init__(self) -> None:
        self.now = 0.0
        self.asked: list[Vectors] = []

    def search(self, vectors: Vectors, _k: int) -> None:
        self.asked.append(vectors.copy())
        if len(vectors) > 1:
            self.now += 1e-4 * len(vectors)
        else:
            self.now += 0.05 if vectors[0, 0] == 7 else 1e-3

    def clock(self) -> float:
        return self.now


def numbered(count: int) -> Vectors:
    return np.arange(count, dtype=np.float32)[:, None].repeat(2, axis=1)


def measured(queries: Vectors, engine: FakeEngine, /, **plan: int) -> Any:
    return measure_cost(engine.search, queries, 10, plan=CostPlan(**plan), clock=engine.clock)


def test_latency_is_of_single_queries_and_not_a_batch_s_time_divided() -> None:
    cost = measured(numbered(200), FakeEngine(), queries=200, runs=1)
    assert cost.latency.p50 == pytest.approx(1e-3)
    assert cost.throughput == pytest.approx(1e4)
    assert 1 / cost.throughput == pytest.approx(cost.latency.p50 / 10)  # what the division would have said
    assert cost.latency.mean == pytest.approx((199 * 1e-3 + 0.05) / 200)


def test_every_run_counts_in_percentiles_and_throughput_alike() -> None:
    class SlowFirstRun(FakeEngine):
        def search(self, vectors: Vectors, _k: int) -> None:
            self.asked.append(vectors)
            batches = sum(len(one) > 1 for one in self.asked)
            slow = 10 if batches == 2 or (not batches and len(self.asked) <= 10 + 100) else 1
            self.now += slow * (1e-4 * len(vectors) if len(vectors) > 1 else 1e-3)

    cost = measured(numbered(100), SlowFirstRun(), queries=100, runs=2, warm_up=10)
    assert cost.latency.count == 200
    assert cost.latency.mean == pytest.approx(5.5e-3)  # the last run alone: 1 ms
    assert cost.latency.p95 == pytest.approx(1e-2)
    assert cost.runs == pytest.approx((1e3, 1e4))
    assert cost.throughput == pytest.approx(2 * 100 / (0.1 + 0.01))  # the best run alone: 10,000


def test_queries_are_distinct_after_a_warm_up_that_does_not_count() -> None:
    engine = FakeEngine()
    repeated = np.concatenate([numbered(40), numbered(40), numbered(40)])
    cost = measured(repeated, engine, queries=30, warm_up=10, runs=1)
    single = [float(one[0, 0]) for one in engine.asked if len(one) == 1]
    assert len(single) == 10 + 30
    assert len(set(single[10:])) == 30
    assert set(single[:10]).isdisjoint(single[10:])
    assert (cost.latency.count, cost.latency.distinct, cost.batch) == (30, 30, 40)


def test_one_vector_repeated_is_one_query() -> None:
    cost = measured(np.ones((500, 4), dtype=np.float32), FakeEngine(), runs=5)
    assert (cost.latency.count, cost.latency.distinct) == (5, 1)
    assert cost.latency.p95 is None


def test_order_is_drawn_anew_in_every_run() -> None:
    engine = FakeEngine()
    measured(numbered(50), engine, queries=50, warm_up=0, runs=2)
    single = [float(one[0, 0]) for one in engine.asked if len(one) == 1]
    assert single[:50] != single[50:]
    assert sorted(single[:50]) == sorted(single[50:]) == list(range(50))


def test_percentiles_are_timings_and_none_without_enough() -> None:
    assert percentiles(np.arange(1, 1001) / 1000) == (0.5, 0.95, 0.99)
    assert percentiles(np.ones(99))[1:] == (1.0, None)
    assert percentiles(np.ones(19))[1:] == (None, None)
    assert percentiles(np.ones(1)) == (None, None, None)


def test_distinct_rows_are_first_ones() -> None:
    rng = np.random.default_rng(0)
    vectors = rng.integers(0, 3, (200, 3)).astype(np.float32)
    rows = distinct_rows(vectors)
    assert len(rows) == len({tuple(row) for row in vectors.tolist()})
    assert all(not (vectors[:row] == vectors[row]).all(axis=1).any() for row in rows)


@pytest.mark.parametrize("wrong", [{"threads": 0}, {"runs": 0}, {"queries": True}, {"warm_up": -1}])
def test_a_plan_that_cannot_be_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        CostPlan(**wrong)


class Simulated:
    """A clock that only work and waiting move."""

    def __init__(self, *service: float) -> None:
        self.now = 0.0
        self.service = service

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds

    def answer(self, number: int) -> None:
        self.now += self.service[number % len(self.service)]

    def load(self, rate: float, count: int, seed: int = 0) -> LoadedLatency:
        return measure_under_load(self.answer, rate, count, seed=seed, clock=self.clock, sleep=self.sleep)


@pytest.mark.parametrize("busy", [0.2, 0.5, 0.8])
def test_known_service_time_gives_the_known_wait(busy: float) -> None:
    # Pollaczek and Khinchine: with one server of constant service s the mean wait is busy s / (2 (1 - busy)).
    service = 0.01
    loaded = Simulated(service).load(busy / service, 100_000)
    assert loaded.latency.mean == pytest.approx(service * (1 + busy / (2 * (1 - busy))), rel=0.05)
    assert loaded.service.mean == pytest.approx(service)
    assert loaded.utilisation == pytest.approx(busy, rel=0.02)
    assert not loaded.saturated


def test_a_stall_is_felt_by_all_who_wait_for_it() -> None:
    # One answer of a thousand takes a second; 100 arrive meanwhile, and wait.
    loaded = Simulated(*[0.001] * 999, 1.0).load(100, 10_000)
    assert loaded.service.p99 == pytest.approx(0.001)  # what one who waits for answers would report
    assert loaded.latency.p99 is not None
    assert loaded.latency.p99 > 0.5


def test_more_than_can_be_answered_is_called_saturated() -> None:
    loaded = Simulated(0.01).load(200, 2000)
    assert loaded.saturated
    assert loaded.utilisation == pytest.approx(2, rel=0.1)
    assert loaded.completed == pytest.approx(100, rel=0.01)
    assert "saturated" in loaded.words()
    assert "keeps up" in Simulated(0.01).load(10, 100).words()


def test_arrivals_are_a_poisson_process_of_the_rate() -> None:
    gaps = np.diff(arrival_times(50, 40_000, seed=3))
    assert gaps.mean() == pytest.approx(0.02, rel=0.02)
    assert gaps.std() == pytest.approx(0.02, rel=0.02)
    assert (arrival_times(50, 10, seed=3) == arrival_times(50, 10, seed=3)).all()


def test_several_workers_answer_side_by_side_and_their_errors_are_raised() -> None:
    names: set[str] = set()

    def answer(_: int) -> None:
        names.add(threading.current_thread().name)
        time.sleep(0.004)

    loaded = measure_under_load(answer, 300, 60, workers=2)
    assert len(names) == 2
    assert loaded.completed > 200  # one alone could answer 250 at most and would be behind
    with pytest.raises(ZeroDivisionError):
        measure_under_load(lambda number: 1 // (number - 5), 1000, 20, workers=2)


def test_real_clock_counts_the_wait_too() -> None:
    loaded = measure_under_load(lambda _: time.sleep(0.002), 1000, 100)
    assert loaded.saturated
    assert loaded.latency.mean > 5 * loaded.service.mean


@pytest.mark.parametrize(("rate", "count", "workers"), [(0, 1, 1), (float("nan"), 1, 1), (1, 0, 1), (1, 1, 0)])
def test_a_load_that_cannot_be_is_refused(rate: float, count: int, workers: int) -> None:
    with pytest.raises(InputError, match="must be"):
        measure_under_load(print, rate, count, workers=workers)
