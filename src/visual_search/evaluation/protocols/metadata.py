"""A metadata table: one row an item, columns named by the caller."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import DuplicateIdError, InputError, NonFiniteError, first_few
from visual_search.evaluation.protocols.sides import Column, Side
from visual_search.formats.columns import ColumnTable
from visual_search.formats.csv_columns import read_csv_columns
from visual_search.ids import Id, Ids

__all__ = ["Metadata", "Table"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]
Table: TypeAlias = Any


class Metadata:
    """Items and what is known of each.

    Parameters
    ----------
    source : path, mapping, data frame, or Metadata
        A CSV or Parquet file; a mapping of column names to arrays or lists; a frame of any library that speaks
        ``__arrow_c_stream__``.
    where : mapping, optional
        Columns and the value they must have, ``{"split": "test"}``; several values as a list. Other rows are not
        looked at.
    image : str, optional
        Column of the pictures' paths, by which a split is proven too: no picture on both sides, whatever the ids.

    Raises
    ------
    InputError, FileFormatError
        Not a table; a column of ``where`` or a value of it that does not occur; the message lists what there is.

    Examples
    --------
    >>> table = Metadata({"scene": ["G0", "G0", "G1"], "split": ["test", "test", "train"]}, where={"split": "test"})
    >>> len(table), table.column("scene").rows()
    (2, ['G0', 'G0'])
    """

    def __init__(
        self, source: Table, *, where: Mapping[str, Id | Sequence[Id]] | None = None, image: str | None = None
    ) -> None:
        if isinstance(source, Metadata):
            self._table: ColumnTable = source._table  # noqa: SLF001 - the same class; both are immutable
            self.name: str = source.name
            self._rows: Int64Array = source._rows  # noqa: SLF001
        else:
            self._table, self.name = _opened(source)
            self._rows = np.arange(len(self._table), dtype=np.int64)
        self._image: str | None = image or (source._image if isinstance(source, Metadata) else None)  # noqa: SLF001
        for column, wanted in (where or {}).items():
            self._rows = self._rows[self._chosen(column, wanted)]

    def __len__(self) -> int:
        return len(self._rows)

    def _chosen(self, name: str, wanted: Id | Sequence[Id]) -> npt.NDArray[np.bool_]:
        column = self.column(name)
        listed = [wanted] if isinstance(wanted, str | int) else list(wanted)
        present = Column(tuple(column.used()), np.zeros(0, dtype=np.int64))
        names = [present.values[present.code_of(value, name=f"where: {name}")] for value in listed]
        codes = [column.code_of(value, name=name) for value in names]
        return np.isin(column.codes, codes)

    def column(self, name: str) -> Column:
        """A column of strings or integers.

        Raises
        ------
        InputError
            No such column (the message lists those there are), empty cells, or neither strings nor integers.
        """
        values, codes = self._table.ids(name)
        chosen = codes[self._rows]
        blank = [code for code, value in enumerate(values) if isinstance(value, str) and not value.strip()]
        empty = np.flatnonzero(np.isin(chosen, blank))
        if len(empty):
            rows = self._rows[empty].tolist()
            raise InputError(f"{self.name}: column {name!r} is empty in {len(rows)} rows, first: {first_few(rows)}")
        return Column(tuple(values), chosen)

    def numbers(self, name: str) -> FloatArray:
        """A column of finite numbers; text that writes numbers is read as such.

        Raises
        ------
        InputError, NonFiniteError
            No such column, or cells that are no finite numbers.
        """
        try:
            numbers: FloatArray = self._table.numbers(name)[self._rows]
        except InputError:
            column = self.column(name)
            numbers = _read_numbers(column, f"{self.name}: column {name!r}")[column.codes]
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if len(wrong):
            rows = self._rows[wrong].tolist()
            raise NonFiniteError(f"{self.name}: column {name!r} is not finite in rows {first_few(rows)}")
        return numbers

    def ids(self, item: str | None) -> Ids:
        """Ids of the items: a column's values, or row numbers of the whole table where none is named.

        Raises
        ------
        DuplicateIdError
            An id comes twice.
        """
        if item is None:
            return Ids(self._rows.tolist(), what="items")
        rows = self.column(item).rows()
        if len(set(rows)) != len(rows):
            twice = [value for value, count in Counter(rows).items() if count > 1]
            raise DuplicateIdError(
                f"{self.name}: column {item!r} repeats ids, first: {first_few(twice)}; each row is one item"
            )
        return Ids(rows, what="items")

    def side(
        self,
        item: str | None,
        *,
        group: str | None = None,
        view: str | None = None,
        label: str | None = None,
        places: tuple[str, str] | None = None,
    ) -> Side:
        """All rows with the named columns."""
        groups, views, labels = (None if name is None else self.column(name) for name in (group, view, label))
        located = None if places is None else np.column_stack([self.numbers(name) for name in places])
        pictures = None if self._image is None else _as_paths(self.column(self._image))
        return Side(
            self.ids(item),
            group=groups,
            view=views,
            label=labels,
            places=located,
            image=pictures,
            by_row=item is None,
        )


def _as_paths(column: Column) -> Column:
    """One path for one place: ``./a.jpg`` is ``a.jpg``."""
    return Column.of([os.path.normpath(str(column.values[code])) for code in column.codes.tolist()])


def _opened(source: Table) -> tuple[ColumnTable, str]:
    if not isinstance(source, str | os.PathLike):
        return ColumnTable(source, what="metadata"), "metadata"
    path = Path(source)
    with path.open("rb") as stream:
        parquet = stream.read(4) == b"PAR1"
    name = path.name
    return (ColumnTable(path, what=name) if parquet else ColumnTable(read_csv_columns(path), what=name)), name


def _read_numbers(column: Column, what: str) -> FloatArray:
    found = np.zeros(len(column.values))
    wrong = []
    for code, value in enumerate(column.values):
        try:
            found[code] = float(value)
        except ValueError:
            wrong.append(value)
    if wrong:
        raise InputError(f"{what}: numbers are needed; got {first_few(wrong)}")
    return found
