"""What an exact search gives, in row numbers: the bare arrays before ids, fingerprints and files come to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError

__all__ = ["ExactAnswers"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class ExactAnswers:
    """Nearest rows of a gallery for every query, with what is known of their exactness.

    Parameters
    ----------
    positions : int64 array of shape (queries, k)
        Gallery rows, nearest first; of equal distances the lower row first.
    distances : float64 array of shape (queries, k)
        Exact distances in the metric's own unit, never falling along a row. For inner product and cosine the value is
        minus the product, so that smaller is nearer everywhere.
    certified : bool array of shape (queries,)
        True where it is proven that no other row is nearer than the k-th answer.
    tie_offsets : int64 array of shape (queries + 1,)
    tie_positions : int64 array of shape (tie_offsets[-1],)
        Rows outside the answer that are exactly as far as its k-th, rising; query i has
        ``tie_positions[tie_offsets[i]:tie_offsets[i + 1]]``.
    ties_capped : bool array of shape (queries,)
        True where there are more such rows than were kept.
    evaluations : int64 array of shape (queries,)
        Exact distances that were computed for the query.

    Raises
    ------
    InputError
        Shapes that do not fit each other.
    """

    positions: Int64Array
    distances: FloatArray
    certified: BoolArray
    tie_offsets: Int64Array
    tie_positions: Int64Array
    ties_capped: BoolArray
    evaluations: Int64Array

    def __post_init__(self) -> None:
        queries = len(self.positions)
        wrong = [
            f"{name} has shape {value.shape}, expected {shape}"
            for name, value, shape in (
                ("distances", self.distances, self.positions.shape),
                ("certified", self.certified, (queries,)),
                ("tie_offsets", self.tie_offsets, (queries + 1,)),
                ("tie_positions", self.tie_positions, (int(self.tie_offsets[-1]),)),
                ("ties_capped", self.ties_capped, (queries,)),
                ("evaluations", self.evaluations, (queries,)),
            )
            if value.shape != shape
        ]
        if wrong:
            raise InputError("exact answers do not fit each other: " + "; ".join(wrong))

    def tied(self, query: int) -> Int64Array:
        """Rows outside the answer of a query that tie with its last."""
        return self.tie_positions[self.tie_offsets[query] : self.tie_offsets[query + 1]]
