"""Builds an engine and says what that took."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.indexing.engines.contract import Engine, Metric
from visual_search.indexing.engines.registry import create_engine
from visual_search.tuning.engine_text import settings_table
from visual_search.tuning.peak_memory import PEAK_MEMORY_WORDS, PeakMemory

__all__ = ["build_engine", "search_defaults", "use_threads"]


def build_engine(
    name: str,
    vectors: npt.NDArray[np.float32],
    *,
    metric: Metric,
    settings: Mapping[str, Any],
    threads: int,
) -> tuple[Engine, dict[str, Any]]:
    """Make an engine that holds all vectors under their row numbers.

    Returns
    -------
    tuple of Engine and dict
        The dict has ``seconds`` (training and adding), ``threads``, ``peak_bytes`` (None where the system does not
        count it) and ``peak_bytes_words``, how it was taken.
    """
    with PeakMemory() as memory, _limited(threads):
        begun = time.perf_counter()
        engine = create_engine(name, int(vectors.shape[1]), metric, settings)
        _own_threads(engine, threads, settings)
        if engine.needs_training:
            engine.train(vectors)
        engine.add(np.arange(len(vectors)), vectors)
        seconds = time.perf_counter() - begun
    return engine, {
        "seconds": seconds,
        "threads": threads,
        "peak_bytes": memory.peak_bytes,
        "peak_bytes_words": PEAK_MEMORY_WORDS,
    }


def search_defaults(engine: Engine) -> dict[str, Any]:
    """Search settings of a fresh engine; to be given back before another point, which may not name them all."""
    return {
        name: engine.settings[name]
        for name, setting in settings_table(engine.name).items()
        if setting.when == "search"
    }


@contextmanager
def use_threads(engine: Engine, threads: int, asked: Mapping[str, Any]) -> Iterator[None]:
    """Bind the engine's library to a number of threads while the block runs."""
    _own_threads(engine, threads, asked)
    with _limited(threads):
        yield


def _own_threads(engine: Engine, threads: int, asked: Mapping[str, Any]) -> None:
    """Tell an engine that has threads of its own; what was asked for by name stays."""
    setting = settings_table(engine.name).get("threads")
    if setting is not None and setting.when == "search" and "threads" not in asked:
        engine.configure(threads=threads)


@contextmanager
def _limited(threads: int) -> Iterator[None]:
    import faiss  # loaded first: a library that comes later would not be bound
    from threadpoolctl import threadpool_limits

    before = faiss.omp_get_max_threads()
    with threadpool_limits(limits=threads):
        faiss.omp_set_num_threads(threads)
        try:
            yield
        finally:
            faiss.omp_set_num_threads(before)
