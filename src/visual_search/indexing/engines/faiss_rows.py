"""Which row stands at which position of a FAISS structure.

FAISS counts positions 0, 1, 2...; removal closes the gap. The engine's rows are chosen by the caller and stay.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from visual_search.errors import DuplicateIdError, UnknownIdError, first_few

__all__ = ["FaissRows"]

Int64Array = npt.NDArray[np.int64]


class FaissRows:
    """Rows by position, growing at the end in amortised constant time per row.

    Examples
    --------
    >>> rows = FaissRows()
    >>> rows.append(np.array([0, 1, 5]))
    >>> rows.positions(np.array([5, 0])).tolist()
    [2, 0]
    """

    __slots__ = ("_ascending", "_buffer", "_count", "_order")

    def __init__(self, rows: Int64Array | None = None) -> None:
        self._buffer = np.empty(0, dtype=np.int64)
        self._count = 0
        self._ascending = True
        self._order: Int64Array | None = None
        if rows is not None:
            self.append(rows)

    def __len__(self) -> int:
        return self._count

    @property
    def values(self) -> Int64Array:
        """The rows in position order, int64 of shape (n,); a view, not to be written to."""
        return self._buffer[: self._count]

    def append(self, rows: Int64Array) -> None:
        """Put new rows at the end; refuse one that is there, changing nothing."""
        self.check_new(rows)
        count = self._count + len(rows)
        if count > len(self._buffer):
            grown = np.empty(max(count, 2 * len(self._buffer), 16), dtype=np.int64)
            grown[: self._count] = self.values
            self._buffer = grown
        self._ascending = self._ascending and self._follows(rows)
        self._buffer[self._count : count] = rows
        self._count = count
        self._order = None

    def check_new(self, rows: Int64Array) -> None:
        """Refuse rows that are there already or come twice."""
        if self._ascending and self._follows(rows):
            return
        unique, counts = np.unique(rows, return_counts=True)
        again = np.union1d(unique[counts > 1], unique[np.isin(unique, self.values)])
        if again.size:
            raise DuplicateIdError(
                f"rows: {again.size} are there already or come twice, first: {first_few(again.tolist())}; "
                "a row is used once and never again"
            )

    def positions(self, rows: Int64Array) -> Int64Array:
        """Position of each row, int64 of shape (n,)."""
        values = self.values
        if self._ascending:
            places = np.searchsorted(values, rows)
        else:
            if self._order is None:
                self._order = np.argsort(values, kind="stable")
            ordered = np.searchsorted(values, rows, sorter=self._order)
            places = self._order[np.minimum(ordered, max(self._count - 1, 0))] if self._count else ordered
        found = np.zeros(len(rows), dtype=np.bool_)
        within = places < self._count
        found[within] = values[places[within]] == rows[within]
        if not found.all():
            missing = rows[~found].tolist()
            raise UnknownIdError(
                f"rows: {len(missing)} are not among the {self._count} there: {first_few(missing)}"
            )
        return places

    def delete(self, positions: Int64Array) -> None:
        """Take positions out and close the gaps."""
        self._buffer = np.delete(self.values, positions)
        self._count = len(self._buffer)
        self._order = None

    def at(self, positions: Int64Array) -> Int64Array:
        """Row at each position; -1 stays -1."""
        values = self.values
        if not self._count or (self._ascending and values[0] == 0 and values[-1] == self._count - 1):
            return positions  # position i holds row i: nothing was ever removed
        return np.where(positions < 0, np.int64(-1), values[positions])

    def _follows(self, rows: Int64Array) -> bool:
        if not len(rows):
            return True
        after_last = not self._count or rows[0] > self._buffer[self._count - 1]
        return bool(after_last and (np.diff(rows) > 0).all())
