"""TREC files: qrels (``query iteration item grade``) and runs (``query Q0 item rank score tag``).

Fields are parted by any white space, or by single tabs, in which case ids may contain spaces. Files may be
compressed with gzip, whatever their name. Empty lines and lines that start with ``#`` are passed over. A regular
file of some size is read by Arrow's reader; anything else, and everything that reader does not like, line by line,
which is where every bad line gets its number.
"""

from __future__ import annotations

import gzip
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError, Problems
from visual_search.formats.atomic import atomic_write

__all__ = ["TrecTable", "read_qrels", "read_run", "write_qrels", "write_run"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]

# Below this size Python's own loop is done before Arrow is imported.
_ARROW_FROM_BYTES = 1 << 20
_QRELS = ("query", "iteration", "item", "grade")
_RUN = ("query", "Q0", "item", "rank", "score", "tag")


@dataclass(frozen=True, slots=True, eq=False)
class TrecTable:
    """The lines of a file as arrays.

    Attributes
    ----------
    queries, items : list of str
        The distinct ids, in order of their first appearance.
    query, item : int64 arrays of shape (lines,)
        For each line its query and item, as places in those lists.
    value : float64 array of shape (lines,)
        Grade or score.
    rank : float64 array of shape (lines,) or None
        A run's rank column, which says nothing to any measure; NaN where it is not a number.
    """

    queries: list[str]
    items: list[str]
    query: Int64Array
    item: Int64Array
    value: FloatArray
    rank: FloatArray | None

    def __len__(self) -> int:
        return len(self.value)


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
    return _read(Path(path), _QRELS, value="grade")


def read_run(path: str | os.PathLike[str], *, by_line: bool = False) -> TrecTable:
    """Read a run; parameters, errors and result as for `read_qrels`.

    The lines of a query need not be together nor in order; what orders a run is its scores, not its rank column.
    That an item is not listed twice is checked only line by line, which ``by_line`` asks for: whoever makes lists
    of the lines looks for repeats anyway, and comes back for their line numbers.
    """
    if by_line:
        return _read_lines(Path(path), _RUN, "score", packed=_is_gzip(Path(path)))
    return _read(Path(path), _RUN, value="score")


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


def _read(path: Path, columns: Sequence[str], *, value: str) -> TrecTable:
    packed = _is_gzip(path)
    table = None
    if path.stat().st_size >= _ARROW_FROM_BYTES:
        table = _read_regular(path, columns, value, packed=packed)
    return _read_lines(path, columns, value, packed=packed) if table is None else table


def _is_gzip(path: Path) -> bool:
    with path.open("rb") as stream:
        return stream.read(2) == b"\x1f\x8b"


def _opened(path: Path, *, packed: bool) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if packed else path.open("rb")


def _read_regular(path: Path, columns: Sequence[str], value: str, *, packed: bool) -> TrecTable | None:
    """Read a file whose lines are all alike; None where it is not, or holds anything that needs a second look."""
    import pyarrow as pa
    from pyarrow import csv

    with _opened(path, packed=packed) as stream:
        separator = "\t" if b"\t" in stream.readline() else " "
    coded = pa.dictionary(pa.int32(), pa.string())
    types = {"query": coded, "item": coded, value: pa.float64(), "rank": pa.float64()}
    kept = [name for name in columns if name in types]
    try:
        with pa.input_stream(str(path), compression="gzip" if packed else None) as source:
            table = csv.read_csv(
                source,
                read_options=csv.ReadOptions(column_names=list(columns), block_size=1 << 23),
                parse_options=csv.ParseOptions(delimiter=separator, quote_char=False, double_quote=False),
                convert_options=csv.ConvertOptions(
                    include_columns=kept, column_types=types, strings_can_be_null=False, null_values=[]
                ),
            )
    except (pa.ArrowInvalid, OSError, EOFError):
        return None
    return _from_arrow(table.unify_dictionaries(), value)


