"""Text files as blocks of whole lines, and what is wrong with their lines."""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import IO, BinaryIO, NamedTuple, Self, TypeAlias, cast

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import FileFormatError, InputError

__all__ = [
    "LINE_LIMIT",
    "QRELS",
    "RUN",
    "SHOWN",
    "Fault",
    "Layout",
    "LongLineError",
    "Problem",
    "Source",
    "Span",
    "Table",
    "TextFile",
    "raise_problems",
]

Block: TypeAlias = npt.NDArray[np.uint8]
Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Source: TypeAlias = str | os.PathLike[str] | BinaryIO
Span: TypeAlias = tuple[int, int | None]

# A line may be this long; a file without line ends is not text, and must not fill the memory before that shows.
LINE_LIMIT = 1 << 20
BLOCK_BYTES = 1 << 20
SHOWN = 1000

_BOM = b"\xef\xbb\xbf"
_GZIP_MAGIC = b"\x1f\x8b"


class LongLineError(Exception):
    """A line that is longer than any line should be; raised and caught in this room."""


class TextFile:
    """A text file, gzip or not, or a stream of bytes, given out in blocks of whole lines.

    Gzip is known by its first bytes, not by the name. A byte order mark at the beginning is left out.
    """

    def __init__(self, source: Source) -> None:
        self._path: Path | None = None
        if isinstance(source, (str, os.PathLike)):
            self.name = os.fspath(source)
            raw = Path(source).open("rb")  # noqa: SIM115 - closed by __exit__
            packed = raw.peek(2)[:2] == _GZIP_MAGIC
            self._stream: IO[bytes] = cast(IO[bytes], _Gunzip(raw)) if packed else raw
            if not packed and raw.seekable():
                self._path = Path(source)
        elif hasattr(source, "readinto"):
            self.name = str(getattr(source, "name", "the stream"))
            self._stream = source
        else:
            raise InputError(f"{source!r}: a path or a stream of bytes is needed")
        self._owned = isinstance(source, (str, os.PathLike))
        # Whether the file can be read more than once.
        self.rewinds = self._stream.seekable()
        self._begin = self._stream.tell() if self.rewinds else 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._owned:
            self._stream.close()

    def spans(self, least_bytes: int, most: int) -> list[Span]:
        """Parts of about equal size that begin where lines do: at most so many, none much smaller than given.

        A compressed file and a stream are one part.
        """
        if self._path is None:
            return [(0, None)]
        size = self._stream.seek(0, os.SEEK_END)
        count = max(min(size // least_bytes, most), 1)
        begins = [0]
        for part in range(1, count):
            self._stream.seek(max(size * part // count, begins[-1]))
            # A line without an end makes fewer parts; the reader of its part says what is wrong with it.
            while (piece := self._stream.readline(LINE_LIMIT)) and not piece.endswith(b"\n"):
                pass
            begins.append(self._stream.tell())
        bounds = sorted({*begins, size})
        return list(pairwise(bounds)) or [(0, None)]

    def blocks(self, span: Span = (0, None)) -> Iterator[Block]:
        """Blocks of whole lines, each with its end; the last line is given one where it has none.

        A block is good until the next is asked for, since they share one buffer.

        Raises
        ------
        LongLineError
            A line is longer than `LINE_LIMIT`.
        FileFormatError
            The file is compressed and damaged.
        """
        begin, end = span
        if self._path is not None:
            with self._path.open("rb") as stream:
                stream.seek(begin)
                yield from self._whole_lines(stream, None if end is None else end - begin, at_begin=begin == 0)
        else:
            if self.rewinds:
                self._stream.seek(self._begin)
            yield from self._whole_lines(self._stream, None, at_begin=True)

    def _whole_lines(self, stream: IO[bytes], left: int | None, *, at_begin: bool) -> Iterator[Block]:
        buffer = bytearray(BLOCK_BYTES + LINE_LIMIT + 1)
        view = np.frombuffer(buffer, dtype=np.uint8)
        kept = 0
        while read := self._read(stream, memoryview(buffer)[kept:], left):
            left = None if left is None else left - read
            filled = kept + read
            stop = buffer.rfind(b"\n", kept, filled) + 1
            if stop:
                yield view[len(_BOM) if at_begin and buffer.startswith(_BOM) else 0 : stop]
                at_begin = False
            elif filled > LINE_LIMIT:
                raise LongLineError
            kept = filled - stop
            buffer[:kept] = buffer[stop:filled]
        if kept:
            buffer[kept : kept + 1] = b"\n"
            yield view[len(_BOM) if at_begin and buffer.startswith(_BOM) else 0 : kept + 1]

    def _read(self, stream: IO[bytes], room: memoryview, left: int | None) -> int:
        wanted = BLOCK_BYTES if left is None else min(BLOCK_BYTES, left)
        try:
            return int(stream.readinto(room[:wanted]) or 0)  # type: ignore[attr-defined]
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise FileFormatError(f"{self.name}: a damaged gzip file ({error}); copy it again") from error


class _Gunzip(gzip.GzipFile):
    """A gzip reader that closes the file below it too."""

    def __init__(self, packed: IO[bytes]) -> None:
        super().__init__(fileobj=packed, mode="rb")
        self._packed = packed

    def close(self) -> None:
        super().close()
        self._packed.close()


class Fault:
    """Kinds of problems; the numbers are those of problems.hpp."""

    COLUMNS = 0
    ENCODING = 1
    NUMBER = 2
    REPEATED = 3
    TOO_LONG = 4


class Problem(NamedTuple):
    """Something wrong with a line: its number from 1, a `Fault`, and what the words need."""

    line: int
    fault: int
    number: int = 0
    text: bytes = b""
    item: bytes = b""


@dataclass(frozen=True, slots=True)
class Layout:
    """What a line of a kind of file holds."""

    columns: tuple[str, ...]
    value: str

    @property
    def value_column(self) -> int:
        """Which column has the number."""
        return self.columns.index(self.value)


RUN = Layout(("query", "Q0", "item", "rank", "score", "tag"), "score")
QRELS = Layout(("query", "iteration", "item", "grade"), "grade")


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """The lines of a file as arrays.

    Attributes
    ----------
    queries, items : list of str
        The distinct ids, in order of their first appearance.
    query, item : int64 arrays of shape (lines,)
        For each line its query and item, as places in those lists.
    value : float64 array of shape (lines,)
        Grade or score.
    rank : int64 array of shape (lines,) or None
        A run's rank column; None where it is not made of whole numbers.
    """

    queries: list[str]
    items: list[str]
    query: Int64Array
    item: Int64Array
    value: FloatArray
    rank: Int64Array | None

    def __len__(self) -> int:
        return len(self.value)


# Bad lines of one kind that are shown.
_EXAMPLES = 2


def raise_problems(name: str, found: Sequence[Problem], total: int, layout: Layout, *, empty: bool) -> None:
    """Raise one error that lists the problems of a file, or do nothing if there is none.

    Parameters
    ----------
    name : str
        The file.
    found : sequence of Problem
        The first of them, by line.
    total : int
        How many there are.
    layout : Layout
        What a good line looks like.
    empty : bool
        Whether no line was good.
    """
    row = " ".join(layout.columns)
    if not total:
        if empty:
            raise FileFormatError(f"{name}: no lines; each line should hold {row}")
        return
    lines = [f"{name}: {total} problem{'s' if total > 1 else ''}"]
    shown: list[Problem] = []
    others: list[int] = []
    for problem in found:
        if sum(one.fault == problem.fault for one in shown) < _EXAMPLES:
            shown.append(problem)
        else:
            others.append(problem.line)
    lines += [f"  - line {problem.line}: {_words(problem, row, layout)}" for problem in shown]
    if others:
        lines.append(f"  - and of the kinds above: line{'s' if len(others) > 1 else ''} {_ranges(others)}")
    if total > len(found):
        lines.append(f"  ... and {total - len(found)} more after line {found[-1].line}")
    raise FileFormatError("\n".join([*lines, *_likely_cause(name, found, layout)]))


def _ranges(rising: Sequence[int]) -> str:
    """Numbers in words, runs of them as their ends.

    >>> _ranges([3, 5, 6, 7, 9])
    '3, 5-7, 9'
    """
    runs: list[list[int]] = []
    for number in rising:
        if runs and number <= runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(first) if first == last else f"{first}-{last}" for first, last in runs)


def _likely_cause(name: str, found: Sequence[Problem], layout: Layout) -> list[str]:
    """What the wrong lines look like, if they look like something that is often given in their place."""
    wrong = [problem for problem in found if problem.fault == Fault.COLUMNS]
    if not wrong or wrong[0] is not found[0]:
        return []
    other = QRELS if layout == RUN else RUN
    if all(problem.number == len(other.columns) for problem in wrong):
        kind = "qrels" if other == QRELS else "a run"
        return [f"{name}: these lines look like {kind}: are the two files exchanged?"]
    if all(problem.number == 1 and b"," in problem.text for problem in wrong):
        return [f"{name}: fields are separated by white space, not commas"]
    return []


def _words(problem: Problem, row: str, layout: Layout) -> str:
    text, item = (part.decode("utf-8", "backslashreplace")[:80] for part in (problem.text, problem.item))
    if problem.fault == Fault.TOO_LONG:
        return f"longer than {LINE_LIMIT} bytes; is this a text file?"
    if problem.fault == Fault.ENCODING:
        return f"not UTF-8 at byte {problem.number}; convert the file"
    if problem.fault == Fault.COLUMNS:
        return f"{counted(problem.number, 'field', 'fields')}, {len(layout.columns)} needed ({row}): {text!r}"
    if problem.fault == Fault.NUMBER:
        return f"{layout.value} {text!r} is not a finite number"
    return f"query {text!r}, item {item!r} was on line {problem.number} already; keep one"
