"""A store's log only grows, whoever asks and however often."""

import threading
from collections.abc import Callable

import pytest
import sqlalchemy as sa
from tests.unit.judging.conftest import pool_of

from visual_search.errors import InputError, UnknownIdError
from visual_search.ground_truth.relevance import Relevance
from visual_search.judging import schema
from visual_search.judging.judgement_table import JudgementTable
from visual_search.judging.records import Verdict
from visual_search.judging.store import JudgementStore
from visual_search.judging.task import JudgingTask

Made = Callable[..., JudgementStore]


def test_what_was_said_is_what_comes_back(made: Made) -> None:
    store = made(pool_of(1, 3))
    one = store.judge("ann", store.pair_number("q0", "d0"), Verdict(2, note="ça, “yes”", seconds=1.25))
    two = store.judge("ann", store.pair_number("q0", "d1"), Verdict(None, reason="the image cannot be seen"))
    assert store.log() == [one, two]
    assert made().standing() == [one, two]  # as another process sees it
    assert (one.query, one.item, one.judge, one.grade) == ("q0", "d0", "ann", 2.0)
    assert one.verdict == Verdict(2, note="ça, “yes”", seconds=1.25)
    assert two.grade is None
    assert store.table()["item"] == ["d0"]
    assert store.table(graded=False)["reason"] == ["", "the image cannot be seen"]


def test_a_request_that_comes_again_is_no_second_judgement(made: Made) -> None:
    store = made(pool_of(1, 2))
    pair = store.pair_number("q0", "d0")
    first = store.judge("ann", pair, Verdict(1), key="k1")
    assert store.judge("ann", pair, Verdict(1), key="k1") == first
    assert made().judge("ann", pair, Verdict(1), key="k1") == first
    assert len(store.log()) == 1
    with pytest.raises(InputError, match="'k1' has written another record"):
        store.judge("ann", pair, Verdict(2), key="k1")


