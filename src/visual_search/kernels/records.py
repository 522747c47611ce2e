"""Lines of a text file to records, with NumPy alone: the plain twin of good_lines.hpp."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.kernels.text_files import SHOWN, Fault, Layout, Problem

__all__ = ["Names", "Records", "names_of", "read_records"]

Bytes: TypeAlias = npt.NDArray[np.uint8]
Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Hashes: TypeAlias = npt.NDArray[np.uint64]

# Names up to this long are rows of a matrix; a longer one is kept by itself.
_WIDE = 64
_NUMBER_WIDE = 32

_POWERS = np.array([float(f"1e{power}") for power in range(16)])
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_LARGEST_RANK = 1_000_000_009


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
    newline = np.flatnonzero(block == 10)
    count = len(layout.columns)
    begin, end, line, faults = _fields(block, newline, count, _not_text(block, newline))
    values, bad = _numbers(block, begin[:, layout.value_column], end[:, layout.value_column])
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
        None if rank is None else _whole_numbers(block, begin[:, rank], end[:, rank]),
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
        start = int(newline[number - 1]) + 1 if number else 0
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
        text = block[newline[number - 1] + 1 if number else 0 : newline[number]].tobytes()
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


def _matrix(block: Bytes, begin: Int64Array, length: Int64Array, width: int) -> Bytes:
    """The fields as rows, padded with zeros."""
    place = np.arange(width)
    cells = begin[:, None] + place
    if len(begin) and int(cells[-1, -1]) >= len(block):
        np.minimum(cells, len(block) - 1, out=cells)
    rows: Bytes = block[cells]
    rows *= place < length[:, None]
    return rows


def _names(block: Bytes, begin: Int64Array, end: Int64Array) -> Names:
    length = end - begin
    width = min(int(length.max(initial=1)), _WIDE)
    words = -(-width // 8)
    rows = _matrix(block, begin, length, 8 * words)
    table = rows.view(np.uint64)
    # Words of zeros add nothing, so that a name has one hash however wide its block is.
    hashes = np.zeros(len(begin), dtype=np.uint64)
    for word in range(words):
        part = table[:, word] ^ (table[:, word] >> np.uint64(29))
        part *= np.uint64(0x9E3779B97F4A7C15 + 2 * word)
        hashes += part ^ (part >> np.uint64(32))
    hashes *= np.uint64(0xBF58476D1CE4E5B9)
    long = {}
    for place in np.flatnonzero(length > _WIDE).tolist():
        long[place] = block[begin[place] : end[place]].tobytes()
        hashes[place] = int.from_bytes(hashlib.blake2b(long[place], digest_size=8).digest(), "little")
    return Names(rows.view(f"S{8 * words}")[:, 0], long, hashes)


def names_of(texts: Sequence[str]) -> tuple[Names, npt.NDArray[np.bool_]]:
    """Names of given texts, and which of them can stand in a file at all: not empty, UTF-8, without a zero."""
    encoded = [text.encode("utf-8", "replace") for text in texts]
    possible = np.array(
        [bool(code) and b"\0" not in code and code.decode() == text for code, text in zip(encoded, texts, strict=True)],
        dtype=np.bool_,
    )
    length = np.fromiter(map(len, encoded), dtype=np.int64, count=len(encoded))
    end = np.cumsum(length)
    block = np.frombuffer(b"".join(encoded) or b"\0", dtype=np.uint8)
    return _names(block, end - length, end), possible


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


def _numbers(block: Bytes, begin: Int64Array, end: Int64Array) -> tuple[FloatArray, list[tuple[int, bytes]]]:
    """Value of each field, and those that are no finite number as (place, text)."""
    length = end - begin
    width = min(int(length.max(initial=1)), _NUMBER_WIDE)
    rows = _matrix(block, begin, length, width)
    values, simple = _decimals(rows, length)
    bad: list[tuple[int, bytes]] = []
    left = np.flatnonzero(~simple)
    if len(left) > 64:
        left = left[~_cast(rows, length, left, values)]
    for place in left.tolist():
        text = block[begin[place] : end[place]].tobytes()
        values[place] = float(text) if _NUMBER.fullmatch(text) else np.nan
        if not np.isfinite(values[place]):
            bad.append((place, text))
    return values, bad


def _whole_numbers(block: Bytes, begin: Int64Array, end: Int64Array) -> Int64Array | None:
    """Whole numbers up to `_LARGEST_RANK`; None where any field is something else."""
    length = end - begin
    if int(length.max(initial=1)) > 10:  # leading zeros, or no number
        texts = [block[low:high].tobytes() for low, high in zip(begin.tolist(), end.tolist(), strict=True)]
        whole = [int(text) if text.isdigit() else -1 for text in texts]
        good = all(0 <= number <= _LARGEST_RANK for number in whole)
        return np.array(whole, dtype=np.int64) if good else None
    numbers = np.zeros(len(begin), dtype=np.int64)
    for place in range(int(length.max(initial=1))):
        inside = place < length
        digit = block[np.minimum(begin + place, len(block) - 1)] - np.uint8(48)
        if (digit[inside] > 9).any():
            return None
        numbers = np.where(inside, 10 * numbers + digit, numbers)
    return numbers if int(numbers.max(initial=0)) <= _LARGEST_RANK else None


def _decimals(rows: Bytes, length: Int64Array) -> tuple[FloatArray, npt.NDArray[np.bool_]]:
    """Values of the fields that are plain decimals of at most 15 digits, and which these are.

    Their digits make an integer below 2^53 and the power of ten is at most 15, so that one division of exact doubles
    gives the nearest double.
    """
    count, width = rows.shape
    digits = np.zeros(count, dtype=np.int64)
    fraction = np.zeros(count, dtype=np.int64)
    points = np.zeros(count, dtype=np.int64)
    inside = min(width, 17)
    for place in range(inside):
        byte = rows[:, place]
        digit = byte - np.uint8(48)
        is_digit = digit < 10
        digits *= np.where(is_digit, 10, 1)
        digits += np.where(is_digit, digit, 0)
        fraction += is_digit & (points > 0)
        points += byte == ord(".")
    signed = (rows[:, 0] == ord("-")) | (rows[:, 0] == ord("+"))
    digit_count = (rows[:, :inside] - np.uint8(48) < 10).sum(axis=1)
    simple = (digit_count > 0) & (digit_count <= 15) & (points <= 1) & (digit_count + points + signed == length)
    values = digits / _POWERS[np.minimum(fraction, 15)]
    values[rows[:, 0] == ord("-")] *= -1
    return values, simple


def _cast(rows: Bytes, length: Int64Array, places: Int64Array, values: FloatArray) -> npt.NDArray[np.bool_]:
    """Read many numbers at once where they are written with digits, signs, points and e only; tell which were."""
    table = np.zeros(256, dtype=np.bool_)
    table[list(b"0123456789+-.eE\0")] = True
    chosen = rows[places]
    usual = table[chosen].all(axis=1) & (length[places] <= rows.shape[1])
    done = np.zeros(len(places), dtype=np.bool_)
    try:
        with np.errstate(over="ignore"):
            found = np.ascontiguousarray(chosen[usual]).view(f"S{rows.shape[1]}")[:, 0].astype(np.float64)
    except ValueError:
        return done
    good = np.isfinite(found)
    where = np.flatnonzero(usual)[good]
    values[places[where]] = found[good]
    done[where] = True
    return done

