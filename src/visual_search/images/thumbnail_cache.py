"""Small pictures made once and kept in memory, those not asked for the longest going first."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable

__all__ = ["ThumbnailCache"]


class ThumbnailCache:
    """Encoded pictures by what they were made of; safe to use from several threads.

    Parameters
    ----------
    max_bytes : int
        Of all that is kept.

    Examples
    --------
    >>> cache = ThumbnailCache(10)
    >>> cache.get("a", lambda: b"12345678"), cache.get("b", lambda: b"1234"), cache.get("a", lambda: b"made anew")
    (b'12345678', b'1234', b'made anew')
    """

    def __init__(self, max_bytes: int) -> None:
        self._room = max_bytes
        self._kept: OrderedDict[Hashable, bytes] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: Hashable, make: Callable[[], bytes]) -> bytes:
        """The picture kept under a key, or the one made now; what ``make`` raises goes through."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            if key not in self._kept:
                self._kept[key] = made
                self._room -= len(made)
            while self._room < 0 and self._kept:
                self._room += len(self._kept.popitem(last=False)[1])
        return made
