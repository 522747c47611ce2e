"""Engine ``flat``: every search looks at every vector."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from visual_search.indexing.engines.contract import Metric, Settings
from visual_search.indexing.engines.exhaustive_engine import ExhaustiveEngine
from visual_search.indexing.engines.faiss_answers import in_order, nothing_found, scores_from
from visual_search.indexing.engines.faiss_engine import FaissEngine
from visual_search.indexing.engines.faiss_files import read_faiss, rows_of, unwrapped, write_with_rows
from visual_search.indexing.engines.faiss_rows import FaissRows
from visual_search.indexing.engines.flat_distances import nearest_by_distance, squared_norms, stored_vectors
from visual_search.indexing.engines.ties_at_cut import nearest_past_ties

__all__ = ["FlatEngine"]

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]


class FlatEngine(ExhaustiveEngine, FaissEngine):
    """Exhaustive search over FAISS's ``IndexFlat``; exact up to float32 rounding.

    Convention
    ----------
    Scores are float32 sums; FAISS sums a large batch by a matrix product and a small one (queries x dimension below
    ``faiss.cvar.distance_compute_blas_threshold``, 128,000 in FAISS 1.15) pair by pair, so that the last bits of a
    score may differ between batches, and with them the order of items closer than that. The small-batch path is
    four to five times slower per query: search many queries in one call. The threshold is a global of the process
    and is left as it is.

    Under ``l2`` the matrix product is checked for cancellation (``flat_distances``) and redone pair by pair where
    it could change the answer.

    Equal scores are in row order at every k, across the cut too: whatever k is asked, a list is the beginning of
    the longer ones.

    Examples
    --------
    >>> engine = FlatEngine(dimension=2, metric="l2")
    >>> engine.add(np.array([0, 1]), np.array([[0, 0], [3, 4]], dtype=np.float32))
    >>> rows, scores = engine.search(np.array([[0, 0]], dtype=np.float32), 3)
    >>> rows.tolist(), scores.tolist()
    ([[0, 1, -1]], [[0.0, -5.0, -inf]])
    """

    name: ClassVar[str] = "flat"

    def __init__(self, *, dimension: int, metric: Metric, settings: Settings | None = None) -> None:
        super().__init__(dimension=dimension, metric=metric, settings=settings)
        import faiss

        kind = faiss.IndexFlatL2 if metric == "l2" else faiss.IndexFlatIP
        self._hold(kind(dimension), FaissRows())

    def _hold(self, structure: Any, rows: FaissRows) -> None:
        self._structure = structure
        self._rows = rows
        self._largest_norm = 0.0  # squared, of all vectors ever here: a removal does not lower it
        self._note_norms(stored_vectors(structure))

    def _note_norms(self, vectors: Vectors) -> None:
        if self._metric == "l2" and len(vectors):
            self._largest_norm = max(self._largest_norm, float(squared_norms(vectors).max()))

    @property
    def memory_bytes(self) -> int:
        """Vectors and rows; what the allocator keeps in reserve is not counted."""
        return len(self) * (4 * self._dimension + 8)

    def add(self, rows: Int64Array, vectors: Vectors) -> None:
        """Add vectors under new rows."""
        self._rows.check_new(rows)
        self._structure.add(vectors)
        self._rows.append(rows)
        self._note_norms(vectors)

    def vectors(self, rows: Int64Array) -> Vectors:
        """Vectors as stored, a copy."""
        taken: Vectors = stored_vectors(self._structure)[self._rows.positions(rows)]
        return taken

    def search(self, queries: Vectors, k: int) -> tuple[Int64Array, Vectors]:
        """Nearest rows and scores."""
        if not len(self) or not len(queries):
            return nothing_found(len(queries), k)
        threshold = _matrix_product_from()
        least = -(-threshold // self._dimension) if queries.size >= threshold else 1
        return nearest_past_ties(self._nearest, queries, k, len(self), least_queries=least)

    def _nearest(self, queries: Vectors, k: int) -> tuple[Int64Array, Vectors]:
        if self._metric == "l2":
            values, positions = nearest_by_distance(self._structure, self._largest_norm, queries, k)
        else:
            values, positions = self._structure.search(queries, k)
        return in_order(self._rows.at(positions), scores_from(self._metric, values, positions))

    def save(self, path: Path) -> None:
        """Write one FAISS file."""
        write_with_rows(self._structure, self._rows.values, path)

    @classmethod
    def load(cls, path: Path, *, metric: Metric, settings: Settings) -> Self:
        """Read that file back."""
        structure, rows = unwrapped(read_faiss(path))
        return cls.around(structure, rows, path, metric=metric, settings=settings)

    @classmethod
    def around(
        cls, structure: Any, rows: Int64Array | None, path: Path, *, metric: Metric, settings: Settings
    ) -> Self:
        """Take a FAISS structure that is there already; ``rows`` None means 0, 1, 2..."""
        import faiss

        engine = cls(dimension=structure.d, metric=metric, settings=settings)
        engine._check_structure(structure, (faiss.IndexFlat,), path)
        engine._hold(structure, FaissRows(rows_of(structure, rows, path)))
        return engine

    @classmethod
    def settings_of(cls, _structure: Any) -> dict[str, int]:
        """Settings that a FAISS structure was made with: there are none."""
        return {}


def _matrix_product_from() -> int:
    """Numbers in a batch of queries from which FAISS multiplies matrices."""
    import faiss

    threshold: int = faiss.cvar.distance_compute_blas_threshold
    return threshold
