"""Ids: distinct strings or integers, and the place of each.

Every table of this package (gallery, queries, judged items) is a set of rows with ids. Ids are kept as they came,
strings or integers, never floats; arrays elsewhere hold the rows, not the ids.
"""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, repeat
from operator import eq
from typing import Any, TypeAlias, overload

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import DuplicateIdError, InputError, UnknownIdError, first_few

__all__ = ["Id", "Ids"]

Id: TypeAlias = str | int
Int64Array: TypeAlias = npt.NDArray[np.int64]


class _Column:
    """Values that only ever grow at the end; every Ids that begins with them shares them."""

    __slots__ = ("_rows", "lock", "values")

    def __init__(self, values: list[Id] | range) -> None:
        self.values: list[Id] | range = values
        self.lock = threading.Lock()
        self._rows: dict[Id, int] | None = None

    def rows(self) -> dict[Id, int]:
        """Value to row, made on first use."""
        if self._rows is None:
            with self.lock:
                if self._rows is None:
                    self._rows = {value: row for row, value in enumerate(self.values)}
        return self._rows

    def extended(self, count: int, added: Ids) -> _Column:
        """The first ``count`` values and then ``added``: this column grown if it ends there, else a copy."""
        rows = self.rows()
        with self.lock:
            if len(self.values) == count:
                rows.update(zip(added, range(count, count + len(added)), strict=True))
                if isinstance(self.values, range):
                    self.values = list(self.values)
                self.values.extend(added)
                return self
            return _Column([*islice(self.values, count), *added])


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

    __slots__ = ("_column", "_count", "_kind", "_what")

    def __init__(self, values: Iterable[Any], *, what: str = "ids") -> None:
        self._what = what
        if isinstance(values, Ids):
            self._column: _Column = values._column  # noqa: SLF001 - the same class; both are immutable
            self._count: int = values._count  # noqa: SLF001
            self._kind: type[str | int] = values._kind  # noqa: SLF001
            return
        checked = _checked(values, what)
        self._column = _Column(checked)
        self._count = len(checked)
        self._kind = _kind_of(checked)
        if isinstance(checked, range):
            return
        if len(self._column.rows()) != self._count:
            raise DuplicateIdError(
                f"{what}: {self._count - len(self._column.rows())} repeated ids, first: "
                f"{first_few(_repeated(checked))}; each id may appear once"
            )

    @classmethod
    def distinct(cls, values: Iterable[Any], *, what: str = "ids") -> Ids:
        """Take values that their maker knows to be distinct; all else is checked.

        The look-up table, which would show repeats, is made only when something is first looked up.

        Examples
        --------
        >>> Ids.distinct(["a", "b"]).row("b")
        1
        """
        if isinstance(values, Ids):
            return cls(values, what=what)
        checked = _checked(values, what)
        made = cls((), what=what)
        made._column, made._count, made._kind = _Column(checked), len(checked), _kind_of(checked)
        return made

    @property
    def kind(self) -> type[str | int]:
        """``str`` or ``int``; ``str`` when there are no ids."""
        return self._kind

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Id]:
        return islice(self._column.values, self._count)

    def __contains__(self, value: object) -> bool:
        try:
            return self._column.rows().get(value, self._count) < self._count  # type: ignore[call-overload, no-any-return]
        except TypeError:  # not hashable, so no id
            return False

    @overload
    def __getitem__(self, row: int) -> Id: ...
    @overload
    def __getitem__(self, row: slice) -> list[Id]: ...
    def __getitem__(self, row: int | slice) -> Id | list[Id]:
        own = range(self._count)[row]
        return self._column.values[own] if isinstance(own, int) else [self._column.values[place] for place in own]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Ids) or len(self) != len(other):
            return False
        mine, theirs = self._column.values, other._column.values
        if isinstance(mine, range) and isinstance(theirs, range):
            return mine[: len(self)] == theirs[: len(self)]
        return mine is theirs or all(map(eq, self, other))

    def __hash__(self) -> int:
        return hash((self._kind, self._count, *self[:1]))

    def __repr__(self) -> str:
        return f"Ids({len(self)} {self._kind.__name__}: {first_few(self, 3)})"

    def __reduce__(self) -> tuple[Any, ...]:
        return (_ids_called, (list(self), self._what))

    def extended(self, values: Iterable[Any]) -> Ids:
        """These ids and then ``values``, as new Ids; this one stays as it is.

        Storage is shared with the longer one, so that growing by many small steps costs time in proportion to what
        is added, not to what is there. (Two different extensions of the same Ids cost one copy.)

        Raises
        ------
        InputError
            Not the kind of these ids, or a kind that is not allowed.
        DuplicateIdError
            An id appears twice among ``values`` or is there already.

        Examples
        --------
        >>> short = Ids(["a", "b"])
        >>> long = short.extended(["c"])
        >>> len(short), len(long), "c" in short, long.row("c")
        (2, 3, False, 2)
        """
        added = Ids(values, what=self._what)
        if self._count and added and added.kind is not self._kind:
            raise InputError(
                f"{self._what}: ids here are {self._kind.__name__}; got {added.kind.__name__} {first_few(added, 3)}"
            )
        present = [value for value in added if value in self]
        if present:
            raise DuplicateIdError(
                f"{self._what}: {counted(len(present), 'id is', 'ids are')} there already, first: {first_few(present)}"
            )
        longer = Ids(self, what=self._what)
        longer._column = self._column.extended(self._count, added)
        longer._count = self._count + len(added)
        longer._kind = self._kind if self._count else added.kind
        return longer

    def row(self, value: Id) -> int:
        """Row of one id.

        Raises
        ------
        UnknownIdError
            The id is not there.
        """
        row = self._column.rows().get(value, self._count)
        if row >= self._count:
            raise UnknownIdError(f"{self._what}: no id {value!r} among {len(self)}")
        return row

    def rows(self, values: Iterable[Id]) -> Int64Array:
        """Rows of many ids, int64 of shape (n,); -1 where an id is not there."""
        get = self._column.rows().get
        found = np.fromiter(map(get, values, repeat(-1)), dtype=np.int64)
        found[found >= self._count] = -1  # belongs to a longer Ids that shares the column
        return found

    def take(self, rows: Iterable[int]) -> list[Id]:
        """Ids at the given rows, in their order."""
        values, count = self._column.values, self._count
        if len(values) == count:
            return [values[row] for row in rows]
        return [values[range(count)[row]] for row in rows]

    def fingerprint(self) -> str:
        """SHA-256 over kind, count and every id in order, as ``sha256:...``."""
        digest = hashlib.sha256(f"{self._kind.__name__}:{len(self)}\n".encode())
        for value in self:
            encoded = str(value).encode("utf-8", "surrogatepass")
            # The length goes first, so that no two different sequences write the same bytes.
            digest.update(f"{len(encoded)}:".encode() + encoded)
        return f"sha256:{digest.hexdigest()}"


def _ids_called(values: list[Id], what: str) -> Ids:
    return Ids(values, what=what)


def _kind_of(values: Sequence[Id] | range) -> type[str | int]:
    return int if values and isinstance(values[0], int) else str


def _checked(values: Iterable[Any], what: str) -> list[Id] | range:
    if isinstance(values, range):  # whole numbers, none twice: nothing to look at, and nothing to write down
        return values
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
