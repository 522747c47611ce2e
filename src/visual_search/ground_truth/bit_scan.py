"""Exact search in packed bits: every distance is a count, or a quotient of two, and is computed."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.ground_truth.gallery_blocks import Block
from visual_search.ground_truth.nearest_so_far import NearestSoFar, Pairs

__all__ = ["BitMetric", "BitScan"]

AnyArray: TypeAlias = npt.NDArray[Any]
Int64Array: TypeAlias = npt.NDArray[np.int64]
Words: TypeAlias = npt.NDArray[np.uint64]
BitMetric = Literal["hamming", "jaccard"]

_ROWS = 1 << 15
_BITS_OF_BYTE = np.array([byte.bit_count() for byte in range(256)], dtype=np.uint8)


class BitScan:
    """Searches blocks of a gallery of packed bits.

    Hamming distance counts the bits that differ. Jaccard distance is the share of the bits set in either that are not
    set in both; two vectors without any bit are at distance 0. A quotient of two counts is rounded once, so that equal
    shares are equal numbers.

    Parameters
    ----------
    metric : {"hamming", "jaccard"}
    threads : int
    """

    def __init__(self, metric: BitMetric, *, threads: int) -> None:
        self._metric = metric
        self._threads = threads

    @staticmethod
    def row_bytes(gallery: AnyArray) -> int:
        """Bytes a row takes: itself and its words."""
        width: int = gallery.shape[1]
        return width + 8 * -(-width // 8) + 8

    def search(self, block: Block, queries: AnyArray, nearest: NearestSoFar, chosen: Int64Array) -> None:
        """See a block's rows with the queries of the given numbers."""
        words = _words(block.rows)
        asked = _words(queries[chosen])

        def scan(place: int) -> Pairs:
            return self._scan(words, block.first, asked[place], int(chosen[place]), nearest)

        nearest.evaluations[chosen] += len(block.rows)
        with ThreadPoolExecutor(self._threads) as pool:
            for pairs in pool.map(scan, range(len(chosen))):
                nearest.add(pairs)

    def _scan(self, words: Words, first: int, query: Words, number: int, nearest: NearestSoFar) -> Pairs:
        """Rows not further than the k-th nearest there is, of this block and what was seen before."""
        distances = np.concatenate(
            [self._distances(words[begin : begin + _ROWS], query) for begin in range(0, len(words), _ROWS)]
        )
        bound = nearest.kth[number]
        if nearest.k <= len(distances):
            bound = min(bound, self._kth(distances, nearest.k))
        places = np.flatnonzero(distances <= bound)
        return Pairs(np.full(len(places), number), places + first, distances[places].astype(np.float64))

    def _kth(self, distances: AnyArray, k: int) -> float:
        if self._metric == "hamming":  # few distances: counting them is quicker
            return float(np.searchsorted(np.cumsum(np.bincount(distances)), k))
        return float(np.partition(distances, k - 1)[k - 1])

    def _distances(self, words: Words, query: Words) -> AnyArray:
        if self._metric == "hamming":
            return _bits(words ^ query)
        either = _bits(words | query)
        both = _bits(words & query)
        return (either - both) / np.maximum(either, 1)


def _bits(words: Words) -> AnyArray:
    if hasattr(np, "bitwise_count"):
        counted = np.bitwise_count(words)
    else:  # NumPy 1
        counted = _BITS_OF_BYTE[np.ascontiguousarray(words).view(np.uint8)]
    sums: AnyArray = counted.sum(axis=1, dtype=np.int32)
    return sums


def _words(packed: AnyArray) -> Words:
    """Whole words, the last one filled up with zeros."""
    wide = np.zeros((len(packed), -(-packed.shape[1] // 8) * 8), dtype=np.uint8)
    wide[:, : packed.shape[1]] = packed
    return wide.view(np.uint64)
