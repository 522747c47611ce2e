"""FAISS files made elsewhere: recognised, checked, and taken over as one of this package's engines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import FileFormatError, InputError, NonFiniteError, UnknownIdError, first_few
from visual_search.ids import Id, Ids
from visual_search.indexing.engines.contract import VECTOR_METRICS, Engine, Metric
from visual_search.indexing.engines.faiss_files import read_faiss, unwrapped
from visual_search.indexing.engines.flat import FlatEngine
from visual_search.indexing.engines.hnsw import HnswEngine
from visual_search.indexing.engines.ivf import IvfEngine, stored_ids

__all__ = ["adopt_faiss"]

Int64Array = npt.NDArray[np.int64]

_BLOCK = 1 << 14
# float32 unit vectors, however their maker rounded, are within this of length 1.
_UNIT_WITHIN = 1e-4


def adopt_faiss(
    path: Path, ids: Iterable[Any] | Mapping[int, Any] | None, metric: Metric
) -> tuple[Engine, Ids, Int64Array]:
    """Read a FAISS file as an engine; with the ids of its live vectors and their rows.

    See ``VectorIndex.from_faiss`` for the rules.
    """
    structure, mapped = unwrapped(read_faiss(path))
    _check_metric(structure, metric, path)
    made: Any = _engine_for(structure, path)
    rows = np.arange(structure.ntotal)
    own = mapped
    if isinstance(structure, _faiss().IndexIVFFlat):
        inner = _renumbered(structure)
        own = inner if mapped is None else mapped[inner]
    named = rows if own is None else own
    dead = named < 0
    if dead.any() and made is not HnswEngine:
        raise FileFormatError(f"{path}: {int(dead.sum())} negative ids, first {first_few(named[dead].tolist(), 3)}")
    held = None if made is IvfEngine else np.where(dead, -1 - rows, rows)
    engine: Engine = made.around(structure, held, path, metric=metric, settings=made.settings_of(structure))
    names = _names(named[~dead], ids, path)
    _check_vectors(engine, names, rows[~dead], path)
    return engine, names, rows[~dead]


def _faiss() -> Any:
    import faiss

    return faiss


def _engine_for(structure: Any, path: Path) -> type[FlatEngine | HnswEngine | IvfEngine]:
    faiss = _faiss()
    # Exact types: a subclass may keep its vectors in another form.
    kinds: dict[type, type[FlatEngine | HnswEngine | IvfEngine]] = {
        faiss.IndexFlat: FlatEngine,
        faiss.IndexFlatL2: FlatEngine,
        faiss.IndexFlatIP: FlatEngine,
        faiss.IndexHNSWFlat: HnswEngine,
        faiss.IndexIVFFlat: IvfEngine,
    }
    found = kinds.get(type(structure))
    if found is None:
        known = ", ".join(kind.__name__ for kind in kinds)
        raise FileFormatError(
            f"{path}: a FAISS {type(structure).__name__}; supported are {known}, and these inside an IndexIDMap or "
            "IndexIDMap2, since others do not keep whole vectors"
        )
    return found


def _check_metric(structure: Any, metric: Metric, path: Path) -> None:
    if metric not in VECTOR_METRICS:
        raise InputError(f"metric: got {metric!r}; must be one of {', '.join(VECTOR_METRICS)}")
    faiss = _faiss()
    words = {faiss.METRIC_L2: "l2", faiss.METRIC_INNER_PRODUCT: "inner product"}
    there = words.get(structure.metric_type, f"FAISS metric {structure.metric_type}")
    if (there, metric) not in {("l2", "l2"), ("inner product", "ip"), ("inner product", "cosine")}:
        mend = {"l2": "metric='l2'", "inner product": "metric='ip', or 'cosine' for unit vectors"}
        raise InputError(
            f"metric: got {metric!r}, but {path} was made for {there}; {mend.get(there, 'not supported here')}"
        )


def _renumbered(structure: Any) -> Int64Array:
    """Give an inverted file the ids 0, 1, 2... in the order of its own; return its own."""
    faiss = _faiss()
    own = np.sort(stored_ids(structure))
    if (np.diff(own) == 0).any():
        raise FileFormatError("an inverted file with the same id twice; give each vector an id of its own")
    if len(own) and not (own[0] == 0 and own[-1] == len(own) - 1):
        structure.set_direct_map_type(faiss.DirectMap.Hashtable)
        vectors = structure.reconstruct_batch(own)
        structure.reset()
        structure.add_with_ids(vectors, np.arange(len(own)))
    return own


def _names(own: Int64Array, ids: Iterable[Any] | Mapping[int, Any] | None, path: Path) -> Ids:
    if ids is None:
        return Ids(own, what="ids")
    if isinstance(ids, Mapping):
        missing = [number for number in own.tolist() if number not in ids]
        if missing:
            raise UnknownIdError(f"ids: no id for {len(missing)} of the file's numbers: {first_few(missing)}")
        return Ids([ids[number] for number in own.tolist()], what="ids")
    listed: list[Id] = list(Ids(ids, what="ids"))
    if len(listed) != len(own):
        raise InputError(
            f"ids: {counted(len(listed), 'id', 'ids')}, but {path} holds "
            f"{counted(len(own), 'vector', 'vectors')}; give one id to each"
        )
    if not np.array_equal(np.sort(own), np.arange(len(own))):
        raise InputError(
            f"ids: {path} numbers its vectors itself ({first_few(own.tolist(), 3)}), so a list cannot say which id "
            "is whose; give a dict from its numbers to your ids, or leave ids out to keep the numbers"
        )
    return Ids([listed[number] for number in own.tolist()], what="ids")


def _check_vectors(engine: Engine, names: Ids, rows: Int64Array, path: Path) -> None:
    broken: list[Id] = []
    uneven: list[Id] = []
    for start in range(0, len(rows), _BLOCK):
        block = engine.vectors(rows[start : start + _BLOCK]).astype(np.float64)
        squared = np.square(block).sum(axis=1)
        broken += names.take((np.flatnonzero(~np.isfinite(squared)) + start).tolist())
        if engine.metric == "cosine":
            off = np.isfinite(squared) & (np.abs(np.sqrt(squared) - 1) > _UNIT_WITHIN)
            uneven += names.take((np.flatnonzero(off) + start).tolist())
    if broken:
        raise NonFiniteError(
            f"{path}: {counted(len(broken), 'vector is', 'vectors are')} NaN or infinite: {first_few(broken)}"
        )
    if uneven:
        raise InputError(
            f"metric: 'cosine' needs unit vectors, and {len(uneven)} in {path} are not: {first_few(uneven)}; "
            "use metric='ip', or add the vectors to a new index, which makes them so"
        )
