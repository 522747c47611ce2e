"""Judgements from where they are kept: a store, or a table that somebody made."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from visual_search.errors import FileFormatError
from visual_search.formats.csv_columns import read_csv_columns
from visual_search.ids import Ids
from visual_search.judging.judgement_table import JudgementTable

__all__ = ["read_judgements"]

_TRUE, _FALSE = {"true", "1", "yes"}, {"false", "0", "no", ""}
_FLAGS = ("adjudicated", "undo")


def read_judgements(place: str | os.PathLike[str], *, ids: type[str | int] | None = None) -> JudgementTable:
    """Read judgements by what the place holds.

    Parameters
    ----------
    place : str or path
        A store (SQLite file, or the URL of a PostgreSQL database), a Parquet file, or a CSV table, with the columns
        ``judge``, ``query``, ``item``, ``grade`` (empty where the judge could not tell) and, where there are, ``time``,
        ``adjudicated`` and ``undo``.
    ids : type, optional
        Kind of the ids of the lists that are to be scored: whole numbers of a CSV table, whose kind the file does not
        tell, are read as texts where it is str.

    Raises
    ------
    FileFormatError, InputError
        None of these, or a table with problems.
    """
    text = str(place)
    if "://" in text or _begins_with(place, b"SQLite format 3"):
        from visual_search.judging.store import JudgementStore

        with JudgementStore(text, create=False) as store:
            return JudgementTable.from_table(store.table(graded=False))
    if _begins_with(place, b"PAR1"):
        return JudgementTable.from_table(place)
    table = JudgementTable.from_table(_csv_columns(place))
    return _as_texts(table) if ids is str else table


def _begins_with(place: str | os.PathLike[str], head: bytes) -> bool:
    with Path(place).open("rb") as stream:
        return stream.read(len(head)) == head


def _csv_columns(place: str | os.PathLike[str]) -> dict[str, Any]:
    columns: dict[str, Any] = dict(read_csv_columns(place))
    name = Path(place).name
    if "grade" in columns:
        columns["grade"] = [_grade(cell, line, name) for line, cell in enumerate(columns["grade"], start=2)]
    for flag in _FLAGS:
        if flag in columns:
            columns[flag] = [_flag(cell, flag, line, name) for line, cell in enumerate(columns[flag], start=2)]
    if "judge" in columns:
        columns["judge"] = [str(cell) for cell in columns["judge"]]
    return columns


def _grade(cell: str | int, line: int, name: str) -> float | None:
    if isinstance(cell, str) and not cell.strip():
        return None
    try:
        return float(cell)
    except ValueError:
        raise FileFormatError(
            f"{name}: line {line}: grade {cell!r} is no number; leave it empty where the judge could not tell"
        ) from None


def _flag(cell: str | int, column: str, line: int, name: str) -> bool:
    text = str(cell).strip().lower()
    if text not in _TRUE | _FALSE:
        raise FileFormatError(f"{name}: line {line}: {column} is {cell!r}; write true or false")
    return text in _TRUE


def _as_texts(table: JudgementTable) -> JudgementTable:
    queries, items = (Ids(map(str, one), what="ids") for one in (table.queries, table.items))
    return JudgementTable(
        table.judges, queries, items, table.judge, table.query, table.item, table.grade, table.adjudicated,
        table.replaced,
    )  # fmt: skip
