"""Engine ``ivf``: vectors in lists around learnt centres; a search looks into the nearest lists."""

from __future__ import annotations

from math import isqrt
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import DuplicateIdError, FileFormatError, InputError, NotTrainedError
from visual_search.indexing.engines.contract import Metric, Settings
from visual_search.indexing.engines.faiss_answers import in_order, nothing_found, scores_from
from visual_search.indexing.engines.faiss_engine import FaissEngine
from visual_search.indexing.engines.faiss_files import read_faiss, write_faiss
from visual_search.indexing.engines.faiss_rows import FaissRows
from visual_search.indexing.engines.faiss_search import search_with
from visual_search.indexing.engines.settings import Setting
from visual_search.indexing.engines.ties_at_cut import nearest_past_ties

__all__ = ["IvfEngine", "lists_for", "stored_ids"]

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]

# FAISS asks for this many training vectors per list (its ClusteringParameters.min_points_per_centroid).
_VECTORS_PER_LIST = 39
# Measured size of one entry of FAISS's table from row to place: a hash node and its bucket.
_DIRECT_MAP_ENTRY = 40


def lists_for(count: int) -> int:
    """How many lists suit a number of vectors: the smaller of 4 sqrt(n) and n / 39, at least 1.

    >>> lists_for(100), lists_for(10_000), lists_for(1_000_000)
    (2, 256, 4000)
    """
    return max(1, min(4 * isqrt(count), count // _VECTORS_PER_LIST))


class IvfEngine(FaissEngine):
    """Approximate search over FAISS's ``IndexIVFFlat`` (inverted file, k-means centres).

    Convention
    ----------
    Training comes first, on at least 39 vectors per list (39 where ``nlist`` is left to the rule ``lists_for``,
    which then looks at the training vectors' number). The centres stay as they are while vectors come and go.

    A search returns what the ``nprobe`` nearest lists hold, so a list may be shorter than k although the index has
    more; within them equal scores are in row order at every k. ``nprobe = nlist`` looks everywhere.
    Where there are fewer lists than ``nprobe`` and
    the rule made them, or ``nprobe`` was left to its default, ``nprobe`` is lowered to their number. Removal is real.

    Under ``ip`` and ``cosine`` the centres are kept at unit length.
    """

    name: ClassVar[str] = "ivf"
    SETTINGS: ClassVar[tuple[Setting, ...]] = (
        Setting("nlist", 0, 0, 1 << 24, "build", "number of lists; 0 chooses by count when trained"),
        Setting("nprobe", 16, 1, 1 << 24, "search", "lists a search looks into; more: better recall, slower"),
        Setting("seed", 1234, 0, (1 << 31) - 1, "build", "seed of the k-means that learns the centres"),
    )

    def __init__(self, *, dimension: int, metric: Metric, settings: Settings | None = None) -> None:
        super().__init__(dimension=dimension, metric=metric, settings=settings)
        if self._settings["nlist"] and "nprobe" not in (settings or {}):
            self._settings["nprobe"] = min(self._settings["nprobe"], self._settings["nlist"])
        self._check_probes(self._settings["nprobe"], self._settings["nlist"])
        self._structure = self._untrained(max(1, self._settings["nlist"]))
        self._rows = FaissRows()

    def _untrained(self, lists: int) -> Any:
        import faiss

        kind = faiss.IndexFlatL2 if self._metric == "l2" else faiss.IndexFlatIP
        structure = faiss.IndexIVFFlat(kind(self._dimension), self._dimension, lists, self._faiss_metric)
        structure.cp.seed = self._settings["seed"]
        structure.cp.spherical = self._metric != "l2"
        structure.set_direct_map_type(faiss.DirectMap.Hashtable)
        return structure

    @staticmethod
    def _check_probes(probes: int, lists: int) -> None:
        if lists and probes > lists:
            raise InputError(
                f"nprobe: got {probes}, but the index has {counted(lists, 'list', 'lists')}; nprobe may be 1..{lists}"
            )

    def configure(self, /, **settings: int | float | str | bool) -> None:
        """Change ``nprobe``."""
        before = dict(self._settings)
        super().configure(**settings)
        try:
            self._check_probes(self._settings["nprobe"], self._settings["nlist"])
        except InputError:
            self._settings = before
            raise

    @property
    def exact(self) -> bool:
        """Never."""
        return False

    @property
    def needs_training(self) -> bool:
        """Whether the centres are still to be learnt."""
        return not self._structure.is_trained

    @property
    def tombstones(self) -> int:
        """None: removal is real."""
        return 0

    @property
    def memory_bytes(self) -> int:
        """Vectors, rows, centres and the table from row to place (about 40 bytes an entry)."""
        vectors = len(self) * (4 * self._dimension + 16 + _DIRECT_MAP_ENTRY)
        centres: int = self._structure.nlist * 4 * self._dimension
        return vectors + centres

    def __len__(self) -> int:
        return len(self._rows)

    def train(self, vectors: Vectors) -> None:
        """Learn the centres.

        Raises
        ------
        NotTrainedError
            Too few vectors.
        InputError
            The centres are learnt already.
        """
        if not self.needs_training:
            raise InputError("train: the centres are learnt already; make a new index to learn others")
        asked = self._settings["nlist"]
        wanted = _VECTORS_PER_LIST * max(1, asked)
        if len(vectors) < wanted:
            lists = f"{asked} lists" if asked else "even one list"
            raise NotTrainedError(
                f"engine 'ivf' needs training on at least {wanted} vectors for {lists}, and got {len(vectors)}; "
                "add more at once, train first on a larger sample (VectorIndex.train), or use engine 'flat'"
            )
        structure = self._untrained(asked or lists_for(len(vectors)))
        structure.train(vectors)
        self._structure = structure
        self._settings["nlist"] = structure.nlist
        self._settings["nprobe"] = min(self._settings["nprobe"], structure.nlist)

    def add(self, rows: Int64Array, vectors: Vectors) -> None:
        """Add vectors under new rows."""
        if not len(rows):
            return
        if self.needs_training:
            wanted = _VECTORS_PER_LIST * max(1, self._settings["nlist"])
            raise NotTrainedError(f"engine 'ivf' needs training before vectors come; train it on at least {wanted}")
        self._rows.check_new(rows)
        self._structure.add_with_ids(vectors, rows)
        self._rows.append(rows)

    def remove(self, rows: Int64Array) -> None:
        """Take rows out of their lists."""
        import faiss

        positions = self._rows.positions(rows)
        # The table from row to place takes only this kind of selector.
        self._structure.remove_ids(faiss.IDSelectorArray(np.ascontiguousarray(rows)))
        self._rows.delete(positions)

    def vectors(self, rows: Int64Array) -> Vectors:
        """Vectors as stored, a copy."""
        self._rows.positions(rows)
        if not len(rows):
            return np.empty((0, self._dimension), dtype=np.float32)
        taken: Vectors = self._structure.reconstruct_batch(np.ascontiguousarray(rows))
        return taken

    def search(self, queries: Vectors, k: int) -> tuple[Int64Array, Vectors]:
        """Nearest rows and scores among the lists looked into."""
        if not len(self) or not len(queries):
            return nothing_found(len(queries), k)
        return nearest_past_ties(self._nearest, queries, k, len(self))

    def _nearest(self, queries: Vectors, k: int) -> tuple[Int64Array, Vectors]:
        import faiss

        asked = faiss.SearchParametersIVF(nprobe=self._settings["nprobe"])
        values, rows = search_with(self._structure, queries, k, asked)
        return in_order(rows, scores_from(self._metric, values, rows))

    def save(self, path: Path) -> None:
        """Write one FAISS file; its ids are the rows."""
        write_faiss(self._structure, path)

    @classmethod
    def load(cls, path: Path, *, metric: Metric, settings: Settings) -> Self:
        """Read that file back."""
        return cls.around(read_faiss(path), None, path, metric=metric, settings=settings)

    @classmethod
    def around(
        cls, structure: Any, rows: Int64Array | None, path: Path, *, metric: Metric, settings: Settings
    ) -> Self:
        """Take a FAISS structure that is there already; the rows are its own ids."""
        import faiss

        if rows is not None:
            raise FileFormatError(f"{path}: an inverted file inside an id map; it keeps ids of its own, unwrap it")
        engine = cls(dimension=structure.d, metric=metric, settings=settings)
        engine._check_structure(structure, (faiss.IndexIVFFlat,), path)
        if structure.is_trained and structure.nlist != engine.settings["nlist"]:
            raise FileFormatError(
                f"{path}: {counted(structure.nlist, 'list', 'lists')}, but "
                f"nlist={engine.settings['nlist']} was asked for"
            )
        try:
            engine._rows = FaissRows(np.sort(stored_ids(structure)))
        except DuplicateIdError as error:
            raise FileFormatError(f"{path}: the same id twice in its lists: {error}") from error
        if structure.direct_map.type != faiss.DirectMap.Hashtable:
            structure.set_direct_map_type(faiss.DirectMap.Hashtable)
        engine._structure = structure
        return engine

    @classmethod
    def settings_of(cls, structure: Any) -> dict[str, int]:
        """Settings that a FAISS structure was made with."""
        return {
            "nlist": structure.nlist,
            "nprobe": min(structure.nprobe, structure.nlist),
            "seed": structure.cp.seed,
        }


def stored_ids(structure: Any) -> Int64Array:
    """Ids in the lists of a FAISS inverted file, list by list."""
    import faiss

    lists = structure.invlists
    held = [
        faiss.rev_swig_ptr(lists.get_ids(number), lists.list_size(number)).copy()
        for number in range(structure.nlist)
        if lists.list_size(number)
    ]
    return np.concatenate(held).astype(np.int64) if held else np.empty(0, dtype=np.int64)
