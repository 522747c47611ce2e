"""TREC files: qrels (``query iteration item grade``) and runs (``query Q0 item rank score tag``).

Fields are parted by any white space, or by single tabs, in which case ids may contain spaces. Files may be
compressed with gzip, whatever their name. Empty lines and lines that start with ``#`` are passed over. The kernels
read them; every bad line is listed with its number.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from visual_search.errors import FileFormatError
from visual_search.formats.atomic import atomic_write
from visual_search.kernels.dispatch import kernels
from visual_search.kernels.text_files import QRELS, RUN, Table

__all__ = ["TrecTable", "read_qrels", "read_run", "write_qrels", "write_run"]

TrecTable = Table


def read_qrels(path: str | os.PathLike[str]) -> TrecTable:
    """Read judgements.

    Parameters
    ----------
    path : path
        A qrels file, plain or gzip.

    Returns
    -------
    TrecTable

    Raises
    ------
    FileFormatError
        Lists every bad line with its number: a wrong number of fields, a grade that is not a finite number, a pair
        that was judged before, bytes that are not UTF-8; or there is no line at all.
    """
    return kernels().read_table(path, QRELS)


def read_run(path: str | os.PathLike[str]) -> TrecTable:
    """Read a run; parameters, errors and result as for `read_qrels`.

    The lines of a query need not be together nor in order; what orders a run is its scores, not its rank column.
    """
    return kernels().read_table(path, RUN)


def write_qrels(path: str | os.PathLike[str], rows: Iterable[tuple[object, object, float]]) -> None:
    """Write ``(query, item, grade)`` rows, parted by tabs, whole or not at all."""
    with atomic_write(path) as stream:
        for query, item, grade in rows:
            text = int(grade) if grade == int(grade) else repr(float(grade))
            stream.write(f"{_field(query)}\t0\t{_field(item)}\t{text}\n".encode())


def write_run(
    path: str | os.PathLike[str], rows: Iterable[tuple[object, object, int, float]], *, tag: str = "visual-search"
) -> None:
    """Write ``(query, item, rank, score)`` rows, parted by tabs, whole or not at all; scores read back exactly."""
    with atomic_write(path) as stream:
        for query, item, rank, score in rows:
            stream.write(f"{_field(query)}\tQ0\t{_field(item)}\t{rank}\t{float(score)!r}\t{tag}\n".encode())


def _field(value: object) -> str:
    text = str(value)
    if text != text.strip() or any(letter in text for letter in "\t\r\n") or text.startswith("#"):
        raise FileFormatError(
            f"id {text!r} cannot be written to a TREC file: tabs, line ends, outer spaces, leading #"
        )
    return text
