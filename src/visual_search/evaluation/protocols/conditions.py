"""What makes a gallery item a right answer: relevance conditions by name."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, UnknownNameError
from visual_search.evaluation.protocols.near_places import Coordinates, pairs_within
from visual_search.evaluation.protocols.sides import Column, Side, joint_codes
from visual_search.formats.ragged import offsets_of
from visual_search.ground_truth.labels import same_class
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id

__all__ = [
    "CONDITIONS",
    "Condition",
    "SameClassOtherGroup",
    "SameGroup",
    "SharedLabel",
    "WithinRadius",
    "condition_named",
    "relevance_of_pairs",
]

Int64Array: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
# Right answers and ignored pairs that a split may have: at some 60 bytes each while it is made, 6 GB.
MOST_PAIRS = 100_000_000
Pairs: TypeAlias = "tuple[Int64Array, Int64Array, BoolArray]"

_STANDS_IN = (
    "the class label stands in for the instance: any item of the class counts as found, so that the number says how "
    "well classes are told apart, which is easier than finding the one scene or identity that was asked for"
)


@dataclass(frozen=True)
class Condition(ABC):
    """A relevance condition, as a frozen value with a name.

    Convention
    ----------
    A pair is relevant, ignored (it counts neither way), or neither. Memory is that of the relevant and ignored pairs;
    no table of all pairs is made.
    """

    name: ClassVar[str]
    by_class: ClassVar[bool] = False

    @property
    @abstractmethod
    def words(self) -> str:
        """The condition in one sentence."""

    @abstractmethod
    def pairs(self, queries: Side, gallery: Side) -> Pairs:
        """Relevant and ignored pairs as rows and flags (true where ignored), in any order; a pair may come twice."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What to bear in mind with the numbers."""
        return (_STANDS_IN,) if self.by_class else ()

    def relevance(self, queries: Side, gallery: Side, *, shared_ids: bool) -> Relevance:
        """Right answers of all queries.

        Parameters
        ----------
        queries, gallery : Side
        shared_ids : bool
            Whether one id on both sides is one item, which is then ignored for itself.
        """
        query, item, ignored = self.pairs(queries, gallery)
        if shared_ids:
            own = gallery.ids.rows(queries.ids)
            there = np.flatnonzero(own >= 0)
            # Most own items are among the pairs already, where a flag is cheaper than another pair.
            ignored = ignored | (own[query] == item)
            listed = np.zeros(len(queries), dtype=np.bool_)
            listed[query[own[query] == item]] = True
            there = there[~listed[there]]
            query, item = np.concatenate((query, there)), np.concatenate((item, own[there]))
            ignored = np.concatenate((ignored, np.ones(len(there), dtype=np.bool_)))
        return relevance_of_pairs(queries, gallery, query, item, ignored)

    def as_json(self) -> dict[str, Any]:
        """Name and parameters; a split's file has them."""
        return {"name": self.name, **{key: _plain(value) for key, value in asdict(self).items()}}


@dataclass(frozen=True)
class SameGroup(Condition):
    """Relevant when the group (scene, identity) is the query's.

    Parameters
    ----------
    other_view : bool
        Whether items of the query's own group and view (camera) are ignored.
    junk : tuple of ids
        Groups that are nobody: their gallery items are ignored for every query.
    """

    name: ClassVar[str] = "same-group"
    other_view: bool = False
    junk: tuple[Id, ...] = ()

    def __post_init__(self) -> None:
        if not _is_tuple(self.junk):
            raise InputError(f"junk={self.junk!r}: give a tuple of groups, such as (-1,)")

    @property
    def words(self) -> str:
        """The condition in one sentence."""
        same_view = "; the same group from the same view is ignored" if self.other_view else ""
        junk = f"; group {', '.join(map(str, self.junk))} is junk, ignored for every query" if self.junk else ""
        return f"an item is relevant when its group is the query's{same_view}{junk}"

    def pairs(self, queries: Side, gallery: Side) -> Pairs:
        """Pairs of one group."""
        mine, theirs = joint_codes(_of(queries, "group", self), gallery_group := _of(gallery, "group", self))
        junk = _rows_with(gallery_group, self.junk)
        query, item = _pairs_alike(mine, theirs, self, more=len(junk) * len(queries))
        ignored = np.zeros(len(query), dtype=np.bool_)
        if self.other_view:
            my_view, their_view = joint_codes(_of(queries, "view", self), _of(gallery, "view", self))
            ignored = my_view[query] == their_view[item]
        if not len(junk):
            return query, item, ignored
        every = np.repeat(np.arange(len(queries)), len(junk)), np.tile(junk, len(queries))
        flags = np.concatenate((ignored, np.ones(len(every[0]), dtype=np.bool_)))
        return np.concatenate((query, every[0])), np.concatenate((item, every[1])), flags


