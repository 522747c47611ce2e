"""Chances inside a group of equal score: n items in random order, r of them relevant.

All exact up to float64 rounding, each by a recurrence of positive terms, so that nothing cancels.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "classes_of",
    "first_relevant_chances",
    "hit_count_chances",
    "last_relevant_chances",
    "later_than_chances",
    "miss_chance",
    "weighted_inverse_ranks",
]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]

# Cells of one block of (groups x places), 8 MiB of float64.
_BLOCK_CELLS = 1 << 20


def miss_chance(n: Int64Array, r: Int64Array, m: Int64Array) -> FloatArray:
    """Chance that none of the first m items is relevant: C(n - r, m) / C(n, m), element by element.

    The same number is C(n - m, r) / C(n, r); the shorter product of the two is taken.

    >>> miss_chance(np.array([4]), np.array([1]), np.array([1])).tolist()
    [0.75]
    """
    short, long = np.minimum(r, m), np.maximum(r, m)
    chance: FloatArray = (short + long <= n).astype(np.float64)
    for step in range(int(short.max(initial=0))):
        live = (step < short) & (chance > 0)
        steps = ((n - long - step) / np.maximum(n - step, 1)).astype(np.float64)
        chance = np.where(live, chance * steps, chance)
    return chance


def first_relevant_chances(n: int, r: int, depth: int) -> FloatArray:
    """Chance that the first relevant item is at place p = 1..depth: C(n - p, r - 1) / C(n, r).

    >>> first_relevant_chances(4, 2, 3).round(6).tolist()
    [0.5, 0.333333, 0.166667]
    """
    place = np.arange(1, min(depth, n - r + 1), dtype=np.float64)
    steps = (n - place - r + 1) / (n - place)
    chances = r / n * np.cumprod(np.concatenate((np.ones(1), steps)))
    return np.concatenate((chances, np.zeros(max(depth - len(chances), 0))))[:depth]


def last_relevant_chances(n: int, r: int, depth: int) -> FloatArray:
    """Chance that the last relevant item is at place p = 1..depth: C(p - 1, r - 1) / C(n, r).

    >>> last_relevant_chances(4, 2, 4).round(6).tolist()
    [0.0, 0.166667, 0.333333, 0.5]
    """
    return first_relevant_chances(n, r, n)[::-1][:depth]


def hit_count_chances(n: int, r: int, m: int) -> tuple[int, FloatArray]:
    """Smallest possible number x of relevant items among the first m, and the chances of x, x + 1, ...

    Hypergeometric, C(r, x) C(n - r, m - x) / C(n, m), built outwards from its mode.

    >>> low, chances = hit_count_chances(4, 2, 2)
    >>> low, chances.round(6).tolist()
    (0, [0.166667, 0.666667, 0.166667])
    """
    low, high = max(0, m - (n - r)), min(r, m)
    mode = min(max((r + 1) * (m + 1) // (n + 2), low), high)
    up = np.arange(mode, high, dtype=np.float64)
    rising = np.cumprod((r - up) * (m - up) / ((up + 1) * (n - r - m + up + 1)))
    down = np.arange(mode, low, -1, dtype=np.float64)
    falling = np.cumprod(down * (n - r - m + down) / ((r - down + 1) * (m - down + 1)))
    chances = np.concatenate((falling[::-1], [1.0], rising))
    return low, chances / chances.sum()


def classes_of(*columns: Int64Array) -> Iterator[tuple[tuple[int, ...], Int64Array]]:
    """Each distinct combination of the columns with the places that have it.

    Tied groups repeat: in a random baseline all of them are one class, and their chances are computed once.
    """
    if not len(columns[0]):
        return
    order = np.lexsort(columns)
    table = np.stack([column[order] for column in columns])
    new = np.flatnonzero((table[:, 1:] != table[:, :-1]).any(axis=0)) + 1
    for first, last in zip([0, *new.tolist()], [*new.tolist(), len(order)], strict=True):
        yield tuple(int(value) for value in table[:, first]), order[first:last]


def weighted_inverse_ranks(chances: FloatArray, above: Int64Array, depth: Int64Array) -> FloatArray:
    """For each group the sum of ``chances[p - 1] / (above + p)`` over the places p = 1..depth.

    Parameters
    ----------
    chances : float64 array of shape (places,)
        The chance of each place.
    above, depth : int64 arrays of shape (groups,)
        Candidates before the group, and how many of its places count.

    Returns
    -------
    float64 array of shape (groups,)
    """
    sums = np.empty(len(above))
    places = np.arange(1, len(chances) + 1)
    block = max(_BLOCK_CELLS // max(len(chances), 1), 1)
    for first in range(0, len(above), block):
        part = slice(first, first + block)
        terms = chances / (above[part, None] + places)
        terms[places > depth[part, None]] = 0
        sums[part] = terms.sum(axis=1)
    return sums


def later_than_chances(n: int, r: int, j: int, depth: int) -> FloatArray:
    """Chance that the j-th relevant item comes after place d, for d = 0..depth - 1.

    The place of the j-th relevant item has the chances C(t - 1, j - 1) C(n - t, r - j) / C(n, r); they are built
    outwards from the most likely place and summed from the far end.

    >>> later_than_chances(4, 2, 1, 4).round(6).tolist()
    [1.0, 0.5, 0.166667, 0.0]
    """
    if j < 1:
        return np.zeros(depth)
    place = np.arange(j, n - r + j, dtype=np.float64)
    steps = place / (place - j + 1) * ((n - place - r + j) / (n - place))
    mode = int(np.count_nonzero(steps >= 1))
    falling = np.cumprod(1 / steps[:mode][::-1])[::-1]
    chances = np.concatenate((falling, [1.0], np.cumprod(steps[mode:])))
    after = np.cumsum(chances[::-1])[::-1] / chances.sum()
    # The j-th cannot come before place j, nor after place n - r + j.
    whole = np.concatenate((np.ones(j), after[1:], np.zeros(max(depth - j - len(after) + 1, 0))))
    return whole[:depth]
