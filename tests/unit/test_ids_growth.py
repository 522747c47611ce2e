"""Ids that grow: the shorter one never changes, and growing costs what is added."""

import pickle

import pytest

from visual_search.errors import DuplicateIdError, InputError
from visual_search.ids import Ids


def test_the_shorter_ids_do_not_see_what_came_later() -> None:
    short = Ids(["a", "b"])
    long = short.extended(["c", "d"])
    assert list(short) == ["a", "b"]
    assert list(long) == ["a", "b", "c", "d"]
    assert "c" not in short
    assert short.rows(["c", "b"]).tolist() == [-1, 1]
    assert short[-1] == "b"
    assert short[:] == ["a", "b"]
    assert short.take([1, -1]) == ["b", "b"]
    with pytest.raises(IndexError):
        short[2]
    with pytest.raises(IndexError):
        short.take([2])
    assert short == Ids(["a", "b"])
    assert short.fingerprint() == Ids(["a", "b"]).fingerprint()
    assert long.fingerprint() == Ids(["a", "b", "c", "d"]).fingerprint()


def test_two_extensions_of_one_do_not_meet() -> None:
    start = Ids([1, 2])
    left, right = start.extended([3]), start.extended([4, 5])
    assert list(left) == [1, 2, 3]
    assert list(right) == [1, 2, 4, 5]
    assert left.row(3) == 2
    assert 3 not in right
    assert right.row(5) == 3


def test_storage_is_shared_along_one_line_of_growth() -> None:
    ids = Ids(["0"])
    column = ids._column
    for number in range(1, 500):
        ids = ids.extended([str(number)])
    assert ids._column is column
    assert ids.row("499") == 499


def test_wrong_extensions_are_refused_and_change_nothing() -> None:
    ids = Ids(["a", "b"])
    with pytest.raises(DuplicateIdError, match="'b'"):
        ids.extended(["c", "b"])
    with pytest.raises(DuplicateIdError, match="'c'"):
        ids.extended(["c", "c"])
    with pytest.raises(InputError, match="int"):
        ids.extended([1])
    assert list(ids.extended(["c"])) == ["a", "b", "c"]


def test_empty_ids_take_the_kind_of_what_comes() -> None:
    assert Ids([]).extended([7]).kind is int
    assert Ids([7]).extended([]).kind is int


def test_growing_ids_survive_a_pickle() -> None:
    short = Ids(["a", "b"], what="gallery")
    short.extended(["c"])
    again = pickle.loads(pickle.dumps(short))
    assert again == short
    assert len(again) == 2


def test_row_numbers_are_ids_like_any_other() -> None:
    numbers, listed = Ids(range(5)), Ids([0, 1, 2, 3, 4])
    assert numbers == listed
    assert listed == numbers
    assert numbers == Ids(range(5))
    assert numbers != Ids(range(1, 6))
    assert (numbers.kind, numbers[3], numbers[1:3], 7 in numbers, numbers.rows([4, 9]).tolist()) == (
        int,
        3,
        [1, 2],
        False,
        [4, -1],
    )
    longer = numbers.extended([9])
    assert (list(longer), list(numbers), longer.row(9)) == ([0, 1, 2, 3, 4, 9], [0, 1, 2, 3, 4], 5)
    assert numbers.fingerprint() == listed.fingerprint()
    assert list(Ids(range(0))) == []
