"""What a split knows of its items: their ids, and for each the group, view, label and place."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, first_few
from visual_search.ids import Id, Ids

__all__ = ["Column", "Side", "joint_codes"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Column:
    """A value for each row, as a code into the distinct values.

    Attributes
    ----------
    values : tuple of str or of int
    codes : int64 array of shape (n,)

    Examples
    --------
    >>> Column.of(["G0", "G1", "G0"]).codes.tolist()
    [0, 1, 0]
    """

    values: tuple[Id, ...]
    codes: Int64Array

    @classmethod
    def of(cls, rows: Iterable[Id]) -> Column:
        """From one value a row."""
        places: dict[Id, int] = {}
        codes = np.array([places.setdefault(value, len(places)) for value in rows], dtype=np.int64)
        return cls(tuple(places), codes)

    def __len__(self) -> int:
        return len(self.codes)

    def taken(self, rows: npt.NDArray[Any]) -> Column:
        """Some of the rows, in their order."""
        return Column(self.values, self.codes[rows])

    def rows(self) -> list[Id]:
        """One value a row."""
        return [self.values[code] for code in self.codes.tolist()]

    def used(self) -> list[Id]:
        """Distinct values that occur, in the order of their codes."""
        return [self.values[code] for code in np.unique(self.codes).tolist()]

    def ranks(self) -> Int64Array:
        """Place of each row's value among the sorted values that occur, whatever the order of the rows.

        >>> Column.of(["b", "a", "b"]).ranks().tolist()
        [1, 0, 1]
        """
        used, rows = np.unique(self.codes, return_inverse=True)
        ranks = np.empty(len(used), dtype=np.int64)
        order = sorted(range(len(used)), key=lambda place: _sort_key(self.values[int(used[place])]))
        ranks[order] = np.arange(len(used))
        return ranks[rows.reshape(-1)]

    def code_of(self, value: Id, *, name: str) -> int:
        """Code of a value; a text that writes an integer finds that integer, as the command line gives it.

        Raises
        ------
        InputError
            No row has it; the message lists the values there are.
        """
        places = {known: code for code, known in enumerate(self.values)}
        if value in places:
            return places[value]
        texts = {str(known): code for known, code in places.items()}
        if str(value) not in texts:
            raise InputError(f"{name}: no row has {value!r}; there are {first_few(self.values, 12)}")
        return texts[str(value)]


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One side of a split: all queries, or the whole gallery.

    Attributes
    ----------
    ids : Ids
    group, view, label : Column or None
        Scene or identity; view or camera; class. None where no column was named.
    places : float64 array of shape (n, 2) or None
        Latitude and longitude in degrees, or metres east and north.
    image : Column or None
        Path of each item's picture, where its column was named: one path is one picture, whatever the ids say.
    by_row : bool
        Whether the ids are row numbers of a table, of which one picture may have several.
    """

    ids: Ids
    group: Column | None = None
    view: Column | None = None
    label: Column | None = None
    places: FloatArray | None = None
    image: Column | None = None
    by_row: bool = False

    def __post_init__(self) -> None:
        for name in ("group", "view", "label", "places", "image"):
            column = getattr(self, name)
            if column is not None and len(column) != len(self.ids):
                raise InputError(f"{name}: {len(column)} values for {len(self.ids)} items; each needs one")

    def __len__(self) -> int:
        return len(self.ids)

    def taken(self, rows: npt.NDArray[Any]) -> Side:
        """Some of the items, in their order."""
        group, view, label, image = (
            None if column is None else column.taken(rows)
            for column in (self.group, self.view, self.label, self.image)
        )
        places = None if self.places is None else self.places[rows]
        ids = Ids(self.ids.take(rows.tolist()), what="items")
        return Side(ids, group=group, view=view, label=label, places=places, image=image, by_row=self.by_row)

    def need(self, name: str, *, why: str) -> Column:
        """A column that must be there.

        Raises
        ------
        InputError
            It was not named.
        """
        column: Column | None = getattr(self, name)
        if column is None:
            raise InputError(f"{name}: {why} needs it; name the column that holds it, {name}=")
        return column

    def sorted_by_group(self) -> Side:
        """Items by their group, so that two sides with one item a group have their pairs in the same rows."""
        if self.group is None:
            return self
        return self.taken(np.argsort(self.group.ranks(), kind="stable"))


def _sort_key(value: Id) -> tuple[bool, Any]:
    return isinstance(value, str), value


def joint_codes(first: Column, second: Column) -> tuple[Int64Array, Int64Array]:
    """Codes of two columns that are equal exactly where the values are.

    >>> joint_codes(Column.of(["a", "b"]), Column.of(["b", "c"]))
    (array([0, 1]), array([1, 2]))
    """
    if first.values is second.values:
        return first.codes, second.codes
    places = {value: code for code, value in enumerate(first.values)}
    translated = np.array([places.setdefault(value, len(places)) for value in second.values], dtype=np.int64)
    return first.codes, translated[second.codes] if len(translated) else second.codes
