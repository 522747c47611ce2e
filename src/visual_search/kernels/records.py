"""Lines of a text file to records, with NumPy alone: the plain twin of good_lines.hpp."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.kernels.bytes_in_words import PADDING, first_bytes, padded, word_at
from visual_search.kernels.decimals import numbers, whole_numbers
from visual_search.kernels.text_files import SHOWN, Fault, Layout, Problem

__all__ = ["Names", "Records", "names_of", "read_records"]

Bytes: TypeAlias = npt.NDArray[np.uint8]
Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Hashes: TypeAlias = npt.NDArray[np.uint64]

# Names up to this long are rows of a matrix; a longer one is kept by itself.
_WIDE = 64


@dataclass(frozen=True, slots=True, eq=False)
class Names:
    """Names as they stand in a block, and a hash of each.

    Attributes
    ----------
    short : array of bytes strings, shape (n,)
        The first `_WIDE` bytes of each.
    long : dict
        The whole of those that have more, by place.
    hashes : uint64 array of shape (n,)
        Equal for equal names.
    """

    short: npt.NDArray[np.bytes_]
    long: dict[int, bytes]
    hashes: Hashes

    def __getitem__(self, place: int) -> bytes:
        return self.long.get(place) or bytes(self.short[place])


@dataclass(frozen=True, slots=True, eq=False)
class Records:
    """The good lines of a block.

    Attributes
    ----------
    line : int64 array of shape (n,)
        Number of each line in the block, from 0.
    query_changes : int64 array of shape (changes,)
        Records whose query differs from the one before, the first among them.
    queries : list of bytes
        The queries that begin there.
    items : Names
        Item of each record.
    values : float64 array of shape (n,)
        Score or grade of each record.
    ranks : int64 array of shape (n,) or None
        The rank column; None where there is none, or where it is not made of whole numbers.
    lines : int
        All lines of the block, good or not.
    problems : list of Problem
        The first `SHOWN` of the lines that are not good, numbered from 1 in the block.
    problem_count : int
        How many there are.
    """

    line: Int64Array
    query_changes: Int64Array
    queries: list[bytes]
    items: Names
    values: FloatArray
    ranks: Int64Array | None
    lines: int
    problems: list[Problem]
    problem_count: int


def read_records(block: Bytes, layout: Layout) -> Records:
    """Take a block of whole lines apart.

    White space parts the fields, or single tabs where that makes another number of them; a line ends at byte 10;
    empty lines and lines that begin with ``#`` are passed over. A line is bad when it is not UTF-8, has another
    number of fields, or its number is none or not finite.
    """
    block = padded(block)
    newline = np.flatnonzero(block == 10)
    count = len(layout.columns)
    begin, end, line, faults = _fields(block, newline, count, _not_text(block, newline))
    values, bad = numbers(block, begin[:, layout.value_column], end[:, layout.value_column])
    if bad:
        good = np.ones(len(line), dtype=np.bool_)
        for place, text in bad:
            faults.append(Problem(int(line[place]), Fault.NUMBER, 0, text[:320]))
            good[place] = False
        begin, end, line, values = begin[good], end[good], line[good], values[good]
    query, item = (layout.columns.index(name) for name in ("query", "item"))
    rank = layout.columns.index("rank") if "rank" in layout.columns else None
    queries = _names(block, begin[:, query], end[:, query])
    changes = _changes(queries)
    first = sorted(faults)[:SHOWN]
    return Records(
        line,
        changes,
        [queries[place] for place in changes.tolist()],
        _names(block, begin[:, item], end[:, item]),
        values,
        None if rank is None else whole_numbers(block, begin[:, rank], end[:, rank]),
        len(newline),
        [problem._replace(line=problem.line + 1) for problem in first],
        len(faults),
    )


def _fields(
    block: Bytes, newline: Int64Array, count: int, strange: dict[int, int]
) -> tuple[Int64Array, Int64Array, Int64Array, list[Problem]]:
    """Begin and end of each field of the lines that have so many, their numbers, and what is wrong with the others."""
    space = (block == 32) | (block - np.uint8(9) < 5)
    edge = np.empty(len(block), dtype=np.bool_)
    edge[0] = not space[0]
    np.not_equal(space[1:], space[:-1], out=edge[1:])
    edges = np.flatnonzero(edge)
    if len(edges) == 2 * count * len(newline) and not strange:
        # The usual block: every line has as many fields as it should, which two comparisons show.
        table = edges.reshape(len(newline), 2 * count)
        whole = bool((table[:, -1] <= newline).all() and (table[1:, 0] > newline[:-1]).all())
        if whole and not (block[table[:, 0]] == ord("#")).any():
            return table[:, 0::2], table[:, 1::2], np.arange(len(newline)), []
    begins, ends = edges[0::2], edges[1::2]
    first = np.searchsorted(begins, np.concatenate(([0], newline[:-1] + 1)))
    found = np.diff(np.append(first, len(begins)))
    line = np.flatnonzero(found)
    line = line[block[begins[first[line]]] != ord("#")]
    faults = [Problem(number, Fault.ENCODING, strange[number] + 1) for number in line.tolist() if number in strange]
    line = line[~np.isin(line, list(strange))]
    fits = found[line] == count
    tabbed = []
    for number in line[~fits].tolist():
        start = _line_begin(newline, number)
        text = block[start : newline[number]].tobytes()
        bounds = _tabbed(text, count)
        if bounds is None:
            faults.append(Problem(number, Fault.COLUMNS, int(found[number]), text.strip()[:320]))
        else:
            tabbed.append((number, [(start + low, start + high) for low, high in bounds]))
    line = line[fits]
    chosen = first[line, None] + np.arange(count)
    begin, end = begins[chosen], ends[chosen]
    if tabbed:
        bounds_of = np.array([bounds for _, bounds in tabbed])
        line = np.concatenate((line, [number for number, _ in tabbed]))
        order = np.argsort(line)
        begin = np.concatenate((begin, bounds_of[:, :, 0]))[order]
        end = np.concatenate((end, bounds_of[:, :, 1]))[order]
        line = line[order]
    return begin, end, line, faults


def _line_begin(newline: Int64Array, number: int) -> int:
    return int(newline[number - 1]) + 1 if number else PADDING


def _tabbed(text: bytes, count: int) -> list[tuple[int, int]] | None:
    """Bounds of the fields between single tabs, white space at their ends left out; None if they are not so many."""
    fields = text.split(b"\t")
    if len(fields) != count or not all(field.strip() for field in fields):
        return None
    bounds, start = [], 0
    for field in fields:
        low = start + len(field) - len(field.lstrip())
        bounds.append((low, low + len(field.strip())))
        start += len(field) + 1
    return bounds


def _not_text(block: Bytes, newline: Int64Array) -> dict[int, int]:
    """Lines that are not UTF-8 or hold a zero byte, and where in the line that shows."""
    odd = np.flatnonzero(block - np.uint8(1) >= 127)
    if not len(odd):
        return {}
    bad = {}
    for number in np.unique(np.searchsorted(newline, odd)).tolist():
        text = block[_line_begin(newline, number) : newline[number]].tobytes()
        until = _utf8_until(text)
        zero = text.find(b"\0")
        if until < len(text) or zero >= 0:
            bad[number] = min(until, zero) if zero >= 0 else until
    return bad


def _utf8_until(text: bytes) -> int:
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return error.start
    return len(text)


def _names(block: Bytes, begin: Int64Array, end: Int64Array) -> Names:
    length = end - begin
    width = -(-min(int(length.max(initial=1)), _WIDE) // 8)
    words = np.empty((len(begin), width), dtype="<u8")
    for word in range(width):
        words[:, word] = word_at(block, begin + 8 * word) & first_bytes(np.clip(length - 8 * word, 0, 8))
    # Words of zeros add nothing, so that a name has one hash however wide its block is.
    hashes = np.zeros(len(begin), dtype=np.uint64)
    for word in range(width):
        part = words[:, word] ^ (words[:, word] >> np.uint64(29))
        part *= np.uint64(0x9E3779B97F4A7C15 + 2 * word)
        hashes += part ^ (part >> np.uint64(32))
    hashes *= np.uint64(0xBF58476D1CE4E5B9)
    long = {}
    for place in np.flatnonzero(length > _WIDE).tolist():
        long[place] = block[begin[place] : end[place]].tobytes()
        hashes[place] = int.from_bytes(hashlib.blake2b(long[place], digest_size=8).digest(), "little")
    return Names(words.view(f"S{8 * width}")[:, 0], long, hashes)


def names_of(texts: Sequence[str]) -> tuple[Names, npt.NDArray[np.bool_]]:
    """Names of given texts, and which of them can stand in a file at all: not empty, UTF-8, without a zero."""
    possible = np.ones(len(texts), dtype=np.bool_)
    joined = "".join(texts)
    if joined.isascii():
        code = joined.encode()
        length = np.fromiter(map(len, texts), dtype=np.int64, count=len(texts))
    else:
        encoded = [text.encode("utf-8", "replace") for text in texts]
        possible[:] = [each.decode() == text for each, text in zip(encoded, texts, strict=True)]
        code = b"".join(encoded)
        length = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
    if b"\0" in code:
        possible &= np.array(["\0" not in text for text in texts], dtype=np.bool_)
    end = np.cumsum(length) + PADDING
    block = padded(np.frombuffer(code, dtype=np.uint8))
    return _names(block, end - length, end), possible & (length > 0)


def _changes(names: Names) -> Int64Array:
    """Places whose name differs from the one before; equal hashes are looked at byte by byte."""
    if not len(names.short):
        return np.zeros(0, dtype=np.int64)
    changed = np.ones(len(names.short), dtype=np.bool_)
    np.not_equal(names.short[1:], names.short[:-1], out=changed[1:])
    for place in names.long:
        changed[place] = place == 0 or names[place] != names[place - 1]
        if place + 1 < len(changed):
            changed[place + 1] = names[place + 1] != names[place]
    return np.flatnonzero(changed)
