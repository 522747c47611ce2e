"""How many threads to use, and how to share the processors with BLAS."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import TypeVar

__all__ = ["in_threads", "one_blas_thread", "thread_count"]

_MOST_THREADS = 256

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
    """Do the parts 0 to ``count - 1`` of some work, in so many threads; one a part by default.

    What the parts return comes in order. The calling thread does parts too, and takes those that no other has begun:
    so work may call this again, and a pool that is busy elsewhere only means fewer threads. The others are kept from
    call to call: a new thread often waits for its processor longer than the work takes.

    Raises
    ------
    Exception
        What the first part that failed, in order, has raised; parts that were not begun by then are left out.
    """
    waiting = deque(range(count))
    results: dict[int, T] = {}
    failures: dict[int, BaseException] = {}

    def take() -> None:
        while waiting and not failures:
            try:
                part = waiting.popleft()
            except IndexError:  # another thread was quicker
                return
            try:
                results[part] = work(part)
            except BaseException as failure:  # noqa: BLE001 - raised below, in the calling thread
                failures[part] = failure

    helpers = [_pool().submit(take) for _ in range(min(threads or count, count) - 1)]
    take()
    for helper in helpers:
        if not helper.cancel():
            helper.result()
    if failures:
        raise failures[min(failures)]
    return [results[part] for part in range(count)]


@cache
def _pool() -> ThreadPoolExecutor:
    """Threads that wait for work; it starts one only when none is idle."""
    return ThreadPoolExecutor(_MOST_THREADS, thread_name_prefix="visual-search")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads do not live on in a child


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Let BLAS use one thread per call, for work that is spread over threads already.

    Two pools of threads that wait for each other by spinning cost several times what either does alone. The limit
    holds for the whole process until the block ends.
    """
    from threadpoolctl import threadpool_limits

    with threadpool_limits(limits=1, user_api="blas"):
        yield
