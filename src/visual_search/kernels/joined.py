"""What goes into the joins of lists with judged items, and what comes out; for both twins."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "GALLERY_LIMIT",
    "LABEL_RULES",
    "SCORE_KINDS",
    "DictHits",
    "IdHits",
    "JudgedIds",
    "JudgedNames",
    "LabelRule",
    "ListHits",
    "Offence",
    "RankHits",
    "RunHits",
    "ScoreKind",
    "hit_offsets",
]

Int64Array: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]

# What is done with scores before they are compared: nothing, rounded to float32, or those above 0 kept. The places
# in this tuple are the numbers of run_join.hpp.
ScoreKind: TypeAlias = Literal["as given", "float32", "positive"]
SCORE_KINDS: tuple[ScoreKind, ...] = ("as given", "float32", "positive")

# What makes a gallery item relevant by its labels. The places in this tuple are the numbers of label_codes.hpp.
LabelRule: TypeAlias = Literal["any shared", "equal", "number shared"]
LABEL_RULES: tuple[LabelRule, ...] = ("any shared", "equal", "number shared")

# Distinct items of all lists are counted up to here; beyond, that there are more is all anyone asks.
GALLERY_LIMIT = 1 << 16


@dataclass(frozen=True, slots=True, eq=False)
class JudgedNames:
    """Judged pairs of a file's kind, whose ids are text.

    Attributes
    ----------
    queries, items : sequences of str
        Distinct names of the judged queries, shape (n,), and of the judged items.
    offsets : int64 array of shape (n + 1,)
        Query i has the pairs ``offsets[i]:offsets[i + 1]``.
    rows : int64 array of shape (pairs,)
        The item of each pair, distinct within a query.
    ignored : bool array of shape (pairs,)
        Pairs that are taken out of the lists.
    """

    queries: Sequence[str]
    items: Sequence[str]
    offsets: Int64Array
    rows: Int64Array
    ignored: BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class JudgedIds:
    """Judged pairs whose items are integers.

    Attributes
    ----------
    offsets : int64 array of shape (n + 1,)
        Query i has the pairs ``offsets[i]:offsets[i + 1]``.
    ids : int64 array of shape (pairs,)
        The item of each pair, distinct within a query.
    ignored : bool array of shape (pairs,)
        Pairs that are taken out of the lists.
    """

    offsets: Int64Array
    ids: Int64Array
    ignored: BoolArray


@dataclass(frozen=True, slots=True, eq=False)
class ListHits:
    """The judged items of each query that are in its list.

    Attributes
    ----------
    lengths : int64 array of shape (n,)
        List length of each query, ignored items taken out.
    ignored : int64 array of shape (n,)
        How many ignored items were in the list.
    listed : int64 array of shape (n,)
        List length with the ignored items; -1 for a query without a list.
    ends_tied : bool array of shape (n,)
        Whether the last two scores of the list are equal.
    offsets : int64 array of shape (n + 1,)
        Query i owns the hits ``offsets[i]:offsets[i + 1]``, by falling score and then as listed.
    entry : int64 array of shape (hits,)
        Which judged pair the hit is.
    above : int64 array of shape (hits,)
        How many items of the list score strictly higher.
    tied : int64 array of shape (hits,)
        How many have the same score, the hit included.
    listed_place : int64 array of shape (hits,)
        How many of these are listed before it.
    falling_place : int64 array of shape (hits,)
        How many of these have a greater id: integers by value, names by the bytes of their UTF-8.
    """

    lengths: Int64Array
    ignored: Int64Array
    listed: Int64Array
    ends_tied: BoolArray
    offsets: Int64Array
    entry: Int64Array
    above: Int64Array
    tied: Int64Array
    listed_place: Int64Array
    falling_place: Int64Array


@dataclass(frozen=True, slots=True, eq=False)
class RunHits:
    """What the join of a run gives.

    Attributes
    ----------
    hits : ListHits
        The judged items in the lists.
    unjudged_queries : tuple of str
        Queries of the run without judgements, as they came.
    gallery_size : int or None
        Distinct items of the run; None where there are more than `GALLERY_LIMIT`.
    lists : int
        Queries of the run.
    against_rank : int
        In how many of them an item has a better rank and a lower score than the next one in rank; 0 where the rank
        column is not made of whole numbers.
    """

    hits: ListHits
    unjudged_queries: tuple[str, ...]
    gallery_size: int | None
    lists: int
    against_rank: int


class Offence(NamedTuple):
    """How often something is wrong with lists of ids, and the row and column where it first is; -1 if nowhere."""

    total: int
    row: int
    column: int


@dataclass(frozen=True, slots=True, eq=False)
class IdHits:
    """What the join of lists of integer ids gives.

    Attributes
    ----------
    hits : ListHits
        The judged items in the lists; not to be used where anything is wrong with these.
    gallery_size : int or None
        Distinct items of the lists; None where there are more than `GALLERY_LIMIT`.
    not_finite, rising, repeated : Offence
        Scores that are NaN or infinite; scores above the one before; items a list has already.
    """

    hits: ListHits
    gallery_size: int | None
    not_finite: Offence
    rising: Offence
    repeated: Offence


@dataclass(frozen=True, slots=True, eq=False)
class RankHits:
    """Where judged items stand in full rankings.

    Attributes
    ----------
    offsets : int64 array of shape (rows + 1,)
        Row i owns the hits ``offsets[i]:offsets[i + 1]``, by falling similarity and then as the pairs were given.
    entry : int64 array of shape (hits,)
        Which judged pair the hit is.
    above : int64 array of shape (hits,)
        How many items of the row are strictly more similar, ignored ones left out.
    tied : int64 array of shape (hits,)
        How many are as similar, the hit included.
    """

    offsets: Int64Array
    entry: Int64Array
    above: Int64Array
    tied: Int64Array


@dataclass(frozen=True, slots=True, eq=False)
class DictHits:
    """Where judged items stand among the scores of dictionaries.

    Attributes
    ----------
    score : float64 array of shape (items,)
        NaN for an item that is not in its list.
    above : int64 array of shape (items,)
        How many items of the list score strictly higher; 0 for an item that is not in it.
    tied : int64 array of shape (items,)
        How many have the same score, the item included; 0 for an item that is not in it.
    ends_tied : bool array of shape (lists,)
        Whether two or more items have the lowest score of the list.
    """

    score: npt.NDArray[np.float64]
    above: Int64Array
    tied: Int64Array
    ends_tied: BoolArray


def hit_offsets(offsets: Int64Array, ignored: BoolArray) -> Int64Array:
    """Offsets of the pairs that are left when the ignored ones are taken out."""
    kept: Int64Array = np.concatenate(([0], np.cumsum(~ignored)))[offsets]
    return kept - kept[:1]
