"""Items that must not be in a query's list: looked for by id, taken out, the list cut at k."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError, UnknownIdError, first_few
from visual_search.ids import Id, Ids
from visual_search.indexing.nearest import Nearest

__all__ = ["Exclude", "Exclusions"]

Int64Array = npt.NDArray[np.int64]
InUse: TypeAlias = Callable[[Int64Array], npt.NDArray[np.bool_]]
Exclude: TypeAlias = Literal["self"] | Sequence[Iterable[Id]]


class Exclusions:
    """For each query the places of the items it must not find.

    Parameters
    ----------
    queries : Ids
        The queries.
    items : Ids
        The vocabulary that places point into.
    in_use : callable
        Which places hold items that are in the index now; a removed one is as unknown as one that never was.
    exclude : "self" or sequence of iterables of ids, optional
        ``"self"``: the item with the query's own id, where there is one. Else one iterable of ids per query; an id
        that is not in the index is an error, since excluding it would do nothing.

    Raises
    ------
    InputError
        Not one iterable per query.
    UnknownIdError
        Ids that are not in the index, listed with their queries.
    """

    def __init__(self, queries: Ids, items: Ids, in_use: InUse, exclude: Exclude | None) -> None:
        if exclude is None:
            lines = places = np.empty(0, dtype=np.int64)
        elif isinstance(exclude, str):
            lines, places = _own(queries, items, exclude)
        else:
            lines, places = _listed(queries, items, in_use, exclude)
        self._vocabulary = max(len(items), 1)
        self._keys = np.unique(lines * self._vocabulary + places)
        self._counts = np.bincount(self._keys // self._vocabulary, minlength=len(queries))

    @property
    def most(self) -> int:
        """Largest number of items excluded for one query."""
        return int(self._counts.max(initial=0))

    def most_in(self, block: slice) -> int:
        """The same among some queries: so many more than k are to be fetched for them."""
        return int(self._counts[block].max(initial=0))

    def kept(self, found: Nearest, block: slice, k: int) -> npt.NDArray[np.bool_] | None:
        """Which of the found stay: not excluded, not padding, and among the first k of those.

        ``found`` belongs to the queries ``block``. Shape as found; None where nothing but padding goes.
        """
        if found.places.shape[1] <= k and not self.most_in(block):
            return None
        kept = found.places >= 0
        if self._keys.size:
            lines = np.arange(block.start, block.stop)[:, None]
            keys = lines * self._vocabulary + found.places
            nearest = np.minimum(np.searchsorted(self._keys, keys), self._keys.size - 1)
            kept &= self._keys[nearest] != keys
        if found.places.shape[1] > k:
            kept &= np.cumsum(kept, axis=1) <= k
        return kept


def _own(queries: Ids, items: Ids, exclude: str) -> tuple[Int64Array, Int64Array]:
    if exclude != "self":
        raise InputError(f"exclude: got {exclude!r}; must be None, 'self', or one iterable of ids per query")
    places = items.rows(queries)
    lines = np.flatnonzero(places >= 0)
    return lines, places[lines]


def _listed(
    queries: Ids, items: Ids, in_use: InUse, exclude: Sequence[Iterable[Id]]
) -> tuple[Int64Array, Int64Array]:
    if not isinstance(exclude, Sequence | np.ndarray):
        raise InputError(
            f"exclude: got {type(exclude).__name__}; must be None, 'self', or a list with one iterable of ids per query"
        )
    if len(exclude) != len(queries):
        raise InputError(
            f"exclude: {counted(len(exclude), 'entry', 'entries')} for "
            f"{counted(len(queries), 'query', 'queries')}; give one iterable to each"
        )
    if any(isinstance(ids, str | bytes) for ids in exclude):
        raise InputError("exclude: an entry is a string; give a list of ids for each query")
    entries: Sequence[Any] = exclude
    odd = [queries[line] for line, ids in enumerate(entries) if not isinstance(ids, Iterable)]
    if odd:
        raise InputError(
            f"exclude: no list of ids for {counted(len(odd), 'query', 'queries')}, first: "
            f"{first_few(odd)}; give [] for none"
        )
    pairs = [(line, item) for line, ids in enumerate(exclude) for item in ids]
    lines = np.array([line for line, _ in pairs], dtype=np.int64)
    try:
        places = items.rows(item for _, item in pairs)
    except TypeError as error:  # a list among them, for example, which cannot be looked up
        raise InputError(f"exclude: {error}; an id is text or a whole number") from error
    places[places >= 0] = np.where(in_use(places[places >= 0]), places[places >= 0], -1)
    unknown = [(queries[pairs[at][0]], pairs[at][1]) for at in np.flatnonzero(places < 0).tolist()]
    if unknown:
        raise UnknownIdError(
            f"exclude: {counted(len(unknown), 'id is', 'ids are')} not in the index, first (query, "
            f"id): {first_few(unknown)}; "
            "leave them out"
        )
    return lines, places
