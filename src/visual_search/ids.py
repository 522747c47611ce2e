"""Ids: distinct strings or integers, and the place of each.

Every table of this package (gallery, queries, judged items) is a set of rows with ids. Ids are kept as they came,
strings or integers, never floats; arrays elsewhere hold the rows, not the ids.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from visual_search.errors import DuplicateIdError, InputError, UnknownIdError, first_few

__all__ = ["Id", "Ids"]

Id: TypeAlias = str | int
Int64Array: TypeAlias = npt.NDArray[np.int64]


class Ids(Sequence[Id]):
    """Distinct ids of one kind, in order, with fast look-up from id to row.

    Parameters
    ----------
    values : iterable of str or of int
        All strings or all integers (numpy integers too); booleans and floats are refused. The empty string
        is refused.
    what : str, optional
        What the ids name, for error messages ("gallery", "queries").

    Raises
    ------
    InputError
        Mixed kinds, or a kind that is not allowed.
    DuplicateIdError
        An id appears twice; the first offenders are listed.

    Examples
    --------
    >>> ids = Ids(["a.jpg", "b.jpg"])
    >>> ids[1], ids.row("b.jpg"), "c.jpg" in ids
    ('b.jpg', 1, False)
    >>> ids.rows(["b.jpg", "nowhere"]).tolist()
    [1, -1]
    """

    __slots__ = ("_kind", "_rows", "_values", "_what")

    def __init__(self, values: Iterable[Any], *, what: str = "ids") -> None:
        if isinstance(values, Ids):
            self._values: list[Id] = values._values  # noqa: SLF001 - the same class; both are immutable
            self._kind: type[str | int] = values._kind  # noqa: SLF001
            self._rows: dict[Id, int] | None = values._rows  # noqa: SLF001
            self._what = what
            return
        self._what = what
        self._values = _checked(values, what)
        self._kind = int if self._values and isinstance(self._values[0], int) else str
        self._rows = None
        if len(self._lookup) != len(self._values):
            raise DuplicateIdError(
                f"{what}: {len(self._values) - len(self._lookup)} repeated ids, first: "
                f"{first_few(_repeated(self._values))}; each id may appear once"
            )

    @property
    def _lookup(self) -> dict[Id, int]:
        if self._rows is None:
            self._rows = {value: row for row, value in enumerate(self._values)}
        return self._rows

    @property
    def kind(self) -> type[str | int]:
        """``str`` or ``int``; ``str`` when there are no ids."""
        return self._kind

    def __len__(self) -> int:
        return len(self._values)

    def __iter__(self) -> Iterator[Id]:
        return iter(self._values)

    def __contains__(self, value: object) -> bool:
        try:
            return value in self._lookup
        except TypeError:
            return False

    @overload
    def __getitem__(self, row: int) -> Id: ...
    @overload
    def __getitem__(self, row: slice) -> list[Id]: ...
    def __getitem__(self, row: int | slice) -> Id | list[Id]:
        return self._values[row]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Ids) and self._values == other._values

    def __hash__(self) -> int:
        return hash((self._kind, len(self._values), *self._values[:1]))

    def __repr__(self) -> str:
        return f"Ids({len(self)} {self._kind.__name__}: {first_few(self._values, 3)})"

    def row(self, value: Id) -> int:
        """Row of one id.

        Raises
        ------
        UnknownIdError
            The id is not there.
        """
        try:
            return self._lookup[value]
        except KeyError:
            raise UnknownIdError(f"{self._what}: no id {value!r} among {len(self)}") from None

    def rows(self, values: Iterable[Id]) -> Int64Array:
        """Rows of many ids, int64 of shape (n,); -1 where an id is not there."""
        get = self._lookup.get
        return np.fromiter((get(value, -1) for value in values), dtype=np.int64)

    def take(self, rows: Iterable[int]) -> list[Id]:
        """Ids at the given rows, in their order."""
        return [self._values[row] for row in rows]

    def fingerprint(self) -> str:
        """SHA-256 over kind, count and every id in order, as ``sha256:...``."""
        digest = hashlib.sha256(f"{self._kind.__name__}:{len(self)}\n".encode())
        for value in self._values:
            encoded = str(value).encode("utf-8", "surrogatepass")
            # The length goes first, so that no two different sequences write the same bytes.
            digest.update(f"{len(encoded)}:".encode() + encoded)
        return f"sha256:{digest.hexdigest()}"


def _checked(values: Iterable[Any], what: str) -> list[Id]:
    listed: list[Any] = values.tolist() if isinstance(values, np.ndarray) else list(values)
    if set(map(type, listed)) <= {str} or set(map(type, listed)) == {int}:
        clean: list[Id] = listed
    else:
        clean = [int(v) if isinstance(v, np.integer) else str(v) if isinstance(v, np.str_) else v for v in listed]
        wrong = [v for v in clean if type(v) not in (str, int)]
        if wrong:
            raise InputError(
                f"{what}: ids must be strings or integers; got {type(wrong[0]).__name__} {first_few(wrong, 3)}"
            )
        if len({type(v) for v in clean}) > 1:
            raise InputError(f"{what}: ids must be all strings or all integers; got both: {first_few(clean, 4)}")
    if "" in clean:
        raise InputError(f"{what}: an id is the empty string (row {clean.index('')}); give it a name")
    return clean


def _repeated(values: Sequence[Id]) -> list[Id]:
    seen: set[Id] = set()
    twice: dict[Id, None] = {}
    for value in values:
        if value in seen:
            twice[value] = None
        seen.add(value)
    return list(twice)
