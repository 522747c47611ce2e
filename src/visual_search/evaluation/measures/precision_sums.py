"""Sums of the precision at each relevant item, in expectation over tied orders.

Notation of CONVENTIONS: a group of n items with r relevant; s items and B relevant ones before it; m of its items
inside the cut. Given that place j of the group is relevant, (j - 1)(r - 1)/(n - 1) of the places before it are.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.measures.draws import classes_of, later_than_chances
from visual_search.evaluation.measures.sums import harmonic_sum
from visual_search.evaluation.tie_groups import TieGroups

__all__ = [
    "leading_precision_sums",
    "precision_sums",
    "rising_over_rank",
    "trapezoid_sums",
]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
AnyNumbers: TypeAlias = npt.NDArray[Any]

_BLOCK_CELLS = 1 << 20


def precision_sums(groups: TieGroups, inside: Int64Array) -> FloatArray:
    """Expected sum of P(r) over the relevant items among the first m of each group.

    ::

        (r/n) * sum over j = 1..m of (B + 1 + (j - 1) b) / (s + j),  b = (r - 1)/(n - 1)
              = (r/n) * (b m + (B + 1 - b (s + 1)) * (H(s + m) - H(s)))

    Parameters
    ----------
    groups : TieGroups
        Groups with relevant items.
    inside : int64 array of shape (groups,)
        m, how many of the group's items are inside the cut.

    Returns
    -------
    float64 array of shape (groups,)
    """
    several = np.flatnonzero(groups.size > 1)
    if 2 * len(several) > len(groups):  # as with codes, where it costs less to ask for all alike than to part them
        return _tied_precision_sums(groups, inside)
    # A group of one item gives the quotient itself; most rankings have few others.
    sums = np.where(inside > 0, (groups.before + 1) / (groups.above + 1), 0.0)
    if len(several):
        sums[several] = _tied_precision_sums(groups.where(several), inside[several])
    return sums


def _tied_precision_sums(groups: TieGroups, inside: Int64Array) -> FloatArray:
    slope = (groups.relevant - 1) / np.maximum(groups.size - 1, 1)
    return groups.relevant / groups.size * rising_over_rank(groups.before + 1, slope, groups.above, inside)


def rising_over_rank(start: AnyNumbers, slope: FloatArray, above: Int64Array, count: Int64Array) -> FloatArray:
    """Sum over j = 1..count of (start + (j - 1) slope) / (above + j)."""
    # One term needs no table, so that a ranking without ties gives the quotient itself.
    start, slope, above, count = np.broadcast_arrays(start, slope, above, count)
    sums = np.where(count > 0, start / (above + 1), 0.0)
    many = count > 1
    if 2 * np.count_nonzero(many) > count.size:
        return np.where(many, _rising_terms(start, slope, above, count), sums)
    if many.any():
        sums[many] = _rising_terms(start[many], slope[many], above[many], count[many])
    return sums


def _rising_terms(start: AnyNumbers, slope: FloatArray, above: Int64Array, count: Int64Array) -> FloatArray:
    return slope * count + (start - slope * (above + 1)) * harmonic_sum(above, above + count)


def trapezoid_sums(groups: TieGroups) -> FloatArray:
    """Expected sum of (P before + P at)/2 over the relevant items of each group; P before rank 1 is 1."""
    n, above, before = groups.size, groups.above, groups.before
    slope = (groups.relevant - 1) / np.maximum(n - 1, 1)
    # At the top of the list the first place counts 1 and each later one the slope itself, (j - 1) b / (j - 1).
    earlier = np.where(
        above == 0, 1 + (n - 1) * slope, rising_over_rank(before, slope, np.maximum(above - 1, 0), n)
    )
    at = rising_over_rank(before + 1, slope, above, n)
    return groups.relevant / n * (earlier + at) / 2


def leading_precision_sums(groups: TieGroups, wanted: Int64Array) -> FloatArray:
    """Expected sum of P(r) over the first so many relevant items of each group, wherever they are in it.

    ::

        sum over j = 1..wanted of (B + j) * sum over p of C(p - 1, j - 1) C(n - p, r - j) / C(n, r) / (s + p)

    Summed by place instead: place p is relevant with chance r/n, and counts if fewer than ``wanted`` of the p - 1
    places before it are, whose number X is hypergeometric; E[(B + 1 + X); X < wanted] needs two of its distribution
    functions. That is O(n) for a group, where the double sum is O(n r).

    Parameters
    ----------
    groups : TieGroups
        Groups with relevant items.
    wanted : int64 array of shape (groups,)
        How many relevant items count, at most r.

    Returns
    -------
    float64 array of shape (groups,)
    """
    sums = np.where(wanted == groups.relevant, precision_sums(groups, groups.size), 0.0)
    partial = np.flatnonzero((wanted > 0) & (wanted < groups.relevant))
    for (n, r, j), chosen in classes_of(groups.size[partial], groups.relevant[partial], wanted[partial]):
        these = partial[chosen]
        place = np.arange(1, n + 1)
        counts = r / n * later_than_chances(n - 1, r - 1, j, n)
        among = np.concatenate(([0.0], later_than_chances(n - 2, r - 2, j - 1, n - 1))) if r > 2 else np.zeros(n)
        earlier = r / n * (place - 1) * (r - 1) / (n - 1) * among
        block = max(_BLOCK_CELLS // n, 1)
        for first in range(0, len(these), block):
            part = these[first : first + block]
            weights = (groups.before[part, None] + 1) * counts + earlier
            sums[part] = (weights / (groups.above[part, None] + place)).sum(axis=1)
    return sums
