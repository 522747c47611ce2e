"""Engine ``hamming``: every search looks at every packed code."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError
from visual_search.indexing.engines.contract import Metric, Settings
from visual_search.indexing.engines.exhaustive_engine import ExhaustiveEngine
from visual_search.indexing.engines.faiss_answers import nothing_found
from visual_search.indexing.engines.faiss_rows import FaissRows
from visual_search.indexing.engines.hamming_ties import lowest_rows_at_cut
from visual_search.indexing.engines.parts_file import opened_parts, write_parts

__all__ = ["HammingEngine"]

Int64Array = npt.NDArray[np.int64]
Codes = npt.NDArray[np.uint8]
Scores = npt.NDArray[np.float32]


class HammingEngine(ExhaustiveEngine):
    """Exhaustive search in binary codes over FAISS's ``IndexBinaryFlat``; exact.

    A score is minus the number of bits that differ, a whole number. A code of ``dimension`` bits takes
    ceil(dimension / 8) bytes: 32 times less than as many float32 numbers where 8 divides the dimension. How codes
    are made of vectors is learnt before they come (``fit_hasher``).

    Convention
    ----------
    Codes have few distances, so that a cut at k nearly always falls among equal ones. Those of the lowest rows stand
    above it, whatever k is asked: a list is the beginning of the longer ones. Queries with a tie at the cut, most of
    them, cost a second look at all codes for what lies within the k-th distance.

    Examples
    --------
    >>> engine = HammingEngine(dimension=4, metric="hamming")
    >>> engine.add(np.array([0, 1, 2]), np.packbits([[1, 0, 1, 1], [1, 1, 1, 1], [0, 1, 0, 0]], axis=1))
    >>> rows, scores = engine.search(np.packbits([[1, 1, 1, 1]], axis=1), 2)
    >>> rows.tolist(), scores.tolist()
    ([[1, 0]], [[0.0, -1.0]])
    """

    name: ClassVar[str] = "hamming"
    metrics: ClassVar[tuple[Metric, ...]] = ("hamming",)
    file_suffix: ClassVar[str] = "parts"
    LARGEST_DIMENSION: ClassVar[int] = 1 << 24  # float32 scores count exactly up to here

    def __init__(self, *, dimension: int, metric: Metric, settings: Settings | None = None) -> None:
        super().__init__(dimension=dimension, metric=metric, settings=settings)
        import faiss

        self._width = -(-dimension // 8)
        self._structure: Any = faiss.IndexBinaryFlat(8 * self._width)
        self._rows = FaissRows()

    @property
    def library(self) -> str:
        """The FAISS that is running."""
        import faiss

        return f"faiss {faiss.__version__}"

    @property
    def memory_bytes(self) -> int:
        """Codes and rows; what the allocator keeps in reserve is not counted."""
        return len(self) * (self._width + 8)

    @property
    def index_bytes(self) -> int:
        """The packed codes: a search reads them and looks up the rows of what it found only."""
        return len(self) * self._width

    def add(self, rows: Int64Array, vectors: Codes) -> None:
        """Add packed codes, uint8 of shape (n, bytes), under new rows."""
        self._rows.check_new(rows)
        self._structure.add(vectors)
        self._rows.append(rows)

    def vectors(self, rows: Int64Array) -> Codes:
        """Packed codes as stored, a copy."""
        taken: Codes = self._stored()[self._rows.positions(rows)]
        return taken

    def search(self, queries: Codes, k: int) -> tuple[Int64Array, Scores]:
        """Nearest rows, and minus the number of bits that differ."""
        rows, scores = nothing_found(len(queries), k)
        count = len(self)
        if not count or not len(queries):
            return rows, scores
        depth = min(k, count)
        found, distances = lowest_rows_at_cut(self._structure, self._rows, queries, depth)
        rows[:, :depth] = found
        np.subtract(np.float32(0), distances, out=scores[:, :depth], dtype=np.float32)
        return rows, scores

    def save(self, path: Path) -> None:
        """Write codes and rows into one file."""
        head = {"engine": self.name, "metric": self._metric, "dimension": self._dimension}
        write_parts(path, head, {"rows": self._rows.values, "codes": self._stored()})

    @classmethod
    def load(cls, path: Path, *, metric: Metric, settings: Settings) -> Self:
        """Read that file back."""
        with opened_parts(path, engine=cls.name, metric=metric) as parts:
            engine = cls(dimension=int(parts.head["dimension"]), metric=metric, settings=settings)
            rows = parts.array("rows", "<i8", None)
            codes = parts.array("codes", "|u1", None, engine._width)
        if len(rows) != len(codes):
            raise FileFormatError(f"{path}: its codes and its rows are not of one count")
        spare = 8 * engine._width - engine._dimension
        if (codes[:, -1] & ((1 << spare) - 1)).any():
            raise FileFormatError(f"{path}: its codes have bits set beyond the {engine._dimension} of a code")
        engine.add(rows, codes)
        return engine

    def _stored(self) -> Codes:
        """All codes as a view of shape (n, bytes); valid until the next add or remove."""
        import faiss

        if not len(self):
            return np.empty((0, self._width), dtype=np.uint8)
        flat: Codes = faiss.rev_swig_ptr(self._structure.xb.data(), len(self) * self._width)
        return flat.reshape(len(self), self._width)
