"""Nearest rows of a gallery, proven: block by block, screened cheaply, decided exactly."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, Protocol, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.formats.arrays import as_numpy
from visual_search.ground_truth.bit_scan import BitScan
from visual_search.ground_truth.exact_answers import ExactAnswers
from visual_search.ground_truth.exact_checkpoint import Checkpoint, search_key
from visual_search.ground_truth.fast_screen import FastScreen
from visual_search.ground_truth.gallery_blocks import Block, block_borders, blocks_of
from visual_search.ground_truth.metric_names import MetricName
from visual_search.ground_truth.nearest_so_far import NearestSoFar
from visual_search.ground_truth.packed_gallery import PackedGallery
from visual_search.ground_truth.plain_screen import PlainScreen
from visual_search.ground_truth.screened_vectors import ScreenSpace
from visual_search.ground_truth.vector_checks import ExactMetric, check_block, check_search
from visual_search.kernels import dispatch
from visual_search.kernels.threads import thread_count

__all__ = ["SearchProgress", "search_exactly"]

AnyArray: TypeAlias = npt.NDArray[Any]
Int64Array: TypeAlias = npt.NDArray[np.int64]

_LEAST_MEMORY = 1 << 24
_ROWS = 1 << 14


class SearchProgress(Protocol):
    """Is told how far a search has come, from the thread that asked for it."""

    def start(self, total: int | None) -> None:
        """The search begins; ``total`` rows of the gallery in all."""
        ...

    def advance(self, count: int) -> None:
        """``count`` more rows have been seen by every query."""
        ...


class _Screen(Protocol):
    def search(self, block: Block, queries: AnyArray, nearest: NearestSoFar, chosen: Int64Array) -> None: ...


def search_exactly(
    gallery: Any,
    queries: Any,
    k: int,
    *,
    metric: MetricName = "l2",
    memory_bytes: int = 1 << 30,
    tie_cap: int = 100,
    progress: SearchProgress | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    threads: int | None = None,
) -> ExactAnswers:
    """The k nearest rows of a gallery for each query, with proof.

    ``l2``: sqrt(sum (x - q)^2), not squared. ``inner_product``: - sum x q. ``cosine``: - sum x q / (|x| |q|).
    ``hamming``: bits that differ. ``jaccard``: 1 - |x and q| / |x or q|, 0 where both have no bit.

    Parameters
    ----------
    gallery : array-like of shape (n, d)
        float16, float32, float64, int8 or uint8; for ``hamming`` and ``jaccard`` uint8 with eight bits a byte. It may
        be memory-mapped and larger than memory: it is read once, block by block. Or a `PackedGallery`.
    queries : array-like of shape (m, d)
        Of the same dtype.
    k : int
        1 to n.
    metric : {"l2", "inner_product", "cosine", "hamming", "jaccard"}
        ``ip`` is taken for ``inner_product``.
    memory_bytes : int
        For blocks and what is computed of them, at least 16 MiB; beside it stand the queries and the answers,
        16 (k + tie_cap) bytes a query. One block has at least k rows.
    tie_cap : int
        Rows to keep that tie with the k-th, for each query.
    progress : SearchProgress, optional
        Is told rows of the gallery.
    checkpoint : path, optional
        A file for what is known after each block. A search that was killed goes on from it where gallery, queries, k,
        metric and tie_cap are the same, and gives the same answer; it is removed at the end.
    threads : int, optional
        All processors by default.

    Returns
    -------
    ExactAnswers

    Raises
    ------
    InputError, DimensionError, DepthError, NonFiniteError, ZeroVectorError
        What is not allowed, with the first offending rows.

    Convention
    ----------
    The exact distance is float64, summed in one fixed order, so that neither blocks, shards, threads nor the route
    change a bit of it; sums of integers are exact. Equal distances are ordered by row. An answer is certified when
    every row outside it has been evaluated or excluded by a rigorous bound; the search goes on until all are.

    How to read it
    --------------
    ``evaluations`` is what exactness cost: rows a query whose exact distance was computed.

    Examples
    --------
    >>> answers = search_exactly(np.array([[0.0, 0.0], [3.0, 4.0], [0.0, 0.0]]), np.array([[0.0, 0.0]]), 1)
    >>> answers.positions.tolist(), answers.distances.tolist(), answers.tied(0).tolist()
    ([[0]], [[0.0]], [2])
    """
    metric = "inner_product" if metric == "ip" else metric
    packed = gallery if isinstance(gallery, PackedGallery) else None
    gallery = as_numpy(gallery if packed is None else packed.gallery, what="gallery")
    queries = as_numpy(queries, what="queries")
    check_search(gallery, queries, k, metric)
    _check_options(memory_bytes, tie_cap, metric, packed)
    queries = np.ascontiguousarray(queries, dtype=queries.dtype.newbyteorder("="))
    for first in range(0, len(queries), _ROWS):
        check_block(queries[first : first + _ROWS], metric, what="queries", first=first)
    nearest = NearestSoFar(len(queries), int(k), tie_cap)
    kept = None
    seen = 0
    if checkpoint is not None:
        kept = Checkpoint(checkpoint, search_key(gallery, queries, k=int(k), metric=metric, tie_cap=tie_cap))
        seen = kept.load(nearest)
    if progress is not None:
        progress.start(len(gallery))
        progress.advance(seen)
    screen, row_bytes = _screen(gallery, metric, threads or thread_count(), packed)
    for first, rows in blocks_of(gallery, _borders(gallery, seen, row_bytes, nearest.k, memory_bytes, packed)):
        for chosen in _query_blocks(queries, nearest.k, memory_bytes // 3):
            screen.search(Block(rows, first), queries, nearest, chosen)
        if kept is not None:
            kept.save(nearest, first + len(rows))
        if progress is not None:
            progress.advance(len(rows))
    if kept is not None:
        kept.discard()
    return nearest.answers()


def _check_options(memory_bytes: int, tie_cap: int, metric: ExactMetric, packed: PackedGallery | None) -> None:
    if memory_bytes < _LEAST_MEMORY:
        raise InputError(f"memory_bytes is {memory_bytes}; {_LEAST_MEMORY} (16 MiB) or more are needed")
    if tie_cap < 0:
        raise InputError(f"tie_cap is {tie_cap}; 0 or more rows can be kept")
    if packed is not None and packed.metric != metric:
        raise InputError(f"metric is {metric} and the gallery was packed for {packed.metric}; pack it for {metric}")


def _screen(
    gallery: AnyArray, metric: ExactMetric, threads: int, packed: PackedGallery | None
) -> tuple[_Screen, int]:
    """What searches a block, and the bytes that a row of it takes."""
    if metric == "hamming" or metric == "jaccard":  # noqa: PLR1714 - this narrows the type
        return BitScan(metric, threads=threads), BitScan.row_bytes(gallery)
    space = ScreenSpace(gallery, metric) if packed is None else packed.space
    if dispatch.fast_screen():
        blocks = None if packed is None else packed.blocks
        return FastScreen(space, threads=threads, packed=blocks), FastScreen.row_bytes(gallery)
    return PlainScreen(space, threads=threads), PlainScreen.row_bytes(gallery)


def _borders(
    gallery: AnyArray, seen: int, row_bytes: int, k: int, memory_bytes: int, packed: PackedGallery | None
) -> list[int]:
    """Where blocks of what has not been seen begin, and the end."""
    if packed is not None:
        return [seen, *(border for border in packed.borders if border > seen)]
    rest = len(gallery) - seen
    borders = block_borders(rest, row_bytes, memory_bytes=memory_bytes // 2, least=min(k, len(gallery)))
    return [seen + border for border in borders]


def _query_blocks(queries: AnyArray, k: int, memory_bytes: int) -> Iterator[Int64Array]:
    """Numbers of queries whose candidates fit into memory together."""
    each = 200 * (k + 64) + 40 * queries.shape[1]
    step = max(1, memory_bytes // each)
    for first in range(0, len(queries), step):
        yield np.arange(first, min(first + step, len(queries)))
