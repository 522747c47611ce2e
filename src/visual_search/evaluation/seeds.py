"""Draws from a seed that is a whole number of at least 0, and from no other."""

from __future__ import annotations

import operator

import numpy as np

from visual_search.errors import InputError

__all__ = ["seeded"]


def seeded(seed: int) -> np.random.Generator:
    """The generator of a seed.

    Raises
    ------
    InputError
        Not a whole number of at least 0.

    Examples
    --------
    >>> seeded(0).permutation(3).tolist() == seeded(0).permutation(3).tolist()
    True
    """
    try:
        number = -1 if isinstance(seed, bool) else operator.index(seed)
    except TypeError:
        number = -1
    if number < 0:
        raise InputError(f"seed is {seed!r}; a whole number of at least 0 is needed")
    return np.random.default_rng(number)
