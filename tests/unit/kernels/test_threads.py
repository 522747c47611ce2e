"""Work in parts: order, failures, nesting, and threads that are kept."""

import multiprocessing
import threading

import pytest

from visual_search.kernels.threads import in_threads


def test_results_come_in_the_order_of_parts() -> None:
    assert in_threads(lambda part: part * part, 100, threads=3) == [part * part for part in range(100)]


def test_parts_run_side_by_side() -> None:
    together = threading.Barrier(3, timeout=20)
    in_threads(lambda _part: together.wait(), 3)


def test_no_more_threads_than_asked_for() -> None:
    seen: set[int] = set()
    in_threads(lambda _part: seen.add(threading.get_ident()), 50, threads=1)
    assert seen == {threading.get_ident()}


def test_the_first_failure_in_order_is_raised() -> None:
    together = threading.Barrier(2, timeout=20)

    def fail(part: int) -> None:
        together.wait()
        raise ValueError(f"part {part}")

    with pytest.raises(ValueError, match="part 0"):
        in_threads(fail, 2)


def test_parts_may_have_parts_deeper_than_there_are_threads() -> None:
    def nested(depth: int) -> int:
        return 1 if depth == 0 else sum(in_threads(lambda _part: nested(depth - 1), 3))

    assert nested(6) == 3**6


def test_threads_are_kept() -> None:
    together = threading.Barrier(2, timeout=20)
    in_threads(lambda _part: together.wait(), 2)
    there = threading.active_count()
    for _ in range(20):
        in_threads(lambda _part: together.wait(), 2)
    assert threading.active_count() == there


def _in_child(answers: "multiprocessing.queues.Queue[int]") -> None:
    together = threading.Barrier(2, timeout=20)
    answers.put(sum(in_threads(lambda part: together.wait() * 0 + part, 2)))


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="there is no fork here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_child_has_threads_of_its_own() -> None:
    in_threads(lambda part: part, 2)
    context = multiprocessing.get_context("fork")
    answers = context.Queue()
    child = context.Process(target=_in_child, args=(answers,))
    child.start()
    assert answers.get(timeout=30) == 1
    child.join(30)
    assert child.exitcode == 0
