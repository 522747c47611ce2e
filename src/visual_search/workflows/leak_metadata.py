"""A table of what is known of pictures: their group and their view."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

from visual_search.errors import FileFormatError, InputError, first_few
from visual_search.formats.columns import ColumnTable
from visual_search.ids import Id
from visual_search.leaks.roles import Role

__all__ = ["PictureMetadata"]

_COLUMNS = ("group", "view")


class PictureMetadata:
    """Group and view of pictures, by their ids as text.

    Parameters
    ----------
    values : mapping of column to mapping of id to value
        ``group``, ``view`` or both.
    """

    def __init__(self, values: Mapping[str, Mapping[str, str]]) -> None:
        self._values = {name: dict(column) for name, column in values.items()}

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> Self:
        """Read a CSV or Parquet table with a column ``item`` and columns ``group`` or ``view`` or both.

        Raises
        ------
        FileFormatError, InputError
            No such columns, empty items, or an item with two different values.
        """
        target = Path(path)
        with target.open("rb") as stream:
            parquet = stream.read(4) == b"PAR1"
        columns = _parquet(target) if parquet else _csv(target)
        known = [name for name in _COLUMNS if name in columns]
        if "item" not in columns or not known:
            raise FileFormatError(
                f"{target.name}: columns item, and group or view or both, are needed; it has {', '.join(columns)}"
            )
        return cls({name: _mapped(columns["item"], columns[name], f"{target.name}: {name}") for name in known})

    def groups(self, ids: Iterable[Id]) -> dict[Id, str]:
        """Group of each picture that has one."""
        return self._of("group", ids)

    def views(self, ids: Iterable[Id]) -> dict[Id, str]:
        """View of each picture that has one."""
        return self._of("view", ids)

    def _of(self, name: str, ids: Iterable[Id]) -> dict[Id, str]:
        column = self._values.get(name, {})
        return {one: column[str(one)] for one in ids if str(one) in column}

    def notes(self, roles: Sequence[Role]) -> tuple[str, ...]:
        """Which pictures the table does not know.

        Raises
        ------
        InputError
            It knows none of them.
        """
        known = set().union(*self._values.values())
        lacking = {role.name: [one for one in role.ids if str(one) not in known] for role in roles}
        if all(len(lacking[role.name]) == len(role) for role in roles):
            raise InputError(
                f"metadata: none of its items is among the pictures; it has {first_few(sorted(known), 3)}, the "
                f"pictures are {first_few([one for role in roles for one in role.ids], 3)}"
            )
        return tuple(
            f"metadata: {len(missing):,} pictures of {name} are not in the table, first: {first_few(missing, 3)}"
            for name, missing in lacking.items()
            if missing
        )


def _csv(path: Path) -> dict[str, list[str]]:
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            rows = [row for row in csv.reader(stream) if row]
    except (UnicodeDecodeError, csv.Error) as problem:
        raise FileFormatError(f"{path.name}: neither Parquet nor CSV in UTF-8: {problem}") from problem
    if not rows:
        raise FileFormatError(f"{path.name}: an empty table")
    head, body = rows[0], rows[1:]
    if len(set(head)) < len(head):
        twice = sorted({name for name in head if head.count(name) > 1})
        raise FileFormatError(
            f"{path.name}: several columns are named {first_few(twice)}; name one of them otherwise"
        )
    wrong = [number for number, row in enumerate(body, 2) if len(row) != len(head)]
    if wrong:
        raise FileFormatError(f"{path.name}: {len(head)} columns, but not in lines {first_few(wrong)}")
    return {name: [row[place] for row in body] for place, name in enumerate(head)}


def _parquet(path: Path) -> dict[str, list[str]]:
    table = ColumnTable(path, what=path.name)
    columns = {}
    for name in ("item", *_COLUMNS):
        if name in table:
            distinct, codes = table.ids(name)
            columns[name] = [str(distinct[code]) for code in codes.tolist()]
    return columns


def _mapped(items: Sequence[str], values: Sequence[str], what: str) -> dict[str, str]:
    found: dict[str, str] = {}
    twice = []
    for item, value in zip(items, values, strict=True):
        if value and found.setdefault(item, value) != value:
            twice.append(item)
    if twice:
        raise InputError(f"{what}: {len(twice)} items have two values, first: {first_few(twice)}")
    return found