def _from_arrow(table: Any, value: str) -> TrecTable | None:
    names, codes = [], []
    for column in ("query", "item"):
        combined = table.column(column).combine_chunks()
        ids = combined.dictionary.to_pylist()
        if any(text != text.strip() or not text or text[0] in "#\ufeff" for text in ids):
            return None
        names.append(ids)
        codes.append(combined.indices.to_numpy().astype(np.int64))
    values = table.column(value).to_numpy()
    rank = table.column("rank").to_numpy() if "rank" in table.column_names else None
    if not len(values) or not np.isfinite(values).all():
        return None
    if rank is None and _has_repeats(codes[0] * len(names[1]) + codes[1]):
        return None
    return TrecTable(names[0], names[1], codes[0], codes[1], values, rank)


def _has_repeats(keys: Int64Array) -> bool:
    ordered = np.sort(keys)
    return bool((ordered[1:] == ordered[:-1]).any())


def _read_lines(path: Path, columns: Sequence[str], value: str, *, packed: bool) -> TrecTable:
    problems = Problems(str(path))
    reader = _LineReader(columns, value, problems)
    try:
        with _opened(path, packed=packed) as stream:
            for number, raw in enumerate(stream, 1):
                reader.take(number, raw)
    except (gzip.BadGzipFile, EOFError) as error:
        raise FileFormatError(f"{path}: a damaged gzip file ({error}); copy it again") from error
    if not reader.values and not len(problems):
        problems.add(f"no lines; each line should hold {' '.join(columns)}")
    problems.raise_if_any(FileFormatError)
    return reader.table()


class _LineReader:
    """Takes lines one by one and notes what is wrong with each."""

    def __init__(self, columns: Sequence[str], value: str, problems: Problems) -> None:
        self._columns = columns
        self._query, self._item, self._value = (columns.index(name) for name in ("query", "item", value))
        self._rank = columns.index("rank") if "rank" in columns else None
        self._problems = problems
        self._line_of_pair: dict[tuple[int, int], int] = {}
        self._queries: dict[str, int] = {}
        self._items: dict[str, int] = {}
        self._pairs: list[tuple[int, int]] = []
        self._ranks: list[float] = []
        self.values: list[float] = []

    def take(self, number: int, raw: bytes) -> None:
        """Take one line."""
        try:
            text = raw.decode("utf-8-sig" if number == 1 else "utf-8")
        except UnicodeDecodeError as error:
            self._problems.add(f"line {number}: not UTF-8 at byte {error.start + 1}; convert the file")
            return
        line = text.strip()
        if not line or line.startswith("#"):
            return
        fields = self._fields(line)
        if fields is None:
            found, wanted = len(line.split()), len(self._columns)
            self._problems.add(
                f"line {number}: {found} fields, {wanted} needed ({' '.join(self._columns)}): {line[:80]!r}"
            )
            return
        value = self._number(fields[self._value])
        if not math.isfinite(value):
            name = self._columns[self._value]
            self._problems.add(f"line {number}: {name} {fields[self._value]!r} is not a finite number")
            return
        self._keep(number, fields, value)

    def _keep(self, number: int, fields: list[str], value: float) -> None:
        query = self._queries.setdefault(fields[self._query], len(self._queries))
        item = self._items.setdefault(fields[self._item], len(self._items))
        before = self._line_of_pair.setdefault((query, item), number)
        if before != number:
            pair = f"query {fields[self._query]!r}, item {fields[self._item]!r}"
            self._problems.add(f"line {number}: {pair} was on line {before} already; keep one")
            return
        self._pairs.append((query, item))
        self.values.append(value)
        if self._rank is not None:
            self._ranks.append(self._number(fields[self._rank]))

    def _fields(self, line: str) -> list[str] | None:
        wanted = len(self._columns)
        # Single tabs part fields that may hold spaces; anything else is parted by white space of any kind.
        for fields in (line.split("\t"), line.split()):
            stripped = [field.strip() for field in fields]
            if len(stripped) == wanted and all(stripped):
                return stripped
        return None

    @staticmethod
    def _number(text: str) -> float:
        try:
            return float(text)
        except ValueError:
            return math.nan

    def table(self) -> TrecTable:
        """All lines taken."""
        pairs = np.array(self._pairs, dtype=np.int64).reshape(-1, 2)
        rank = None if self._rank is None else np.array(self._ranks, dtype=np.float64)
        values = np.array(self.values, dtype=np.float64)
        return TrecTable(
            list(self._queries), list(self._items), pairs[:, 0].copy(), pairs[:, 1].copy(), values, rank
        )
