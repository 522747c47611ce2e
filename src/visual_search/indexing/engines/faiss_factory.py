"""Engine ``faiss``: any structure that a FAISS factory string names."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError, InputError, NotTrainedError, UnknownIdError, first_few
from visual_search.indexing.engines.all_pairs import nearest_of_all
from visual_search.indexing.engines.contract import Metric, Settings
from visual_search.indexing.engines.faiss_answers import in_order, nothing_found, scores_from
from visual_search.indexing.engines.faiss_engine import FaissEngine
from visual_search.indexing.engines.faiss_files import read_faiss, write_faiss
from visual_search.indexing.engines.faiss_lists import in_probed_lists
from visual_search.indexing.engines.faiss_rows import FaissRows
from visual_search.indexing.engines.faiss_structures import lists_of, made_from, serialized_bytes, training_vectors
from visual_search.indexing.engines.faiss_widths import fitting_widths, set_widths, widths_without_use
from visual_search.indexing.engines.graph_answers import made_whole
from visual_search.indexing.engines.kept_vectors import KeptVectors
from visual_search.indexing.engines.parts_file import opened_parts, write_parts
from visual_search.indexing.engines.past_tombstones import live_candidates
from visual_search.indexing.engines.settings import AnySetting, Setting, TextSetting

__all__ = ["FaissFactoryEngine"]

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]


class FaissFactoryEngine(FaissEngine):
    """Approximate search over any FAISS structure, such as ``IVF64,PQ8np``, ``OPQ16,IVF256,PQ16``, ``HNSW32,SQ8``.

    Convention
    ----------
    Beside the structure, whole vectors are kept: they are given back bit for bit, and with ``refine`` of 1 or more the
    scores are those of the whole vectors. ``index_bytes`` is the structure alone, ``memory_bytes`` both.

    ``refine=r`` takes r times k candidates from the structure and orders them by whole vectors (r = 1: the structure
    chooses which k, the whole vectors their order). ``refine=0`` gives the structure's own scores and order, which for
    packed vectors are approximations.

    ``PQ8`` and ``PQ8np`` are trained alike: the training for polysemous filtering, minutes on many sub-quantisers and
    of no use to these searches, is left out unless ``polysemous=1``.

    Few structures let a vector go, so a removed one stays as a tombstone: found and left out, with a deeper search
    where a list would be short by it. With inverted lists an answer may be shorter than k; without them, where a graph
    does not reach enough, every whole vector is looked at. Within what is found, equal scores are in row order. It
    never calls itself exact: for exact search use ``flat``.

    Examples
    --------
    >>> engine = FaissFactoryEngine(dimension=8, metric="l2", settings={"factory": "IVF4,SQ8"})
    >>> vectors = np.random.default_rng(1).normal(size=(400, 8)).astype(np.float32)
    >>> engine.train(vectors)
    >>> engine.add(np.arange(400), vectors)
    >>> engine.search(vectors[:1], 1)[0].tolist(), engine.settings["nprobe"]
    ([[0]], 4)
    >>> engine.index_bytes < engine.memory_bytes
    True
    """

    name: ClassVar[str] = "faiss"
    file_suffix: ClassVar[str] = "parts"
    SETTINGS: ClassVar[tuple[AnySetting, ...]] = (
        TextSetting("factory", "IVF64,PQ8np", (), "build", "FAISS factory string; PQ8 packs a vector into 8 bytes"),
        Setting("polysemous", 0, 0, 1, "build", "1 trains PQ for polysemous filtering: minutes, rarely of use"),
        Setting("nprobe", 0, 0, 1 << 24, "search", "lists a search looks into; 0 where there are none, else 16"),
        Setting("ef_search", 0, 0, 1_000_000, "search", "width of a walk; 0 where there is no graph, else 64"),
        Setting(
            "refine", 1, 0, 10_000, "search", "candidates a place, ordered by whole vectors; 0 leaves them alone"
        ),
    )

    def __init__(self, *, dimension: int, metric: Metric, settings: Settings | None = None) -> None:
        super().__init__(dimension=dimension, metric=metric, settings=settings)
        self._rows, self._kept = FaissRows(), KeptVectors(dimension)
        self._alive = np.empty(0, dtype=np.bool_)
        self._measured: tuple[int, int] | None = None
        # An index that does not know its dimension yet asks with 1, for which few strings make sense.
        self._structure: Any = self._empty() if dimension > 1 else None
        if self._structure is not None:
            self._settings |= self._fitting(self._settings)
            self._apply()

    def settings_without_use(self) -> dict[str, str]:
        """Settings that this structure has nothing for, each with the reason; a sweep leaves them to other engines."""
        return {} if self._structure is None else widths_without_use(self._structure, self._settings["factory"])

    def _empty(self) -> Any:
        polysemous = bool(self._settings["polysemous"])
        return made_from(self._settings["factory"], self._dimension, self._faiss_metric, polysemous=polysemous)

    def _fitting(self, asked: dict[str, Any]) -> dict[str, int]:
        return fitting_widths(self._structure, self._settings["factory"], asked["nprobe"], asked["ef_search"])

    def _apply(self) -> None:
        set_widths(self._structure, self._settings["nprobe"], self._settings["ef_search"])

    def configure(self, /, **settings: int | float | str | bool) -> None:
        """Change ``nprobe``, ``ef_search`` or ``refine``."""
        before = dict(self._settings)
        super().configure(**settings)
        if self._structure is None:
            return
        try:
            self._settings |= self._fitting(self._settings)
        except InputError:
            self._settings = before
            raise
        self._apply()

    @property
    def exact(self) -> bool:
        """Never: whatever the string, for exact search there is ``flat``."""
        return False

    @property
    def needs_training(self) -> bool:
        """Whether the structure is still to learn."""
        return self._structure is None or not self._structure.is_trained

    @property
    def tombstones(self) -> int:
        """Removed vectors still in the structure."""
        return len(self._alive) - len(self)

    @property
    def index_bytes(self) -> int:
        """The structure as FAISS writes it, without the whole vectors beside it."""
        if self._structure is None:
            return 0
        if self._measured is None or self._measured[0] != self._structure.ntotal:
            self._measured = (self._structure.ntotal, serialized_bytes(self._structure))
        return self._measured[1]

    @property
    def memory_bytes(self) -> int:
        """Structure, whole vectors and rows; tombstones too."""
        return self.index_bytes + len(self._alive) * (4 * self._dimension + 9)

    def __len__(self) -> int:
        return int(self._alive.sum())

    def train(self, vectors: Vectors) -> None:
        """Learn code books and centres.

        Raises
        ------
        NotTrainedError
            Too few vectors.
        """
        if self._structure is None:
            self._structure = self._empty()
        if self._structure.is_trained:
            return
        wanted = training_vectors(self._structure)
        factory = self._settings["factory"]
        if len(vectors) < wanted:
            raise NotTrainedError(
                f"engine 'faiss' with factory {factory!r} needs training on at least {wanted} vectors, and got "
                f"{len(vectors)}; add more at once, train first on a larger sample, or choose fewer lists or bits"
            )
        fresh = self._empty()  # a structure whose training breaks off is not used again
        try:
            fresh.train(vectors)
        except RuntimeError as error:
            reason = str(error).rsplit("Error: ", 1)[-1].strip().splitlines()[0]
            raise NotTrainedError(
                f"engine 'faiss' with factory {factory!r} could not be trained on {len(vectors)} vectors ({reason})"
            ) from error
        self._structure = fresh
        self._settings |= self._fitting(self._settings)
        self._apply()

    def add(self, rows: Int64Array, vectors: Vectors) -> None:
        """Add vectors under new rows."""
        if not len(rows):
            return
        if self.needs_training:
            wanted = (
                "" if self._structure is None else f"; train it on at least {training_vectors(self._structure)}"
            )
            raise NotTrainedError(f"engine 'faiss' needs training before vectors come{wanted}")
        self._rows.check_new(rows)
        self._structure.add(vectors)
        self._rows.append(rows)
        self._kept.append(vectors)
        self._alive = np.concatenate([self._alive, np.ones(len(rows), dtype=np.bool_)])

    def remove(self, rows: Int64Array) -> None:
        """Leave tombstones at rows."""
        self._alive[self._live_positions(rows)] = False

    def vectors(self, rows: Int64Array) -> Vectors:
        """Vectors as they came, a copy."""
        taken: Vectors = self._kept.values[self._live_positions(rows)]
        return taken

    def _live_positions(self, rows: Int64Array) -> Int64Array:
        positions = self._rows.positions(rows)
        gone = rows[~self._alive[positions]]
        if gone.size:
            raise UnknownIdError(f"rows: {gone.size} of them were removed: {first_few(gone.tolist())}")
        return positions

    def search(self, queries: Vectors, k: int) -> tuple[Int64Array, Vectors]:
        """Nearest rows and scores among what the structure finds."""
        if not len(self) or not len(queries):
            return nothing_found(len(queries), k)
        refine = self._settings["refine"]
        positions, values = live_candidates(self._structure.search, self._alive, queries, k * max(1, refine))
        if refine:
            scores = self._kept.scores(self._metric, queries, positions)
        else:
            scores = scores_from(self._metric, values, positions)
        rows, scores = in_order(self._rows.at(positions), scores)
        rows, scores = np.ascontiguousarray(rows[:, :k]), np.ascontiguousarray(scores[:, :k])
        if lists_of(self._structure):
            return rows, scores  # what was not probed is not there
        return made_whole(rows, scores, queries, len(self), self._look_at_all)

    def candidates(self, queries: Vectors, k: int) -> Int64Array:
        """Rows the structure itself finds nearest, before whole vectors order them: (n, k times refine), -1 pads."""
        count = k * max(1, self._settings["refine"])
        return self._rows.at(live_candidates(self._structure.search, self._alive, queries, count)[0])

    def in_probed_lists(self, queries: Vectors, rows: Int64Array) -> npt.NDArray[np.bool_]:
        """Whether each row of shape (n, m) lies in a list that the query's search looks into; -1 lies in none."""
        positions = rows.copy()
        positions[rows >= 0] = self._rows.positions(rows[rows >= 0])
        return in_probed_lists(self._structure, queries, positions)

    def _look_at_all(self, queries: Vectors, k: int) -> tuple[Int64Array, Vectors]:
        rows = np.sort(self._rows.values[self._alive])
        return nearest_of_all(self._metric, queries, k, rows, self.vectors)

    def save(self, path: Path) -> None:
        """Write the structure, rows, vectors and tombstones into one file."""
        head = {"engine": self.name, "metric": self._metric, "dimension": self._dimension}
        head |= {"factory": self._settings["factory"], "made": self._structure is not None}
        arrays: dict[str, npt.NDArray[Any]] = {
            "rows": self._rows.values,
            "vectors": self._kept.values,
            "alive": self._alive,
        }
        files = {"index.faiss": self._write_structure} if self._structure is not None else {}
        write_parts(path, head, arrays, files)

    def _write_structure(self, path: Path) -> None:
        write_faiss(self._structure, path)

    @classmethod
    def load(cls, path: Path, *, metric: Metric, settings: Settings) -> Self:
        """Read that file back."""
        with opened_parts(path, engine=cls.name, metric=metric) as parts:
            dimension = int(parts.head["dimension"])
            engine = cls(dimension=dimension, metric=metric, settings=settings)
            if parts.head["factory"] != engine.settings["factory"]:
                raise FileFormatError(
                    f"{path}: made by factory {parts.head['factory']!r}, but {engine.settings['factory']!r} was asked "
                    "for"
                )
            rows = parts.array("rows", "<i8", None)
            engine._kept = KeptVectors(dimension, parts.array("vectors", "<f4", len(rows), dimension))
            engine._alive = parts.array("alive", "|b1", len(rows))
            engine._rows = FaissRows(rows)
            if parts.head["made"]:
                with parts.file("index.faiss") as file:
                    engine._structure = read_faiss(file)
                engine._check_made(path)
                engine._apply()
        return engine

    def _check_made(self, path: Path) -> None:
        found = (self._structure.d, self._structure.ntotal, self._structure.metric_type)
        wanted = (self._dimension, len(self._alive), self._faiss_metric)
        if found != wanted:
            raise FileFormatError(
                f"{path}: a structure of dimension, vectors, metric {found}, beside parts of {wanted}"
            )
