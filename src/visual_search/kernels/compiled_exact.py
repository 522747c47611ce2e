"""The compiled kernels of exact search in the shape of their plain twins."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.kernels import _compiled, plain_pairs
from visual_search.kernels.int8_codes import Candidates, CodedQueries, PackedRows, growth, room_for
from visual_search.kernels.plain_pairs import VectorMetric
from visual_search.kernels.threads import in_threads, thread_count

__all__ = ["PROCESSORS", "best_processor", "fast_screen", "pack_rows", "pair_distances", "screen_rows"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]

PROCESSORS = ("any", "avx2", "avx512vnni")

_METRICS: tuple[VectorMetric, ...] = ("l2", "inner_product", "cosine")
# Less than this for each thread is not worth another one.
_LEAST_PAIRS = 1 << 10
_LEAST_ROWS = 1 << 12


def best_processor() -> int:
    """Place in `PROCESSORS` of the best instructions that there are."""
    return _compiled.processor()


def fast_screen() -> bool:
    """Whether this processor multiplies int8 faster than float32."""
    return best_processor() > 0


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

    def some(part: int) -> None:
        span = len(rows) * part // count, len(rows) * (part + 1) // count
        _compiled.pair_distances(gallery, queries, rows, query_of, _METRICS.index(metric), *span, distances)

    in_threads(some, count)
    return distances


def pack_rows(
    rows: npt.NDArray[np.float32], centre: npt.NDArray[np.float32], *, threads: int | None = None
) -> PackedRows:
    """Int8 codes; see `visual_search.kernels.plain_int8.pack_rows`."""
    packed = PackedRows.empty(*rows.shape)
    count = max(min(threads or thread_count(), len(rows) // _LEAST_ROWS), 1)

    def some(part: int) -> None:
        span = len(rows) * part // count, len(rows) * (part + 1) // count
        _compiled.pack_rows(rows, centre, growth(rows.shape[1]), *span, *packed.arrays)

    in_threads(some, count)
    return packed


def screen_rows(
    packed: PackedRows,
    queries: CodedQueries,
    limits: FloatArray,
    slack: FloatArray,
    k: int,
    *,
    euclidean: bool,
    threads: int | None = None,
    room: int | None = None,
    processor: int | None = None,
) -> Candidates:
    """Rows that may be among the nearest; see `visual_search.kernels.plain_int8.screen_rows`.

    Parameters
    ----------
    processor : int, optional
        Place in `PROCESSORS` of the instructions to use, not beyond what there is.
    """
    facts = np.stack((queries.scale, queries.size, *queries.squares, slack, limits), axis=1)
    count = max(min(threads or thread_count(), len(facts)), 1)
    kind = best_processor() if processor is None else processor
    found: list[tuple[npt.NDArray[Any], ...]] = [()] * count

    def some(part: int) -> None:
        span = len(facts) * part // count, len(facts) * (part + 1) // count
        found[part] = _compiled.screen_rows(
            packed.arrays,
            packed.count,
            queries.codes,
            facts,
            k,
            euclidean,
            queries.ratio,
            growth(packed.dimension),
            room or room_for(k),
            *span,
            kind,
        )

    in_threads(some, count)
    counts, rows, lower, full = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return Candidates(counts, rows, lower, full.view(np.bool_))
