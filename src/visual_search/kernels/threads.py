"""How many threads to use, and how to share the processors with BLAS."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TypeVar

__all__ = ["in_threads", "one_blas_thread", "thread_count"]


T = TypeVar("T")


def thread_count() -> int:
    """Processors this process may use; ``VISUAL_SEARCH_THREADS`` sets fewer or more."""
    wanted = os.environ.get("VISUAL_SEARCH_THREADS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def in_threads(work: Callable[[int], T], count: int, *, threads: int | None = None) -> list[T]:
    """Do the parts 0 to ``count - 1`` of some work, each in a thread of its own, or by so many threads.

    What the parts return comes in order. The calling thread only waits: a thread that goes on after it started another
    keeps that one off its processor for some milliseconds.
    """
    if count == 1:
        return [work(0)]
    with ThreadPoolExecutor(threads or count) as pool:
        return list(pool.map(work, range(count)))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread per call, for work that is spread over threads already.

    Two pools of threads that wait for each other by spinning cost several times what either does alone. The limit
    holds for the whole process until the block ends.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
