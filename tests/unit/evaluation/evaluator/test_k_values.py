from typing import Any

import numpy as np
import pytest

from visual_search.errors import InputError
from visual_search.evaluation.k_values import checked_k_values


@pytest.mark.parametrize(
    ("given", "depths"),
    [
        ([20, 1, 5], [1, 5, 20]),
        ((np.int64(3),), [3]),
        ("user", [10, 20]),
        ("analysis", [1, 5, 10, 50, 100]),
        (range(1, 4), [1, 2, 3]),
    ],
)
def test_depths_come_sorted(given: Any, depths: list[int]) -> None:
    assert checked_k_values(given) == depths
    assert all(type(depth) is int for depth in checked_k_values(given))


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([0, -1, 1.5, True, "5"], r"5 problems\n.* 0 is not a depth(.*\n)*.*True is not a depth"),
        ([5, 1, 5, 1], "1, 5 given more than once"),
        ([], "at least one depth"),
        ("users", "one of user, analysis"),
        (10, r"such as \[1, 5, 10\]"),
    ],
)
def test_depths_that_cannot_be(given: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        checked_k_values(given)
