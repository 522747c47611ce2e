"""The fast path: int8 products with a Cauchy-Schwarz bound, then exact distances of what the bound cannot exclude.

For each query a block gives the rows that may be among its k nearest, supposing that the k-th is within what most
errors allow, which is far less than they could be. All of them are evaluated exactly; then the k-th exact distance
proves what was supposed. A query for which it does not, or with too many such rows (thousands of equal rows, norms over
many decades), takes the plain path.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.ground_truth.certificate import DOUBLE, SINGLE, exact_limit
from visual_search.ground_truth.gallery_blocks import Block
from visual_search.ground_truth.nearest_so_far import NearestSoFar, Pairs
from visual_search.ground_truth.plain_screen import PlainScreen
from visual_search.ground_truth.screened_vectors import ScreenSpace
from visual_search.ground_truth.vector_checks import check_block
from visual_search.kernels.dispatch import kernels, largest_code
from visual_search.kernels.int8_codes import Candidates, PackedRows

__all__ = ["SUPPOSED", "FastScreen", "pack_block"]

AnyArray: TypeAlias = npt.NDArray[Any]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]

# A bound's reach over sqrt(d) is one standard deviation of errors of random signs, or more; so many are supposed to be
# enough, until this share of queries shows that they are not.
SUPPOSED = 4.0
_FAILURES = 1 / 16
# Beyond these norms float32 squares may overflow or vanish.
_RANGE = (1e-15, 1e15)
# Numbers of a portion: codes that the last cache holds; fewer where float32 and float64 copies stand beside them.
_PORTION = 1 << 23
_COPIED_PORTION = 1 << 20


def pack_block(
    space: ScreenSpace, block: Block, *, threads: int, first: int = 0, into: PackedRows | None = None
) -> PackedRows:
    """Int8 codes of a block's rows; rows that may not be searched are refused.

    Parameters
    ----------
    first : int
        Of the block's rows the first to pack, as many as ``into`` has room for.
    into : PackedRows, optional
        Whose memory to use; without it all rows are packed into new one.
    """
    rows = block.rows if into is None else block.rows[first : first + into.count]
    centre = space.centre
    if not _as_they_are(space, block):
        rows = space.rows(rows, SINGLE).vectors
        centre = np.zeros_like(centre)
    packed = kernels().pack_rows(rows, centre, into=into, threads=threads)
    if not np.isfinite(packed.length[: packed.count]).all():
        check_block(block.rows, space.metric, what="gallery", first=block.first)
    return packed


def _as_they_are(space: ScreenSpace, block: Block) -> bool:
    """Whether rows are packed without a copy."""
    return block.rows.dtype == np.float32 and space.metric != "cosine"


class FastScreen:
    """Searches blocks of a gallery with the compiled int8 products.

    A block is packed in portions, each into the memory of the one before, while the last caches hold it.

    Parameters
    ----------
    space : ScreenSpace
    threads : int
    packed : dict of int to PackedRows, optional
        Blocks that have been packed already, by their first row.
    """

    def __init__(self, space: ScreenSpace, *, threads: int, packed: dict[int, PackedRows] | None = None) -> None:
        self._space = space
        self._threads = threads
        self._kept = packed or {}
        self._memory: PackedRows | None = None
        self._plain = PlainScreen(space, threads=threads)
        self._supposed = min(1.0, SUPPOSED / space.dimension**0.5)

    @staticmethod
    def row_bytes(gallery: AnyArray) -> int:
        """Bytes a row takes: itself, and float32 and float64 copies where it is not float32 itself."""
        width: int = gallery.shape[1]
        return width * (gallery.dtype.itemsize + (0 if gallery.dtype == np.float32 else 12))

    def search(self, block: Block, queries: AnyArray, nearest: NearestSoFar, chosen: Int64Array) -> None:
        """See a block's rows with the queries of the given numbers."""
        euclidean = self._space.metric == "l2"
        asked = self._space.queries(queries if len(chosen) == len(queries) else queries[chosen], DOUBLE)
        bounds = _Bounds(self._space, asked.norms, self._space.shifts_of(asked.vectors))
        coded = kernels().code_queries(asked.vectors, largest_code(), threads=self._threads)
        screen = kernels().RowScreen(
            coded, nearest.k, euclidean=euclidean, supposed=self._supposed, threads=self._threads
        )
        largest, row_norm = float(asked.norms.max()), 0.0
        for first, packed in self._packed(block):
            with np.errstate(over="ignore", invalid="ignore"):
                lengths = packed.length[: packed.count] / packed.inverse[: packed.count]
            row_norm = max(row_norm, float(lengths.max()) * (1 + 1e-6))
            if not _RANGE[0] < max(row_norm, largest) < _RANGE[1]:
                self._plain.search(block, queries, nearest, chosen)
                return
            bounds.reach(row_norm)
            screen.see(packed, bounds.limits(nearest.kth[chosen]), bounds.slack, first=first)
        found = screen.found()
        self._evaluate(found, block, queries, nearest, chosen)
        unproven = ~(bounds.limits(nearest.kth[chosen]) <= found.supposed)
        if unproven.any():
            nearest.forget(chosen[unproven], block.first, block.first + len(block.rows))
        if unproven.mean() > _FAILURES:
            self._supposed = 1.0
        left = found.full | unproven
        if left.any():
            self._plain.search(block, queries, nearest, chosen[left])

    def _packed(self, block: Block) -> Iterator[tuple[int, PackedRows]]:
        """Portions of a block and where they begin; each is good until the next is asked for."""
        kept = self._kept.get(block.first)
        if kept is not None and kept.count == len(block.rows):
            yield 0, kept
            return
        count, d = block.rows.shape
        step = min(count, max(1, (_PORTION if _as_they_are(self._space, block) else _COPIED_PORTION) // d))
        if self._memory is None or self._memory.count < step:
            self._memory = PackedRows.empty(step, d)
        for first in range(0, count, step):
            into = self._memory.beginning(min(step, count - first))
            yield first, pack_block(self._space, block, threads=self._threads, first=first, into=into)

    def _evaluate(
        self, found: Candidates, block: Block, queries: AnyArray, nearest: NearestSoFar, chosen: Int64Array
    ) -> None:
        numbers = found.query_of if len(chosen) == len(queries) else chosen[found.query_of]
        distances = kernels().pair_distances(
            block.rows, queries, found.rows, numbers, metric=self._space.metric, threads=self._threads
        )
        nearest.evaluations[chosen] += found.counts
        rows = found.rows if block.first == 0 else found.rows + block.first
        nearest.add(Pairs(numbers, rows, distances), threads=self._threads)


class _Bounds:
    """What a k-th exact distance means for the screened value of each query."""

    def __init__(self, space: ScreenSpace, query_norms: FloatArray, shifts: FloatArray) -> None:
        self._space = space
        self._norms = query_norms
        self._shifts = shifts
        self.reach(0.0)

    def reach(self, row_norm: float) -> None:
        """Hold for rows up to this norm, an upper bound after centring; it only grows, and the bounds with it."""
        self._whole = self._space.whole_norm(row_norm)

    def limits(self, kth: FloatArray) -> FloatArray:
        """Screened value above which a row is surely further than ``kth``."""
        limits = exact_limit(
            kth, self._norms, self._whole, self._space.dimension, euclidean=self._space.metric == "l2"
        )
        return limits + self._shifts

    @property
    def slack(self) -> FloatArray:
        """How far exact and true screened values may be apart, twice."""
        error = 8 * DOUBLE.sum_error(self._space.dimension + 8)
        if self._space.metric == "l2":
            return error * (self._norms + self._whole) ** 2
        return error * self._norms * self._whole
