"""The fast path: int8 products with a Cauchy-Schwarz bound, then exact distances of what the bound cannot exclude.

For each query a block gives the rows that may be among its k nearest. The k with the least upper bounds are evaluated
first; they lower what the k-th distance can be, and then only rows whose lower bound still reaches it are. A query with
too many such rows (thousands of equal rows, norms over many decades) takes the plain path.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.ground_truth.certificate import DOUBLE, SINGLE, exact_limit
from visual_search.ground_truth.gallery_blocks import Block
from visual_search.ground_truth.nearest_so_far import NearestSoFar, Pairs
from visual_search.ground_truth.plain_screen import PlainScreen, evaluate
from visual_search.ground_truth.screened_vectors import ScreenSpace
from visual_search.ground_truth.vector_checks import check_block
from visual_search.kernels.dispatch import kernels
from visual_search.kernels.int8_codes import Candidates, PackedRows, code_queries

__all__ = ["FastScreen", "pack_block"]

AnyArray: TypeAlias = npt.NDArray[Any]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]

# Beyond these norms float32 squares may overflow or vanish.
_RANGE = (1e-15, 1e15)


def pack_block(space: ScreenSpace, block: Block, *, threads: int) -> PackedRows:
    """Int8 codes of a block's rows; rows that may not be searched are refused."""
    if block.rows.dtype == np.float32 and space.metric != "cosine":
        packed = kernels().pack_rows(block.rows, space.centre, threads=threads)
    else:
        rows = space.rows(block.rows, SINGLE).vectors
        packed = kernels().pack_rows(rows, np.zeros_like(space.centre), threads=threads)
    if not np.isfinite(packed.length).all():
        check_block(block.rows, space.metric, what="gallery", first=block.first)
    return packed


class FastScreen:
    """Searches blocks of a gallery with the compiled int8 products.

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
        self._last: tuple[int, PackedRows] | None = None
        self._plain = PlainScreen(space, threads=threads)

    @staticmethod
    def row_bytes(gallery: AnyArray) -> int:
        """Bytes a row takes: itself, its codes, and float32 and float64 copies where it is not float32 itself."""
        width: int = gallery.shape[1]
        return width * (gallery.dtype.itemsize + 1 + (0 if gallery.dtype == np.float32 else 12)) + 24

    def search(self, block: Block, queries: AnyArray, nearest: NearestSoFar, chosen: Int64Array) -> None:
        """See a block's rows with the queries of the given numbers."""
        packed = self._packed(block)
        with np.errstate(over="ignore", invalid="ignore"):
            row_norm = float(np.max(packed.length[: packed.count] / packed.inverse[: packed.count])) * (1 + 1e-6)
        asked = self._space.queries(queries[chosen], DOUBLE)
        if not _RANGE[0] < max(row_norm, float(asked.norms.max())) < _RANGE[1]:
            self._plain.search(block, queries, nearest, chosen)
            return
        whole = self._space.whole_norm(row_norm)
        shifts = self._space.shifts(queries[chosen])
        bounds = _Bounds(self._space, asked.norms, whole, shifts)
        found = kernels().screen_rows(
            packed,
            code_queries(asked.vectors),
            bounds.limits(nearest.kth[chosen]),
            bounds.slack,
            nearest.k,
            euclidean=self._space.metric == "l2",
            threads=self._threads,
        )
        self._decide(found, bounds, block, queries, nearest, chosen)
        if found.full.any():
            self._plain.search(block, queries, nearest, chosen[found.full])

    def _packed(self, block: Block) -> PackedRows:
        kept = self._kept.get(block.first)
        if kept is not None and kept.count == len(block.rows):
            return kept
        if self._last is None or self._last[0] != block.first:
            self._last = block.first, pack_block(self._space, block, threads=self._threads)
        return self._last[1]

    def _decide(
        self,
        found: Candidates,
        bounds: _Bounds,
        block: Block,
        queries: AnyArray,
        nearest: NearestSoFar,
        chosen: Int64Array,
    ) -> None:
        """Evaluate the likeliest, then what their k-th distance leaves."""
        local = np.repeat(np.arange(len(chosen)), found.counts)
        place = np.arange(len(local)) - np.repeat(np.cumsum(found.counts) - found.counts, found.counts)
        first = place < nearest.k
        likely = self._evaluated(first, local, found, block, queries, nearest, chosen)
        kth = nearest.kth[chosen]
        enough = found.counts >= nearest.k
        at = np.cumsum(np.minimum(found.counts, nearest.k))[enough] - nearest.k
        if len(at):
            worst = np.maximum.reduceat(likely.distances, np.stack((at, at + nearest.k), axis=1).ravel()[:-1])[::2]
            kth = kth.copy()
            kth[enough] = np.minimum(kth[enough], worst)
        left = ~first & (found.lower <= bounds.limits(kth)[local])
        rest = self._evaluated(left, local, found, block, queries, nearest, chosen)
        near = [pairs.distances <= kth[np.searchsorted(chosen, pairs.query_of)] for pairs in (likely, rest)]
        query_of, rows, distances = (
            np.concatenate([getattr(pairs, name)[kept] for pairs, kept in zip((likely, rest), near, strict=True)])
            for name in ("query_of", "rows", "distances")
        )
        order = np.argsort(query_of, kind="stable")
        nearest.add(Pairs(query_of[order], rows[order], distances[order]))

    def _evaluated(
        self,
        which: BoolArray,
        local: Int64Array,
        found: Candidates,
        block: Block,
        queries: AnyArray,
        nearest: NearestSoFar,
        chosen: Int64Array,
    ) -> Pairs:
        numbers = chosen[local[which]]
        return evaluate(self._space, block, queries, nearest, numbers, found.rows[which], threads=self._threads)


class _Bounds:
    """What a k-th exact distance means for the screened value of each query."""

    def __init__(self, space: ScreenSpace, query_norms: FloatArray, whole: float, shifts: FloatArray) -> None:
        self._space = space
        self._norms = query_norms
        self._whole = whole
        self._shifts = shifts

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
