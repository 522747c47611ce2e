"""Engine ``usearch``: HNSW with hand-written distances for each CPU."""

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

__all__ = ["UsearchEngine"]

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]


class UsearchEngine(GraphPackageEngine):
    """Approximate search over usearch's graph of float32 vectors.

    Convention
    ----------
    A removed vector leaves a free place in the graph, counted as a tombstone until a new vector takes it. usearch
    says how many it found for each query and leaves the rest of the line as it was; that is read, and where it is
    fewer than there are, every live vector is looked at. Equal scores are in row order within what was found.

    Adding runs in ``threads`` threads, so the graph may differ a little from build to build unless ``threads=1``.
    """

    name: ClassVar[str] = "usearch"
    file_suffix: ClassVar[str] = "parts"
    SETTINGS: ClassVar[tuple[AnySetting, ...]] = (
        Setting("m", 16, 2, 1024, "build", "links per node; more: better recall, more memory, slower build"),
        Setting("ef_construction", 128, 1, 100_000, "build", "width of the walk that places a node"),
        Setting("ef_search", 64, 1, 1_000_000, "search", "width of a search's walk, at least k is used"),
        Setting("threads", 0, 0, 1024, "search", "threads of a batch and of a build; 0 takes every core"),
    )

    def __init__(self, *, dimension: int, metric: Metric, settings: Settings | None = None) -> None:
        super().__init__(dimension=dimension, metric=metric, settings=settings)
        self._tombstones = 0
        self._structure: Any = engine_package("usearch.index", engine=self.name, extra="engines").Index(
            ndim=dimension,
            metric="l2sq" if metric == "l2" else "ip",
            dtype="f32",
            connectivity=self._settings["m"],
            expansion_add=self._settings["ef_construction"],
            expansion_search=self._settings["ef_search"],
        )

    @property
    def library(self) -> str:
        """The usearch that is installed."""
        return f"usearch {version('usearch')}"

    @property
    def tombstones(self) -> int:
        """Places of removed vectors that no new one has taken."""
        return self._tombstones

    def configure(self, /, **settings: int | float | str | bool) -> None:
        """Change ``ef_search`` or ``threads``."""
        super().configure(**settings)
        self._structure.expansion_search = self._settings["ef_search"]

    def add(self, rows: Int64Array, vectors: Vectors) -> None:
        """Add vectors under new rows."""
        self._rows.check_new(rows)
        if not len(rows):
            return
        self._structure.add(rows.astype(np.uint64), vectors, threads=self._settings["threads"])
        self._rows.append(rows)
        self._tombstones = max(0, self._tombstones - len(rows))

    def remove(self, rows: Int64Array) -> None:
        """Take rows out; their places stay in the graph."""
        positions = self._rows.positions(rows)
        if not len(rows):
            return
        self._structure.remove(np.unique(rows).astype(np.uint64))
        self._rows.delete(positions)
        self._tombstones += len(np.unique(rows))

    def _graph_bytes(self) -> int:
        held: int = self._structure.serialized_length  # leaves out what usearch reserves
        return held

    def _stored(self, rows: Int64Array) -> Vectors:
        taken: Vectors = np.array(self._structure.get(rows.astype(np.uint64)), dtype=np.float32)
        return taken.reshape(len(rows), self._dimension)

    def _walk(self, queries: Vectors, width: int, rows: Int64Array, distances: Vectors) -> None:
        keys, apart, counts = self._matches(queries, width)
        there = np.arange(keys.shape[1]) < counts[:, None]
        rows[:, : keys.shape[1]] = np.where(there, keys.astype(np.int64), -1)
        distances[:, : keys.shape[1]] = np.where(there, apart, 0)

    def _matches(self, queries: Vectors, k: int) -> tuple[Any, Any, Int64Array]:
        """Keys and distances of shape (n, at most k), and how many of each line were found."""
        if len(queries) == 1:
            found = self._structure.search(queries[0], k, threads=self._settings["threads"])
            return found.keys[None], found.distances[None], np.array([len(found.keys)])
        found = self._structure.search(queries, k, threads=self._settings["threads"])
        return found.keys, found.distances, np.asarray(found.counts, dtype=np.int64)

    def save(self, path: Path) -> None:
        """Write the graph and its live rows into one file."""
        head = {"engine": self.name, "metric": self._metric, "dimension": self._dimension}
        head |= {"m": self._settings["m"], "tombstones": self._tombstones}
        files = {"index.usearch": lambda part: self._structure.save(str(part))} if len(self) else {}
        write_parts(
            path, head | {"tombstones": self._tombstones if files else 0}, {"rows": self._rows.values}, files
        )

    @classmethod
    def load(cls, path: Path, *, metric: Metric, settings: Settings) -> Self:
        """Read that file back."""
        with opened_parts(path, engine=cls.name, metric=metric) as parts:
            engine = cls(dimension=int(parts.head["dimension"]), metric=metric, settings=settings)
            engine._check_links(path, parts.head["m"])
            engine._rows = FaissRows(parts.array("rows", "<i8", None))
            if len(engine._rows):
                with parts.file("index.usearch") as file:
                    engine._structure.load(str(file))
                engine._structure.expansion_add = engine.settings["ef_construction"]
                engine._structure.expansion_search = engine.settings["ef_search"]
            engine._tombstones = int(parts.head["tombstones"])
            if len(engine._structure) != len(engine._rows):
                raise FileFormatError(f"{path}: {len(engine._structure)} vectors but {len(engine._rows)} rows")
        return engine
