"""AP over the items found: a quotient whose divisor depends on the order too.

Where the cut falls inside a tied group, the number x of its relevant items inside the cut is random, and both the
sum of precisions and the divisor depend on it; so everything here is a function of x first.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.measures.draws import classes_of, hit_count_chances, miss_chance
from visual_search.evaluation.measures.precision_sums import precision_sums, rising_over_rank
from visual_search.evaluation.positions import Positions
from visual_search.evaluation.tie_groups import TieGroups
from visual_search.evaluation.ties import TieRule

__all__ = ["precision_over_found"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]

_BLOCK_CELLS = 1 << 20


def precision_over_found(
    positions: Positions, groups: TieGroups, inside: Int64Array, ties: TieRule, *, skip_none: bool
) -> tuple[FloatArray, FloatArray]:
    """Sum of P(r) over the relevant items inside the cut, divided by their number, per query.

    Parameters
    ----------
    positions : Positions
        Where the judged items stand.
    groups : TieGroups
        All groups with relevant items.
    inside : int64 array of shape (groups,)
        How many items of each group are inside the cut.
    ties : {"expected", "best", "worst"}
        What to take over the orders within groups.
    skip_none : bool
        Whether orders that show no relevant item are left out; else they count 0.

    Returns
    -------
    value, chance : float64 arrays of shape (n,)
        The expectation (orders that show nothing adding 0), or the extreme; and the chance that an order shows a
        relevant item, which for the extremes is 1 where any order does.
    """
    whole = groups.where(inside == groups.size)
    partial = (inside > 0) & (inside < groups.size)
    cut, room = groups.where(partial), inside[partial]
    sums = precision_sums(whole, whole.size) if ties == "expected" else _extreme_sums(whole, best=ties == "best")
    earlier = positions.sum_by_query(whole.query, sums)
    found = positions.sum_by_query(whole.query, whole.relevant)
    value = np.divide(earlier, found, out=np.zeros(len(positions)), where=found > 0)
    chance = (found > 0).astype(np.float64)
    if ties == "expected":
        value[cut.query] = _expected_with_cut(cut, room, earlier[cut.query])
        some = np.where(cut.before > 0, 1.0, 1 - miss_chance(cut.size, cut.relevant, room))
    else:
        best = ties == "best"
        value[cut.query] = _extreme_with_cut(cut, room, earlier[cut.query], best=best, skip_none=skip_none)
        some = np.ones(len(cut))
    chance[cut.query] = some
    return value, chance


def _extreme_sums(groups: TieGroups, *, best: bool) -> FloatArray:
    """Sum of P(r) with the relevant items of each group first, or last."""
    start = groups.above if best else groups.above + groups.size - groups.relevant
    return rising_over_rank(groups.before + 1, np.ones(len(groups)), start, groups.relevant)


def _expected_with_cut(cut: TieGroups, inside: Int64Array, earlier: FloatArray) -> FloatArray:
    """Expected AP over the items found, for queries whose last counted group is ``cut``.

    ::

        sum over x of C(r, x) C(n - r, m - x) / C(n, m)
            * (earlier + (x/m) * sum over j = 1..m of (B + 1 + (j - 1)(x - 1)/(m - 1)) / (s + j)) / (B + x)

    Parameters
    ----------
    cut : TieGroups
        One group per query.
    inside : int64 array of shape (groups,)
        m, at least 1.
    earlier : float64 array of shape (groups,)
        Expected sum of P(r) over the groups before it.

    Returns
    -------
    float64 array of shape (groups,)
    """
    values = np.empty(len(cut))
    for (n, r, m), chosen in classes_of(cut.size, cut.relevant, inside):
        low, chances = hit_count_chances(n, r, m)
        x = np.arange(low, low + len(chances))
        block = max(_BLOCK_CELLS // len(x), 1)
        for first in range(0, len(chosen), block):
            part = chosen[first : first + block]
            above, before = cut.above[part, None], cut.before[part, None]
            slope = (x - 1) / max(m - 1, 1)
            mine = x / m * rising_over_rank(before + 1, slope, above, np.full_like(above, m))
            found = before + x
            quotient = np.where(found > 0, (earlier[part, None] + mine) / np.maximum(found, 1), 0.0)
            values[part] = (chances * quotient).sum(axis=1)
    return values


def _extreme_with_cut(
    cut: TieGroups, inside: Int64Array, earlier: FloatArray, *, best: bool, skip_none: bool
) -> FloatArray:
    """Highest or lowest AP over the items found, over all numbers x of relevant items the cut group may show.

    More hits raise the divisor too, so that the extreme need not lie at the largest or smallest x; for one x the
    best order has the hits first inside the cut and the worst has them last.

    Parameters
    ----------
    cut, inside, earlier
        As in `_expected_with_cut`, with ``earlier`` the extreme of the groups before.
    best : bool
        Highest, else lowest.
    skip_none : bool
        Leave out the orders that show no relevant item at all, where there are others.

    Returns
    -------
    float64 array of shape (groups,)
    """
    values = np.empty(len(cut))
    for (n, r, m), chosen in classes_of(cut.size, cut.relevant, inside):
        x = np.arange(max(0, m - (n - r)), min(r, m) + 1)
        block = max(_BLOCK_CELLS // len(x), 1)
        for first in range(0, len(chosen), block):
            part = chosen[first : first + block]
            above, before = cut.above[part, None], cut.before[part, None]
            start = above + np.zeros_like(x) if best else above + m - x
            mine = rising_over_rank(before + 1, np.ones(x.shape), start, np.broadcast_to(x, start.shape))
            found = before + x
            quotient = np.where(found > 0, (earlier[part, None] + mine) / np.maximum(found, 1), 0.0)
            if skip_none and len(x) > 1:
                quotient[(found == 0)] = -np.inf if best else np.inf
            values[part] = quotient.max(axis=1) if best else quotient.min(axis=1)
    return values
