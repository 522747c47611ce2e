"""Keeps Pillow's warnings inside a decoding, whatever thread it runs in and whatever the caller's filters say."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, cast

__all__ = ["quiet_pillow"]


class _InsideDecoding(threading.local):
    """Stands in a warning filter's place for a module pattern: matches only in a thread that is decoding."""

    depth = 0

    def match(self, _module: str) -> bool:
        return self.depth > 0


_here = _InsideDecoding()
_filter = ("ignore", None, Warning, _here, 0)
_installing = threading.Lock()


@contextmanager
def quiet_pillow() -> Iterator[None]:
    """Ignore every warning of this thread until the block ends.

    ``warnings.catch_warnings`` swaps the filters of the whole process, so two decoding threads that overlap would
    undo each other's and leave the caller's filters changed for good. Instead, one filter that matches nobody but a
    thread inside this block is put first and left there: for everyone else it is as if it were absent.
    """
    _put_first()
    _here.depth += 1
    try:
        yield
    finally:
        _here.depth -= 1


def _put_first() -> None:
    filters = cast("list[Any]", warnings.filters)
    if filters and filters[0] is _filter:
        return
    with _installing:
        filters.insert(0, _filter)
        # An older place goes only after the new one is taken, so that no decoding thread is left without.
        for place in range(len(filters) - 1, 0, -1):
            if filters[place] is _filter:
                del filters[place]
