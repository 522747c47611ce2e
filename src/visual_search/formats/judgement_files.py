"""Judgements as tables in files: CSV and Parquet, one row a record, under the same columns.

``query, item, judge, grade`` are what others need; the rest tells how a record came about: ``number`` (in its store),
``key`` (of the request), ``adjudicated``, ``time`` (ISO 8601, UTC), ``reason`` (why there is no grade), ``seconds``,
``note``, ``replaces`` (a number), ``undo``.

In CSV a text that a spreadsheet would take for a formula has an apostrophe before it, which reading takes away again.
"""

from __future__ import annotations

import csv
import io
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from visual_search.errors import FileFormatError, InputError, Problems
from visual_search.formats.atomic import atomic_path, write_text
from visual_search.formats.columns import ColumnTable
from visual_search.formats.csv_cells import csv_name
from visual_search.formats.csv_columns import read_csv_columns

__all__ = ["JUDGEMENT_COLUMNS", "read_judgement_file", "write_judgement_file"]

JUDGEMENT_COLUMNS = (
    "number", "key", "query", "item", "judge", "adjudicated", "time", "grade", "reason", "seconds", "note", "replaces",
    "undo",
)  # fmt: skip
_NUMBERS = {"grade": float, "seconds": float, "number": int, "replaces": int}
_FLAGS = ("adjudicated", "undo")
_TEXTS = ("key", "judge", "time", "reason", "note")


def write_judgement_file(path: str | os.PathLike[str], columns: Mapping[str, Sequence[Any]]) -> None:
    """Write columns as CSV (comma), TSV or Parquet by the name's ending, whole or not at all.

    Raises
    ------
    InputError
        Another ending.
    """
    ending = Path(path).suffix.lower()
    if ending == ".parquet":
        _write_parquet(path, columns)
    elif ending in {".csv", ".tsv"}:
        _write_csv(path, columns, "\t" if ending == ".tsv" else ",")
    else:
        raise InputError(f"judgements: {Path(path).name!r}; a name that ends in .csv, .tsv or .parquet is needed")


def _write_csv(path: str | os.PathLike[str], columns: Mapping[str, Sequence[Any]], delimiter: str) -> None:
    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_cell(value) for value in row] for row in zip(*columns.values(), strict=True))
    write_text(path, stream.getvalue())


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    # A text that has the apostrophe already gets a second one, so that reading gives it back.
    return str(value) if isinstance(value, int) else f"'{value}" if value.startswith("'") else csv_name(value)


def _write_parquet(path: str | os.PathLike[str], columns: Mapping[str, Sequence[Any]]) -> None:
    import pyarrow as pa
    from pyarrow import parquet

    kinds = {name: pa.float64() if kind is float else pa.int64() for name, kind in _NUMBERS.items()}
    kinds |= dict.fromkeys(_FLAGS, pa.bool_()) | dict.fromkeys(_TEXTS, pa.string())
    arrays = {}
    for name, values in columns.items():
        whole = bool(len(values)) and all(isinstance(value, int) for value in values)
        kind = kinds.get(name, pa.int64() if whole else pa.string())
        arrays[name] = pa.array(list(values), type=kind)
    with atomic_path(path) as temporary:
        parquet.write_table(pa.table(arrays), temporary, compression="zstd")


def read_judgement_file(path: str | os.PathLike[str]) -> dict[str, list[Any]]:
    """Read columns that `write_judgement_file` wrote, or that have at least query, item and grade.

    Returns
    -------
    dict of column name to list
        Those of `JUDGEMENT_COLUMNS` that are there; None where a cell is empty.

    Raises
    ------
    FileFormatError
        A column that is missing, a cell that is not of its column's kind; all at once.
    """
    name = Path(path).name
    if Path(path).suffix.lower() == ".parquet":
        table = ColumnTable(path, what=name)
        there = [column for column in JUDGEMENT_COLUMNS if column in table]
        columns: dict[str, list[Any]] = table.plain(there)
    else:
        read = read_csv_columns(path)
        columns = {column: _read_cells(values) for column, values in read.items() if column in JUDGEMENT_COLUMNS}
    problems = Problems(name)
    for column in ("query", "item", "grade"):
        if column not in columns:
            problems.add(f"no column {column!r}; query, item and grade are needed")
    for column, values in columns.items():
        columns[column] = _checked(column, values, problems)
    problems.raise_if_any(FileFormatError)
    return columns


def _read_cells(values: Sequence[Any]) -> list[Any]:
    return [_unquoted(value) if isinstance(value, str) else value for value in values]


def _unquoted(text: str) -> str | None:
    if text.startswith("'") and (text[1:].startswith("'") or csv_name(text[1:]) == text):
        return text[1:]
    return text or None


def _checked(column: str, values: list[Any], problems: Problems) -> list[Any]:
    made = []
    for line, value in enumerate(values, start=1):
        try:
            made.append(_value(column, value))
        except ValueError as reason:
            problems.add(f"row {line}: {column} is {value!r}; {reason}")
    return made


def _value(column: str, value: Any) -> Any:
    if column in ("query", "item"):
        if value is None or isinstance(value, bool) or not isinstance(value, str | int):
            raise ValueError("an id is a non-empty string or an integer")
        return value
    if column in _TEXTS:
        return "" if value is None else str(value)
    if column in _FLAGS:
        known = {None: False, True: True, False: False, "true": True, "false": False}
        if value not in known:
            raise ValueError("true or false is needed")
        return known[value]
    if value is None:
        return None
    try:
        number = _NUMBERS[column](value)
    except (TypeError, ValueError, OverflowError):
        raise ValueError("a number is needed") from None
    if not math.isfinite(number):
        raise ValueError("a finite number is needed")
    return number
