"""CSV tables in columns: comma or tab, UTF-8, a header; nothing about a cell is guessed that could change an id."""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Sequence
from pathlib import Path

from visual_search.errors import FileFormatError, Problems
from visual_search.formats.text_lines import lines_of

__all__ = ["read_csv_columns"]

# As an integer is written and read back: no sign but a minus, no leading zero, at most 18 digits.
_WHOLE = re.compile(r"-?(0|[1-9][0-9]{0,17})")


def read_csv_columns(path: str | os.PathLike[str]) -> dict[str, list[str] | list[int]]:
    r"""Read a CSV file into columns.

    Parameters
    ----------
    path : path
        UTF-8, with or without a byte order mark; the delimiter is a tab where the header has one, else a comma.

    Returns
    -------
    dict
        For each name of the header its cells: integers where every cell is one, written as integers are (``7``, not
        ``007``), so that no id loses a zero; else text as it stands.

    Raises
    ------
    FileFormatError
        Not UTF-8, no header, names that are empty or repeated, or rows of another length; all of them at once.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "items.csv"
    ...     _ = path.write_text("item,camera\n1,01\n2,02\n")
    ...     read_csv_columns(path)
    {'item': [1, 2], 'camera': ['01', '02']}
    """
    name = Path(path).name
    try:
        text = Path(path).read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as reason:
        raise FileFormatError(f"{name}: byte {reason.start} is not UTF-8; save the table as UTF-8 CSV") from None
    delimiter = "\t" if "\t" in (lines_of(text) or [""])[0] else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    problems = Problems(name)
    rows: list[list[str]] = []
    try:
        header = next(reader, [])
        for row in reader:
            if row and len(row) != len(header):
                problems.add(f"line {reader.line_num}: {len(row)} cells; the header has {len(header)}")
            elif row:
                rows.append(row)
    except csv.Error as reason:
        raise FileFormatError(f"{name}: line {reader.line_num} is not CSV: {reason}") from None
    _check_header(header, problems)
    problems.raise_if_any(FileFormatError)
    cells = zip(*rows, strict=True) if rows else ((),) * len(header)
    return {column: _typed(list(values)) for column, values in zip(header, cells, strict=True)}


def _check_header(header: Sequence[str], problems: Problems) -> None:
    if not header:
        problems.add("no header; the first line names the columns")
    if "" in header:
        problems.add(f"line 1: column {header.index('') + 1} has no name")
    twice = sorted({name for name in header if name and header.count(name) > 1})
    if twice:
        problems.add(f"line 1: {', '.join(map(repr, twice))} named more than once")


def _typed(cells: list[str]) -> list[str] | list[int]:
    return [int(cell) for cell in cells] if cells and all(map(_WHOLE.fullmatch, cells)) else cells
