"""The paired randomisation test: what the sum of differences would be, had each group's the other sign.

Eight groups at a time: their 256 signed sums make a table, and one random byte a flip looks up which. Where there are
no more ways to sign the groups than flips were asked for, all are taken once, and nothing is random.

One set of flips serves all comparisons, so that the largest of their statistics has a distribution too (max-T [1]_):
how often would any of the comparisons look as good as this one, were all systems the same?

.. [1] P. Westfall, S. Young, Resampling-Based Multiple Testing, 1993.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from numbers import Integral

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError

__all__ = ["FlipTest", "flip_test", "flipped_sums", "signed_sums"]

FloatArray = npt.NDArray[np.float64]

# Flips drawn at a time. It is part of what a seed means, and does not depend on how much memory there is.
_FLIPS_AT_A_TIME = 1 << 13
# Bytes; larger tables are made anew for each block of flips.
_TABLES_IN_MEMORY = 1 << 26


@dataclass(frozen=True, slots=True, eq=False)
class FlipTest:
    """p-values of several comparisons from one set of flips.

    Attributes
    ----------
    p_values : float64 array of shape (m,)
        Two-sided; (1 + flips at least as far from 0) / (1 + flips), so never 0.
    adjusted : float64 array of shape (m,)
        The same for the largest of all comparisons' standardised sums: holds for the whole family at once.
    flips : int
        Flips taken; where every way to sign was, all but the one that came.
    enumerated : bool
        Whether every way was taken, so that the p-values are exact.
    """

    p_values: FloatArray
    adjusted: FloatArray
    flips: int
    enumerated: bool


def flip_test(sums: FloatArray, *, flips: int = 10_000, seed: int = 0) -> FlipTest:
    """Test whether sums of differences are further from 0 than signs alone would make them.

    Parameters
    ----------
    sums : float64 array of shape (groups, m)
        Each group's sum of differences, one column a comparison; the same groups in all.
    flips : int, at least 100
    seed : int

    Returns
    -------
    FlipTest

    Raises
    ------
    InputError
        Not a matrix, not finite, or too few flips.

    Examples
    --------
    >>> found = flip_test(np.ones((5, 1)))
    >>> found.p_values.tolist(), found.flips    # 2 of the 32 ways to sign five groups
    ([0.0625], 31)
    """
    if sums.ndim != 2 or not np.isfinite(sums).all():
        raise InputError(f"sums must be finite and of shape (groups, comparisons); got shape {sums.shape}")
    if not _is_count(flips):
        raise InputError(f"flips is {flips!r}; a whole number of at least 100 is needed")
    moving = sums[sums.any(axis=1)]
    enumerated = 2 ** min(len(moving), 60) - 1 <= flips
    observed = np.abs(moving.sum(axis=0))
    # Sums of the same numbers in another order differ by rounding; a flip that is equal must count as equal.
    rounding = 4 * len(moving) * np.finfo(np.float64).eps * np.abs(moving).sum(axis=0)
    spread = np.sqrt((moving**2).sum(axis=0))
    standard = np.where(spread > 0, spread, 1.0)
    furthest, slack = observed / standard, float((rounding / standard).max(initial=0.0))
    count = np.zeros(sums.shape[1])
    count_largest = np.zeros(sums.shape[1])
    for drawn in signed_sums(moving, None if enumerated else flips, seed):
        far = np.abs(drawn)
        count += (far >= observed - rounding).sum(axis=0)
        largest = np.sort((far / standard).max(axis=1, initial=0.0))
        count_largest += len(largest) - np.searchsorted(largest, furthest - slack)
    taken = 2 ** len(moving) - 1 if enumerated else flips
    if enumerated:  # the signs that came are among them
        count -= 1
        count_largest -= 1
    return FlipTest((1 + count) / (1 + taken), (1 + count_largest) / (1 + taken), taken, enumerated)


def _is_count(flips: object) -> bool:
    return isinstance(flips, Integral) and int(flips) >= 100


def flipped_sums(values: FloatArray, flips: int, seed: int) -> FloatArray:
    """Sums of the values under random signs, float64 of shape (flips,)."""
    return np.concatenate([block[:, 0] for block in signed_sums(values[:, None], flips, seed)])


def signed_sums(values: FloatArray, flips: int | None, seed: int) -> Iterator[FloatArray]:
    """Sums of each column under random signs of the rows, or under all signs, block after block.

    Parameters
    ----------
    values : float64 array of shape (groups, m)
    flips : int or None
        How many; None for each of the 2**groups ways once.
    seed : int

    Yields
    ------
    float64 array of shape (block, m)
        Memory is that of 8,192 sums a comparison, and at most 64 MB, however many flips there are.
    """
    groups, width = values.shape
    total = 1 << groups if flips is None else flips
    eights = [values[start : start + 8] for start in range(0, groups, 8)]
    tables = [_table(eight) for eight in eights] if 32 * values.nbytes <= _TABLES_IN_MEMORY else None
    random = np.random.default_rng(seed)
    for start in range(0, total, _FLIPS_AT_A_TIME):
        rows = min(_FLIPS_AT_A_TIME, total - start)
        every = np.arange(start, start + rows)
        sums = np.zeros((rows, width))
        for place, eight in enumerate(eights):
            table = _table(eight) if tables is None else tables[place]
            if flips is None:
                which = (every >> (8 * place)) % len(table)
            else:
                which = np.frombuffer(random.bytes(_FLIPS_AT_A_TIME), dtype=np.uint8)[:rows] & (len(table) - 1)
            # A plain look-up is several times as fast as one of rows.
            sums += table[:, 0].take(which)[:, None] if width == 1 else table.take(which, axis=0)
        yield sums


def _table(values: FloatArray) -> FloatArray:
    """Sums under all signs of a few rows, shape (2**rows, m); bit b of a place turns row b."""
    sums = np.zeros((1, values.shape[1]))
    for value in values:
        sums = np.concatenate((sums + value, sums - value))
    return sums
