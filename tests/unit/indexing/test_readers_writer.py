"""Many read together, one writes alone, and a waiting writer goes first."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from visual_search.indexing.readers_writer import ReadersWriterLock


def test_readers_are_together_and_a_writer_is_alone() -> None:
    lock = ReadersWriterLock()
    inside = {"readers": 0, "writers": 0}
    most_readers = 0
    wrong: list[dict[str, int]] = []
    count = threading.Lock()

    def visit(kind: str) -> None:
        nonlocal most_readers
        for _ in range(60):
            with lock.write() if kind == "writers" else lock.read():
                with count:
                    inside[kind] += 1
                    most_readers = max(most_readers, inside["readers"])
                    if inside["writers"] > 1 or (inside["writers"] and inside["readers"]):
                        wrong.append(dict(inside))
                time.sleep(0.0002)
                with count:
                    inside[kind] -= 1

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(visit, ["readers"] * 6 + ["writers"] * 2))
    assert not wrong
    assert most_readers > 1


def test_a_waiting_writer_goes_before_later_readers() -> None:
    lock = ReadersWriterLock()
    order: list[str] = []
    reading, leave = threading.Event(), threading.Event()

    def first_reader() -> None:
        with lock.read():
            reading.set()
            leave.wait(10)

    def writer() -> None:
        with lock.write():
            order.append("writer")

    def later_reader() -> None:
        with lock.read():
            order.append("reader")

    first = threading.Thread(target=first_reader)
    first.start()
    reading.wait(10)
    waiting = threading.Thread(target=writer)
    waiting.start()
    while not lock._writers_waiting:
        time.sleep(0.001)
    later = threading.Thread(target=later_reader)
    later.start()
    time.sleep(0.02)
    assert order == []
    leave.set()
    for thread in (first, waiting, later):
        thread.join(10)
    assert order == ["writer", "reader"]


def test_an_error_inside_lets_go() -> None:
    lock = ReadersWriterLock()
    with pytest.raises(ZeroDivisionError), lock.write():
        raise ZeroDivisionError
    with pytest.raises(ZeroDivisionError), lock.read():
        raise ZeroDivisionError
    with lock.write():
        pass
