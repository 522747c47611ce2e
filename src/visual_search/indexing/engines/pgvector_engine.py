"""Engine ``pgvector``: vectors in a table of PostgreSQL."""

from __future__ import annotations

from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from visual_search.errors import DimensionError, InputError
from visual_search.indexing.engines.contract import Metric, Settings
from visual_search.indexing.engines.declared_engine import DeclaredEngine
from visual_search.indexing.engines.faiss_answers import in_order, nothing_found
from visual_search.indexing.engines.faiss_rows import FaissRows
from visual_search.indexing.engines.parts_file import opened_parts, write_parts
from visual_search.indexing.engines.pgvector_table import PgvectorTable
from visual_search.indexing.engines.postgres import checked_url, package, server_url
from visual_search.indexing.engines.settings import AnySetting, Setting, TextSetting

__all__ = ["PgvectorEngine"]

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]

_INDEXED_DIMENSIONS = 2_000
# pgvector's advice: a list for every 1,000 rows up to a million, and the root of their number beyond.
_ROWS_A_LIST = 1_000


class PgvectorEngine(DeclaredEngine):
    """Search in a PostgreSQL table by pgvector: exact, HNSW or IVFFlat.

    Convention
    ----------
    ``url`` is a server; without one the process starts a server of its own in a temporary folder and stops it at its
    end. The table has a random name (``visual_search_`` and 16 digits), is made at the first ``add`` and dropped when
    the engine goes. ``save`` writes rows and vectors into a file; ``load`` fills a new table and builds the index
    anew, so an approximate index may answer a little differently after loading.

    The index is built when the first vectors come, from these: ``ivfflat`` learns its centres from them and keeps
    them, so add the bulk first. Each query is a statement of its own. With ``hnsw`` and ``ivfflat`` the planner is kept
    from scanning the table instead, else small tables would be searched exactly whatever the settings say.

    ``hnsw`` goes on past ``ef_search`` until it has k (iterative scans, pgvector 0.8 and later). ``ivfflat`` looks into
    ``probes`` lists and may find fewer than k. Removed rows are deleted; their space is the server's vacuum's affair.

    pgvector keeps up to 16,000 dimensions and indexes up to 2,000 of them.

    ``index_bytes`` is what the server counts for the table with its indexes; ``memory_bytes`` is what the rows and
    vectors take without the server's bookkeeping, since what of it is in memory the server decides.
    """

    name: ClassVar[str] = "pgvector"
    file_suffix: ClassVar[str] = "parts"
    LARGEST_DIMENSION: ClassVar[int] = 16_000
    SETTINGS: ClassVar[tuple[AnySetting, ...]] = (
        TextSetting("method", "hnsw", ("exact", "hnsw", "ivfflat"), "build", "how the table is searched"),
        TextSetting("url", "", (), "build", "postgresql://user@host/database; empty starts a server of its own"),
        Setting("m", 16, 2, 100, "build", "hnsw: links per node; more: better recall, slower build"),
        Setting(
            "ef_construction", 64, 4, 1000, "build", "hnsw: width of the walk that places a node, at least 2 m"
        ),
        Setting("ef_search", 40, 1, 1000, "search", "hnsw: width of a search's walk"),
        Setting(
            "lists", 0, 0, 32_768, "build", "ivfflat: lists; 0 makes one for every 1,000 rows of the first add"
        ),
        Setting(
            "probes", 1, 1, 32_768, "search", "ivfflat: lists a search looks into; more: better recall, slower"
        ),
    )

    def __init__(self, *, dimension: int, metric: Metric, settings: Settings | None = None) -> None:
        super().__init__(dimension=dimension, metric=metric, settings=settings)
        self._settings["url"] = checked_url(self._settings["url"])
        least = 2 * self._settings["m"]
        if "ef_construction" not in (settings or {}):
            self._settings["ef_construction"] = max(self._settings["ef_construction"], least)
        elif self._settings["ef_construction"] < least:
            raise InputError(
                f"ef_construction={self._settings['ef_construction']}: must be at least 2 m, which is {least}"
            )
        if self._settings["method"] != "exact" and dimension > _INDEXED_DIMENSIONS:
            raise DimensionError(
                f"dimension: got {dimension}; pgvector indexes vectors of up to {_INDEXED_DIMENSIONS:,} dimensions; "
                "use method='exact', or vectors of fewer dimensions"
            )
        package("psycopg")
        package("pgvector.psycopg")
        self._rows = FaissRows()
        self._held: PgvectorTable | None = None

    def settings_without_use(self) -> dict[str, str]:
        """Search settings of the other methods, each with the reason; a sweep leaves them to other engines."""
        method = self._settings["method"]
        of = {"ef_search": "hnsw", "probes": "ivfflat"}
        return {name: f"method={method} has none" for name, owner in of.items() if method != owner}

    @property
    def _table(self) -> PgvectorTable:
        if self._held is None:
            self._held = PgvectorTable(server_url(self._settings["url"]), self._dimension, self._metric)
        return self._held

    @property
    def library(self) -> str:
        """The server's pgvector and PostgreSQL, once connected; else the client."""
        if self._held is None:
            return f"pgvector-python {version('pgvector')}"
        server, extension = self._held.versions
        return f"pgvector {extension} in PostgreSQL {server}"

    @property
    def exact(self) -> bool:
        """Whether the method is ``exact``."""
        return bool(self._settings["method"] == "exact")

    @property
    def needs_training(self) -> bool:
        """Never: ``ivfflat`` learns from the first vectors added."""
        return False

    @property
    def tombstones(self) -> int:
        """None: rows are deleted."""
        return 0

    @property
    def memory_bytes(self) -> int:
        """Vectors and rows, without what the server adds."""
        return len(self) * (4 * self._dimension + 8)

    @property
    def index_bytes(self) -> int:
        """Table and indexes, as the server counts them."""
        return 0 if self._held is None else self._held.bytes()

    def __len__(self) -> int:
        return len(self._rows)

    def train(self, vectors: Vectors) -> None:
        """Nothing to do before vectors come."""

    def add(self, rows: Int64Array, vectors: Vectors) -> None:
        """Add vectors under new rows; the first ones are what the index is built from."""
        self._rows.check_new(rows)
        if not len(rows):
            return
        first = self._held is None
        self._table.insert(rows, vectors)
        self._rows.append(rows)
        if first:
            self._build(len(rows))

    def _build(self, count: int) -> None:
        chosen = self._settings
        if chosen["method"] == "hnsw":
            self._table.build_index("hnsw", {name: chosen[name] for name in ("m", "ef_construction")})
        elif chosen["method"] == "ivfflat":
            by_rule = count // _ROWS_A_LIST if count <= 1_000_000 else int(count**0.5)
            self._settings["lists"] = chosen["lists"] or max(1, by_rule)
            self._table.build_index("ivfflat", {"lists": self._settings["lists"]})

    def remove(self, rows: Int64Array) -> None:
        """Delete rows."""
        positions = self._rows.positions(rows)
        if len(rows):
            self._table.delete(rows)
            self._rows.delete(positions)

    def vectors(self, rows: Int64Array) -> Vectors:
        """Vectors as stored, a copy."""
        self._rows.positions(rows)
        if not len(rows):
            return np.empty((0, self._dimension), dtype=np.float32)
        return self._table.vectors(rows)

    def search(self, queries: Vectors, k: int) -> tuple[Int64Array, Vectors]:
        """Nearest rows and scores."""
        if not len(self) or not len(queries):
            return nothing_found(len(queries), k)
        rows, distances = self._table.search(queries, k, session=self._session(k), rows_break_ties=self.exact)
        wide = 1 - distances if self._metric == "cosine" else 0 - distances
        if self._metric == "cosine":
            wide = np.clip(wide, -1, 1)
        return in_order(rows, np.where(rows < 0, -np.inf, wide).astype(np.float32))

    def _session(self, k: int) -> dict[str, str]:
        if self.exact:
            return {}
        if self._settings["method"] == "ivfflat":
            return {"enable_seqscan": "off", "ivfflat.probes": str(self._settings["probes"])}
        width = min(1000, max(self._settings["ef_search"], k))
        asked = {"enable_seqscan": "off", "hnsw.ef_search": str(width)}
        if _numbers(self._table.versions[1]) >= (0, 8):
            asked["hnsw.iterative_scan"] = "strict_order"
        return asked

    def save(self, path: Path) -> None:
        """Write rows and vectors into one file; the index is built anew from them."""
        head = {"engine": self.name, "metric": self._metric, "dimension": self._dimension}
        rows = self._rows.values
        blocks = list(self._held.blocks(rows)) if self._held is not None and len(rows) else []
        held = np.concatenate(blocks) if blocks else np.empty((0, self._dimension), dtype=np.float32)
        write_parts(path, head, {"rows": rows, "vectors": held})

    @classmethod
    def load(cls, path: Path, *, metric: Metric, settings: Settings) -> Self:
        """Read that file into a new table."""
        with opened_parts(path, engine=cls.name, metric=metric) as parts:
            dimension = int(parts.head["dimension"])
            rows = parts.array("rows", "<i8", None)
            vectors: Any = parts.array("vectors", "<f4", len(rows), dimension)
        engine = cls(dimension=dimension, metric=metric, settings=settings)
        engine.add(rows, vectors)
        return engine


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(".") if part.isdigit())
