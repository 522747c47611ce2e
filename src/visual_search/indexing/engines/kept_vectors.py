"""Whole vectors beside a structure that packs or changes them: given back bit for bit, and scored exactly."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from visual_search.indexing.engines.contract import Metric

__all__ = ["KeptVectors"]

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]

_BLOCK_BYTES = 1 << 25


class KeptVectors:
    """float32 vectors by position, growing at the end in amortised constant time.

    Examples
    --------
    >>> kept = KeptVectors(2)
    >>> kept.append(np.array([[3, 4], [0, 1]], dtype=np.float32))
    >>> kept.scores("l2", np.zeros((1, 2), dtype=np.float32), np.array([[1, 0, -1]])).tolist()
    [[-1.0, -5.0, -inf]]
    """

    def __init__(self, dimension: int, vectors: Vectors | None = None) -> None:
        self._buffer = np.empty((0, dimension), dtype=np.float32) if vectors is None else vectors
        self._count = len(self._buffer)

    @property
    def values(self) -> Vectors:
        """All of them, a view not to be written to."""
        return self._buffer[: self._count]

    def append(self, vectors: Vectors) -> None:
        """Put vectors at the end."""
        count = self._count + len(vectors)
        if count > len(self._buffer):
            grown = np.empty((max(count, 3 * len(self._buffer) // 2, 16), self._buffer.shape[1]), dtype=np.float32)
            grown[: self._count] = self.values
            self._buffer = grown
        self._buffer[self._count : count] = vectors
        self._count = count

    def scores(self, metric: Metric, queries: Vectors, positions: Int64Array) -> Vectors:
        """Scores of pairs, float32 of the shape of ``positions`` (queries, k), summed in float64; -inf at -1."""
        scores = np.full(positions.shape, -np.inf, dtype=np.float32)
        lines, columns = np.nonzero(positions >= 0)
        step = max(1, _BLOCK_BYTES // (8 * self._buffer.shape[1]))
        for start in range(0, len(lines), step):
            line, column = lines[start : start + step], columns[start : start + step]
            there = self._buffer[positions[line, column]].astype(np.float64)
            asked = queries[line].astype(np.float64)
            if metric == "l2":
                found = 0 - np.sqrt(np.square(asked - there).sum(axis=1))
            else:
                found = np.einsum("ij,ij->i", asked, there)
            scores[line, column] = np.clip(found, -1, 1) if metric == "cosine" else found
        return scores