@dataclass(frozen=True)
class SameClassOtherGroup(Condition):
    """Relevant when the class is the query's and the group another; the own group is ignored, not a wrong answer."""

    name: ClassVar[str] = "same-class-other-group"
    by_class: ClassVar[bool] = True

    @property
    def words(self) -> str:
        """The condition in one sentence."""
        return "an item is relevant when its class is the query's and its group another; the own group is ignored"

    def pairs(self, queries: Side, gallery: Side) -> Pairs:
        """Pairs of one class or of one group; the latter are ignored."""
        mine, theirs = joint_codes(_of(queries, "group", self), _of(gallery, "group", self))
        own_query, own_item = _pairs_alike(mine, theirs, self)
        labels = joint_codes(_of(queries, "label", self), _of(gallery, "label", self))
        query, item = _pairs_alike(*labels, self, more=len(own_query))
        apart = mine[query] != theirs[item]
        flags = np.concatenate(
            (np.zeros(int(apart.sum()), dtype=np.bool_), np.ones(len(own_query), dtype=np.bool_))
        )
        return np.concatenate((query[apart], own_query)), np.concatenate((item[apart], own_item)), flags


@dataclass(frozen=True)
class SharedLabel(Condition):
    """Relevant when the class is the query's, or, with a separator, when any one of several labels is.

    Parameters
    ----------
    separator : str or None
        What stands between several labels of one item, as ``|`` in ``cat|indoors``.
    """

    name: ClassVar[str] = "shared-label"
    by_class: ClassVar[bool] = True
    separator: str | None = None

    def __post_init__(self) -> None:
        if self.separator is not None and not _is_text(self.separator):
            raise InputError(f"separator={self.separator!r}: give the text between labels, such as '|', or None")

    @property
    def words(self) -> str:
        """The condition in one sentence."""
        if self.separator is None:
            return "an item is relevant when its label is the query's"
        return f"an item is relevant when it shares a label with the query (labels parted by {self.separator!r})"

    def pairs(self, queries: Side, gallery: Side) -> Pairs:
        """Pairs with a label in common."""
        sides = [_of(side, "label", self) for side in (queries, gallery)]
        if self.separator is None:
            query, item = _pairs_alike(*joint_codes(*sides), self)
        else:
            rows, labels = zip(*(_parted(side, self.separator) for side in sides), strict=True)
            first, second = _pairs_alike(*joint_codes(*labels), self)
            query, item = rows[0][first], rows[1][second]
        return query, item, np.zeros(len(query), dtype=np.bool_)


@dataclass(frozen=True)
class WithinRadius(Condition):
    """Relevant when the places are at most a number of metres apart.

    Parameters
    ----------
    metres : float
        25 is usual in visual place recognition.
    coordinates : {"degrees", "metres"}
        Latitude and longitude, measured along the great circle; or metres east and north (UTM), of one zone.
    """

    name: ClassVar[str] = "within-radius"
    metres: float = 25.0
    coordinates: Coordinates = "degrees"

    @property
    def words(self) -> str:
        """The condition in one sentence."""
        along = "along the great circle" if self.coordinates == "degrees" else "on the plane"
        return f"an item is relevant when it was taken within {self.metres:g} m of the query, {along}"

    def pairs(self, queries: Side, gallery: Side) -> Pairs:
        """Pairs of near places."""
        if queries.places is None or gallery.places is None:
            raise InputError("places: the condition within-radius needs them; name two columns, places=(a, b)")
        query, item = pairs_within(queries.places, gallery.places, self.metres, self.coordinates)
        return query, item, np.zeros(len(query), dtype=np.bool_)


