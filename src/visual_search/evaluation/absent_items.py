"""Right answers that the index does not have: they stay in R, and are named with what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from visual_search.counted import counted
from visual_search.errors import DatasetError, first_few
from visual_search.evaluation.near_ids import NearIds
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id, Ids

__all__ = ["AbsentItems", "find_absent_items"]

# Matches are looked for among so many absent ids at most; after them the pattern is known.
_MATCHED = 1000


@dataclass(frozen=True, slots=True)
class AbsentItems:
    """Relevant items that the gallery lacks.

    Attributes
    ----------
    nearest : dict of id to list of ids
        Each absent item with up to three gallery ids like it; empty for those beyond the first 1,000.
    queries : int
        Queries that have at least one of them.
    pairs, relevant : int
        Pairs of query and relevant item that cannot be found, and all such pairs.
    """

    nearest: Mapping[Id, list[Id]]
    queries: int
    pairs: int
    relevant: int

    def __len__(self) -> int:
        return len(self.nearest)

    def warnings(self) -> list[str]:
        """Say what is missing and what it costs, or nothing."""
        if not self.nearest:
            return []
        of_all = counted(self.relevant, "relevant pair", "relevant pairs")
        share = f"{self.pairs} of {of_all}, in {counted(self.queries, 'query', 'queries')}"
        what = f"{counted(len(self), 'ground-truth id is', 'ground-truth ids are')} not in the index ({share})"
        fate = "it stays in R and caps" if len(self) == 1 else "they stay in R and cap"
        return [f"{what}; {fate} what can be reached: {_named(self.nearest)}"]


def find_absent_items(relevance: Relevance, gallery: Ids) -> AbsentItems:
    """Find relevant items that no search of the gallery can return.

    Parameters
    ----------
    relevance : Relevance
    gallery : Ids

    Raises
    ------
    DatasetError
        Not one relevant item is in the gallery; the message has the nearest ids and how to mend it.
    """
    pairs = np.flatnonzero((relevance.grades >= 1) & ~relevance.ignored)
    present = gallery.rows(relevance.items) >= 0
    lost = pairs[~present[relevance.rows[pairs]]]
    wanted = relevance.items.take(np.unique(relevance.rows[lost]).tolist())
    near = NearIds(gallery)
    nearest = {item: near.of(item) if place < _MATCHED else [] for place, item in enumerate(wanted)}
    if len(pairs) and len(lost) == len(pairs):
        raise DatasetError(_none_there(nearest, gallery))
    owners = np.searchsorted(relevance.offsets, lost, side="right")
    return AbsentItems(nearest, len(np.unique(owners)), len(lost), len(pairs))


def _none_there(nearest: Mapping[Id, list[Id]], gallery: Ids) -> str:
    none = (
        "the only ground-truth id is not"
        if len(nearest) == 1
        else f"none of the {len(nearest):,} ground-truth ids is"
    )
    return (
        f"{none} in the index of {counted(len(gallery), 'item', 'items')}: {_named(nearest)}; the index has ids such "
        f"as {first_few(gallery, 3)}. {_mend(nearest, gallery)}"
    )


def _mend(nearest: Mapping[Id, list[Id]], gallery: Ids) -> str:
    kinds = {type(item) for item in nearest}
    if len(gallery) and kinds != {gallery.kind}:
        return f"Write the ids of the ground truth as {'integers' if gallery.kind is int else 'strings'}"
    ending = _common((str(item), str(near[0])) for item, near in nearest.items() if near)
    if ending:
        return f"Write the ids with {' and '.join(ending)}, as the index has them, or index under ids without"
    return "Write them exactly as the index has them, or evaluate against the index they were made for"


def _common(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Tell which one beginning and ending turn every wanted id into the one that is there."""
    frames = set()
    for wanted, there in pairs:
        before, found, after = there.rpartition(wanted)
        if not found:
            return []
        frames.add((before, after))
    if len(frames) != 1:
        return []
    before, after = frames.pop()
    return [f"{text!r} {place}" for text, place in ((before, "before"), (after, "after")) if text]


def _named(nearest: Mapping[Id, list[Id]]) -> str:
    shown = [
        f"{item!r} (nearest: {first_few(near)})" if near else f"{item!r}"
        for item, near in list(nearest.items())[:5]
    ]
    more = len(nearest) - len(shown)
    return ", ".join(shown) + (f" and {more} more" if more else "")
