"""Who is given which pair: what matters most first, and nothing twice, also when all come at once."""

import threading
from collections.abc import Callable, Sequence

import pytest
from tests.unit.judging.conftest import pool_of

from visual_search.errors import InputError, UnknownIdError
from visual_search.judging.assignment import Assignment
from visual_search.judging.pool import Pool, PoolQuery, Source
from visual_search.judging.records import Verdict
from visual_search.judging.store import JudgementStore
from visual_search.judging.store_contents import PairContent
from visual_search.judging.task import JudgingTask

Made = Callable[..., JudgementStore]


def items(given: Sequence[PairContent]) -> list[str]:
    return [str(one.item) for one in given]


def ranked(lists: dict[str, str], task: JudgingTask | None = None) -> Pool:
    """One query; each system's list as a text of one-letter items."""
    sources: dict[tuple[str, str], tuple[Source, ...]] = {}
    for system, listed in lists.items():
        for rank, item in enumerate(listed, start=1):
            sources["q", item] = (*sources.get(("q", item), ()), Source("ranked", system, rank))
    return Pool({"q": PoolQuery("q", text="a word")}, sources, task=task or JudgingTask())


def test_the_next_pair_is_the_one_that_matters_most_given_the_judgements(made: Made) -> None:
    store = made(ranked({"good": "abcd", "bad": "wxyz"}))
    work = Assignment(store)
    seen = []
    while given := work.next("ann"):
        item = str(given[0].item)
        seen.append(item)
        store.judge("ann", given[0].pair, Verdict(int(item in "abcd")))
    # Once the good system has found one it is followed to its end, but for at most one look at the other.
    assert [item for item in seen if item in "abcd"] == list("abcd")
    assert seen.index("d") <= 4
    assert sorted(seen) == sorted("abcdwxyz")


def test_an_undo_brings_back_the_order_that_was(made: Made) -> None:
    store = made(ranked({"one": "abc", "two": "xyz"}))
    work = Assignment(store)
    before = items(work.next("ann", count=6))
    first = store.judge("ann", store.pair_number("q", before[0]), Verdict(0))
    changed = items(work.next("ann", count=6))
    store.undo("ann", first.number)
    assert items(work.next("ann", count=6)) == before
    assert set(changed) == set(before) - {before[0]}


def test_asking_again_gives_the_same_and_windows_hold_their_own(made: Made) -> None:
    store = made(pool_of(1, 6, JudgingTask(wanted=2)))
    work = Assignment(store)
    first = items(work.next("ann", window="1", count=2))
    assert items(work.next("ann", window="1", count=2)) == first
    second = items(work.next("ann", window="2", count=2))
    assert not set(first) & set(second)
    assert items(work.next("bo", count=2)) == first  # two judgements are wanted


def test_no_more_judges_are_given_a_pair_than_it_wants(made: Made) -> None:
    store = made(pool_of(1, 3, JudgingTask(wanted=2)))
    work = Assignment(store)
    given = [items(work.next(judge, count=3)) for judge in ("ann", "bo", "cy")]
    assert given == [["d0", "d1", "d2"], ["d0", "d1", "d2"], []]
    work.release("bo")
    assert items(work.next("cy", count=3)) == ["d0", "d1", "d2"]


def test_a_lease_runs_out_and_is_renewed_by_asking(made: Made) -> None:
    store = made(pool_of(1, 2))
    now = [1000.0]
    work = Assignment(store, lease_seconds=60, clock=lambda: now[0])
    assert items(work.next("ann", count=2)) == ["d0", "d1"]
    now[0] += 45
    assert items(work.next("ann", count=2)) == ["d0", "d1"]
    now[0] += 45
    assert items(work.next("bo")) == []  # renewed 45 s ago
    now[0] += 20
    assert items(work.next("bo")) == ["d0"]
    assert items(work.next("ann", count=2)) == ["d1"]  # bo has the other now


def test_a_judgement_after_the_lease_ran_out_is_kept(made: Made) -> None:
    store = made(pool_of(1, 1))
    now = [0.0]
    work = Assignment(store, lease_seconds=1, clock=lambda: now[0])
    late = work.next("ann")[0].pair
    now[0] += 10
    assert work.next("bo")[0].pair == late
    store.judge("ann", late, Verdict(1))
    store.judge("bo", late, Verdict(1))
    assert len(store.standing()) == 2
    assert work.next("cy") == []