CONDITIONS: Mapping[str, type[Condition]] = {
    kind.name: kind for kind in (SameGroup, SameClassOtherGroup, SharedLabel, WithinRadius)
}


def condition_named(condition: str | Condition) -> Condition:
    """The condition of that name with its defaults; a condition is returned as it is.

    Raises
    ------
    UnknownNameError
        There is none of that name.

    Examples
    --------
    >>> condition_named("same-class-other-group").by_class
    True
    """
    if isinstance(condition, Condition):
        return condition
    if condition not in CONDITIONS:
        raise UnknownNameError(
            f"relevant={condition!r}: one of {', '.join(CONDITIONS)}, or a condition with parameters"
        )
    return CONDITIONS[condition]()


def relevance_of_pairs(
    queries: Side, gallery: Side, query: Int64Array, item: Int64Array, ignored: BoolArray
) -> Relevance:
    """Pairs in any order to a relevance; one that is ignored anywhere is ignored."""
    width = max(len(gallery), 1)
    keys = query * width + item
    if not (keys[1:] > keys[:-1]).all():
        order = np.argsort(keys, kind="stable")
        keys = keys[order]
        starts = np.flatnonzero(np.concatenate(([True], keys[1:] > keys[:-1])))
        keys, ignored = keys[starts], np.logical_or.reduceat(ignored[order], starts)
    offsets = offsets_of(np.bincount(keys // width, minlength=len(queries)))
    return Relevance(queries.ids, gallery.ids, offsets, keys % width, np.where(ignored, 0.0, 1.0), ignored)


def _pairs_alike(
    first: Int64Array, second: Int64Array, condition: Condition, *, more: int = 0
) -> tuple[Int64Array, Int64Array]:
    """Pairs of one code, once they are counted and found to be no more than memory holds."""
    width = int(max(first.max(initial=-1), second.max(initial=-1))) + 1
    total = more + int(np.bincount(first, minlength=width) @ np.bincount(second, minlength=width))
    if total > MOST_PAIRS:
        raise InputError(
            f"the condition {condition.name} makes {total:,} pairs of {len(first):,} queries and {len(second):,} "
            f"items; at most {MOST_PAIRS:,} are listed in memory. Take fewer queries (one a group, or "
            "where=), or score label sets as they are: evaluate with SharedLabels lists no pairs"
        )
    return same_class(first, second)


def _of(side: Side, column: str, condition: Condition) -> Column:
    return side.need(column, why=f"the condition {condition.name}")


def _rows_with(column: Column, values: tuple[Id, ...]) -> Int64Array:
    texts = {str(value) for value in values}
    codes = [code for code, value in enumerate(column.values) if str(value) in texts]
    return np.flatnonzero(np.isin(column.codes, codes))


def _parted(column: Column, separator: str) -> tuple[Int64Array, Column]:
    """One row for each label of each item: the item's row, and the label."""
    several = [sorted({part.strip() for part in str(value).split(separator)} - {""}) for value in column.values]
    counts = np.array([len(labels) for labels in several], dtype=np.int64)[column.codes]
    flat = Column.of(label for labels in several for label in labels)
    starts = offsets_of(np.array([len(labels) for labels in several], dtype=np.int64))[:-1][column.codes]
    rows = np.repeat(np.arange(len(column)), counts)
    at = np.repeat(starts - offsets_of(counts)[:-1], counts) + np.arange(len(rows))
    return rows, flat.taken(at)


def _is_tuple(value: object) -> bool:
    return isinstance(value, tuple)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and bool(value)


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
