"""Groups of equal score, which is all that a measure's expectation is a function of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = ["GainGroups", "TieGroups"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class TieGroups:
    """The groups of equal score that hold a relevant item, by query and then down the list.

    Attributes
    ----------
    query : int64 array of shape (groups,)
        Row of the query.
    above : int64 array of shape (groups,)
        Candidates that score strictly higher (s).
    size : int64 array of shape (groups,)
        Candidates in the group (n).
    relevant : int64 array of shape (groups,)
        Relevant items in the group, at least 1 (r).
    before : int64 array of shape (groups,)
        Relevant items that score strictly higher (B).
    """

    query: Int64Array
    above: Int64Array
    size: Int64Array
    relevant: Int64Array
    before: Int64Array

    def __len__(self) -> int:
        return len(self.query)

    def where(self, chosen: BoolArray | Int64Array) -> TieGroups:
        """Only the chosen groups."""
        return TieGroups(
            self.query[chosen], self.above[chosen], self.size[chosen], self.relevant[chosen], self.before[chosen]
        )


@dataclass(frozen=True, slots=True, eq=False)
class GainGroups:
    """The groups of equal score that hold a judged item, with the sum of something over each.

    Attributes
    ----------
    query, above, size : int64 arrays of shape (groups,)
        As in `TieGroups`.
    total : float64 array of shape (groups,)
        Sum over the judged items of the group.
    """

    query: Int64Array
    above: Int64Array
    size: Int64Array
    total: FloatArray
