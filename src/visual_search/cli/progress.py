"""A progress bar with the rate and the time left, on standard error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

__all__ = ["WorkProgress", "count_progress", "image_progress", "work_progress"]


class _Rate(ProgressColumn):
    """Images, or whatever is counted, a second over the last half minute."""

    def __init__(self, unit: str) -> None:
        super().__init__()
        self._unit = unit

    def render(self, task: Task) -> Text:
        """Show a dash before the first batch."""
        speed = task.finished_speed or task.speed
        if speed is None and task.finished and task.elapsed:
            speed = task.completed / task.elapsed
        return Text(f"-- {self._unit}/s" if speed is None else f"{speed:,.1f} {self._unit}/s")


class WorkProgress:
    """Shows what long work reports."""

    def __init__(self, bar: Progress, words: str) -> None:
        self._bar = bar
        self._task = bar.add_task(words, total=None, start=False, visible=False)

    def start(self, total: int | None) -> None:
        """Start the clock."""
        self._bar.start_task(self._task)
        self._bar.update(self._task, total=total, visible=True)

    def advance(self, count: int) -> None:
        """Move on by ``count``."""
        self._bar.advance(self._task, count)


@contextmanager
def work_progress(words: str, *, unit: str, quiet: bool = False) -> Iterator[WorkProgress | None]:
    """Show a bar while the block runs; none when quiet."""
    if quiet:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        _Rate(unit),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        yield WorkProgress(bar, words)


def image_progress(words: str, *, quiet: bool = False) -> AbstractContextManager[WorkProgress | None]:
    """The same in images."""
    return work_progress(words, unit="images", quiet=quiet)


@contextmanager
def count_progress(words: str, *, quiet: bool = False) -> Iterator[WorkProgress | None]:
    """Show a bar of things that take long each: how many of how many, and the time left."""
    if quiet:
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        yield WorkProgress(bar, words)
