"""Sweeps whose true means are known, without an engine, for tests and examples."""

from __future__ import annotations

from collections.abc import Sequence

from visual_search.testing.simulated_recalls import RecallKind, simulated_recalls
from visual_search.tuning.sweep_point import SweepPoint
from visual_search.tuning.sweep_record import FORMAT, Sweep

__all__ = ["simulated_sweep"]

_MEASURE = "NeighborRecall(ties=exact)@10"


def simulated_sweep(
    means: Sequence[float],
    *,
    queries: int = 1000,
    kind: RecallKind = "skewed",
    seed: int = 0,
    ladder: str = "hnsw(m=16)",
    costs: bool = True,
) -> Sweep:
    """One ladder: ``ef_search`` 32, 64, 128, ..., each twice as slow as the one before.

    Parameters
    ----------
    means : sequence of float
        Mean recall of each setting over the queries.
    queries : int
    kind, seed
        As for :func:`visual_search.testing.simulated_recalls.simulated_recalls`.
    ladder : str
    costs : bool
        Whether times were measured.

    Examples
    --------
    >>> [point.of("latency_p50") for point in simulated_sweep([0.9, 0.99]).points]
    [0.001, 0.002]
    """
    recalls = simulated_recalls(queries, means, kind=kind, seed=seed)
    points = []
    for place, values in enumerate(recalls):
        seconds = 0.001 * 2**place
        latency = {"mean": seconds, "p50": seconds, "p95": seconds, "p99": seconds, "count": 1000, "distinct": 1000}
        points.append(
            SweepPoint(
                key=f"{ladder}/{place}",
                place=place,
                engine=ladder.partition("(")[0],
                library="simulated",
                ladder=ladder,
                settings={"ef_search": 32 * 2**place},
                asked={"ef_search": 32 * 2**place},
                values={_MEASURE: values},
                returned=10.0,
                cost={"latency": latency, "throughput": 1 / seconds, "runs": [1 / seconds], "batch": queries}
                if costs
                else None,
                load=None,
                build={"seconds": 1.0, "threads": 1, "peak_bytes": None, "peak_bytes_words": "not measured"},
                index_bytes=1_000_000,
                memory_bytes=1_000_000,
            )
        )
    data = {"measures": [_MEASURE], "gallery_size": 100_000, "query_count": queries, "metric": "l2", "k": 10}
    header = {"format": FORMAT, "data": data, "protocol": {"threads": 1}, "query_ids": list(range(queries))}
    return Sweep.of(header, points)
