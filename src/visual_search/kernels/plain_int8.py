"""Packing rows and screening them with NumPy alone: for comparison; float32 products of FAISS are faster than this."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.kernels.int8_codes import (
    PANEL_ROWS,
    Candidates,
    CodedQueries,
    PackedRows,
    coded_queries,
    growth,
    room_for,
)

__all__ = ["RowScreen", "code_queries", "pack_rows"]

Float32Array: TypeAlias = npt.NDArray[np.float32]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]

_LANES = 16


def pack_rows(
    rows: Float32Array, centre: Float32Array, *, into: PackedRows | None = None, threads: int | None = None
) -> PackedRows:
    """Int8 codes of rows less a centre, with bounds of what that loses.

    Parameters
    ----------
    rows : float32 array of shape (n, d)
        Numbers that are not finite give lengths that are not.
    centre : float32 array of shape (d,)
    into : PackedRows, optional
        Whose memory to use; it has room for as many rows.
    threads : int, optional
        Without the compiled kernels it is one anyway.

    Returns
    -------
    PackedRows
    """
    del threads
    n, d = rows.shape
    packed = PackedRows.empty(n, d) if into is None else into.beginning(n)
    z = np.zeros((n, -(-d // _LANES) * _LANES), dtype=np.float32)
    z[:, :d] = rows - centre
    most = np.abs(z).max(axis=1)
    with np.errstate(divide="ignore"):
        b = np.where(most > 0, np.minimum(np.float32(127) / most, np.float32(1e30)), np.float32(1))
    t = z * b[:, None]
    whole = np.rint(t)
    with np.errstate(over="ignore"):  # a length beyond float32 is infinite, and its row is never excluded
        squares, left = (_lane_sums(part * part).astype(np.float64) for part in (z, t - whole))
    left = np.sqrt(left)
    codes = whole.astype(np.int64)
    more = growth(d)
    wide = b.astype(np.float64)
    packed.inverse[:n] = b
    packed.half_square[:n] = squares * wide / 2 * (1 - more)
    length = np.sqrt(squares) * wide * (1 + more)
    packed.error[:n] = left * (1 + more) + 2.0**-21 * (length + 1 + 2 * left)  # |i| is not above length + left
    packed.length[:n] = length
    packed.bias[:n] = -128 * codes.sum(axis=1)
    panels = packed.codes.reshape(-1, -(-d // 4), PANEL_ROWS, 4)
    filled = np.zeros((len(panels) * PANEL_ROWS, panels.shape[1] * 4), dtype=np.int8)
    filled[:n] = codes[:, : filled.shape[1]]
    panels[:] = filled.reshape(len(panels), PANEL_ROWS, panels.shape[1], 4).transpose(0, 2, 1, 3)
    return packed


def _lane_sums(terms: Float32Array) -> Float32Array:
    """Sums in sixteen lanes that are then folded: the order of the compiled twin."""
    lanes = np.zeros((len(terms), _LANES), dtype=np.float32)
    for first in range(0, terms.shape[1], _LANES):
        lanes += terms[:, first : first + _LANES]
    half = _LANES // 2
    while half:
        lanes[:, :half] += lanes[:, half : 2 * half]
        half //= 2
    return lanes[:, 0]


def code_queries(queries: FloatArray, most: int = 127, *, threads: int | None = None) -> CodedQueries:
    """Codes of float64 queries.

    Parameters
    ----------
    queries : float64 array of shape (n, d)
    most : {127, 63}
        As for `CodedQueries`; what the kernels' ``largest_code`` says.
    threads : int, optional
        Without the compiled kernels it is one anyway.

    >>> coded = code_queries(np.array([[127.0, -63.4]]))
    >>> coded.codes[0].tolist(), coded.scale.tolist(), bool(0.4 / 142 < coded.ratio[0] < 0.4 / 141)
    ([255, 65, 128, 128], [1.0], True)
    """
    del threads
    n, d = queries.shape
    codes = np.full((n, -(-d // 4) * 4), most + 1, dtype=np.uint8)
    largest = np.abs(queries).max(axis=1)
    inverse = np.minimum(most / np.where(largest > 0, largest, most), 1e30)
    scale = 1 / inverse
    whole = np.rint(queries * inverse[:, None])
    codes[:, :d] = whole + (most + 1)
    rest = queries - whole * scale[:, None]
    sums = np.stack([np.einsum("ij,ij->i", part, part) for part in (queries, whole, rest)], axis=1)
    return coded_queries(d, most, codes, scale, sums)


class RowScreen:
    """Rows that may be among the k nearest of each query, of all that have been seen.

    The screened value is the squared distance, or minus the product; a bound is what int8 products give and its reach,
    which no error exceeds. A row is left out when its lower bound is above the query's limit, or above what the k-th is
    supposed not to be above: the k-th least upper bound and the slack.

    Parameters
    ----------
    queries : CodedQueries
    k : int
    euclidean : bool
    threads : int, optional
        Without the compiled kernels it is one anyway.
    room : int, optional
        Candidates that are kept before a query is given up; `int8_codes.room_for` says how many otherwise. This twin
        gives up where the final candidates do not fit, the compiled one may have to before.
    supposed : float
        The share of the reach that upper bounds have. With 1 they are true and nothing is supposed. Most errors have
        random signs and are far smaller than their bound; with less than 1 fewer rows are left, and whoever uses them
        has to see whether the k-th of them is within what was supposed.
    """

    def __init__(
        self,
        queries: CodedQueries,
        k: int,
        *,
        euclidean: bool,
        threads: int | None = None,
        room: int | None = None,
        supposed: float = 1.0,
    ) -> None:
        del threads
        self._queries = queries
        self._k = k
        self._euclidean = euclidean
        self._most = (room or room_for(k)) // 2
        self._supposed = supposed
        self._limits = self._slack = np.zeros(len(queries.scale))
        self._rows = np.zeros(0, dtype=np.int64)
        self._lower = self._upper = np.zeros((len(queries.scale), 0))

    def see(self, packed: PackedRows, limits: FloatArray, slack: FloatArray, *, first: int = 0) -> None:
        """More rows.

        Parameters
        ----------
        packed : PackedRows
        limits : float64 array of shape (queries,)
            Screened values above which no row is wanted; infinity where nothing is known.
        slack : float64 array of shape (queries,)
            How far the exact distance may be from the true one, in the unit of the screened value. Neither limits nor
            slack fall from one call to the next.
        first : int
            What the first row is called, the next ones counting from it.
        """
        self._limits, self._slack = limits, slack
        lower, upper = self._bounds(packed)
        self._rows = np.concatenate((self._rows, np.arange(first, first + packed.count)))
        self._lower = np.concatenate((self._lower, lower), axis=1)
        self._upper = np.concatenate((self._upper, upper), axis=1)

    def _bounds(self, packed: PackedRows) -> tuple[FloatArray, FloatArray]:
        n, queries = packed.count, self._queries
        panels = packed.codes.reshape(-1, queries.codes.shape[1] // 4, PANEL_ROWS, 4)
        rows = panels.transpose(0, 2, 1, 3).reshape(-1, queries.codes.shape[1])[:n].astype(np.float64)
        half, b, error, length = (array[:n].astype(np.float64) for array in packed.arrays[1:5])
        dots = queries.scale[:, None] * ((queries.codes.astype(np.float64) - (queries.most + 1)) @ rows.T)
        errors = queries.size[:, None] * (error + queries.ratio[:, None] * length)
        supposed = self._supposed * errors
        if not self._euclidean:
            return _below((-dots - errors) * (1 / b)), _above((-dots + supposed) * (1 / b))
        least, most = (squares[:, None] for squares in queries.squares)
        above = half * (1 + 3 * growth(packed.dimension))
        unit = 2 / b
        return _below(least + (half - dots - errors) * unit), _above(most + (above - dots + supposed) * unit)

    def found(self) -> Candidates:
        """Of all rows that have been seen those that are left, in their order; no rows come after that."""
        found, full, supposed = [], [], []
        for lower, upper, limit, slack in zip(self._lower, self._upper, self._limits, self._slack, strict=True):
            kth = float(np.partition(upper, self._k - 1)[self._k - 1]) if self._k <= len(upper) else np.inf
            supposed.append(kth + slack if kth + slack < limit else np.inf)
            kept = np.flatnonzero(lower <= min(limit, supposed[-1]))
            full.append(len(kept) > self._most)
            found.append(self._rows[kept[:0] if full[-1] else kept])
        counts = np.array([len(rows) for rows in found])
        query_of = np.repeat(np.arange(len(counts)), counts)
        return Candidates(
            np.concatenate(found), query_of, counts, np.array(full, dtype=np.bool_), np.array(supposed)
        )


def _below(values: FloatArray) -> FloatArray:
    """Float32 numbers that are surely not above."""
    with np.errstate(over="ignore"):
        return (values - (2.0**-23 * np.abs(values) + 2.0**-149)).astype(np.float32).astype(np.float64)


def _above(values: FloatArray) -> FloatArray:
    """Float32 numbers that are surely not below."""
    return -_below(-values)
