"""Rows of 0 and 1, or of -1 and 1, to 64-bit words; nothing that is no bit becomes one in silence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["BitRows", "octets_in_words", "pack_rows"]

Words: TypeAlias = npt.NDArray[np.uint64]
Int64Array: TypeAlias = npt.NDArray[np.int64]

# Elements looked at together; they and the flags made of them stay in the processor's caches.
_ELEMENTS = 1 << 17


@dataclass(frozen=True, slots=True, eq=False)
class BitRows:
    """Packed rows, and what their elements were.

    Attributes
    ----------
    words : uint64 array of shape (n, words)
        Bit set where the element was 1; the first element is the highest bit of the first byte.
    signed : bool
        Whether any element was -1.
    blank : bool
        Whether any element was 0.
    zeros : int64 array
        Rows with a 0, where there is also a -1 somewhere, or signs were said to be there; else empty.
    strange : int64 array
        Rows with anything but -1, 0 and 1.
    """

    words: Words
    signed: bool
    blank: bool
    zeros: Int64Array
    strange: Int64Array


def pack_rows(matrix: npt.NDArray[Any], *, zero_is_one: bool = False, signs: bool = False) -> BitRows:
    """Pack a matrix of numbers or truth values, one element a bit.

    Parameters
    ----------
    matrix : array of shape (n, bits)
        Booleans, integers or floats; a few hundred kilobytes are looked at at a time, and no copy is made of it.
    zero_is_one : bool
        Whether a 0 among -1 and 1 sets its bit.
    signs : bool
        Whether the elements are -1 and 1 even where there is no -1 to be seen, so that a 0 is neither.

    Examples
    --------
    >>> pack_rows(np.array([[1, -1], [0, 1]])).zeros.tolist()
    [1]
    """
    n, bits = matrix.shape
    words = np.zeros((n, max(-(-bits // 64), 1)), dtype=np.uint64)
    octets = words.view(np.uint8)[:, : -(-bits // 8)]
    if matrix.dtype == np.bool_:
        octets[:] = np.packbits(matrix, axis=1)
        return BitRows(words, signed=False, blank=not matrix.all(), zeros=_none(), strange=_none())
    step = max(_ELEMENTS // max(bits, 1), 1)
    minus = 0
    with_zeros: list[int] = []
    strange: list[Int64Array] = []
    for first in range(0, n, step):
        block = matrix[first : first + step]
        ones = block == 1
        octets[first : first + step] = np.packbits(ones, axis=1)
        below = block == -1 if block.dtype.kind != "u" else None
        negative = 0 if below is None else int(np.count_nonzero(below))
        minus += negative
        unknown = block.size - int(np.count_nonzero(ones)) - negative
        if not unknown:
            continue
        nothing = block == 0
        blank = int(np.count_nonzero(nothing))
        if blank:
            with_zeros.append(first)
        if blank < unknown:
            known = ones | nothing if below is None else ones | nothing | below
            strange.append(first + np.flatnonzero(~known.all(axis=1)))
    # Which rows they are in is asked only where a 0 is neither.
    looked_at = with_zeros if minus or signs else []
    at_zero = _joined([at + np.flatnonzero((matrix[at : at + step] == 0).any(axis=1)) for at in looked_at])
    if zero_is_one and len(at_zero):
        octets[at_zero] = np.packbits(matrix[at_zero] >= 0, axis=1)
    return BitRows(words, minus > 0, bool(with_zeros), at_zero, _joined(strange))


def octets_in_words(octets: npt.NDArray[np.uint8]) -> Words:
    """Rows of bytes as rows of 64-bit words, the last filled up with zeros; a copy only where it must be filled."""
    n, count = octets.shape
    if count % 8 == 0 and count and octets.flags.c_contiguous:
        return octets.view(np.uint64)
    words = np.zeros((n, max(-(-count // 8), 1)), dtype=np.uint64)
    words.view(np.uint8)[:, :count] = octets
    return words


def _none() -> Int64Array:
    return np.zeros(0, dtype=np.int64)


def _joined(rows: list[Int64Array]) -> Int64Array:
    return np.concatenate(rows) if rows else _none()
