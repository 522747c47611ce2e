"""Engine ``hnsw``: a walk through a graph of neighbours."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError, UnknownIdError, first_few
from visual_search.indexing.engines.contract import Metric, Settings
from visual_search.indexing.engines.faiss_answers import in_order, nothing_found, scores_from
from visual_search.indexing.engines.faiss_engine import FaissEngine
from visual_search.indexing.engines.faiss_files import read_faiss, rows_of, unwrapped, write_with_rows
from visual_search.indexing.engines.faiss_rows import FaissRows
from visual_search.indexing.engines.faiss_search import search_with
from visual_search.indexing.engines.flat_distances import stored_vectors
from visual_search.indexing.engines.settings import Setting
from visual_search.indexing.engines.ties_at_cut import nearest_past_ties

__all__ = ["HnswEngine"]

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]

_WIDER = 8


class HnswEngine(FaissEngine):
    """Approximate search over FAISS's ``IndexHNSWFlat`` (hierarchical navigable small world graph).

    Convention
    ----------
    A node cannot leave the graph, so a removed one stays as a tombstone: walked through, never returned. The walk
    is widened by the share of tombstones; where it still finds fewer than k although k are there (also in a graph
    with parts out of reach), it is repeated eight times as wide, and then every live vector is looked at. So a list
    is short only where the index is. Rebuild an index with many tombstones (``VectorIndex.compact``).

    Equal scores are in row order, across the cut at k too, among what a walk of width ``ef_search`` finds; a k as
    large as that leaves out those of a tie that the walk did not keep.

    Adding runs in several threads, so the graph, and with it the answers, may differ a little from build to build.
    Under ``ip`` vectors of very different lengths make a poor graph: measure recall, or use ``flat``.

    References
    ----------
    Y. Malkov, D. Yashunin, "Efficient and robust approximate nearest neighbor search using Hierarchical Navigable
    Small World graphs", IEEE TPAMI 42(4), 2020.
    """

    name: ClassVar[str] = "hnsw"
    SETTINGS: ClassVar[tuple[Setting, ...]] = (
        Setting("m", 32, 2, 1024, "build", "links per node; more: better recall, more memory, slower build"),
        Setting("ef_construction", 200, 1, 100_000, "build", "width of the walk that places a node"),
        Setting("ef_search", 64, 1, 1_000_000, "search", "width of a search's walk, at least k is used"),
    )

    def __init__(self, *, dimension: int, metric: Metric, settings: Settings | None = None) -> None:
        super().__init__(dimension=dimension, metric=metric, settings=settings)
        import faiss

        structure = faiss.IndexHNSWFlat(dimension, self._settings["m"], self._faiss_metric)
        self._hold(structure, FaissRows(), np.empty(0, dtype=np.int64))

    def _hold(self, structure: Any, rows: FaissRows, dead: Int64Array) -> None:
        import faiss

        self._structure = structure
        self._structure.hnsw.efConstruction = self._settings["ef_construction"]
        self._storage = faiss.downcast_index(structure.storage)
        self._rows = rows
        self._bury(dead)

    def _bury(self, dead: Int64Array) -> None:
        """Note the positions that are dead, and make the selector that lets a search return the others only."""
        import faiss

        self._dead = dead
        self._selector: Any = None
        if len(dead):
            alive = np.ones(len(self._rows), dtype=np.bool_)
            alive[dead] = False
            self._alive_bits = np.packbits(alive, bitorder="little")  # kept: the selector points into it
            self._selector = faiss.IDSelectorBitmap(self._alive_bits)

    @property
    def exact(self) -> bool:
        """Never: a walk may miss."""
        return False

    @property
    def needs_training(self) -> bool:
        """Never."""
        return False

    @property
    def tombstones(self) -> int:
        """Removed vectors still in the graph."""
        return len(self._dead)

    @property
    def memory_bytes(self) -> int:
        """Vectors, rows, links; tombstones too. What the allocator keeps in reserve is not counted."""
        graph = self._structure.hnsw
        links: int = 4 * graph.neighbors.size() + 8 * graph.offsets.size() + 4 * graph.levels.size()
        return len(self._rows) * (4 * self._dimension + 8) + links

    def __len__(self) -> int:
        return len(self._rows) - len(self._dead)

    def train(self, vectors: Vectors) -> None:
        """Nothing to learn."""

    def add(self, rows: Int64Array, vectors: Vectors) -> None:
        """Add vectors under new rows."""
        self._rows.check_new(rows)
        self._structure.add(vectors)
        self._rows.append(rows)
        self._bury(self._dead)

    def remove(self, rows: Int64Array) -> None:
        """Leave tombstones at rows."""
        self._bury(np.union1d(self._dead, self._live_positions(rows)))

    def vectors(self, rows: Int64Array) -> Vectors:
        """Vectors as stored, a copy."""
        taken: Vectors = stored_vectors(self._storage)[self._live_positions(rows)]
        return taken

    def _live_positions(self, rows: Int64Array) -> Int64Array:
        positions = self._rows.positions(rows)
        gone = rows[np.isin(positions, self._dead)] if len(self._dead) else rows[:0]
        if gone.size:
            raise UnknownIdError(f"rows: {gone.size} of them were removed: {first_few(gone.tolist())}")
        return positions

    def search(self, queries: Vectors, k: int) -> tuple[Int64Array, Vectors]:
        """Nearest rows and scores."""
        if not len(self) or not len(queries):
            return nothing_found(len(queries), k)
        # What one walk of this width finds: deeper would be another walk.
        most = min(len(self), max(k, self._settings["ef_search"]))
        return nearest_past_ties(self._nearest, queries, k, most)

    def _nearest(self, queries: Vectors, k: int) -> tuple[Int64Array, Vectors]:
        width = ceil(max(self._settings["ef_search"], k) * len(self._rows) / len(self))
        values, positions = self._walk(queries, k, width)
        for again in (self._walk, self._look_at_all):
            short = np.flatnonzero((positions >= 0).sum(axis=1) < min(k, len(self)))
            if not short.size:
                break
            width = min(_WIDER * width, len(self._rows))
            values[short], positions[short] = again(queries[short], k, width)
        return in_order(self._rows.at(positions), scores_from(self._metric, values, positions))

    def _walk(self, queries: Vectors, k: int, width: int) -> tuple[Vectors, Int64Array]:
        import faiss

        asked = faiss.SearchParametersHNSW(efSearch=min(width, max(k, len(self._rows))))
        if self._selector is not None:
            asked.sel = self._selector
        return search_with(self._structure, queries, k, asked)

    def _look_at_all(self, queries: Vectors, k: int, _width: int) -> tuple[Vectors, Int64Array]:
        import faiss

        asked = faiss.SearchParameters(sel=self._selector or faiss.IDSelectorAll())
        return search_with(self._storage, queries, k, asked)

    def save(self, path: Path) -> None:
        """Write one FAISS file; a tombstone of row r carries the id -1 - r."""
        rows = self._rows.values.copy()
        rows[self._dead] = -1 - rows[self._dead]
        write_with_rows(self._structure, rows, path)

    @classmethod
    def load(cls, path: Path, *, metric: Metric, settings: Settings) -> Self:
        """Read that file back."""
        structure, rows = unwrapped(read_faiss(path))
        return cls.around(structure, rows, path, metric=metric, settings=settings)

    @classmethod
    def around(
        cls, structure: Any, rows: Int64Array | None, path: Path, *, metric: Metric, settings: Settings
    ) -> Self:
        """Take a FAISS structure that is there already; ``rows`` None means 0, 1, 2..., negative is a tombstone."""
        import faiss

        engine = cls(dimension=structure.d, metric=metric, settings=settings)
        engine._check_structure(structure, (faiss.IndexHNSW,), path)
        if not isinstance(faiss.downcast_index(structure.storage), faiss.IndexFlat):
            raise FileFormatError(f"{path}: its graph stands on compressed vectors; engine 'hnsw' needs whole ones")
        links = structure.hnsw.nb_neighbors(1)
        if links != engine.settings["m"]:
            raise FileFormatError(f"{path}: its graph has m={links}, but m={engine.settings['m']} was asked for")
        known = rows_of(structure, rows, path)
        dead = np.flatnonzero(known < 0)
        engine._hold(structure, FaissRows(np.where(known < 0, -1 - known, known)), dead)
        return engine

    @classmethod
    def settings_of(cls, structure: Any) -> dict[str, int]:
        """Settings that a FAISS structure was made with."""
        graph = structure.hnsw
        return {
            "m": graph.nb_neighbors(1),
            "ef_construction": graph.efConstruction,
            "ef_search": graph.efSearch,
        }
