"""A lock whose waiters go in the order they came, so that none waits for twenty others twice."""

from __future__ import annotations

import threading
from collections import deque
from types import TracebackType

__all__ = ["Turns"]


class Turns:
    """Places for ``with``, first come first served; the locks of ``threading`` let whoever is awake go first.

    Parameters
    ----------
    places : int
        How many may be inside at once, from 1.

    Examples
    --------
    >>> turns = Turns(1)
    >>> with turns:
    ...     pass
    """

    def __init__(self, places: int) -> None:
        self._guard = threading.Lock()
        self._free = places
        self._waiting: deque[threading.Lock] = deque()

    def __enter__(self) -> None:
        with self._guard:
            if self._free:
                self._free -= 1
                return
            mine = threading.Lock()
            mine.acquire()  # whoever leaves before releases it
            self._waiting.append(mine)
        try:
            mine.acquire()  # the place is handed over: it never looks free
        except BaseException:  # interrupted while waiting
            with self._guard:
                if mine in self._waiting:
                    self._waiting.remove(mine)
                    raise
            self.__exit__(None, None, None)
            raise

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._guard:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1
