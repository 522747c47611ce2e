"""Splits queries into those a setting is chosen on and those it is reported on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError
from visual_search.evaluation.seeds import seeded

__all__ = ["validation_and_test"]

Int64Array: TypeAlias = npt.NDArray[np.int64]


def validation_and_test(
    count: int, *, test_share: float = 0.2, seed: int = 0, groups: Sequence[object] | None = None
) -> tuple[Int64Array, Int64Array]:
    """Rows of validation and of test queries, each rising; a group is never on both sides.

    Parameters
    ----------
    count : int
        Queries in all.
    test_share : float in (0, 1)
        Share of the queries for the test; with groups as near as whole groups come.
    seed : int
    groups : sequence of length count, optional
        Group of each query; None is a group of its own.

    Raises
    ------
    InputError
        A share outside its range, fewer than two groups, or as many groups as there are not queries.

    Examples
    --------
    >>> validation, test = validation_and_test(10, seed=1)
    >>> len(validation), len(test), sorted([*validation.tolist(), *test.tolist()]) == list(range(10))
    (8, 2, True)
    """
    if not 0 < test_share < 1:
        raise InputError(f"test_share: got {test_share}; must lie between 0 and 1, such as 0.2")
    if groups is not None and len(groups) != count:
        raise InputError(f"groups: {len(groups)} for {count} queries; give one to each, None for none")
    if groups is None and count > 1:
        return _alone(count, test_share, seed)
    places: dict[object, list[int]] = {}
    for row in range(count):
        group = None if groups is None else groups[row]
        places.setdefault(("query", row) if group is None else ("group", group), []).append(row)
    units = list(places.values())
    if len(units) < 2:
        raise InputError(
            f"queries: {count} in {counted(len(units), 'group', 'groups')}; at least two are needed to split them"
        )
    test: list[int] = []
    order = seeded(seed).permutation(len(units)).tolist()
    for taken, place in enumerate(order):
        # At least one group for each side; then as long as it brings the share nearer.
        if taken and (taken == len(units) - 1 or len(test) + len(units[place]) / 2 > test_share * count):
            break
        test += units[place]
    held = np.zeros(count, dtype=np.bool_)
    held[test] = True
    return np.flatnonzero(~held), np.flatnonzero(held)


def _alone(count: int, test_share: float, seed: int) -> tuple[Int64Array, Int64Array]:
    """The same where each query is a group of its own, without a list for each."""
    order = seeded(seed).permutation(count)
    taken = np.arange(1, count)
    enough = (taken == count - 1) | (taken + 0.5 > test_share * count)
    held = np.zeros(count, dtype=np.bool_)
    held[order[: int(taken[enough][0])]] = True
    return np.flatnonzero(~held), np.flatnonzero(held)
