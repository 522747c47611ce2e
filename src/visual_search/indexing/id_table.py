"""Which id stands at which row of an engine.

Rows are given out once, in order, and never again: an id that is removed and added again gets a new row. The
vocabulary of ids only grows, so answers made earlier keep their meaning while the index changes; ``Ids.extended``
makes that growth cost what is added.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Self

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import FileFormatError, InputError
from visual_search.ids import Id, Ids

__all__ = ["IdTable"]

Int64Array = npt.NDArray[np.int64]

# A table holds eight bytes for each row ever given: a file's word alone must not make it take all memory.
_ROWS_ALWAYS_HELD = 1 << 26
_ROWS_PER_ID = 1024


class IdTable:
    """Ids of live rows, and the vocabulary that rankings share.

    A *term* is a place in the vocabulary. Term and row are the same number until an id is removed and added again.

    Parameters
    ----------
    ids : Ids
        Ids of the rows that are live at the start, in order.
    rows : int64 array of shape (n,), optional
        Their rows, ascending; 0, 1, 2... where not given.
    next_row : int, optional
        First row not yet given out; n where not given.
    """

    def __init__(self, ids: Ids, rows: Int64Array | None = None, next_row: int | None = None) -> None:
        count = len(ids)
        self.vocabulary = ids
        self.next_row = count if next_row is None else next_row
        plain = rows is None or (self.next_row == count and bool((rows == np.arange(count)).all()))
        self._row_of_term = np.arange(count) if rows is None else rows.astype(np.int64)
        self._term_of_row: Int64Array | None = None if plain else self._terms_by_row()
        self._live = count
        self._live_ids: Ids | None = ids

    def _terms_by_row(self) -> Int64Array:
        terms = np.full(self.next_row, -1, dtype=np.int64)
        live = np.flatnonzero(self._rows >= 0)
        terms[self._rows[live]] = live
        return terms

    @property
    def _rows(self) -> Int64Array:
        return self._row_of_term[: len(self.vocabulary)]

    def __len__(self) -> int:
        return self._live

    def __contains__(self, value: object) -> bool:
        return value in self.vocabulary and self._row_of_term[self.vocabulary.row(value)] >= 0  # type: ignore[arg-type]

    @property
    def ids(self) -> Ids:
        """Ids of live rows in row order; the vocabulary itself while nothing was ever removed."""
        if self._live_ids is None:
            everything = self._live == len(self.vocabulary) and self._term_of_row is None
            self._live_ids = (
                self.vocabulary
                if everything
                else Ids(self.vocabulary.take(self.terms(self.live_rows()).tolist()), what="index")
            )
        return self._live_ids

    def live_rows(self) -> Int64Array:
        """Rows in use, ascending, int64 of shape (n,)."""
        return np.sort(self._rows[self._rows >= 0])

    def rows(self, values: Iterable[Id]) -> Int64Array:
        """Row of each id; -1 where it is not in use."""
        terms = self.vocabulary.rows(values)
        if not len(self.vocabulary):
            return terms
        return np.where(terms >= 0, self._rows[terms], -1)

    def terms(self, rows: Int64Array) -> Int64Array:
        """Place in the vocabulary of each row."""
        return rows if self._term_of_row is None else self._term_of_row[rows]

    def in_use(self, terms: Int64Array) -> npt.NDArray[np.bool_]:
        """Whether the id at each place of the vocabulary stands at a row now."""
        used: npt.NDArray[np.bool_] = self._rows[terms] >= 0
        return used

    def append(self, ids: Ids) -> None:
        """Give the next rows to ids that are not in use."""
        rows = np.arange(self.next_row, self.next_row + len(ids))
        terms = self.vocabulary.rows(ids)
        again = terms >= 0
        if again.any() and self._term_of_row is None:
            self._term_of_row = self._terms_by_row()
        known = len(self.vocabulary)
        fresh = np.flatnonzero(~again)
        self.vocabulary = self.vocabulary.extended([ids[place] for place in fresh.tolist()])
        self._row_of_term = _roomy(self._row_of_term, known, len(self.vocabulary))
        terms[fresh] = np.arange(known, len(self.vocabulary))
        self._row_of_term[terms] = rows
        if self._term_of_row is not None:
            self._term_of_row = _roomy(self._term_of_row, self.next_row, self.next_row + len(ids))
            self._term_of_row[rows] = terms
        self.next_row += len(ids)
        self._live += len(ids)
        self._live_ids = None

    def remove(self, ids: Iterable[Id]) -> None:
        """Take ids that are in use out of use."""
        terms = self.vocabulary.rows(ids)
        self._row_of_term[terms] = -1
        self._live -= len(terms)
        self._live_ids = None

    def save(self, path: Path) -> None:
        """Write live ids and their rows as JSON; lone surrogates of odd file names survive as escapes."""
        rows = self.live_rows()
        plain = self.next_row == len(rows)
        record = {
            "kind": self.ids.kind.__name__,
            "next_row": self.next_row,
            "rows": None if plain else rows.tolist(),
            "ids": list(self.ids),
        }
        path.write_text(json.dumps(record), "ascii")

    @classmethod
    def load(cls, path: Path) -> Self:
        """Read that file back.

        Raises
        ------
        FileFormatError
            Not such a file, or one that contradicts itself.
        """
        try:
            record = json.loads(path.read_text("ascii"))
            ids = Ids(record["ids"], what="index")
            rows = None if record["rows"] is None else np.array(record["rows"], dtype=np.int64)
            next_row = record["next_row"]
        except RecursionError:
            raise FileFormatError(f"{path}: nested too deeply for ids; take the folder from a backup") from None
        except (ValueError, KeyError, TypeError, OverflowError, InputError) as error:
            raise FileFormatError(
                f"{path}: not the ids of an index ({error}); take the folder from a backup"
            ) from error
        if type(next_row) is not int:
            raise FileFormatError(f"{path}: next_row is {next_row!r}, no number; take the folder from a backup")
        if next_row > max(_ROWS_ALWAYS_HELD, _ROWS_PER_ID * len(ids)):
            raise FileFormatError(
                f"{path}: next_row is {next_row:,} for {counted(len(ids), 'id', 'ids')}; no index "
                "removes so much; take the "
                "folder from a backup"
            )
        fits = next_row == len(ids) if rows is None else _may_be_rows(rows, len(ids), next_row)
        if not fits:
            raise FileFormatError(
                f"{path}: {counted(len(ids), 'id does', 'ids do')} not fit its rows; take the folder from a backup"
            )
        return cls(ids, rows, next_row)


def _may_be_rows(rows: Int64Array, count: int, next_row: int) -> bool:
    ascending = bool((np.diff(rows) > 0).all())
    return rows.shape == (count,) and ascending and (not count or (rows[0] >= 0 and rows[-1] < next_row))


def _roomy(array: Int64Array, used: int, wanted: int) -> Int64Array:
    """The array itself if there is room, else one twice as long with the same beginning."""
    if wanted <= len(array):
        return array
    grown = np.full(max(wanted, 2 * len(array), 16), -1, dtype=np.int64)
    grown[:used] = array[:used]
    return grown
