"""The ids of a gallery of any size: names, numbers, or the row numbers themselves, which cost nothing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from itertools import islice
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import DuplicateIdError, InputError, first_few
from visual_search.formats.fingerprint import fingerprint_array, fingerprint_bytes
from visual_search.ids import Id, Ids

__all__ = ["GalleryIds"]

Int64Array: TypeAlias = npt.NDArray[np.int64]

_CHUNK = 1 << 16
_LEAST, _MOST = -(2**63), 2**63 - 1


class GalleryIds:
    """Distinct ids of gallery rows; integers stay in an array, and 0, 1, 2, ... are not stored at all.

    Parameters
    ----------
    values : int, range, integer array, Ids, or iterable of str or of int
        A number n stands for the row numbers 0..n - 1.
    what : str
        What the ids name, for messages.

    Raises
    ------
    InputError
        Ids of two kinds, or integers beyond 64 bits.
    DuplicateIdError
        An id appears twice.

    Examples
    --------
    >>> GalleryIds(3).rows(np.array([2, 7, -1])).tolist()
    [2, -1, -1]
    >>> GalleryIds([40, 20]).rows(np.array([20, 40])).tolist(), GalleryIds(["a", "b"]).take([1])
    ([1, 0], ['b'])
    """

    __slots__ = ("_held", "_sorted", "_what")

    def __init__(self, values: Any, *, what: str = "gallery ids") -> None:
        self._what = what
        self._sorted: tuple[Int64Array, Int64Array] | None = None
        self._held: range | Int64Array | Ids = _held(values, what)
        if isinstance(self._held, np.ndarray):
            self._check_distinct(self._held)

    def __len__(self) -> int:
        return len(self._held)

    @property
    def kind(self) -> type[str | int]:
        """``str`` or ``int``."""
        return self._held.kind if isinstance(self._held, Ids) else int

    @property
    def held(self) -> range | Int64Array | Ids:
        """The ids as they are stored."""
        return self._held

    def rows(self, values: Iterable[Any]) -> Int64Array:
        """Rows of ids, int64 of shape (n,); -1 where an id is not there."""
        if isinstance(self._held, Ids):
            return self._held.rows(values.tolist() if isinstance(values, np.ndarray) else values)
        given = values if isinstance(values, np.ndarray) else list(values)
        wanted = np.asarray(given)
        mixed = isinstance(given, list) and bool in set(map(type, given))  # True would become 1
        if mixed or wanted.dtype.kind not in "iu" or wanted.dtype == np.uint64:
            return self._rows_one_by_one(given)
        wanted = wanted.astype(np.int64, copy=False)
        if isinstance(self._held, range):
            return np.where((wanted >= 0) & (wanted < len(self._held)), wanted, -1)
        rising, order = self._rising(self._held)
        place = np.minimum(np.searchsorted(rising, wanted), max(len(rising) - 1, 0))
        return np.where(rising[place] == wanted, order[place], -1) if len(rising) else np.full(wanted.shape, -1)

    def _rows_one_by_one(self, values: Iterable[Any]) -> Int64Array:
        """The same where not all are whole numbers of 64 bits with a sign: the others are not there."""
        numbers = [_whole_number(value) for value in values]
        found = np.full(len(numbers), -1, dtype=np.int64)
        known = [place for place, number in enumerate(numbers) if number is not None]
        if known:
            found[known] = self.rows(np.array([numbers[place] for place in known], dtype=np.int64))
        return found

    def take(self, rows: Iterable[int]) -> list[Id]:
        """Ids at the given rows."""
        if isinstance(self._held, Ids):
            return self._held.take(rows)
        return [int(self._held[row]) for row in rows]

    def array(self, rows: Int64Array) -> npt.NDArray[Any]:
        """Ids at the given rows, of the same shape; row -1 gives -1, or the empty string."""
        if isinstance(self._held, range):
            return rows.copy()
        if isinstance(self._held, np.ndarray):
            return np.where(rows < 0, -1, self._held[rows]) if len(self._held) else rows.copy()
        flat = rows.ravel().tolist()
        named = [self._held[row] if row >= 0 else "" for row in flat]
        return np.array(named, dtype=np.str_).reshape(rows.shape)

    def fingerprint(self) -> str:
        """SHA-256 over kind, count and every id in order; that of `Ids` with the same ids."""
        if isinstance(self._held, Ids):
            return self._held.fingerprint()
        digest = hashlib.sha256(f"int:{len(self)}\n".encode())
        values = iter(self._held if isinstance(self._held, range) else self._held.tolist())
        while chunk := list(map(str, islice(values, _CHUNK))):
            digest.update("".join(f"{len(text)}:{text}" for text in chunk).encode())
        return f"sha256:{digest.hexdigest()}"

    def fingerprint_with(self, vectors: npt.NDArray[Any]) -> str:
        """Fingerprint of vectors with these ids, in order; that of `fingerprint_vectors`."""
        return fingerprint_bytes(f"{self.fingerprint()}\n{fingerprint_array(vectors)}".encode())

    def _rising(self, held: Int64Array) -> tuple[Int64Array, Int64Array]:
        if self._sorted is None:
            order = np.argsort(held, kind="stable").astype(np.int64)
            self._sorted = held[order], order
        return self._sorted

    def _check_distinct(self, held: Int64Array) -> None:
        rising, _ = self._rising(held)
        twice = rising[1:][rising[1:] == rising[:-1]]
        if twice.size:
            raise DuplicateIdError(
                f"{self._what}: {twice.size} repeated ids, first: {first_few(np.unique(twice).tolist())}; each id may "
                "appear once"
            )

    def __repr__(self) -> str:
        return f"GalleryIds({len(self)} {self.kind.__name__})"


def _held(values: Any, what: str) -> range | Int64Array | Ids:
    if isinstance(values, GalleryIds):
        return values.held
    if isinstance(values, (int, np.integer)) and not isinstance(values, bool):
        if values < 0:
            raise InputError(f"{what}: {values} rows; give the ids, or how many rows there are")
        return range(int(values))
    if isinstance(values, range) and values.start == 0 and values.step == 1:
        return values
    if isinstance(values, range):
        array = np.arange(values.start, values.stop, values.step, dtype=np.int64)
    elif isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.ndim == 1:
        array = _as_int64(values.tolist() if values.dtype == np.uint64 else values, what)
    else:
        ids = values if isinstance(values, Ids) else Ids(values, what=what)
        if ids.kind is str:
            return ids
        array = _as_int64(list(ids), what)
    return range(len(array)) if np.array_equal(array, np.arange(len(array))) else array


def _whole_number(value: Any) -> int | None:
    """The integer id that is meant; None for what is none, or none that 64 bits hold."""
    if isinstance(value, str):
        number = int(value) if value.isascii() and value.removeprefix("-").isdecimal() else None
    else:
        number = int(value) if isinstance(value, int | np.integer) and not isinstance(value, bool) else None
    return number if number is not None and _LEAST <= number <= _MOST else None


def _as_int64(values: Any, what: str) -> Int64Array:
    try:
        return np.asarray(values, dtype=np.int64)
    except OverflowError as error:
        raise InputError(
            f"{what}: integer ids must fit 64 bits with a sign; use strings for longer ones"
        ) from error
