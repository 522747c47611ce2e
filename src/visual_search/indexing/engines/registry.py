"""Engines by name, from the entry points ``visual_search.engines``; each is loaded on first use."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, cast

from visual_search.errors import UnknownNameError
from visual_search.indexing.engines.contract import Engine, Metric, Settings

__all__ = ["create_engine", "default_metric", "engine_class", "engine_names"]

GROUP = "visual_search.engines"


@cache
def _registered() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def engine_names() -> list[str]:
    """Names of all registered engines, sorted.

    >>> {"flat", "hnsw", "ivf"} <= set(engine_names())
    True
    """
    return sorted(_registered())


def engine_class(name: str) -> type[Engine]:
    """The class registered under a name.

    Raises
    ------
    UnknownNameError
        Nobody registered it; the message lists the known ones.
    """
    point = _registered().get(name)
    if point is None:
        close = get_close_matches(str(name), engine_names(), n=1)
        meant = f"did you mean {close[0]!r}? " if close else ""
        raise UnknownNameError(
            f"engine: no engine {name!r}; {meant}known: {', '.join(engine_names())} (packages add more through the "
            f"entry point group {GROUP!r})"
        )
    return cast("type[Engine]", point.load())


def default_metric(name: str) -> Metric:
    """The metric that is meant where an engine is named and no metric.

    >>> default_metric("flat"), default_metric("hamming")
    ('cosine', 'hamming')
    """
    made: Any = engine_class(name)
    return cast("Metric", made.metrics[0])


def create_engine(name: str, dimension: int, metric: Metric, settings: Settings | None = None) -> Engine:
    """Make an empty engine.

    Parameters
    ----------
    name : str
        A registered name:
        ``"flat"``, ``"hnsw"``, ``"ivf"``, ``"faiss"``, ``"hnswlib"``, ``"usearch"``, ``"pgvector"``, ``"hamming"`` or a
        plug-in's.
    dimension : int
        Length of a vector; bits of a code.
    metric : "cosine", "ip", "l2" or "hamming"
        What scores mean.
    settings : mapping, optional
        The engine's own settings.

    Raises
    ------
    UnknownNameError
        Nobody registered the name.
    InputError
        A metric, dimension or setting that is not allowed.
    MissingDependencyError
        The engine's package is not installed; the message names the extra.

    Examples
    --------
    >>> create_engine("flat", 64, "cosine").exact
    True
    """
    made: Any = engine_class(name)
    return cast("Engine", made(dimension=dimension, metric=metric, settings=settings or {}))
