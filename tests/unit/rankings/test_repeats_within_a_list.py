"""A repeated item in one query's list is found whatever the lists' lengths; in two lists it is no repeat."""

import numpy as np
import pytest

from visual_search.errors import DuplicateIdError
from visual_search.ids import Ids
from visual_search.rankings.ranking import Ranking


def ranking(lists: list[list[int]], items: int = 50) -> Ranking:
    offsets = np.cumsum([0, *map(len, lists)])
    rows = np.array([row for listed in lists for row in listed], dtype=np.int64)
    return Ranking(Ids(range(len(lists))), Ids(range(items)), offsets, rows, np.zeros(len(rows)))


def test_random_lists_against_sets() -> None:
    rng = np.random.default_rng(0)
    repeated = 0
    for _ in range(300):
        lists = [rng.integers(0, 50, size=rng.integers(0, 7)).tolist() for _ in range(rng.integers(0, 5))]
        if all(len(set(listed)) == len(listed) for listed in lists):
            ranking(lists)
            continue
        repeated += 1
        with pytest.raises(DuplicateIdError):
            ranking(lists)
    assert 50 < repeated < 250


@pytest.mark.parametrize("short", [1, 400])
def test_one_long_list_among_short_ones(short: int) -> None:
    # With few short lists they are compared side by side, with many by the general way.
    lists = [[7], *([[row] for row in range(10)] * short)]
    ranking([list(range(50)), *lists])
    with pytest.raises(DuplicateIdError, match=r"\(0, 9\)"):
        ranking([[*range(49), 9], *lists])
