"""What a search costs: the time of one query at a time, and of many together, each measured for itself."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.evaluation.seeds import seeded

__all__ = ["CostPlan", "Latency", "SearchCost", "distinct_rows", "measure_cost", "percentiles"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]
Vectors: TypeAlias = npt.NDArray[np.float32]
Search: TypeAlias = Callable[[Vectors, int], object]


@dataclass(frozen=True, slots=True)
class CostPlan:
    """How costs are measured.

    Parameters
    ----------
    threads : int
        Threads that the library of an engine may use for a search.
    build_threads : int
        And for a build.
    queries : int
        Distinct queries that are timed one by one, at most.
    warm_up : int
        Queries searched before the clock runs, at most.
    runs : int
        How often every query is timed. All runs count, in the latencies and in the throughput alike.
    seed : int
        Of the choice and order of the queries.
    """

    threads: int = 1
    build_threads: int = 1
    queries: int = 1000
    warm_up: int = 100
    runs: int = 3
    seed: int = 0

    def __post_init__(self) -> None:
        for name, least in (("threads", 1), ("build_threads", 1), ("queries", 1), ("warm_up", 0), ("runs", 1)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise InputError(f"{name}: got {value!r}; must be a whole number of at least {least}")
        seeded(self.seed)


@dataclass(frozen=True, slots=True)
class Latency:
    """Seconds of single queries.

    Attributes
    ----------
    mean, p50, p95, p99 : float or None
        In seconds. A percentile is None where no query lies beyond it: p99 needs 100 timings, p95 20.
    count : int
        Timings they are taken from.
    distinct : int
        Distinct query vectors among them.
    """

    mean: float
    p50: float | None
    p95: float | None
    p99: float | None
    count: int
    distinct: int

    @classmethod
    def of(cls, seconds: FloatArray, *, distinct: int) -> Latency:
        """Summarise timings; none is left out."""
        p50, p95, p99 = percentiles(seconds)
        return cls(float(np.mean(seconds)), p50, p95, p99, len(seconds), distinct)


@dataclass(frozen=True, slots=True)
class SearchCost:
    """What searching costs.

    Attributes
    ----------
    latency : Latency
        One query at a time, nothing else running: the next is sent when the last has come back.
    throughput : float
        Queries per second of all queries in one batch, all runs together.
    runs : tuple of float
        The same of every run.
    batch : int
        Queries in a batch.
    """

    latency: Latency
    throughput: float
    runs: tuple[float, ...]
    batch: int

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {**asdict(self), "runs": list(self.runs)}


def percentiles(seconds: FloatArray) -> tuple[float | None, float | None, float | None]:
    """Give p50, p95 and p99: the smallest timing that the share of all does not exceed; None with too few.

    >>> percentiles(np.arange(1.0, 101.0))
    (50.0, 95.0, 99.0)
    >>> percentiles(np.ones(20))
    (1.0, 1.0, None)
    """
    ordered = np.sort(seconds)
    made = [
        float(ordered[int(np.ceil(len(ordered) * per_mille / 1000)) - 1])
        if len(ordered) * (1000 - per_mille) >= 1000
        else None
        for per_mille in (500, 950, 990)
    ]
    return made[0], made[1], made[2]


def distinct_rows(vectors: Vectors) -> Int64Array:
    """First row of each distinct vector, in order: a vector that came before is answered from caches.

    >>> distinct_rows(np.array([[1, 2], [0, 1], [1, 2]], dtype=np.float32)).tolist()
    [0, 1]
    """
    flat = np.ascontiguousarray(vectors)
    _, first = np.unique(flat.view(np.dtype((np.void, flat.dtype.itemsize * flat.shape[1]))), return_index=True)
    return np.sort(first).astype(np.int64)


def measure_cost(
    search: Search,
    queries: Vectors,
    k: int,
    *,
    plan: CostPlan | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> SearchCost:
    """Time a search, query by query and as a batch.

    Parameters
    ----------
    search : callable
        ``search(vectors of shape (n, d), k)``.
    queries : float32 array of shape (n, d)
        Repeated vectors are timed once.
    k : int
    plan : CostPlan, optional
    clock : callable
        Seconds, never falling.

    Returns
    -------
    SearchCost

    Convention
    ----------
    Every query is timed by itself; a batch's time divided by its size is a throughput and never stands for a latency.
    Warm-up comes first and does not count. Collection of garbage waits until a run is over. The answers are not looked
    at: recall is measured in a search of its own.

    How to read it
    --------------
    Under load latencies are longer: see :func:`visual_search.tuning.load.measure_under_load`.

    Examples
    --------
    >>> cost = measure_cost(lambda vectors, k: vectors @ vectors.T, np.eye(8, dtype=np.float32), 3)
    >>> cost.latency.count, cost.latency.distinct, cost.latency.p95 is not None, cost.batch
    (24, 8, True, 8)
    """
    wanted = plan or CostPlan()
    different = distinct_rows(queries)
    rng = seeded(wanted.seed)
    # Different queries warm up and are timed, as far as there are enough.
    order = rng.permutation(different)
    timed, warming = order[: wanted.queries], order[::-1][: wanted.warm_up]
    batch = np.ascontiguousarray(queries[different])
    for row in warming.tolist():
        search(queries[row : row + 1], k)
    seconds: list[float] = []
    for _ in range(wanted.runs):
        with _no_collection():
            for row in rng.permutation(timed).tolist():
                one = queries[row : row + 1]
                begun = clock()
                search(one, k)
                seconds.append(clock() - begun)
    search(batch, k)
    spent: list[float] = []
    for _ in range(wanted.runs):
        with _no_collection():
            begun = clock()
            search(batch, k)
            spent.append(max(clock() - begun, 1e-9))
    return SearchCost(
        latency=Latency.of(np.array(seconds), distinct=len(timed)),
        throughput=len(batch) * len(spent) / sum(spent),
        runs=tuple(len(batch) / one for one in spent),
        batch=len(batch),
    )


@contextmanager
def _no_collection() -> Iterator[None]:
    was = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