def test_the_same_request_at_once_is_written_once(made: Made) -> None:
    store = made(pool_of(1, 2))
    pair = store.pair_number("q0", "d0")
    numbers: list[int] = []
    threads = [
        threading.Thread(target=lambda: numbers.append(store.judge("ann", pair, Verdict(1), key="k").number))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(numbers) == 8
    assert len(set(numbers)) == 1
    assert len(store.log()) == 1


def test_one_judge_judges_a_pair_once_and_replaces_by_name(made: Made) -> None:
    store = made(pool_of(1, 2))
    pair = store.pair_number("q0", "d0")
    first = store.judge("ann", pair, Verdict(1))
    with pytest.raises(InputError, match=f"judged by 'ann' already \\(record {first.number}\\)"):
        store.judge("ann", pair, Verdict(2))
    second = store.judge("ann", pair, Verdict(2), replaces=first.number)
    with pytest.raises(InputError, match=f"record {first.number} does not stand .* record {second.number} does"):
        store.judge("ann", pair, Verdict(0), replaces=first.number)
    assert [one.number for one in store.standing()] == [second.number]
    assert [one.grade for one in store.log()] == [1.0, 2.0]
    assert second.replaces == first.number


def test_undo_is_a_record_and_the_pair_can_be_judged_again(made: Made) -> None:
    store = made(pool_of(1, 2))
    pair = store.pair_number("q0", "d0")
    first = store.judge("ann", pair, Verdict(1))
    with pytest.raises(InputError, match="a judge takes back his own"):
        store.undo("bo", first.number)
    undone = store.undo("ann", first.number, key="u")
    assert store.undo("ann", first.number, key="u") == undone
    assert (undone.is_undo, undone.replaces, undone.grade) == (True, first.number, None)
    assert store.standing() == []
    with pytest.raises(InputError, match="does not stand"):
        store.undo("ann", first.number)
    again = store.judge("ann", pair, Verdict(0))
    assert again.replaces == undone.number
    assert [one.grade for one in store.standing()] == [0.0]
    assert len(store.log()) == 3


def test_a_chain_of_records_has_no_fork_in_the_database_itself(made: Made) -> None:
    store = made(pool_of(1, 2))
    first = store.judge("ann", store.pair_number("q0", "d0"), Verdict(1))
    with store.database.reading() as connection:
        row = connection.execute(sa.select(schema.judgements)).one()._asdict()
    for change in ({"replaces": None}, {"replaces": first.number}):
        doubled = {**row, **change, "key": "another"}
        doubled.pop("id")
        if change["replaces"] is not None:
            store.judge("ann", first.pair, Verdict(2), replaces=first.number)
        with pytest.raises(sa.exc.IntegrityError), store.database.writing() as connection:
            connection.execute(schema.judgements.insert(), doubled)


@pytest.mark.parametrize("statement", ["UPDATE judging_judgement SET grade = 0", "DELETE FROM judging_judgement"])
def test_nothing_changes_or_removes_a_judgement(made: Made, statement: str) -> None:
    store = made(pool_of(1, 2))
    store.judge("ann", store.pair_number("q0", "d0"), Verdict(1))
    with (
        pytest.raises(sa.exc.DatabaseError, match="never changed nor removed"),
        store.database.writing() as connection,
    ):
        connection.execute(sa.text(statement))
    assert [one.grade for one in store.log()] == [1.0]


def test_postgresql_refuses_to_empty_the_log(made: Made) -> None:
    store = made(pool_of(1, 2))
    store.judge("ann", store.pair_number("q0", "d0"), Verdict(1))
    if not store.database.is_sqlite:  # SQLite has no such statement
        with (
            pytest.raises(sa.exc.DatabaseError, match="never changed nor removed"),
            store.database.writing() as connection,
        ):
            connection.execute(sa.text("TRUNCATE judging_judgement CASCADE"))
    assert len(store.log()) == 1


def test_grades_are_those_of_the_task(made: Made) -> None:
    store = made(pool_of(1, 2))
    with pytest.raises(InputError, match="grade is 7; the task has 0, 1, 2"):
        store.judge("ann", store.pair_number("q0", "d0"), Verdict(7))
    with pytest.raises(UnknownIdError, match="999"):
        store.judge("ann", 999, Verdict(1))
    with pytest.raises(InputError, match="printable"):
        store.judge("a\nb", store.pair_number("q0", "d0"), Verdict(1))
    with pytest.raises(InputError, match="say why"):
        Verdict(None)
    assert store.log() == []


def test_a_larger_pool_loses_no_judgement_and_makes_none_wanted_again(made: Made) -> None:
    store = made(pool_of(2, 3))
    one = store.judge("ann", store.pair_number("q1", "d2"), Verdict(1))
    assert store.add_pool(pool_of(2, 3)).pairs == 0
    added = store.add_pool(pool_of(3, 4))
    assert (added.queries, added.items, added.pairs) == (1, 1, 6)
    assert store.standing() == [one]
    assert store.progress().judged == 1
    assert set(store.pool().sources) == set(pool_of(3, 4).sources)


def test_another_task_is_refused_with_what_differs(made: Made) -> None:
    store = made(pool_of(1, 2, JudgingTask(wanted=2)))
    with pytest.raises(InputError, match=r"differ in wanted \(3, 2\)"):
        store.add_pool(pool_of(1, 3, JudgingTask(wanted=3)))
    assert store.add_pool(pool_of(1, 3)).pairs == 1  # the default says nothing


def test_ids_keep_their_kind_and_any_letter(made: Made) -> None:
    from visual_search.judging.pool import Pool, PoolQuery, Source

    why = (Source("ranked", "one", 1),)
    odd = ["é", "a b", "7", "\U0001f600", "x" * 300, "'; DROP TABLE judging_pair; --"]
    store = made(Pool({1: PoolQuery(1), 2: PoolQuery(2)}, {(1, item): why for item in odd}))
    for item in odd:
        store.judge("ann", store.pair_number(1, item), Verdict(1))
    assert {(one.query, one.item) for one in store.standing()} == {(1, item) for item in odd}
    assert Relevance.from_judgements(store.table()).judged(1) == dict.fromkeys(odd, 1.0)


def test_the_table_flows_into_relevance_and_agreement(made: Made) -> None:
    store = made(pool_of(1, 2, JudgingTask(wanted=2)))
    for judge, grade in (("ann", 0), ("bo", 2)):
        store.judge(judge, store.pair_number("q0", "d0"), Verdict(grade))
    store.judge("bo", store.pair_number("q0", "d1"), Verdict(None, reason="the query is unclear"))
    store.judge("chief", store.pair_number("q0", "d0"), Verdict(1), role="adjudicator")
    assert Relevance.from_judgements(store.table(roles=["judge"]), combine="mean").judged("q0") == {"d0": 1.0}
    table = JudgementTable.from_table(store.table(graded=False))
    assert (len(table), int(table.adjudicated.sum()), table.pairs) == (4, 1, 2)


def test_an_adjudicator_may_have_judged_and_counts_apart(made: Made) -> None:
    store = made(pool_of(1, 1, JudgingTask(wanted=2)))
    pair = store.pair_number("q0", "d0")
    store.judge("ann", pair, Verdict(0))
    store.judge("ann", pair, Verdict(2), role="adjudicator")
    assert len(store.standing()) == 2
    done = store.progress()
    assert (done.wanted, done.given, done.judges["ann"].judged) == (2, 1, 1)


def test_progress_counts_what_is_wanted_and_what_is_there(made: Made) -> None:
    store = made(pool_of(2, 2, JudgingTask(wanted=2)))
    for judge in ("ann", "bo", "cy"):  # one more than wanted
        store.judge(judge, store.pair_number("q0", "d0"), Verdict(1, seconds=len(judge)))
    taken = store.judge("ann", store.pair_number("q0", "d1"), Verdict(None, reason="not my field"))
    store.judge("bo", store.pair_number("q1", "d1"), Verdict(None, reason="not my field"))
    store.undo("ann", taken.number)
    done = store.progress()
    assert (done.pairs, done.judged, done.wanted, done.given) == (4, 2, 8, 3)
    assert {name: (one.judged, one.cannot_tell, one.undone) for name, one in done.judges.items()} == {
        "ann": (1, 0, 1),
        "bo": (2, 1, 0),
        "cy": (1, 0, 0),
    }
    assert done.judges["cy"].seconds == 2.0
    assert {query: (one.pairs, one.judged) for query, one in done.queries.items()} == {"q0": (2, 1), "q1": (2, 1)}


def test_a_grid_shows_a_judge_only_his_own_and_goes_by_depth(made: Made) -> None:
    store = made(pool_of(1, 6, systems=2))
    store.judge("ann", store.pair_number("q0", "d0"), Verdict(1))
    store.judge("bo", store.pair_number("q0", "d1"), Verdict(2))
    grid = store.query_pairs("q0", "ann")
    assert {one.item: one.judgement.grade for one in grid if one.judgement is not None} == {"d0": 1.0}
    assert sorted(str(one.item) for one in store.query_pairs("q0", "ann", depth=1)) == ["d0", "d5"]
    with pytest.raises(UnknownIdError, match="'nobody'"):
        store.query_pairs("nobody", "ann")


@pytest.mark.parametrize("number", [0, -1, 1 << 31, 1 << 70])
def test_a_number_that_no_database_holds_is_an_unknown_one(made: Made, number: int) -> None:
    store = made(pool_of(1, 1))
    with pytest.raises(UnknownIdError, match="not in this store"):
        store.judge("ann", number, Verdict(1))
    with pytest.raises(UnknownIdError, match="not in this store"):
        store.undo("ann", number)


def test_half_of_a_surrogate_pair_is_no_name(made: Made) -> None:
    store = made(pool_of(1, 1))
    with pytest.raises(InputError, match="printable characters"):
        store.judge("\ud800", store.pair_number("q0", "d0"), Verdict(1))