def test_later_puts_a_pair_behind_all_others_of_that_judge(made: Made) -> None:
    store = made(pool_of(1, 4))
    work = Assignment(store)
    put_off = []
    for _ in range(2):
        given = work.next("ann")[0]
        put_off.append(str(given.item))
        work.later("ann", given.pair)
    assert items(work.next("bo", count=1)) == ["d0"]  # not put off by him
    work.release("bo")
    seen = []
    for _ in range(4):
        given = work.next("ann")[0]
        seen.append(str(given.item))
        store.judge("ann", given.pair, Verdict(1))
    assert put_off == ["d0", "d1"]
    assert seen == ["d2", "d3", "d0", "d1"]
    assert work.next("ann") == []


def test_put_off_again_it_goes_to_the_end_again(made: Made) -> None:
    store = made(pool_of(1, 2))
    work = Assignment(store)
    for expected in ("d0", "d1", "d0", "d1"):
        given = work.next("ann")[0]
        assert given.item == expected
        work.later("ann", given.pair)
    with pytest.raises(UnknownIdError, match="77"):
        work.later("ann", 77)


def test_the_overlap_is_the_share_asked_for_and_whoever_was_in_is_not_asked_again(made: Made) -> None:
    task = JudgingTask(overlap=0.3, overlap_wanted=3)
    store = made(pool_of(4, 25, task))
    work = Assignment(store)
    given = {judge: set[int]() for judge in ("ann", "bo", "cy", "di")}
    while sum(_judge_one(store, work, judge, given) for judge in given):  # all of them in each round
        pass
    times = [sum(number in pairs for pairs in given.values()) for number in range(1, 101)]
    several = times.count(3)
    assert sorted(set(times)) == [1, 3]
    assert 20 <= several <= 40
    done = store.progress()
    assert done.given == done.wanted == 100 + 2 * several


def _judge_one(store: JudgementStore, work: Assignment, judge: str, given: dict[str, set[int]]) -> bool:
    found = work.next(judge)
    for one in found:
        assert one.pair not in given[judge]
        given[judge].add(one.pair)
        store.judge(judge, one.pair, Verdict(1))
    return bool(found)


def test_queries_take_turns_by_runs(made: Made) -> None:
    store = made(pool_of(3, 10, JudgingTask(run_length=2)))
    work = Assignment(store)
    seen = []
    for _ in range(12):
        given = work.next("ann")[0]
        seen.append(given.query.query_id)
        store.judge("ann", given.pair, Verdict(1))
    assert seen[0::2] == seen[1::2]  # two in a row
    assert seen[:6] == seen[6:]
    assert set(seen[:6]) == {"q0", "q1", "q2"}


def test_judges_at_once_share_the_pairs_and_none_is_given_twice(made: Made) -> None:
    store = made(pool_of(3, 20, JudgingTask(overlap=0.5)))
    given: dict[str, list[int]] = {f"judge {number % 5}": [] for number in range(5)}
    faults: list[BaseException] = []

    def work(judge: str, window: str) -> None:
        mine = Assignment(store)
        try:
            while found := mine.next(judge, window=window, count=3):
                given[judge].append(found[0].pair)
                store.judge(judge, found[0].pair, Verdict(found[0].pair % 3))
        except BaseException as fault:
            faults.append(fault)
            raise

    # Ten windows of five judges: a judge in two windows at once is given nothing twice either.
    threads = [threading.Thread(target=work, args=(f"judge {number % 5}", str(number))) for number in range(10)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []
    assert all(len(set(mine)) == len(mine) for mine in given.values())
    done = store.progress()
    assert sum(len(mine) for mine in given.values()) == len(store.log()) == done.given == done.wanted


def test_what_cannot_be_is_refused(made: Made) -> None:
    store = made(pool_of(1, 1))
    with pytest.raises(InputError, match="lease_seconds is 0"):
        Assignment(store, lease_seconds=0)
    with pytest.raises(InputError, match="count is 51, from 1 to 50"):
        Assignment(store).next("ann", count=51)
