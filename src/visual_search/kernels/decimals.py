"""Decimal numbers in text, many at once: eight digits are one word, and three products make a number of it."""

from __future__ import annotations

import re
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.kernels.bytes_in_words import first_bytes, word_at

__all__ = ["numbers", "whole_numbers"]

Bytes: TypeAlias = npt.NDArray[np.uint8]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Words: TypeAlias = npt.NDArray[np.uint64]

_LARGEST_RANK = 1_000_000_009
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_POWERS = np.array([float(f"1e{power}") for power in range(17)])
_CAST_WIDTH = 32

_U = np.uint64
_ZEROS = _U(0x3030303030303030)
_POINTS = _U(0x2E2E2E2E2E2E2E2E)
_ONES = _U(0x0101010101010101)
_TOPS = _U(0x8080808080808080)


def numbers(block: Bytes, begin: Int64Array, end: Int64Array) -> tuple[FloatArray, list[tuple[int, bytes]]]:
    """Value of each field of a padded block, and those that are no finite number as (place, text).

    A number is ``[+-] digits [. digits] [e [+-] digits]`` with a digit before the e, and its value the nearest double.
    """
    values, simple = _plain_decimals(block, begin, end)
    bad: list[tuple[int, bytes]] = []
    left = np.flatnonzero(~simple)
    if len(left) > 64:
        left = left[~_cast(block, begin, end, left, values)]
    for place in left.tolist():
        text = block[begin[place] : end[place]].tobytes()
        values[place] = float(text) if _NUMBER.fullmatch(text) else np.nan
        if not np.isfinite(values[place]):
            bad.append((place, text))
    return values, bad


def whole_numbers(block: Bytes, begin: Int64Array, end: Int64Array) -> Int64Array | None:
    """Whole numbers of a padded block, up to `_LARGEST_RANK`; None where any field is something else."""
    length = end - begin
    if int(length.max(initial=1)) <= 8:
        values, good = _eight_digits(_last_bytes(block, end, length))
        return values.astype(np.int64) if good.all() else None
    texts = [block[low:high].tobytes() for low, high in zip(begin.tolist(), end.tolist(), strict=True)]
    whole = [int(text) if text.isdigit() else -1 for text in texts]
    return np.array(whole, dtype=np.int64) if all(0 <= number <= _LARGEST_RANK for number in whole) else None


def _plain_decimals(block: Bytes, begin: Int64Array, end: Int64Array) -> tuple[FloatArray, BoolArray]:
    """Values of the fields that are a sign and at most 16 digits and point, and which fields these are.

    Where the digits make an integer of at most 53 bits, one division of exact doubles gives the nearest double.
    """
    first = block[begin]
    minus = first == ord("-")
    length = end - begin - (minus | (first == ord("+")))
    late = _last_bytes(block, end, np.minimum(length, 8))
    late, late_point, late_fraction = _without_point(late)
    if int(length.max(initial=1)) > 8:
        early = _last_bytes(block, end - 8, np.clip(length - 8, 0, 8))
        # Without its point the late word has room for the last digit of the early one.
        carried = (early >> _U(56)) - _U(0x30)
        late = np.where(late_point, late + carried, late)
        early = np.where(late_point, (early << _U(8)) | _U(0x30), early)
        early, early_point, early_fraction = _without_point(early)
        high, high_good = _eight_digits(early)
    else:
        high, high_good = np.zeros_like(late), np.ones(len(late), dtype=np.bool_)
        early_point, early_fraction = np.zeros(len(late), dtype=np.bool_), np.zeros_like(late)
    low, low_good = _eight_digits(late)
    digits = high * _U(100_000_000) + low
    fraction = np.where(early_point, early_fraction + _U(8), late_fraction)
    points = early_point.astype(np.int64) + late_point
    simple = low_good & high_good & (length <= 16) & (length > points) & (points <= 1) & (digits <= _U(1 << 53))
    values = digits / _POWERS[np.where(simple, fraction, 0)]
    return np.where(minus, -values, values), simple


def _last_bytes(block: Bytes, end: Int64Array, count: Int64Array) -> Words:
    """The last so many bytes before each end, at most 8, as the high bytes of a word; zeros as digits below them."""
    kept = ~first_bytes(8 - count)
    return (word_at(block, end - 8) & kept) | (_ZEROS & ~kept)


def _without_point(word: Words) -> tuple[Words, BoolArray, Words]:
    """The word with its first point taken out and what is before it moved up.

    And whether there was one, and how many bytes come after it.
    """
    other = word ^ _POINTS
    found = (other - _ONES) & ~other & _TOPS
    found &= ~found + _U(1)  # the lowest, should there be several
    there = found != 0
    through = (found << _U(1)) - _U(1)  # its byte and all before it
    after = word & ~through
    moved = after | ((word & (through >> _U(8))) << _U(8)) | _U(0x30)
    fraction = ((~through & _ONES) * _ONES) >> _U(56)
    return np.where(there, moved, word), there, np.where(there, fraction, _U(0))


def _eight_digits(word: Words) -> tuple[Words, BoolArray]:
    """The number that eight digits make, the first in the lowest byte; and whether they are digits."""
    digit = word - _ZEROS
    good = ((digit | (digit + _U(0x7676767676767676))) & _TOPS) == 0
    pairs = (digit * _U(2561)) >> _U(8) & _U(0x00FF00FF00FF00FF)
    fours = (pairs * _U(6553601)) >> _U(16) & _U(0x0000FFFF0000FFFF)
    return (fours * _U(42949672960001)) >> _U(32), good


def _cast(block: Bytes, begin: Int64Array, end: Int64Array, places: Int64Array, values: FloatArray) -> BoolArray:
    """Read many numbers at once where they are written with digits, signs, points and e only; tell which were."""
    length = end[places] - begin[places]
    width = min(int(length.max()), _CAST_WIDTH)
    usual = np.zeros(256, dtype=np.bool_)
    usual[list(b"0123456789+-.eE\0")] = True
    inside = np.arange(width) < length[:, None]
    rows = np.where(inside, block[np.minimum(begin[places, None] + np.arange(width), len(block) - 1)], 0)
    chosen = usual[rows].all(axis=1) & (length <= width)
    done = np.zeros(len(places), dtype=np.bool_)
    try:
        with np.errstate(over="ignore"):
            found = np.ascontiguousarray(rows[chosen]).view(f"S{width}")[:, 0].astype(np.float64)
    except ValueError:  # one of them is not well formed, so all are looked at singly
        return done
    good = np.isfinite(found)
    where = np.flatnonzero(chosen)[good]
    values[places[where]] = found[good]
    done[where] = True
    return done
