"""Similarities of queries and a gallery in products of one fixed shape."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from typing import Any, Literal, NamedTuple, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import DimensionError, InputError, NonFiniteError, ZeroVectorError, first_few
from visual_search.evaluation.full_rankings import CountRanks
from visual_search.formats.arrays import as_matrix
from visual_search.ids import Ids
from visual_search.kernels.dispatch import kernels
from visual_search.kernels.joined import RankHits
from visual_search.kernels.threads import one_blas_thread, thread_count

__all__ = ["METRICS", "Metric", "Products"]

Metric: TypeAlias = Literal["cosine", "ip", "l2"]
METRICS: tuple[Metric, ...] = get_args(Metric)

Vectors: TypeAlias = npt.NDArray[np.float32]
Int64Array: TypeAlias = npt.NDArray[np.int64]

# Every product of a gallery has one shape: so many queries by so many gallery items, missing ones padded with zeros.
# 256 queries share the cost of packing a gallery tile; fewer where rows are so long that their block would not stay
# small. The gallery is cut into equal tiles of at most so many items, so that little is padded; see `product_shape`.
_TILE_QUERIES = 256
_LARGEST_TILE = 8192
_TILE_STEP = 64
_BLOCK_BYTES = 64 << 20
# Items of the products that are tried for whether places matter: two blocks of any BLAS and some.
_TRIED_ITEMS = 832
# Vectors whose norms are taken in one go, in float64.
_NORM_ROWS = 1024


class Products:
    """Similarities of a few queries at a time with a whole gallery, as float32, higher is better.

    Each number comes from a product of one shape, whatever queries it is asked for together with, so that it depends
    on its two vectors and on the machine, and not on blocks or threads. Whoever asks holds BLAS to one thread
    (`one_blas_thread`), since its threads would cut the shape anew.

    Parameters
    ----------
    queries, gallery : array-like of shape (n, d) and (m, d)
        Vectors; computed with as float32.
    metric : {"cosine", "ip", "l2"}
        Cosines are products of unit vectors. For "l2" the gallery's mean is taken from all vectors, which moves no
        distance, and the similarity is ``<q, g> - |g|^2 / 2``, which orders a query's items as minus the distance
        does.
    query_ids, gallery_ids : Ids
        Names of the vectors, for messages.

    Raises
    ------
    InputError, DimensionError, NonFiniteError, ZeroVectorError
        Vectors that are no matrices of one dimension, or hold NaN, infinity or values so large that a product may
        overflow; zero vectors under cosine.
    """

    def __init__(self, queries: Any, gallery: Any, metric: Metric, *, query_ids: Ids, gallery_ids: Ids) -> None:
        if metric not in METRICS:
            raise InputError(f"metric={metric!r}: one of {', '.join(METRICS)}")
        self._queries = _vectors(queries, "query_vectors")
        self._gallery = _vectors(gallery, "gallery_vectors")
        if self._queries.shape[1] != self._gallery.shape[1]:
            raise DimensionError(
                f"query_vectors have {counted(self._queries.shape[1], 'dimension', 'dimensions')} and gallery_vectors "
                f"{self._gallery.shape[1]}; both must come from the same embedder"
            )
        self._penalty: Vectors | None = None
        norms = [
            _norms(vectors, what, ids)
            for vectors, what, ids in (
                (self._queries, "query_vectors", query_ids),
                (self._gallery, "gallery_vectors", gallery_ids),
            )
        ]
        if metric == "cosine":
            self._queries = _unit(self._queries, norms[0], "query_vectors", query_ids)
            self._gallery = _unit(self._gallery, norms[1], "gallery_vectors", gallery_ids)
        elif metric == "l2":
            self._centre(norms)
        if metric != "cosine":
            _refuse_overflow(norms, metric)
        self._shape = product_shape(self.rows, tile_items(len(self._gallery)), self._gallery.shape[1])
        self._tail = self._padded_tail()
        # Fresh memory is dear, so blocks are used again, by whichever thread comes next.
        self._rooms: list[Vectors] = []

    @property
    def rows(self) -> int:
        """How many queries one call of `block` takes."""
        fitting = _BLOCK_BYTES // (4 * max(len(self._gallery), 1))
        return int(min(max(1 << (max(fitting, 1).bit_length() - 1), 16), _TILE_QUERIES))

    @contextmanager
    def opened(self, chosen: Int64Array) -> Iterator[CountRanks]:
        """Compute the similarities of the chosen queries, and let ranks be counted in them."""
        try:
            room = self._rooms.pop()
        except IndexError:
            room = self.buffer()
        try:
            similarity = self.block(chosen, room)

            def count(
                first: int, last: int, offsets: Int64Array, columns: Int64Array, ignored: npt.NDArray[np.bool_]
            ) -> RankHits:
                return kernels().count_ranks(similarity[first:last], offsets, columns, ignored, threads=1)

            yield count
        finally:
            self._rooms.append(room)

    def buffer(self) -> Vectors:
        """Room for one block."""
        return np.empty((self.rows, len(self._gallery)), dtype=np.float32)

    def block(self, chosen: Int64Array, into: Vectors) -> Vectors:
        """Similarities of the chosen queries, at most `rows`, float32 of shape (chosen, gallery size)."""
        rows, tile, guard = self._shape
        asked = np.zeros((-(-self.rows // rows) * rows, self._queries.shape[1]), dtype=np.float32)
        asked[: len(chosen)] = self._queries[chosen]
        size, step = len(self._gallery), tile - 2 * guard
        for first in range(0, size, step):
            last = min(first + step, size)
            items = self._items(first)
            for begin in range(0, self.rows, rows):
                part, end = asked[begin : begin + rows], min(begin + rows, self.rows)
                if guard == 0 and last - first == step and end - begin == rows:
                    np.matmul(part, items.T, out=into[begin:end, first:last])
                else:
                    product = np.matmul(part, items.T)
                    into[begin:end, first:last] = product[: end - begin, guard : guard + last - first]
        found = into[: len(chosen)]
        if self._penalty is not None:
            found -= self._penalty
        return found

    def _items(self, first: int) -> Vectors:
        """The gallery tile that begins with an item, zeros around and behind what there is."""
        _, tile, guard = self._shape
        if first + tile - 2 * guard > len(self._gallery):
            return self._tail
        if guard == 0:
            return self._gallery[first : first + tile]
        items = np.zeros((tile, self._gallery.shape[1]), dtype=np.float32)
        items[guard:-guard] = self._gallery[first : first + tile - 2 * guard]
        return items

    def _padded_tail(self) -> Vectors:
        """The last gallery tile, filled up with zeros."""
        _, tile, guard = self._shape
        step = tile - 2 * guard
        rest = self._gallery[len(self._gallery) // step * step :]
        tail = np.zeros((tile, self._gallery.shape[1]), dtype=np.float32)
        tail[guard : guard + len(rest)] = rest
        return tail

    def _centre(self, norms: list[npt.NDArray[np.float64]]) -> None:
        mean = _coarse_mean(self._gallery) if len(self._gallery) else 0.0
        for part, vectors in enumerate((self._queries, self._gallery)):
            moved = np.empty_like(vectors)
            for rows in _row_blocks(len(vectors)):
                moved[rows] = vectors[rows] - mean
            norms[part] = np.concatenate(
                [np.zeros(0), *(_norms_of(moved[rows]) for rows in _row_blocks(len(moved)))]
            )
            if part == 0:
                self._queries = moved
            else:
                self._gallery = moved
        with np.errstate(over="ignore"):
            halves = [_squares_of(self._gallery[rows]) / 2 for rows in _row_blocks(len(self._gallery))]
            self._penalty = np.concatenate([np.zeros(0), *halves]).astype(np.float32)


def tile_items(size: int) -> int:
    """Gallery items in each product.

    >>> tile_items(50_000), tile_items(10), tile_items(0)
    (7168, 64, 64)
    """
    tiles = max(-(-size // _LARGEST_TILE), 1)
    return max(-(-size // (tiles * _TILE_STEP)) * _TILE_STEP, _TILE_STEP)


class Shape(NamedTuple):
    """A product: so many queries by so many gallery items, of which so many at each end are not used."""

    rows: int
    tile: int
    guard: int


@cache
def product_shape(rows: int, tile: int, dimension: int) -> Shape:
    """The quickest shape in which a product's numbers do not depend on their places.

    A BLAS may sum in another order at the edges of its blocks. OpenBLAS for AVX2 does: for what is left of the queries
    beyond a multiple of 12, and for the first and the last 8 of every 320 items. Four queries at a time have no edges.
    Which shapes are sound here is tried.
    """
    with one_blas_thread():
        for shape in (Shape(rows, tile, 0), Shape(-(-rows // 12) * 12, 320, 8)):
            if _is_uniform(shape, dimension):
                return shape
    return Shape(4, tile, 0)


def _is_uniform(shape: Shape, dimension: int) -> bool:
    """Whether one product is the same number wherever it stands; tried with some vectors, on the first items."""
    rng = np.random.default_rng(0)
    rows, tile = shape.rows, min(shape.tile, _TRIED_ITEMS)
    for _ in range(16 if dimension <= _TILE_STEP else 4):
        query, item = rng.standard_normal((2, 1, dimension), dtype=np.float32)
        product = np.matmul(np.repeat(query, rows, axis=0), np.repeat(item, tile, axis=0).T)
        used = product[:, shape.guard : tile - shape.guard]
        if (used != used[0, 0]).any():
            return False
    return True


def _vectors(values: Any, what: str) -> Vectors:
    matrix = as_matrix(values, what=what)
    if matrix.dtype.kind not in "biuf":
        raise InputError(f"{what}: dtype {matrix.dtype}; numbers are needed")
    with np.errstate(over="ignore"):
        return np.ascontiguousarray(matrix, dtype=np.float32)


def _row_blocks(count: int) -> Iterator[slice]:
    return (slice(first, min(first + _NORM_ROWS, count)) for first in range(0, count, _NORM_ROWS))


def _by_blocks(work: Callable[[slice], None], count: int) -> None:
    """Do the work for some rows at a time, so that each block stays in the caches, on all threads."""
    if count <= _NORM_ROWS:
        work(slice(0, count))
        return
    with ThreadPoolExecutor(thread_count()) as pool:
        list(pool.map(work, _row_blocks(count)))


def _coarse_mean(vectors: Vectors) -> npt.NDArray[np.float64]:
    """The mean to within a thirty-second of the spread, in steps of a power of two.

    It takes nearly all of an offset away, and leaves small whole numbers exact in float32, with their ties.
    """
    mean: npt.NDArray[np.float64] = vectors.mean(axis=0, dtype=np.float64)
    spread = max(float(np.abs(vectors[rows] - mean).max(initial=0.0)) for rows in _row_blocks(len(vectors)))
    if not 0 < spread < np.inf:
        return mean
    step = np.ldexp(1.0, int(np.frexp(spread)[1]) - 5)
    coarse: npt.NDArray[np.float64] = np.rint(mean / step) * step
    return coarse


def _squares_of(vectors: Vectors) -> npt.NDArray[np.float64]:
    wide = vectors.astype(np.float64)
    squares: npt.NDArray[np.float64] = np.einsum("ij,ij->i", wide, wide)
    return squares


def _norms_of(vectors: Vectors) -> npt.NDArray[np.float64]:
    norms: npt.NDArray[np.float64] = np.sqrt(_squares_of(vectors))
    return norms


def _norms(vectors: Vectors, what: str, ids: Ids) -> npt.NDArray[np.float64]:
    norms = np.zeros(len(vectors))

    def measure(rows: slice) -> None:
        norms[rows] = _norms_of(vectors[rows])

    _by_blocks(measure, len(vectors))
    broken = np.flatnonzero(~np.isfinite(norms))
    if len(broken):
        raise NonFiniteError(
            f"{what}: {counted(len(broken), 'vector holds', 'vectors hold')} NaN or infinity (as float32), first "
            f"{first_few(ids.take(broken[:5].tolist()))}; leave out what could not be embedded"
        )
    return norms


def _unit(vectors: Vectors, norms: npt.NDArray[np.float64], what: str, ids: Ids) -> Vectors:
    zero = np.flatnonzero(norms == 0)
    if len(zero):
        raise ZeroVectorError(
            f"{what}: {len(zero)} zero vectors, whose cosines are not defined, first "
            f"{first_few(ids.take(zero[:5].tolist()))}; leave them out or use another metric"
        )
    unit = np.empty_like(vectors)

    def scale(rows: slice) -> None:
        unit[rows] = vectors[rows] / norms[rows, None]

    _by_blocks(scale, len(vectors))
    return unit


def _refuse_overflow(norms: list[npt.NDArray[np.float64]], metric: Metric) -> None:
    """No product and no sum inside one is larger than the product of the norms."""
    longest = [float(lengths.max(initial=0)) for lengths in norms]
    largest = longest[0] * longest[1] + (longest[1] ** 2 / 2 if metric == "l2" else 0)
    if largest > float(np.finfo(np.float32).max) / 2:
        raise NonFiniteError(
            f"query_vectors and gallery_vectors: norms up to {longest[0]:.3g} and {longest[1]:.3g}, whose products "
            "float32 cannot hold; scale them down"
        )
