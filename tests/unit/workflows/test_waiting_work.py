"""What waits behind the pages: the newest first, only so much of it, and nothing that one failure stops."""

import threading
import time
from collections.abc import Callable, Iterator

import pytest

from visual_search.workflows.waiting_work import WaitingWork

_LONG = 30.0  # seconds after which a test gives up


class _Held:
    """A first piece of work that is not done before it may be, so that what comes after it waits."""

    def __init__(self, work: WaitingWork) -> None:
        self.begun, self.may_end, self.ended = threading.Event(), threading.Event(), threading.Event()
        self.done: list[str] = []
        self._work = work
        work.add("held", self._hold)
        assert self.begun.wait(_LONG)

    def _hold(self) -> None:
        self.begun.set()
        assert self.may_end.wait(_LONG)

    def add(self, *names: str) -> None:
        for name in names:
            self._work.add(name, self._noting(name))

    def _noting(self, name: str) -> Callable[[], None]:
        def work() -> None:
            self.done.append(name)
            if len(self._work) == 1:
                self.ended.set()

        return work

    def finish(self) -> list[str]:
        self.may_end.set()
        assert self.ended.wait(_LONG)
        return self.done


@pytest.fixture
def held() -> Iterator[_Held]:
    made = _Held(WaitingWork(most=3))
    yield made
    made.may_end.set()


def test_what_was_asked_for_last_is_done_first(held: _Held) -> None:
    held.add("a", "b", "c")
    assert held.finish() == ["c", "b", "a"]


def test_asked_for_again_it_is_the_next_and_done_once(held: _Held) -> None:
    held.add("a", "b", "c", "a")
    assert held.finish() == ["a", "c", "b"]


def test_where_too_much_waits_what_was_asked_for_longest_ago_is_dropped(held: _Held) -> None:
    held.add("a", "b", "c", "d", "e")
    assert len(held._work) == 4  # three, and the one that is held
    assert held.finish() == ["e", "d", "c"]


def test_what_is_being_done_is_not_asked_for_twice(held: _Held) -> None:
    held.add("held", "a")
    assert held.finish() == ["a"]


def test_what_was_dropped_may_be_asked_for_again(held: _Held) -> None:
    held.add("a", "b", "c", "d")
    held.add("a")
    assert held.finish() == ["a", "d", "c"]


@pytest.mark.filterwarnings("error")
def test_a_piece_that_fails_stops_nothing(caplog: pytest.LogCaptureFixture) -> None:
    work = WaitingWork(most=9)

    def fails() -> None:
        raise ZeroDivisionError

    work.add("fails", fails)
    while len(work):
        time.sleep(0.001)
    for name in ("another", "fails"):  # a piece that failed is not thought to be under way still
        done = threading.Event()
        work.add(name, done.set)
        assert done.wait(_LONG)
    assert "work behind the pages failed" in caplog.text


def test_at_rest_it_says_so_and_begins_again_when_asked() -> None:
    rested = threading.Event()
    work = WaitingWork(most=9, at_rest=rested.set, patience=0.01)
    for _ in range(2):
        done = threading.Event()
        rested.clear()
        work.add("one", done.set)
        assert done.wait(_LONG)
        assert rested.wait(_LONG)
    assert len(work) == 0
