"""Latency under load: queries arrive when users send them, not when the last answer has come.

A tester that waits for an answer before it sends the next query does not send the queries that would have had to wait
while the system stalled, so the stall counts once [1]_. Here arrivals are planned beforehand (a Poisson process at a
stated rate) and latency runs from the **planned** arrival, so that waiting counts.

.. [1] G. Tene, How NOT to Measure Latency, 2013 (coordinated omission).
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, Problems
from visual_search.evaluation.seeds import seeded
from visual_search.tuning.costs import Latency

__all__ = ["LoadPlan", "LoadedLatency", "arrival_times", "check_load", "measure_under_load", "sleep_precisely"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_SPIN = 0.0005
_FASTEST = 1_000_000_000  # queries a second: one in each step of the clock
_LONGEST = 86_400  # seconds


@dataclass(frozen=True, slots=True)
class LoadedLatency:
    """Latency of queries that arrive at a rate.

    Attributes
    ----------
    rate : float
        Queries per second that were meant to arrive.
    completed : float
        Queries per second that were answered, from the first arrival to the last answer.
    latency : Latency
        From planned arrival to answer, in seconds.
    service : Latency
        From begin to answer: what a tester that waits for answers would have reported.
    utilisation : float
        Rate times mean service time, divided by workers: 1 and more cannot be kept up.
    workers : int
        Queries answered at a time.
    saturated : bool
        Queries came faster than they were answered; latencies then grow as long as the test lasts, and the
        percentiles tell of its length and not of the system.
    """

    rate: float
    completed: float
    latency: Latency
    service: Latency
    utilisation: float
    workers: int
    saturated: bool

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> LoadedLatency:
        """Read back what ``as_json`` wrote."""
        return cls(**{**record, "latency": Latency(**record["latency"]), "service": Latency(**record["service"])})

    def words(self) -> str:
        """One line."""
        parts = [
            f"{name} {1000 * value:.2f} ms"
            for name, value in (("p50", self.latency.p50), ("p95", self.latency.p95), ("p99", self.latency.p99))
            if value is not None
        ]
        state = "saturated: the queue grows, percentiles mean little" if self.saturated else "keeps up"
        return (
            f"{self.rate:g} queries/s for {self.workers} at a time: {', '.join(parts)}; "
            f"utilisation {self.utilisation:.2f}, {state}"
        )


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """Under which load latency is measured as well.

    Parameters
    ----------
    rate : float
        Queries per second that arrive.
    queries : int
        How many arrive.
    workers : int
        How many are answered at a time.
    """

    rate: float
    queries: int = 1000
    workers: int = 1

    def __post_init__(self) -> None:
        check_load(self.rate, self.queries, self.workers)


def check_load(rate: Any, count: Any, workers: Any) -> None:
    """Refuse a load that is none, that no clock can time, or that takes more than a day.

    Raises
    ------
    InputError
        All that is wrong with it.
    """
    problems = Problems("load")
    if isinstance(rate, bool) or not isinstance(rate, int | float) or not 0 < rate <= _FASTEST:
        problems.add(f"rate: got {rate}; must be queries per second, above 0 and at most {_FASTEST:,}")
    for name, value in (("count", count), ("workers", workers)):
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            problems.add(f"{name}: got {value!r}; must be a whole number of at least 1")
    if not problems.found and count / rate > _LONGEST:
        problems.add(
            f"rate: {count} queries at {rate:g} a second take {count / rate / _LONGEST:,.1f} days; give a rate of at "
            f"least {count / _LONGEST:.2g}"
        )
    problems.raise_if_any(InputError)


def arrival_times(rate: float, count: Any, *, seed: int = 0) -> FloatArray:
    """Seconds after the begin at which queries arrive: a Poisson process.

    Parameters
    ----------
    rate : float
        Arrivals per second, above 0.
    count : int
        At least 1.
    seed : int

    Examples
    --------
    >>> times = arrival_times(100.0, 10_000)
    >>> bool(98 < 10_000 / times[-1] < 102)
    True
    """
    if not (np.isfinite(rate) and rate > 0):
        raise InputError(f"rate: got {rate}; must be queries per second, above 0")
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise InputError(f"count: got {count!r}; must be a whole number of at least 1")
    times: FloatArray = np.cumsum(seeded(seed).exponential(1 / rate, size=count))
    return times


def measure_under_load(
    answer: Callable[[int], object],
    rate: float,
    count: int,
    *,
    workers: Any = 1,
    distinct: int | None = None,
    seed: int = 0,
    clock: Callable[[], float] = time.perf_counter,
    sleep: Callable[[float], None] | None = None,
) -> LoadedLatency:
    """Answer queries that arrive at a rate, first come first served, and time each from its planned arrival.

    Parameters
    ----------
    answer : callable
        Answers query number 0, 1, 2, ...; with several workers from several threads at once.
    rate : float
        Mean arrivals per second.
    count : int
        Queries in all.
    workers : int
        Queries answered at a time; more wait.
    distinct : int, optional
        How many of them are distinct, for the record; all by default.
    seed : int
        Of the arrivals.
    clock, sleep : callable
        Of the test's time; a simulated clock needs ``workers=1``.

    Raises
    ------
    InputError
        A rate, count or number of workers that is not allowed.

    Examples
    --------
    >>> now = [0.0]
    >>> def step(seconds: float) -> None:
    ...     now[0] += seconds
    >>> loaded = measure_under_load(lambda _: step(0.01), 50.0, 20_000, clock=lambda: now[0], sleep=step)
    >>> round(loaded.service.mean, 3), round(loaded.latency.mean, 3), loaded.saturated  # half busy: waits half as long
    (0.01, 0.015, False)
    """
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InputError(f"workers: got {workers!r}; must be a whole number of at least 1")
    served = _Served(answer, arrival_times(rate, count, seed=seed), clock, sleep or sleep_precisely)
    if workers == 1:
        served.serve()
    else:
        served.serve_in_threads(workers)
    return _summary(
        served.planned, (served.began, served.ended), rate, workers, count if distinct is None else distinct
    )


class _Served:
    """Queries that arrive as planned, taken by whoever is free, first come first served."""

    def __init__(
        self,
        answer: Callable[[int], object],
        planned: FloatArray,
        clock: Callable[[], float],
        sleep: Callable[[float], None],
    ) -> None:
        self.planned = planned
        self.began, self.ended = np.zeros(len(planned)), np.zeros(len(planned))
        self._answer, self._clock, self._sleep = answer, clock, sleep
        self._lock = threading.Lock()
        self._numbers = iter(range(len(planned)))
        self._failures: list[BaseException] = []
        self._start = clock()

    def serve(self) -> None:
        """Answer until none is left."""
        while not self._failures:
            with self._lock:
                number = next(self._numbers, None)
            if number is None:
                return
            left = float(self._start + self.planned[number]) - self._clock()
            if left > 0:
                self._sleep(left)
            self.began[number] = self._clock() - self._start
            self._answer(number)
            self.ended[number] = self._clock() - self._start

    def serve_in_threads(self, workers: int) -> None:
        """The same by several; what one of them raises is raised here."""
        threads = [threading.Thread(target=self._guarded) for _ in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if self._failures:
            raise self._failures[0]

    def _guarded(self) -> None:
        try:
            self.serve()
        except BaseException as error:  # noqa: BLE001 - raised again in the caller's thread
            self._failures.append(error)


def _summary(
    planned: FloatArray, answered: tuple[FloatArray, FloatArray], rate: float, workers: int, distinct: int
) -> LoadedLatency:
    began, ended = answered
    service = ended - began
    count = len(planned)
    # The rate that came, not the one that was meant: a short test may draw many or few.
    arrived = count / float(planned[-1])
    utilisation = arrived * float(service.mean()) / workers
    return LoadedLatency(
        rate=float(rate),
        completed=count / max(float(ended.max()) - float(planned[0]), 1e-9),
        latency=Latency.of(ended - planned, distinct=distinct),
        service=Latency.of(service, distinct=distinct),
        utilisation=utilisation,
        workers=workers,
        saturated=utilisation >= 1,
    )


def sleep_precisely(seconds: float) -> None:
    """Sleep, and stay awake for the last half millisecond: the system's own sleep ends late."""
    end = time.perf_counter() + seconds
    if seconds > _SPIN:
        time.sleep(seconds - _SPIN)
    while time.perf_counter() < end:
        pass
