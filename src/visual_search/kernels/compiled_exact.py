"""The compiled kernels of exact search in the shape of their plain twins."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from visual_search.kernels import _compiled, plain_pairs
from visual_search.kernels.int8_codes import (
    PANEL_ROWS,
    Candidates,
    CodedQueries,
    PackedRows,
    coded_queries,
    growth,
    room_for,
)
from visual_search.kernels.plain_pairs import VectorMetric
from visual_search.kernels.threads import in_threads, thread_count

__all__ = [
    "PROCESSORS",
    "RowScreen",
    "best_processor",
    "code_queries",
    "fast_screen",
    "largest_code",
    "merge_nearest",
    "multiply_registers",
    "pack_rows",
    "pair_distances",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]
_Told = TypeVar("_Told")

PROCESSORS = ("any", "avx2", "avx512vnni")

_METRICS: tuple[VectorMetric, ...] = ("l2", "inner_product", "cosine")
# Less than this for each thread is not worth another one.
_LEAST_PAIRS = 1 << 10
_LEAST_ROWS = 1 << 12
_LEAST_NUMBERS = 1 << 16
# Rows of some pairs, for each thread, that tell how to divide them.
_CUTS = 512
# Queries whose products are made together.
_TILE_QUERIES = 8
# A part of the queries is this share of what is left for each thread, and not less than so many tiles: all see the rows
# once more, and the last threads to be done are waited for.
_PART = 2
_LEAST_TILES = 3


def best_processor() -> int:
    """Place in `PROCESSORS` of the best instructions that there are."""
    return _compiled.processor()


def fast_screen() -> bool:
    """Whether this processor multiplies int8 faster than float32."""
    return best_processor() > 0


def largest_code(processor: int | None = None) -> int:
    """Largest size of a query's code: AVX2 adds two products in 16 bits, which is too few for two of 127 x 255.

    Parameters
    ----------
    processor : int, optional
        As for `RowScreen`.
    """
    kind = best_processor() if processor is None else processor
    return 63 if PROCESSORS[kind] == "avx2" else 127


def multiply_registers(rounds: int) -> int:
    """Multiply so many registers of bytes in this thread, for measuring.

    Returns
    -------
    int
        Operations of a round; 0 where no instruction is known to be fast.
    """
    return _compiled.multiply_registers(rounds)


def pair_distances(
    gallery: npt.NDArray[Any],
    queries: npt.NDArray[Any],
    rows: Int64Array,
    query_of: Int64Array,
    *,
    metric: VectorMetric,
    threads: int | None = None,
) -> FloatArray:
    """Exact distances; see `visual_search.kernels.plain_pairs.pair_distances`."""
    if gallery.dtype == np.float16:
        return plain_pairs.pair_distances(gallery, queries, rows, query_of, metric=metric)
    distances = np.empty(len(rows))
    count = max(min(threads or thread_count(), len(rows) // _LEAST_PAIRS), 1)
    rows, query_of = (np.ascontiguousarray(places, dtype=np.int64) for places in (rows, query_of))
    # Each thread takes some rows, so that a row comes from memory once for all of its queries.
    sample = np.sort(rows[:: max(len(rows) // (_CUTS * count), 1)])
    ends = [0, *(int(sample[len(sample) * part // count]) for part in range(1, count)), len(gallery)]

    def some(part: int) -> None:
        first, last = ends[part : part + 2]
        _compiled.pair_distances(gallery, queries, rows, query_of, _METRICS.index(metric), first, last, distances)

    in_threads(some, count)
    return distances


def merge_nearest(
    nearest: tuple[FloatArray, Int64Array],
    k: int,
    query_of: Int64Array,
    rows: Int64Array,
    distances: FloatArray,
    *,
    threads: int | None = None,
) -> FloatArray:
    """Put pairs in their places; see `visual_search.kernels.plain_nearest.merge_nearest`."""
    dropped = np.full(len(nearest[0]), np.inf)
    count = max(min(threads or thread_count(), len(rows) // _LEAST_PAIRS), 1)
    cuts = query_of[[len(query_of) * part // count for part in range(1, count)]]
    ends = [0, *np.searchsorted(query_of, cuts).tolist(), len(query_of)]

    def some(part: int) -> None:
        _compiled.merge_nearest(*nearest, dropped, k, query_of, rows, distances, *ends[part : part + 2])

    in_threads(some, count)
    return dropped


def pack_rows(
    rows: npt.NDArray[np.float32],
    centre: npt.NDArray[np.float32],
    *,
    into: PackedRows | None = None,
    threads: int | None = None,
    processor: int | None = None,
) -> PackedRows:
    """Int8 codes; see `visual_search.kernels.plain_int8.pack_rows`.

    Parameters
    ----------
    processor : int, optional
        As for `RowScreen`.
    """
    kind = best_processor() if processor is None else processor
    packed = PackedRows.empty(*rows.shape) if into is None else into.beginning(len(rows))
    count = max(min(threads or thread_count(), len(rows) // _LEAST_ROWS), 1)
    panels = -(-len(rows) // PANEL_ROWS)

    def some(part: int) -> None:
        first, last = (min(len(rows), panels * at // count * PANEL_ROWS) for at in (part, part + 1))
        _compiled.pack_rows(rows, centre, growth(rows.shape[1]), first, last, kind, *packed.arrays)

    in_threads(some, count)
    return packed


def code_queries(queries: FloatArray, most: int = 127, *, threads: int | None = None) -> CodedQueries:
    """Codes of float64 queries; see `visual_search.kernels.plain_int8.code_queries`."""
    n, d = queries.shape
    codes = np.full((n, -(-d // 4) * 4), most + 1, dtype=np.uint8)
    scale, sums = np.empty(n), np.empty((n, 3))
    queries = np.ascontiguousarray(queries)
    count = max(min(threads or thread_count(), queries.size // _LEAST_NUMBERS), 1)

    def some(part: int) -> None:
        _compiled.code_queries(queries, most, n * part // count, n * (part + 1) // count, codes, scale, sums)

    in_threads(some, count)
    return coded_queries(d, most, codes, scale, sums)


class RowScreen:
    """Rows that may be among the nearest; see `visual_search.kernels.plain_int8.RowScreen`.

    Parameters
    ----------
    processor : int, optional
        Place in `PROCESSORS` of the instructions to use, not beyond what there is.
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
        processor: int | None = None,
    ) -> None:
        facts = np.stack((queries.scale, queries.size, *queries.squares, queries.ratio), axis=1)
        self._threads = threads or thread_count()
        tiles = -(-len(facts) // _TILE_QUERIES)
        self._ends = [min(end * _TILE_QUERIES, len(facts)) for end in _ends(tiles, self._threads)]
        self._parts = [
            _compiled.RowScreen(
                queries.codes,
                queries.most < 127,
                facts,
                k,
                euclidean,
                growth(queries.dimension),
                room or room_for(k),
                supposed,
                best_processor() if processor is None else processor,
                *span,
            )
            for span in pairwise(self._ends)
        ]

    def see(self, packed: PackedRows, limits: FloatArray, slack: FloatArray, *, first: int = 0) -> None:
        """More rows; see `visual_search.kernels.plain_int8.RowScreen.see`."""
        allowed = np.stack((limits, slack), axis=1)
        self._of_parts(lambda part, mine: part.see(packed.arrays, packed.count, first, allowed[mine]))

    def found(self) -> Candidates:
        """What is left; see `visual_search.kernels.plain_int8.RowScreen.found`."""
        queries = self._ends[-1]
        counts, supposed = np.empty(queries, dtype=np.int64), np.empty(queries)
        full = np.empty(queries, dtype=np.uint8)
        self._of_parts(lambda part, _mine: part.close(counts, full, supposed))
        begins = np.concatenate(([0], np.cumsum(counts)))
        rows, query_of = (np.empty(begins[-1], dtype=np.int64) for _ in range(2))
        self._of_parts(lambda part, mine: part.give(rows, query_of, int(begins[mine.start])))
        return Candidates(rows, query_of, counts, full.view(np.bool_), supposed)

    def _of_parts(self, ask: Callable[[_compiled.RowScreen, slice], _Told]) -> list[_Told]:
        """What each part tells of its queries, each in a thread."""
        spans = [slice(*span) for span in pairwise(self._ends)]
        return in_threads(
            lambda number: ask(self._parts[number], spans[number]), len(self._parts), threads=self._threads
        )


def _ends(tiles: int, threads: int) -> list[int]:
    """Where parts of some tiles begin, and the end; large ones first."""
    ends = [0]
    while ends[-1] < tiles:
        left = tiles - ends[-1]
        ends.append(
            ends[-1] + min(left, max(-(-left // (_PART * threads)), _LEAST_TILES)) if threads > 1 else tiles
        )
    return ends
