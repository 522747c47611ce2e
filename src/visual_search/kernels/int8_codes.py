"""Vectors as int8 codes with what bounds their products: the shapes that both screens share.

A vector z is i / b + e: the codes i are whole numbers of -127 to 127, b = 127 / max|z|. By the Cauchy-Schwarz
inequality |<q, z> - <i_q, i_z> / (b_q b_z)| <= |i_q / b_q| |e_z| + |e_q| |z|, and the product of the codes is an
integer without error.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["PANEL_ROWS", "Candidates", "CodedQueries", "PackedRows", "coded_queries", "growth", "room_for"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]
Float32Array: TypeAlias = npt.NDArray[np.float32]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]

PANEL_ROWS = 32
_SLACK = 1e-10  # more than the float64 arithmetic of a query's own facts can err


@dataclass(frozen=True, slots=True)
class PackedRows:
    """Rows in panels of 32: four codes of each row, then the next four of each.

    Parameters
    ----------
    count, dimension : int
    codes : int8 array
    half_square : float32 array
        b |z|^2 / 2, not above.
    inverse : float32 array
        b.
    error : float32 array
        b |e| and all roundings, not below.
    length : float32 array
        b |z|, not below.
    bias : int32 array
        - 128 times the sum of the codes.
    """

    count: int
    dimension: int
    codes: npt.NDArray[np.int8]
    half_square: Float32Array
    inverse: Float32Array
    error: Float32Array
    length: Float32Array
    bias: npt.NDArray[np.int32]

    @classmethod
    def empty(cls, count: int, dimension: int) -> PackedRows:
        """Room for rows; what fills the last panel can be of no answer."""
        room = -(-count // PANEL_ROWS) * PANEL_ROWS
        codes = np.empty(room * -(-dimension // 4) * 4, dtype=np.int8)
        half_square, inverse, error, length = (np.empty(room, dtype=np.float32) for _ in range(4))
        bias = np.empty(room, dtype=np.int32)
        packed = cls(count, dimension, codes, half_square, inverse, error, length, bias)
        for array in packed.arrays:
            array[len(array) // room * (room - PANEL_ROWS) :] = 1
        return packed

    def beginning(self, count: int) -> PackedRows:
        """Room for the first so many rows, in the same memory."""
        room = -(-count // PANEL_ROWS) * PANEL_ROWS
        whole = len(self.inverse)
        return PackedRows(count, self.dimension, *(array[: len(array) // whole * room] for array in self.arrays))

    @property
    def arrays(self) -> tuple[npt.NDArray[Any], ...]:
        """The arrays in order."""
        return self.codes, self.half_square, self.inverse, self.error, self.length, self.bias

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return sum(array.nbytes for array in self.arrays)


@dataclass(frozen=True, slots=True)
class CodedQueries:
    """Queries of a screen.

    Parameters
    ----------
    dimension : int
        d.
    most : {127, 63}
        The largest size that a code can have.
    codes : uint8 array of shape (queries, 4 ceil(d / 4))
        i + most + 1.
    scale : float64 array of shape (queries,)
        1 / b.
    size : float64 array of shape (queries,)
        |i / b|, not below.
    squares : float64 arrays of shape (queries,)
        |q|^2, not above and not below.
    ratio : float64 array of shape (queries,)
        |e| / size, not below.
    """

    dimension: int
    most: int
    codes: npt.NDArray[np.uint8]
    scale: FloatArray
    size: FloatArray
    squares: tuple[FloatArray, FloatArray]
    ratio: FloatArray


@dataclass(frozen=True, slots=True)
class Candidates:
    """Rows that may be among the k nearest.

    Parameters
    ----------
    rows : int64 array of shape (found,)
        Of the first query, of the second, ...; of each in their order.
    query_of : int64 array of shape (found,)
        Numbers of their queries.
    counts : int64 array of shape (queries,)
    full : bool array of shape (queries,)
        Queries for which there was no room; they have no candidates here and need another way.
    supposed : float64 array of shape (queries,)
        What the screened value of each k-th row is supposed not to be above: where it is, rows may be missing.
        Infinite where nothing was supposed that left out a row.
    """

    rows: Int64Array
    query_of: Int64Array
    counts: Int64Array
    full: BoolArray
    supposed: FloatArray


def growth(d: int) -> float:
    """Several times the relative error of a float32 sum of d squares."""
    return 4 * (d + 8) * 2.0**-24


def room_for(k: int) -> int:
    """Candidates of a query that are kept before it is given up."""
    return max(8192, 16 * k)


def coded_queries(
    dimension: int, most: int, codes: npt.NDArray[np.uint8], scale: FloatArray, sums: FloatArray
) -> CodedQueries:
    """Codes with the bounds that follow from their sums.

    Parameters
    ----------
    dimension, most, codes, scale
        As for `CodedQueries`.
    sums : float64 array of shape (queries, 3)
        Of the squares of the query, of its codes and of what they leave over.
    """
    squares, size, error = sums.T
    size = np.sqrt(size) * scale * (1 + _SLACK)
    error = np.sqrt(error) * (1 + _SLACK) + _SLACK * np.sqrt(squares)
    ratio = error / np.where(size > 0, size, 1)
    own = squares * (1 - _SLACK), squares * (1 + _SLACK)
    return CodedQueries(dimension, most, codes, scale, size, own, ratio)
