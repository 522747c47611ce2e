"""Engine ``hnswlib``: the HNSW authors' own library."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError
from visual_search.indexing.engines.contract import Metric, Settings
from visual_search.indexing.engines.declared_engine import engine_package
from visual_search.indexing.engines.faiss_rows import FaissRows
from visual_search.indexing.engines.graph_package import GraphPackageEngine
from visual_search.indexing.engines.parts_file import opened_parts, write_parts
from visual_search.indexing.engines.settings import AnySetting, Setting

__all__ = ["HnswlibEngine"]

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]


class HnswlibEngine(GraphPackageEngine):
    """Approximate search over hnswlib's graph.

    Convention
    ----------
    A removed vector stays in the graph as a tombstone: walked through, never returned. Where a walk finds fewer than k
    although k are there, the library refuses the whole batch; here the other queries keep their answers, and for
    that one every live vector is looked at. Equal scores are in row order within what the walk found.

    Adding runs in ``threads`` threads, so the graph may differ a little from build to build unless ``threads=1``.

    References
    ----------
    Y. Malkov, D. Yashunin, "Efficient and robust approximate nearest neighbor search using Hierarchical Navigable
    Small World graphs", IEEE TPAMI 42(4), 2020.
    """

    name: ClassVar[str] = "hnswlib"
    file_suffix: ClassVar[str] = "parts"
    SETTINGS: ClassVar[tuple[AnySetting, ...]] = (
        Setting("m", 32, 2, 1024, "build", "links per node; more: better recall, more memory, slower build"),
        Setting("ef_construction", 200, 1, 100_000, "build", "width of the walk that places a node"),
        Setting("seed", 100, 0, (1 << 31) - 1, "build", "seed of the nodes' levels"),
        Setting("ef_search", 64, 1, 1_000_000, "search", "width of a search's walk, at least k is used"),
        Setting("threads", 0, 0, 1024, "search", "threads of a batch and of a build; 0 takes every core"),
    )

    def __init__(self, *, dimension: int, metric: Metric, settings: Settings | None = None) -> None:
        super().__init__(dimension=dimension, metric=metric, settings=settings)
        self._structure = self._new()
        self._structure.init_index(
            max_elements=0,
            M=self._settings["m"],
            ef_construction=self._settings["ef_construction"],
            random_seed=self._settings["seed"],
        )
        self._structure.set_ef(self._settings["ef_search"])

    def _new(self) -> Any:
        library = engine_package("hnswlib", engine=self.name, extra="engines")
        return library.Index(space="l2" if self._metric == "l2" else "ip", dim=self._dimension)

    @property
    def _threads(self) -> int:
        threads: int = self._settings["threads"] or -1
        return threads

    @property
    def library(self) -> str:
        """The hnswlib that is installed."""
        return f"hnswlib {version('hnswlib')}"

    @property
    def tombstones(self) -> int:
        """Removed vectors still in the graph."""
        return int(self._structure.get_current_count()) - len(self)

    def configure(self, /, **settings: int | float | str | bool) -> None:
        """Change ``ef_search`` or ``threads``."""
        super().configure(**settings)
        self._structure.set_ef(self._settings["ef_search"])

    def add(self, rows: Int64Array, vectors: Vectors) -> None:
        """Add vectors under new rows."""
        self._rows.check_new(rows)
        if not len(rows):
            return
        needed = self._structure.get_current_count() + len(rows)
        if needed > self._structure.max_elements:
            self._structure.resize_index(max(needed, 3 * self._structure.max_elements // 2))
        self._structure.add_items(vectors, rows, num_threads=self._threads)
        self._rows.append(rows)

    def remove(self, rows: Int64Array) -> None:
        """Leave tombstones at rows."""
        positions = self._rows.positions(rows)
        for row in np.unique(rows).tolist():
            self._structure.mark_deleted(row)
        self._rows.delete(positions)

    def _graph_bytes(self) -> int:
        held: int = self._structure.index_file_size()
        return held

    def _stored(self, rows: Int64Array) -> Vectors:
        return np.asarray(self._structure.get_items(rows, return_type="numpy"), dtype=np.float32)

    def _walk(self, queries: Vectors, width: int, rows: Int64Array, distances: Vectors) -> None:
        try:
            found, apart = self._structure.knn_query(queries, k=width, num_threads=self._threads)
        except RuntimeError:
            # One short list fails the batch: halve it until only the short ones are left empty.
            if len(queries) > 1:
                half = len(queries) // 2
                self._walk(queries[:half], width, rows[:half], distances[:half])
                self._walk(queries[half:], width, rows[half:], distances[half:])
            return
        rows[:, :width], distances[:, :width] = found.astype(np.int64), apart

    def save(self, path: Path) -> None:
        """Write the graph and its live rows into one file."""
        head = {"engine": self.name, "metric": self._metric, "dimension": self._dimension}
        head |= {"m": self._settings["m"], "nodes": int(self._structure.get_current_count())}
        files = {"index.hnsw": lambda part: self._structure.save_index(str(part))} if head["nodes"] else {}
        write_parts(path, head, {"rows": self._rows.values}, files)

    @classmethod
    def load(cls, path: Path, *, metric: Metric, settings: Settings) -> Self:
        """Read that file back."""
        with opened_parts(path, engine=cls.name, metric=metric) as parts:
            engine = cls(dimension=int(parts.head["dimension"]), metric=metric, settings=settings)
            engine._check_links(path, parts.head["m"])
            if parts.head["nodes"]:
                engine._structure = engine._new()
                with parts.file("index.hnsw") as file:
                    engine._structure.load_index(str(file))
                engine._structure.set_ef(engine.settings["ef_search"])
            engine._rows = FaissRows(parts.array("rows", "<i8", None))
            if engine._structure.get_current_count() != parts.head["nodes"] or engine.tombstones < 0:
                raise FileFormatError(f"{path}: its graph and its rows are not of one count")
        return engine
