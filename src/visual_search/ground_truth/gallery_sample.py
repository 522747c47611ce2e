"""A stated random sample of a gallery too large to be scanned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import DepthError, InputError

__all__ = ["GallerySample"]

Int64Array: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class GallerySample:
    """Which items are drawn: so many, without replacement, by a seed.

    Parameters
    ----------
    size : int
        From 1 to the size of the gallery.
    seed : int
        At least 0.

    Raises
    ------
    InputError
        A negative seed, or a size that is no whole number.

    Examples
    --------
    >>> GallerySample(3, seed=1).rows(10).tolist() == GallerySample(3, seed=1).rows(10).tolist()
    True
    """

    size: int
    seed: int = 0

    def __post_init__(self) -> None:
        if isinstance(self.size, bool) or not isinstance(self.size, (int, np.integer)):
            raise InputError(f"sample: {self.size!r}; a whole number of items is needed")
        if self.seed < 0:
            raise InputError(f"seed: {self.seed}; it must not be negative")

    def rows(self, population: int) -> Int64Array:
        """Rows that are drawn, rising, int64 of shape (size,).

        Raises
        ------
        DepthError
            No items, or more than there are.
        """
        if not 1 <= self.size <= population:
            raise DepthError(f"sample: {self.size} items of {population:,}; from 1 to all of them can be drawn")
        drawn = np.random.default_rng(self.seed).choice(population, size=self.size, replace=False)
        return np.sort(drawn).astype(np.int64)
