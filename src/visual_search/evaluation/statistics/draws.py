"""Which groups a resample drew: at random from a seed, or every possibility once where there are few groups.

The draws are one stream of integers, so where a block ends does not matter. Sums over what was drawn are made without
rounding: each number is split into two of a fixed point, whose products with small counts add up exactly in any
order, so that no block size, matrix kernel or number of threads changes a bit of the result.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import combinations_with_replacement
from math import comb, factorial

import numpy as np
import numpy.typing as npt

__all__ = ["ExactSums", "every_resample", "number_of_resamples", "random_resamples"]

FloatArray = npt.NDArray[np.float64]
Int64Array = npt.NDArray[np.int64]

# Counts in memory at a time: half a megabyte, which stays in a core's own cache.
CELLS_AT_A_TIME = 1 << 16
# Multiplications up to which OpenBLAS starts no threads.
_ONE_THREAD = 1 << 18


def random_resamples(count: int, resamples: int, seed: int) -> Iterator[FloatArray]:
    """How often each group was drawn, block after block, float64 of shape (block, count).

    >>> [block.sum(axis=1).tolist() for block in random_resamples(3, 2, seed=0)]
    [[3.0, 3.0]]
    """
    random = np.random.default_rng(seed)
    step = max(1, CELLS_AT_A_TIME // count)
    for start in range(0, resamples, step):
        rows = min(step, resamples - start)
        drawn = random.integers(0, count, size=(rows, count))
        drawn += np.arange(rows)[:, None] * count
        yield np.bincount(drawn.ravel(), minlength=rows * count).reshape(rows, count).astype(np.float64)


def number_of_resamples(count: int) -> int:
    """How many different resamples of so many groups there are: C(2 count - 1, count).

    >>> number_of_resamples(3), number_of_resamples(8)
    (10, 6435)
    """
    return comb(2 * count - 1, count)


@lru_cache(maxsize=4)
def every_resample(count: int) -> tuple[FloatArray, FloatArray]:
    """Every different resample and its probability, float64 of shapes (n, count) and (n,).

    >>> counts, shares = every_resample(2)
    >>> counts.tolist(), shares.tolist()
    ([[2.0, 0.0], [1.0, 1.0], [0.0, 2.0]], [0.25, 0.5, 0.25])
    """
    rows = np.array(list(combinations_with_replacement(range(count), count)))
    counts = (rows[:, :, None] == np.arange(count)).sum(axis=1)
    factorials = np.array([factorial(n) for n in range(count + 1)], dtype=np.float64)
    shares = factorials[count] / factorials[counts].prod(axis=1) / float(count) ** count
    made = counts.astype(np.float64)
    for array in (made, shares):
        array.flags.writeable = False
    return made, shares


class ExactSums:
    """Sums of given numbers, each taken as often as a resample says, rounded once.

    Parameters
    ----------
    values : float64 array of shape (count, m)
        One row a group.

    Examples
    --------
    >>> ExactSums(np.array([[0.1], [0.2]])).of(np.array([[2.0, 0.0], [1.0, 1.0]])).tolist()
    [[0.2], [0.30000000000000004]]
    """

    def __init__(self, values: FloatArray) -> None:
        self._width = values.shape[1]
        high, rest = _fixed_point(values)
        low, _ = _fixed_point(rest)
        self._inexact = np.flatnonzero(low.any(axis=0))
        self._parts = np.ascontiguousarray(np.hstack((high, low[:, self._inexact])))

    def of(self, counts: FloatArray) -> FloatArray:
        """Sums of each resample, float64 of shape (resamples, m), from counts of shape (resamples, count)."""
        drawn = _product(counts, self._parts)
        sums = drawn[:, : self._width]
        sums[:, self._inexact] += drawn[:, self._width :]
        return sums


def _fixed_point(values: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Numbers whose sums of up to as many as there are rows need no more than 53 bits, and what is left of each."""
    largest = np.abs(values).max(axis=0, initial=0.0)
    bits = np.frexp(largest)[1] + int(max(1, len(values))).bit_length() + 1
    unit = np.ldexp(1.0, np.maximum(bits - 53, -1000))
    rounded = np.rint(values / unit) * unit
    return rounded, values - rounded


def _product(counts: FloatArray, parts: FloatArray) -> FloatArray:
    """Product of two matrices in pieces that BLAS computes on one thread.

    The whole is too small to gain from more threads, and where other work keeps the cores busy, threads that wait
    for each other take twenty times as long as the product itself.
    """
    rows, columns = len(counts), parts.shape[1]
    total = np.zeros((rows, columns))
    tall = max(1, min(rows, _ONE_THREAD // (columns * 64)))
    for top in range(0, rows, tall):
        step = max(1, _ONE_THREAD // (tall * columns))
        for start in range(0, len(parts), step):
            total[top : top + tall] += counts[top : top + tall, start : start + step] @ parts[start : start + step]
    return total
