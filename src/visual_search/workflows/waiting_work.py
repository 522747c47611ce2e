"""Work that waits behind the pages: what was asked for last is done first, and only so much waits."""

from __future__ import annotations

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable

__all__ = ["WaitingWork"]

_LOG = logging.getLogger(__name__)


class WaitingWork:
    """Pieces of work for one thread; safe to use from several.

    Somebody who has just opened a page waits for what it asked for; whoever asked earlier may have gone. So the piece
    asked for last comes first, and where too many wait those asked for longest ago are dropped: a page that is still
    looked at asks again.

    Parameters
    ----------
    most : int
        Pieces that wait, beside the one that is being done.
    at_rest : callable, optional
        Called where nothing has been asked for during ``patience``, before the thread ends.
    patience : float
        Seconds.

    Examples
    --------
    >>> work, done, go = WaitingWork(most=2), [], threading.Event()
    >>> work.add("first", go.wait)
    >>> while work.doing is None:
    ...     pass
    >>> for name in ("a", "b", "c"):
    ...     work.add(name, lambda name=name: done.append(name))
    >>> go.set()
    >>> while len(work):
    ...     pass
    >>> done
    ['c', 'b']
    """

    def __init__(self, *, most: int, at_rest: Callable[[], object] | None = None, patience: float = 30.0) -> None:
        self._most = most
        self._at_rest = at_rest
        self._patience = patience
        self._waiting: OrderedDict[str, Callable[[], object]] = OrderedDict()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None
        self._closed = False
        #: Name of the piece that is being done; None where there is none.
        self.doing: str | None = None

    def __len__(self) -> int:
        """Pieces that wait or are being done."""
        with self._changed:
            return len(self._waiting) + (self.doing is not None)

    def add(self, name: str, work: Callable[[], object]) -> None:
        """Have something done once, however often it is asked for; asked for again, it is the next again."""
        with self._changed:
            if name == self.doing or self._closed:
                return
            self._waiting.setdefault(name, work)
            self._waiting.move_to_end(name)
            while len(self._waiting) > self._most:
                self._waiting.popitem(last=False)
            if self._thread is None:
                self._thread = threading.Thread(target=self._toil, name="behind the pages", daemon=True)
                self._thread.start()
            self._changed.notify()

    def close(self) -> None:
        """Drop what waits, and take no more."""
        with self._changed:
            self._closed = True
            self._waiting.clear()
            self._changed.notify()

    def _toil(self) -> None:
        while (work := self._next()) is not None:
            try:
                work()
            except Exception:  # noqa: BLE001 - the thread outlives whatever one piece of work dies of
                if not self._closed:
                    _LOG.exception("work behind the pages failed")
            finally:
                with self._changed:
                    self.doing = None
        if self._at_rest is not None:  # not while others wait to ask for something
            self._at_rest()

    def _next(self) -> Callable[[], object] | None:
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._closed, self._patience)
            if not self._waiting:
                self._thread = None
                return None
            self.doing, work = self._waiting.popitem(last=True)
            return work
