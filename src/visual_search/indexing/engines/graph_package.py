"""What the engines over a package's HNSW graph share: live rows beside the graph, and the way out of a short walk."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError
from visual_search.indexing.engines.all_pairs import nearest_of_all
from visual_search.indexing.engines.contract import Metric, Settings
from visual_search.indexing.engines.declared_engine import DeclaredEngine
from visual_search.indexing.engines.faiss_answers import nothing_found
from visual_search.indexing.engines.faiss_rows import FaissRows
from visual_search.indexing.engines.graph_answers import answers_from, made_whole

__all__ = ["GraphPackageEngine"]

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]


class GraphPackageEngine(DeclaredEngine, ABC):
    """A graph that a package keeps, with the rows that are alive in it.

    A subclass walks (``_walk``), gives vectors back (``_stored``) and tells its size (``_graph_bytes``); one that lacks
    any of the three cannot be made.

    Attributes
    ----------
    rows : FaissRows
        The live rows in the order they came.
    """

    def __init__(self, *, dimension: int, metric: Metric, settings: Settings | None = None) -> None:
        super().__init__(dimension=dimension, metric=metric, settings=settings)
        self._rows = FaissRows()

    @property
    def exact(self) -> bool:
        """Never: a walk may miss."""
        return False

    @property
    def needs_training(self) -> bool:
        """Never."""
        return False

    @property
    def memory_bytes(self) -> int:
        """Vectors, links and rows; tombstones too."""
        return self._graph_bytes() + 8 * len(self)

    @property
    def index_bytes(self) -> int:
        """As ``memory_bytes``: the vectors are in the graph."""
        return self.memory_bytes

    def __len__(self) -> int:
        return len(self._rows)

    def train(self, vectors: Vectors) -> None:
        """Nothing to learn."""

    def vectors(self, rows: Int64Array) -> Vectors:
        """Vectors as stored, a copy."""
        self._rows.positions(rows)
        if not len(rows):
            return np.empty((0, self._dimension), dtype=np.float32)
        return self._stored(rows)

    def search(self, queries: Vectors, k: int) -> tuple[Int64Array, Vectors]:
        """Nearest rows and scores."""
        rows, distances = nothing_found(len(queries), k)
        if not len(self) or not len(queries):
            return rows, distances
        self._walk(queries, min(k, len(self)), rows, distances)
        rows, scores = answers_from(self._metric, rows, distances)
        return made_whole(rows, scores, queries, len(self), self._look_at_all)

    def _look_at_all(self, queries: Vectors, k: int) -> tuple[Int64Array, Vectors]:
        return nearest_of_all(self._metric, queries, k, np.sort(self._rows.values), self.vectors)

    def _check_links(self, path: Path, links: Any) -> None:
        """Refuse a file whose graph was built with other links than the settings say."""
        if links != self._settings["m"]:
            raise FileFormatError(f"{path}: its graph has m={links}, but m={self._settings['m']} was asked for")

    @abstractmethod
    def _graph_bytes(self) -> int:
        """Bytes of the graph as the package counts them."""

    @abstractmethod
    def _stored(self, rows: Int64Array) -> Vectors:
        """Vectors of rows that are there, at least one."""

    @abstractmethod
    def _walk(self, queries: Vectors, width: int, rows: Int64Array, distances: Vectors) -> None:
        """Fill what the walk of each query finds, at most ``width``; the rest stays at -1."""
