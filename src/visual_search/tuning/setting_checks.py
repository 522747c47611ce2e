"""Settings of a sweep, shown to empty engines before any is filled: some fit only some structures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from visual_search.counted import counted
from visual_search.errors import InputError, Problems
from visual_search.indexing.engines.contract import Metric
from visual_search.indexing.engines.registry import create_engine
from visual_search.tuning.grid import GridPoint

__all__ = ["check_settings", "settings_without_use"]


def check_settings(points: Sequence[GridPoint], dimension: int, metric: Metric) -> None:
    """Refuse settings that an engine will not take.

    Parameters
    ----------
    points : sequence of GridPoint
    dimension : int
    metric : "cosine", "ip" or "l2"

    Raises
    ------
    InputError
        Every reason once, with the first point it holds for and how many more.
    """
    refused: dict[str, list[GridPoint]] = {}
    for point in points:
        try:
            create_engine(point.engine, dimension, metric, {**point.build, **point.search})
        except InputError as error:
            refused.setdefault(str(error), []).append(point)
    problems = Problems(
        "settings of the sweep (values for one engine alone: hnsw.ef_search=16,32; for one structure alone: a sweep of "
        "its own into the same file)"
    )
    for words, alike in refused.items():
        more = f" and {counted(len(alike) - 1, 'point', 'points')} more" if len(alike) > 1 else ""
        problems.add(f"{alike[0]}{more}: {words}")
    problems.raise_if_any(InputError)


def settings_without_use(
    engine: str, build: Mapping[str, Any], dimension: int, metric: Metric
) -> Mapping[str, str]:
    """Settings of an engine that a structure of it has nothing for, each with the reason.

    >>> settings_without_use("faiss", {"factory": "IVF4,Flat"}, 8, "l2"), settings_without_use("hnsw", {}, 8, "l2")
    ({'ef_search': "'IVF4,Flat' has no graph"}, {})
    """
    try:
        made: Any = create_engine(engine, dimension, metric, build)
    except InputError:
        return {}  # told by check_settings, with the point it holds for
    told = getattr(made, "settings_without_use", None)
    return {} if told is None else told()
