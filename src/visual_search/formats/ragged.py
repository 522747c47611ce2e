"""Ragged arrays: rows of different lengths, one after the other, with offsets."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["grouped", "offsets_of"]

Int64Array: TypeAlias = npt.NDArray[np.int64]


def offsets_of(lengths: npt.NDArray[Any]) -> Int64Array:
    """Offsets from lengths, int64 of shape (n + 1,).

    >>> offsets_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    return np.concatenate(([0], np.cumsum(lengths))).astype(np.int64)


def grouped(
    code: Int64Array, n: int, *, falling: npt.NDArray[Any] | None = None
) -> tuple[Int64Array, Int64Array | None]:
    """Offsets of each code's rows, and the order that brings them together.

    Parameters
    ----------
    code : int64 array of shape (rows,)
        The group of each row, 0..n - 1.
    n : int
        How many groups there are.
    falling : array of shape (rows,), optional
        Sort the rows of a group by falling values of this; equal ones stay as they came.

    Returns
    -------
    offsets : int64 array of shape (n + 1,)
    order : int64 array of shape (rows,) or None
        None where the rows stand so already, which costs one look instead of a sort.
    """
    offsets = offsets_of(np.bincount(code, minlength=n))
    step = np.diff(code)
    apart = bool((step < 0).any())
    rising = falling is not None and bool(((falling[1:] > falling[:-1]) & (step == 0)).any())
    if not apart and not rising:
        return offsets, None
    keys = (code,) if falling is None else (-falling, code)
    return offsets, np.lexsort(keys).astype(np.int64)
