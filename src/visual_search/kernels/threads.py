"""How many threads to use."""

from __future__ import annotations

import os

__all__ = ["thread_count"]


def thread_count() -> int:
    """Processors this process may use; ``VISUAL_SEARCH_THREADS`` sets fewer or more."""
    wanted = os.environ.get("VISUAL_SEARCH_THREADS", "")
    if wanted.isdecimal() and int(wanted) > 0:
        return int(wanted)
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
