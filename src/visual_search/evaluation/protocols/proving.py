"""Proves a split of queries and gallery: looks at every promise again, from the items and not from how it was made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args, get_type_hints

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError, Problems, first_few
from visual_search.evaluation.protocols.proof import Claim, Proof, Status
from visual_search.evaluation.protocols.sides import Column, Side, joint_codes
from visual_search.formats.fingerprint import fingerprint_array, fingerprint_bytes, fingerprint_json
from visual_search.ground_truth.labels import same_class
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id

__all__ = ["Promises", "prove", "side_fingerprint", "what_was_compared"]

Int64Array: TypeAlias = npt.NDArray[np.int64]

_EXAMPLES = 5
# Kept, and broken.
_GROUP_WORDS = {
    "equal": ("both sides have the same groups", "the two sides have other groups"),
    "within": ("every query's group is in the gallery", "groups of queries are not in the gallery"),
    "disjoint": ("no group is on both sides", "groups are on both sides"),
    "unstated": ("nothing is promised of groups", ""),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Promises:
    """What a split promises.

    Attributes
    ----------
    items : {"apart", "ignored", "unrelated"}
        No item is on both sides; one that is, is ignored for itself; ids of the two sides name different things.
    groups : {"equal", "within", "disjoint", "unstated"}
        The sides have the same groups; the gallery has every query's group and perhaps more; none in common.
    views : {"apart", "other", "unstated"}
        No view on both sides; no right answer from the query's own view.
    allowed : tuple of str
        Claims that need not hold, since whoever made the split asked for that by name.
    """

    items: Literal["apart", "ignored", "unrelated"] = "apart"
    groups: Literal["equal", "within", "disjoint", "unstated"] = "equal"
    views: Literal["apart", "other", "unstated"] = "unstated"
    allowed: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        problems = Problems("promises")
        for name, hint in get_type_hints(type(self)).items():
            if name != "allowed" and getattr(self, name) not in get_args(hint):
                problems.add(f"{name}={getattr(self, name)!r}: one of {', '.join(get_args(hint))}")
        if not _are_names(self.allowed):
            problems.add(f"allowed={self.allowed!r}: give a tuple of claims' names, such as ('groups',)")
        problems.raise_if_any(InputError)

    @property
    def shared_ids(self) -> bool:
        """Whether one id on both sides is one item."""
        return self.items != "unrelated"


def prove(queries: Side, gallery: Side, relevance: Relevance, *, wanted: Relevance, promises: Promises) -> Proof:
    """Check every promise.

    Parameters
    ----------
    queries, gallery : Side
    relevance : Relevance
        The right answers that the split has.
    wanted : Relevance
        Those that its condition gives for these items.
    promises : Promises

    Returns
    -------
    Proof
    """
    # Right answers that are of other items fail as a whole; the other claims are then about those that should be.
    fits = relevance.queries == queries.ids and relevance.items == gallery.ids
    looked_at = relevance if fits else wanted
    found = [
        _counts(queries, gallery, looked_at),
        _items(queries, gallery, looked_at, promises),
        _groups(queries, gallery, promises),
        _views(queries, gallery, looked_at, promises),
        _answers(queries, looked_at),
        _relevance(queries, gallery, relevance, wanted),
    ]
    claims = tuple(_made(one, promises) for one in found if one is not None)
    return Proof(
        claims,
        {
            "queries": side_fingerprint(queries),
            "gallery": side_fingerprint(gallery),
            "relevance": _relevance_fingerprint(relevance),
        },
    )


@dataclass(frozen=True, slots=True)
class _Found:
    name: str
    holds: bool
    words: str
    counts: dict[str, int]
    examples: tuple[Id, ...] = ()


def _holding(name: str, words: str, counts: dict[str, int]) -> _Found:
    return _Found(name=name, holds=True, words=words, counts=counts)


def _broken(name: str, words: str, counts: dict[str, int], examples: tuple[Id, ...] = ()) -> _Found:
    return _Found(name=name, holds=False, words=words, counts=counts, examples=examples)


def _made(found: _Found, promises: Promises) -> Claim:
    status: Status = "holds" if found.holds else "allowed" if found.name in promises.allowed else "fails"
    return Claim(found.name, status, found.words, found.counts, found.examples)


def _counts(queries: Side, gallery: Side, relevance: Relevance) -> _Found:
    relevant = int(_relevant(relevance).sum())
    ignored = int(relevance.ignored.sum())
    counts = {"queries": len(queries), "gallery": len(gallery), "relevant": relevant, "ignored": ignored}
    words = (
        f"{counted(len(queries), 'query', 'queries')} against "
        f"{counted(len(gallery), 'gallery item', 'gallery items')}, "
        f"{counted(relevant, 'relevant pair', 'relevant pairs')}, {ignored:,} ignored"
    )
    return _Found("counts", bool(len(queries) and len(gallery)), words, counts)


def _items(queries: Side, gallery: Side, relevance: Relevance, promises: Promises) -> _Found:
    if promises.items == "unrelated":
        return _holding("items", "ids of the two sides name different things", {"shared": 0})
    rows = gallery.ids.rows(queries.ids) if queries.ids.kind is gallery.ids.kind else np.full(len(queries), -1)
    shared = np.flatnonzero(rows >= 0)
    counts = {"shared": len(shared)}
    if queries.image is not None and gallery.image is not None:
        twice = _shared_pictures(queries, gallery, relevance, promises)
        if twice is not None:
            return twice
    if promises.items == "apart":
        names = tuple(queries.ids.take(shared[:_EXAMPLES].tolist()))
        if not len(shared):
            one, more = what_was_compared(queries)
            return _holding("items", f"no {one} is both query and gallery{more}", counts)
        words = f"{counted(len(shared), 'item is', 'items are')} both query and gallery, first {first_few(names)}"
        return _broken("items", f"{words}; each finds itself at rank 1 whatever the model", counts, names)
    own = relevance.ignored & (rows[relevance.query_of_entry()] == relevance.rows)
    listed = np.zeros(len(queries), dtype=np.bool_)
    listed[relevance.query_of_entry()[own]] = True
    loose = shared[~listed[shared]]
    names = tuple(queries.ids.take(loose[:_EXAMPLES].tolist()))
    if len(loose):
        told = counted(len(loose), "query finds itself", "queries find themselves")
        words = f"{told} in the gallery, first {first_few(names)}"
        return _broken("items", words, counts, names)
    words = f"each of the {counted(len(shared), 'item', 'items')} that are query and gallery is ignored for itself"
    return _holding("items", words, counts)


def _are_names(value: object) -> bool:
    return isinstance(value, tuple) and all(isinstance(one, str) for one in value)


def what_was_compared(side: Side) -> tuple[str, str]:
    """What the items of a split are told apart by, and what to add where that says little of pictures."""
    if side.image is not None:
        return "picture", ", by their paths"
    if side.by_row:
        return "row", "; rows were compared, not pictures: name the column of pictures to have these compared"
    return "item", ""


def _shared_pictures(queries: Side, gallery: Side, relevance: Relevance, promises: Promises) -> _Found | None:
    """Pictures that are query and gallery under whatever ids; of those ignored for the query nothing is said."""
    assert queries.image is not None
    assert gallery.image is not None
    query, item = same_class(*joint_codes(queries.image, gallery.image))
    if promises.items == "ignored":
        width = max(len(gallery), 1)
        ignored = relevance.query_of_entry()[relevance.ignored] * width + relevance.rows[relevance.ignored]
        query = query[~np.isin(query * width + item, ignored)]
    found = np.unique(query)
    if not len(found):
        return None
    names = tuple(queries.ids.take(found[:_EXAMPLES].tolist()))
    first = first_few([queries.image.values[code] for code in queries.image.codes[found[:3]].tolist()])
    told = counted(len(found), "query shows a picture", "queries show pictures")
    words = f"{told} that the gallery has too, first {first}; each finds itself at rank 1 whatever the model"
    return _broken("items", words, {"shared": len(found)}, names)


def _groups(queries: Side, gallery: Side, promises: Promises) -> _Found | None:
    if queries.group is None or gallery.group is None:
        if promises.groups == "unstated":
            return None
        return _broken("groups", "no group is known on one of the sides", {})
    mine, theirs = _used(queries.group), _used(gallery.group)
    only_mine = [value for value in mine if value not in theirs]
    only_theirs = [value for value in theirs if value not in mine]
    common = [value for value in mine if value in theirs]
    counts = {"queries": len(mine), "gallery": len(theirs), "common": len(common)}
    wrong = {
        "equal": [*only_mine, *only_theirs],
        "within": only_mine,
        "disjoint": common,
        "unstated": [],
    }[promises.groups]
    told = _GROUP_WORDS[promises.groups][bool(wrong)]
    words = f"{told}: {len(mine):,} of the queries, {len(theirs):,} of the gallery, {len(common):,} in common"
    if wrong:
        words = f"{words}; {len(wrong):,} break it, first {first_few(wrong)}"
    return _Found("groups", not wrong, words, counts, tuple(wrong[:_EXAMPLES]))


def _views(queries: Side, gallery: Side, relevance: Relevance, promises: Promises) -> _Found | None:
    if queries.view is None or gallery.view is None:
        if promises.views == "unstated":
            return None
        return _broken("views", "no view is known on one of the sides", {})
    if promises.views == "other":
        return _other_views(queries, gallery, relevance)
    mine, theirs = _used(queries.view), _used(gallery.view)
    common = [value for value in mine if value in theirs]
    counts = {"queries": len(mine), "gallery": len(theirs), "common": len(common)}
    if promises.views == "unstated":
        words = f"nothing is promised of views: {len(common):,} of {len(mine):,} query views are in the gallery too"
        return _holding("views", words, counts)
    words = f"no view is in both sets: {first_few(mine)} of the queries, {first_few(theirs)} of the gallery"
    if common:
        words = f"{counted(len(common), 'view is', 'views are')} in both sets: {first_few(common)}"
    return _Found("views", not common, words, counts, tuple(common[:_EXAMPLES]))


def _other_views(queries: Side, gallery: Side, relevance: Relevance) -> _Found:
    assert queries.view is not None
    assert gallery.view is not None
    mine, theirs = joint_codes(queries.view, gallery.view)
    owner = relevance.query_of_entry()
    same = _relevant(relevance) & (mine[owner] == theirs[relevance.rows])
    names = tuple(queries.ids.take(np.unique(owner[same])[:_EXAMPLES].tolist()))
    counts = {"same_view": int(same.sum())}
    if names:
        words = f"{counted(counts['same_view'], 'right answer is', 'right answers are')} from the query's own view"
        return _broken("views", f"{words}, first queries {first_few(names)}", counts, names)
    return _holding("views", "no right answer is from the query's own view", counts)


def _answers(queries: Side, relevance: Relevance) -> _Found:
    owner = relevance.query_of_entry()[_relevant(relevance)]
    number = np.bincount(owner, minlength=len(queries))
    without = np.flatnonzero(number == 0)
    names = tuple(queries.ids.take(without[:_EXAMPLES].tolist()))
    least, most = (int(number.min()), int(number.max())) if len(number) else (0, 0)
    counts = {"without": len(without), "least": least, "most": most}
    if len(without):
        told = counted(len(queries), "query has", "queries have")
        words = f"{len(without):,} of {told} no right answer in the gallery"
        return _broken("answers", f"{words}, first {first_few(names)}", counts, names)
    each = f"{least:,}" if least == most else f"{least:,} to {most:,}"
    return _holding("answers", f"every query has its answer: {each} of them each", counts)


def _relevance(queries: Side, gallery: Side, relevance: Relevance, wanted: Relevance) -> _Found:
    fits = relevance.queries == queries.ids and relevance.items == gallery.ids
    same = fits and all(
        np.array_equal(getattr(relevance, name), getattr(wanted, name))
        for name in ("offsets", "rows", "grades", "ignored")
    )
    if same:
        return _holding("relevance", "the right answers are exactly those that the condition gives", {})
    names = _first_different(relevance, wanted) if fits else ()
    words = "the right answers are not those that the condition gives"
    return _broken("relevance", f"{words}, first queries {first_few(names)}" if names else words, {}, names)


def _first_different(relevance: Relevance, wanted: Relevance) -> tuple[Id, ...]:
    different: list[Id] = []
    for row, query in enumerate(relevance.queries):
        spans = [slice(int(one.offsets[row]), int(one.offsets[row + 1])) for one in (relevance, wanted)]
        if any(
            not np.array_equal(getattr(relevance, name)[spans[0]], getattr(wanted, name)[spans[1]])
            for name in ("rows", "grades", "ignored")
        ):
            different.append(query)
        if len(different) == _EXAMPLES:
            break
    return tuple(different)


def _relevant(relevance: Relevance) -> npt.NDArray[np.bool_]:
    return (relevance.grades >= 1) & ~relevance.ignored


def _used(column: Column) -> dict[Id, None]:
    return dict.fromkeys(column.used())


def side_fingerprint(side: Side) -> str:
    """Of the items in order, with all that is known of each."""
    columns: list[Any] = [side.ids.fingerprint()]
    columns += [None if one is None else _column_fingerprint(one) for one in (side.group, side.view, side.label)]
    columns.append(None if side.places is None else fingerprint_array(side.places))
    # Only where they are there, so that a split without them keeps the fingerprint it always had.
    columns += [] if side.image is None else [_column_fingerprint(side.image)]
    return fingerprint_json(columns)


def _column_fingerprint(column: Column) -> str:
    fresh = Column.of(column.rows())
    return fingerprint_json([list(fresh.values), fingerprint_array(fresh.codes)])


def _relevance_fingerprint(relevance: Relevance) -> str:
    arrays = (relevance.offsets, relevance.rows, relevance.grades, relevance.ignored)
    return fingerprint_bytes("\n".join(map(fingerprint_array, arrays)).encode())
