"""How far apart two systems can be on a query: from the measure, its cut-off and the number of right answers."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, UnknownNameError
from visual_search.evaluation.measures.parsing import parse_measure

__all__ = ["largest_difference"]

Int64Array: TypeAlias = npt.NDArray[np.int64]


def largest_difference(text: str, relevant: Int64Array | None = None) -> float:
    """The largest difference that two values of a measure can have on any one of some queries.

    Of a query with one right answer the first 20 hold at most 1, so that Precision@20 is 0 or .05: two systems cannot
    be further apart than .05.

    Parameters
    ----------
    text : str
        Text form of the measure.
    relevant : int64 array of shape (n,), optional
        How many items of grade 1 or more each query has; where left out, all that the measure can be is possible.

    Returns
    -------
    float
        Infinite where the measure has no bounds or is not known.

    Examples
    --------
    >>> largest_difference("HitRate@1"), largest_difference("DCG@10")
    (1.0, inf)
    >>> largest_difference("P@20", np.array([1, 1, 1])), largest_difference("P@20", np.array([1, 2]))
    (0.05, 0.1)
    """
    try:
        measure = parse_measure(text)
    except (UnknownNameError, InputError):
        return float("inf")
    low, high = measure.bounds
    # Items of a grade below 1 are not among those told.
    if relevant is not None and len(relevant) and getattr(measure, "rel", 1) >= 1:
        high = min(high, float(measure.largest(relevant).max()))
    return high - low
