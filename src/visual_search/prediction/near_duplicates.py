"""Results that look like one already shown, found by their vectors."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError

__all__ = ["checked_threshold", "distinct"]

Vectors = npt.NDArray[np.float32]


def checked_threshold(threshold: Any) -> float:
    """A cosine similarity in (-1, 1]."""
    if isinstance(threshold, bool) or not isinstance(threshold, Real) or not -1 < float(threshold) <= 1:
        raise InputError(
            f"hide_near_duplicates: got {threshold!r}; must be a cosine similarity above -1 and at most 1, "
            "such as 0.98, or None to show everything"
        )
    return float(threshold)


def distinct(vectors: Vectors, threshold: float, k: int) -> list[int]:
    """Walk down a ranked list and keep what is not too similar to anything kept; stop at k.

    Parameters
    ----------
    vectors : float32 array of shape (n, d)
        Of the results, best first.
    threshold : float
        Cosine similarity from which a result counts as a near-duplicate of a kept one.
    k : int
        How many to keep at most.

    Returns
    -------
    list of int
        Places kept, ascending.

    Convention
    ----------
    Two zero vectors are duplicates of each other, and a zero vector is like nothing else.

    Examples
    --------
    >>> distinct(np.array([[1, 0], [1, 0.01], [0, 1]], dtype=np.float32), 0.99, 2)
    [0, 2]
    """
    wide = vectors.astype(np.float64)
    lengths = np.sqrt(np.square(wide).sum(axis=1))
    zero = lengths == 0
    # A coordinate of their own makes zero vectors alike to each other and to nothing else.
    unit = np.column_stack([wide / np.where(zero, 1, lengths)[:, None], zero])
    shown = np.empty((min(k, len(unit)), unit.shape[1]))
    kept: list[int] = []
    for place, vector in enumerate(unit):
        if len(kept) == k:
            break
        # Equal vectors must reach a threshold of 1, which rounding of their product may miss.
        if not kept or float((shown[: len(kept)] @ vector).max()) < threshold - 1e-12:
            shown[len(kept)] = vector
            kept.append(place)
    return kept
