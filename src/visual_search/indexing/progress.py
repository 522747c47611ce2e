"""How far embedding has come, how fast, and how long it will take."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Protocol

__all__ = ["Progress", "Throughput"]


class Progress(Protocol):
    """Is told how far embedding has come, from the thread that asked for it."""

    def start(self, total: int | None) -> None:
        """Embedding begins; ``total`` images in all, None where nobody knows."""
        ...

    def advance(self, count: int) -> None:
        """``count`` more images are done, used or left out."""
        ...


class Throughput:
    """A ``Progress`` that measures: images done, images a second, seconds left.

    Parameters
    ----------
    clock : callable, optional
        Seconds, never falling.

    Examples
    --------
    >>> times = iter([0.0, 0.0, 2.0, 2.0])
    >>> throughput = Throughput(clock=lambda: next(times))
    >>> throughput.start(100)
    >>> throughput.advance(20)
    >>> throughput.images_per_second, throughput.seconds_left
    (10.0, 8.0)
    """

    def __init__(self, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._began = clock()
        self.total: int | None = None
        self.done = 0

    def start(self, total: int | None) -> None:
        """Start the clock."""
        self.total = total
        self.done = 0
        self._began = self._clock()

    def advance(self, count: int) -> None:
        """Count images."""
        self.done += count

    @property
    def images_per_second(self) -> float:
        """Mean over the whole run; 0 before the first image."""
        elapsed = self._clock() - self._began
        return self.done / elapsed if self.done and elapsed > 0 else 0.0

    @property
    def seconds_left(self) -> float | None:
        """At the mean speed so far; None where the total or the speed is not known."""
        speed = self.images_per_second
        return None if self.total is None or speed == 0 else max(0, self.total - self.done) / speed
