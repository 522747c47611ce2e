"""What is done with items of equal score."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.rankings.ranking import Ranking

__all__ = [
    "NEIGHBOR_TIES",
    "TIE_RULES",
    "TIE_WORDS",
    "AnyTies",
    "NeighborTies",
    "TiePlaces",
    "TieRule",
    "checked_neighbor_ties",
    "checked_tie_rule",
    "descending_id_places",
]

Int64Array: TypeAlias = npt.NDArray[np.int64]

TieRule: TypeAlias = Literal["expected", "best", "worst", "listed", "id_desc", "id_asc"]

TIE_RULES: tuple[TieRule, ...] = get_args(TieRule)

# What measures of an index do with items that are equally far in truth, whatever a system scored them.
NeighborTies: TypeAlias = Literal["exact", "strict", "ids"]

NEIGHBOR_TIES: tuple[NeighborTies, ...] = get_args(NeighborTies)

AnyTies: TypeAlias = TieRule | NeighborTies

TIE_WORDS: Mapping[AnyTies, str] = {
    "expected": "exact expectation over all orders of items with equal scores",
    "best": "the best order of items with equal scores",
    "worst": "the worst order of items with equal scores",
    "listed": "items with equal scores in the order they were returned",
    "id_desc": "items with equal scores in falling order of their ids, as trec_eval does",
    "id_asc": "items with equal scores in rising order of their ids",
    "exact": "items as far as the last neighbour count alike",
    "strict": "items as far as the last neighbour are left out where they do not all fit",
    "ids": "by id alone, whatever else is as far as the last neighbour",
}


def checked_tie_rule(rule: str) -> TieRule:
    """Return the rule, or raise if there is none of that name.

    Raises
    ------
    InputError
        No such rule.

    Examples
    --------
    >>> checked_tie_rule("random")
    Traceback (most recent call last):
    ...
    visual_search.errors.InputError: ties='random': one of expected, best, worst, listed, id_desc, id_asc
    """
    if rule not in TIE_RULES:
        raise InputError(f"ties={rule!r}: one of {', '.join(TIE_RULES)}")
    return rule


def checked_neighbor_ties(rule: str) -> NeighborTies:
    """Return the rule of neighbour measures, or raise if there is none of that name.

    Raises
    ------
    InputError
        No such rule.

    Examples
    --------
    >>> checked_neighbor_ties("exact")
    'exact'
    """
    if rule not in NEIGHBOR_TIES:
        raise InputError(f"ties={rule!r}: one of {', '.join(NEIGHBOR_TIES)}")
    return rule


@dataclass(frozen=True, slots=True)
class TiePlaces:
    """Where each retrieved judged item stands inside its group of equal scores.

    Attributes
    ----------
    listed : callable
        Gives the place within the group as returned, from 0; int64 array of shape (hits,).
    descending_id : callable
        The same by falling id. Called only by the rules that read ids, since it is the one place where ids are
        compared after the join.
    """

    listed: Callable[[], Int64Array]
    descending_id: Callable[[], Int64Array]


def descending_id_places(
    ranking: Ranking, start: Int64Array, stop: Int64Array, position: Int64Array, ignored: Int64Array
) -> Int64Array:
    """Place of each hit in its group of equal scores when the group is sorted by falling id.

    Parameters
    ----------
    ranking : Ranking
        The lists.
    start, stop : int64 arrays of shape (hits,)
        The group of each hit as positions ``start:stop`` of the ranking.
    position : int64 array of shape (hits,)
        Position of each hit in the ranking.
    ignored : int64 array
        Positions that were taken out of the lists, rising.

    Returns
    -------
    int64 array of shape (hits,)
        Places from 0. Strings compare by code point, which is the byte order of UTF-8; integers by value.
    """
    places = np.zeros(len(position), dtype=np.int64)
    tied = np.flatnonzero(stop - start > 1)
    if not tied.size:
        return places
    group_start, first = np.unique(start[tied], return_index=True)
    group_size = stop[tied][first] - group_start
    member_group = np.repeat(np.arange(len(group_start)), group_size)
    member = np.arange(len(member_group)) + np.repeat(
        group_start - (np.cumsum(group_size) - group_size), group_size
    )
    if ignored.size:
        kept = ~np.isin(member, ignored)
        member, member_group = member[kept], member_group[kept]
    rows, code = np.unique(ranking.rows[member], return_inverse=True)
    named = ranking.items.take(rows.tolist())
    falling = sorted(range(len(named)), key=named.__getitem__, reverse=True)
    rank_of_code = np.empty(len(named), dtype=np.int64)
    rank_of_code[falling] = np.arange(len(named))
    order = np.lexsort((rank_of_code[code], member_group))
    kept_size = np.bincount(member_group, minlength=len(group_start))
    group_begin = np.cumsum(kept_size) - kept_size
    place_of_member = np.empty(len(member), dtype=np.int64)
    place_of_member[order] = np.arange(len(member)) - group_begin[member_group[order]]
    # A group's members lie at rising positions and groups do not overlap, so positions rise throughout.
    places[tied] = place_of_member[np.searchsorted(member, position[tied])]
    return places
