"""Tables of sums over ranks: of 1/r and of the discount 1/log2(r + 1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["discount_sum", "harmonic_sum"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]


class _RankSums:
    """Prefix sums of a function of the rank, kept and lengthened when a deeper rank is asked for.

    Kept in extended precision where the machine has it, since a difference of two long sums is what is wanted.
    """

    def __init__(self, term: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> None:
        self._term = term
        self._sums = np.zeros(1, dtype=np.longdouble)

    def between(self, first: Int64Array, last: Int64Array) -> FloatArray:
        """Sum over the ranks ``first < r <= last``; 0 where there are none."""
        last = np.maximum(first, last)
        sums = self._up_to(int(last.max(initial=0)))
        return (sums[last] - sums[first]).astype(np.float64)

    def _up_to(self, rank: int) -> npt.NDArray[np.longdouble]:
        sums = self._sums
        if rank >= len(sums):
            ranks = np.arange(1, max(rank, 2 * len(sums), 1023) + 1, dtype=np.longdouble)
            sums = np.concatenate((np.zeros(1, dtype=np.longdouble), np.cumsum(self._term(ranks))))
            # Threads that race here each replace the table by one that is as good.
            self._sums = sums
        return sums


_HARMONIC = _RankSums(lambda ranks: 1 / ranks)
_DISCOUNTS = _RankSums(lambda ranks: 1 / np.log2(ranks + 1))


def harmonic_sum(first: Int64Array, last: Int64Array) -> FloatArray:
    """Sum of 1/r over ``first < r <= last``, element by element.

    >>> harmonic_sum(np.array([0, 1]), np.array([2, 2])).tolist()
    [1.5, 0.5]
    """
    return _HARMONIC.between(first, last)


def discount_sum(first: Int64Array, last: Int64Array) -> FloatArray:
    """Sum of 1/log2(r + 1) over ``first < r <= last``, element by element.

    >>> discount_sum(np.array([0]), np.array([1])).tolist()
    [1.0]
    """
    return _DISCOUNTS.between(first, last)
