"""The plain path: float32 products with a margin, then more of them, then float64; exact distances decide.

A query is done with a block when the least of the rows that were not looked at is, by its screened value and the bound
of `certificate`, further than the k-th exact distance. Else it takes the next, wider step. The last one, float64
products of all rows, looks at whatever its bound cannot exclude and so always ends.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.ground_truth.certificate import DOUBLE, SINGLE
from visual_search.ground_truth.faiss_products import nearest_by_products
from visual_search.ground_truth.gallery_blocks import Block
from visual_search.ground_truth.nearest_so_far import NearestSoFar, Pairs
from visual_search.ground_truth.screened_vectors import Screened, ScreenSpace
from visual_search.ground_truth.vector_checks import check_block
from visual_search.kernels.dispatch import kernels
from visual_search.kernels.threads import in_threads

__all__ = ["MARGIN", "PlainScreen", "evaluate", "search_widely"]

AnyArray: TypeAlias = npt.NDArray[Any]
BoolArray: TypeAlias = npt.NDArray[np.bool_]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]

MARGIN = 16  # rows looked at beyond the k-th, at first
_WIDER = 4  # times more at the second step
# Beyond these norms float32 squares may overflow or vanish, and screening starts with float64.
_RANGE = (1e-15, 1e15)
_WIDE_ROWS = 1 << 13
_WIDE_QUERIES = 64
_LEAST_NUMBERS = 1 << 18  # less for each thread is not worth another one


class PlainScreen:
    """Searches blocks of a gallery with FAISS and NumPy.

    Parameters
    ----------
    space : ScreenSpace
    threads : int
    """

    def __init__(self, space: ScreenSpace, *, threads: int) -> None:
        self._space = space
        self._threads = threads
        self._memory: AnyArray | None = None

    @staticmethod
    def row_bytes(gallery: AnyArray) -> int:
        """Bytes a row takes: itself and its float32 copy; twice float64 where values come or go through it."""
        width: int = gallery.shape[1]
        return width * (gallery.dtype.itemsize + (16 if gallery.dtype == np.float64 else 4))

    def search(self, block: Block, queries: AnyArray, nearest: NearestSoFar, chosen: Int64Array) -> None:
        """See a block's rows with the queries of the given numbers."""
        screened = self._screened_rows(block)
        row_norm = float(screened.norms.max())
        mine = queries[chosen]
        asked = self._space.queries(mine, SINGLE)
        shifts = self._space.shifts(mine)
        largest = max(row_norm, float(asked.norms.max()))
        todo = np.arange(len(chosen))
        bounds = nearest.kth[chosen]
        if _RANGE[0] < largest < _RANGE[1]:
            for k in self._depths(nearest.k, len(block.rows)):
                part = Screened(np.ascontiguousarray(asked.vectors[todo]), asked.norms[todo])
                step = _Step(part, screened, row_norm, shifts[todo], bounds[todo])
                done, reached = self._step(step, k, block, queries, nearest, chosen[todo])
                bounds[todo] = reached
                todo = todo[~done]
                if not len(todo):
                    return
        search_widely(self._space, block, queries, nearest, chosen[todo], bounds[todo])

    def _screened_rows(self, block: Block) -> Screened:
        if self._memory is None or len(self._memory) < len(block.rows):
            self._memory = np.empty(block.rows.shape, dtype=np.float32)
        memory, count = self._memory, max(1, min(self._threads, block.rows.size // _LEAST_NUMBERS))

        def some(part: int) -> FloatArray:
            span = slice(*(len(block.rows) * at // count for at in (part, part + 1)))
            found = self._space.rows(block.rows[span], SINGLE, out=memory[span])
            if not np.may_share_memory(found.vectors, memory[span]):
                memory[span] = found.vectors
            return found.norms

        norms = np.concatenate(in_threads(some, count))
        if not np.isfinite(norms).all():
            check_block(block.rows, self._space.metric, what="gallery", first=block.first)
        return Screened(memory[: len(block.rows)], norms)

    @staticmethod
    def _depths(k: int, rows: int) -> list[int]:
        """How many rows of the block each step looks at."""
        return sorted({min(depth, rows) for depth in (k + MARGIN, _WIDER * (k + MARGIN))})

    def _step(
        self, step: _Step, depth: int, block: Block, queries: AnyArray, nearest: NearestSoFar, chosen: Int64Array
    ) -> tuple[BoolArray, FloatArray]:
        """Which queries are done, and the k-th distances that all have reached."""
        products = self._space.metric != "l2"
        values, places = nearest_by_products(
            step.queries.vectors, step.rows.vectors, depth, products=products, threads=self._threads
        )
        wide = values.astype(np.float64)
        limits = self._space.limits(step.bounds, step.queries, step.row_norm, SINGLE, step.shifts)
        local, place = np.nonzero(wide <= limits[:, None])
        pairs = evaluate(
            self._space, block, queries, nearest, chosen[local], places[local, place], threads=self._threads
        )
        proposal = nearest.propose(pairs)
        reached = step.bounds.copy()
        at = np.searchsorted(chosen, proposal.queries)
        reached[at] = np.minimum(reached[at], proposal.distances[:, nearest.k - 1])
        limits = self._space.limits(reached, step.queries, step.row_norm, SINGLE, step.shifts)
        done = (wide[:, -1] > limits) | np.full(len(chosen), depth == len(block.rows))
        nearest.accept(proposal, done[at])
        return done, reached


@dataclass(frozen=True, slots=True)
class _Step:
    queries: Screened
    rows: Screened
    row_norm: float
    shifts: FloatArray
    bounds: FloatArray


def evaluate(
    space: ScreenSpace,
    block: Block,
    queries: AnyArray,
    nearest: NearestSoFar,
    query_of: Int64Array,
    places: Int64Array,
    *,
    threads: int,
) -> Pairs:
    """Exact distances of a block's rows at some places to queries."""
    distances = kernels().pair_distances(
        block.rows, queries, places, query_of, metric=space.metric, threads=threads
    )
    nearest.evaluations += np.bincount(query_of, minlength=len(nearest.evaluations))
    return Pairs(query_of, places + block.first, distances)


def search_widely(
    space: ScreenSpace,
    block: Block,
    queries: AnyArray,
    nearest: NearestSoFar,
    chosen: Int64Array,
    bounds: FloatArray,
) -> None:
    """See a block's rows by float64 products; what their bound cannot exclude is evaluated.

    Parameters
    ----------
    bounds : float64 array of shape (len(chosen),)
        Distances that the k-th is known not to exceed.
    """
    for first in range(0, len(block.rows), _WIDE_ROWS):
        part = Block(block.rows[first : first + _WIDE_ROWS], block.first + first)
        rows = space.rows(part.rows, DOUBLE)
        squares = np.einsum("ij,ij->i", rows.vectors, rows.vectors)
        row_norm = float(rows.norms.max())
        for begin in range(0, len(chosen), _WIDE_QUERIES):
            some = chosen[begin : begin + _WIDE_QUERIES]
            asked = space.queries(queries[some], DOUBLE)
            kth = np.minimum(nearest.kth[some], bounds[begin : begin + _WIDE_QUERIES])
            limits = space.limits(kth, asked, row_norm, DOUBLE, space.shifts(queries[some]))
            values = asked.vectors @ rows.vectors.T
            if space.metric == "l2":
                own = np.einsum("ij,ij->i", asked.vectors, asked.vectors)
                values = squares - 2 * values + own[:, None]
            else:
                values = -values
            local, place = np.nonzero(values <= limits[:, None])
            pairs = evaluate(space, part, queries, nearest, some[local], place, threads=1)
            near = pairs.distances <= kth[local]
            nearest.add(Pairs(pairs.query_of[near], pairs.rows[near], pairs.distances[near]))
