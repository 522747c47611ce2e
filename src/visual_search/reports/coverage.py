"""What a system's numbers are made of: queries counted, groups, how much was judged, where equal scores meet."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from visual_search.errors import FileFormatError
from visual_search.reports.protocol_groups import ProtocolGroup
from visual_search.reports.systems import System

__all__ = ["Coverage", "coverage_of"]

_DEEPEST = 100
_USUAL = 10


@dataclass(frozen=True, slots=True)
class Coverage:
    """What lies under the means of one system.

    Attributes
    ----------
    system : System
    queries : int
    counted : tuple of (int, int) or None
        Least and most queries that enter a mean of the measures that head the page; None where the record is silent.
    undefined : int
        Most queries that a measure has no value for.
    groups : int or None
        Independent groups behind the intervals.
    depth : int
        So many results of each query the next two look at.
    judged : float or None
        Share of these results that somebody judged; None where the ranking is not kept.
    tied : int or None
        Queries among whose first ``depth`` results two have the same score, or the last has that of the next; their
        order is decided by the rule for ties.
    """

    system: System
    queries: int
    counted: tuple[int, int] | None
    undefined: int
    groups: int | None
    depth: int
    judged: float | None
    tied: int | None


def coverage_of(group: ProtocolGroup) -> list[Coverage]:
    """Look at each system of a protocol; what a file does not tell stays None.

    How to read it
    --------------
    A mean over few of the queries speaks for those only; a low judged share says that results nobody looked at count
    as wrong; many tied queries say that another order of equal scores may give another number.
    """
    names = group.headline_names
    depth = min(max((group.first(name).depth or 0 for name in group.measure_names), default=0) or _USUAL, _DEEPEST)
    return [_of(system, names, depth) for system in group.systems]


def _of(system: System, names: Sequence[str], depth: int) -> Coverage:
    measured = [system.measures[name] for name in names if name in system.measures]
    counted = [one.counted for one in measured if one.counted is not None]
    groups = [one.interval["groups"] for one in measured if one.interval and one.interval.get("groups")]
    judged, tied = _looked_at(system, depth)
    return Coverage(
        system,
        system.record["num_queries"],
        (min(counted), max(counted)) if counted else None,
        max((one.undefined or 0 for one in measured), default=0),
        min(groups) if groups else None,
        depth,
        judged,
        tied,
    )


def _looked_at(system: System, depth: int) -> tuple[float | None, int | None]:
    if not system.result.has_ranking:
        return None, None
    try:
        table = system.result.first_ranks(depth + 1, ["query", "rank", "score", "state"])
    except FileFormatError:  # told where the queries are shown
        return None, None
    import pyarrow.compute as pc

    rank = table.column("rank").to_numpy()
    if not len(rank):
        return None, 0
    inside = rank <= depth
    known = pc.is_in(table.column("state"), _judged_states()).to_numpy(zero_copy_only=False)
    query = table.column("query").combine_chunks().dictionary_encode().indices.to_numpy()
    score = table.column("score").to_numpy()
    order = np.lexsort((rank, query))
    query, score, rank = query[order], score[order], rank[order]
    meets = (query[1:] == query[:-1]) & (score[1:] == score[:-1]) & (rank[:-1] <= depth)
    return float(known[inside].mean()), len(np.unique(query[1:][meets]))


def _judged_states() -> Any:
    import pyarrow as pa

    return pa.array(["relevant", "not_relevant"])
