"""``VectorIndex``: vectors with ids, searched by an engine, kept in a folder."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import DepthError, InputError, UnknownIdError, first_few
from visual_search.ids import Id, Ids
from visual_search.indexing.embedders.contract import EmbedderDescription
from visual_search.indexing.engines.contract import Engine, Metric
from visual_search.indexing.engines.faiss_adoption import adopt_faiss
from visual_search.indexing.engines.registry import create_engine, default_metric
from visual_search.indexing.id_table import IdTable
from visual_search.indexing.incoming import checked_items, checked_vectors, listed
from visual_search.indexing.index_files import (
    IndexParts,
    check_attachments,
    check_extra,
    contents_fingerprint,
    load_parts,
    save_parts,
)
from visual_search.indexing.index_request import index_request
from visual_search.indexing.nearest import Moment, ragged_ranking
from visual_search.indexing.readers_writer import ReadersWriterLock
from visual_search.indexing.vector_checks import checked_depth
from visual_search.rankings.ranking import Ranking

__all__ = ["VectorIndex"]

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[Any]  # float32; packed codes, uint8, under hamming


class VectorIndex:
    """Vectors under string or integer ids, searched by an engine.

    Parameters
    ----------
    dimension : int, optional
        Length of a vector, or bits of a code. Left out, it is that of the embedder, of the first vectors added, or
        of the file loaded; given, anything else is refused.
    metric : "cosine", "ip", "l2" or "hamming", optional
        Cosine similarity (the default), inner product, Euclidean distance, whose score is minus the plain
        distance, or the Hamming distance of binary codes, whose score is minus the number of bits that differ. Left
        out, ``load`` takes the file's, and engine ``"hamming"`` has only its own.
    engine : str, optional
        ``"flat"`` (exhaustive, the default), ``"hnsw"``, ``"ivf"``, ``"faiss"`` (any factory string), ``"hnswlib"``,
        ``"usearch"``, ``"pgvector"``, ``"hamming"`` (packed codes, the default under that metric) or a plug-in's name.
        Left out, ``load`` takes the file's.
    embedder : EmbedderDescription, optional
        What makes the vectors; kept in the manifest, so that queries are embedded alike.
    settings : mapping, optional
        The engine's settings, such as ``{"ef_search": 128}``; an unknown one is an error that lists what there is.
    **more_settings : int
        The same, written as keywords: ``ef_search=128``.

    Attributes
    ----------
    extra : dict
        What JSON can hold, kept in the manifest: whoever makes the index may say how.
    attachments : dict of str to bytes
        Files of the maker's own, kept beside the vectors and checked like them: ``{"ledger.jsonl": b"..."}``.

    Raises
    ------
    UnknownNameError
        No such engine.
    InputError, DimensionError
        A metric, setting or dimension that is not allowed, or an embedder of another dimension.

    Convention
    ----------
    Under ``cosine`` vectors are kept and returned at unit length. Scores are float32, higher is better; equal
    scores are in the order in which the items were added. The last bits of a score may differ between a query alone
    and the same in a large batch (FAISS sums in another order), and so may, there, the scores of identical vectors.

    Any number of threads may search together. A change waits for the searches that run, and searches that come
    later wait for it; what was returned before keeps its meaning.

    Examples
    --------
    >>> index = VectorIndex(dimension=2, metric="l2")
    >>> index.add(["origin", "far"], [[0, 0], [3, 4]])
    >>> index.search([[0, 1]], k=1).listed(0)
    [('origin', -1.0)]
    >>> "far" in index, len(index)
    (True, 2)
    """

    def __init__(
        self,
        dimension: int | None = None,
        metric: Metric | None = None,
        engine: str | None = None,
        *,
        embedder: EmbedderDescription | None = None,
        settings: Mapping[str, Any] | None = None,
        **more_settings: Any,
    ) -> None:
        self._asked = asked = index_request(
            dimension, metric, engine, embedder=embedder, settings=settings, more=more_settings
        )
        # Without a dimension this one only checks the settings now rather than at the first add.
        named = engine or ("hamming" if metric == "hamming" else "flat")
        meant = metric or default_metric(named)
        self._dimension = asked.dimension
        self._engine: Engine = create_engine(
            named, 1 if asked.dimension is None else asked.dimension, meant, asked.settings
        )
        self._table = IdTable(Ids((), what="index"))
        self._embedder = embedder
        self._created: str | None = None
        self._fingerprint: str | None = None
        self.extra: dict[str, Any] = {}
        self.attachments: dict[str, bytes] = {}
        self._changing = threading.RLock()
        self._lock = ReadersWriterLock()

    @property
    def dimension(self) -> int | None:
        """Length of a vector, or bits of a code; None while nobody has said."""
        return self._dimension

    @property
    def metric(self) -> Metric:
        """What scores mean: "cosine", "ip", "l2" or "hamming"."""
        return self._engine.metric

    @property
    def engine(self) -> str:
        """Name of the search engine."""
        return self._engine.name

    @property
    def exact(self) -> bool:
        """Whether every search looks at every vector."""
        return self._engine.exact

    @property
    def settings(self) -> Mapping[str, int | float | str | bool]:
        """The engine's settings, defaults included."""
        return self._engine.settings

    @property
    def embedder(self) -> EmbedderDescription | None:
        """What made the vectors, if that is known."""
        return self._embedder

    @property
    def memory_bytes(self) -> int:
        """Bytes the engine holds, vectors included; ids are not counted."""
        return self._engine.memory_bytes

    @property
    def index_bytes(self) -> int:
        """Bytes a search goes through, without whole vectors kept only to be given back; ids are not counted."""
        return self._engine.index_bytes

    @property
    def tombstones(self) -> int:
        """Removed vectors that the engine's structure still holds; ``compact`` clears them."""
        return self._engine.tombstones

    @property
    def ids(self) -> Ids:
        """Ids of all items in the order they were added."""
        with self._lock.read():
            return self._table.ids

    @property
    def vocabulary(self) -> Ids:
        """What the ``items`` of rankings point into: ``ids``, and those removed since the last ``compact``."""
        return self._table.vocabulary

    def __len__(self) -> int:
        return len(self._table)

    def __contains__(self, value: object) -> bool:
        with self._lock.read():
            return value in self._table

    def __repr__(self) -> str:
        return f"VectorIndex({len(self):,} x {self._dimension}, {self.metric}, {self.engine})"

    def configure(self, /, **settings: Any) -> None:
        """Change search-time settings, such as ``ef_search`` or ``nprobe``; they are saved with the index."""
        with self._changing, self._lock.write():
            self._engine.configure(**settings)

    def train(self, vectors: Any) -> None:
        """Let an engine that needs training learn from a sample of shape (n, dimension).

        Without this, the first ``add`` trains on what it adds.

        Raises
        ------
        NotTrainedError
            The sample is too small; the message says how many vectors are wanted.
        """
        with self._changing:
            ready = checked_vectors(vectors, self._dimension, self.metric, subject="train")
            engine = self._engine_for(ready.dimension)
            with self._lock.write():
                engine.train(ready.vectors)
                self._engine, self._dimension = engine, engine.dimension

    def add(self, ids: Iterable[Any], vectors: Any) -> None:
        """Add vectors under ids that are not there yet; all of them or, on any error, none.

        Parameters
        ----------
        ids : iterable of str or of int, length n
            Distinct, of one kind, and none of them in the index.
        vectors : array-like of shape (n, dimension)
            float32; float16 and float64 are rounded to it, integers are taken where float32 holds them exactly.
            Under ``hamming`` -1 and 1, 0 and 1, truth values, or ``BinaryCodes``; where the dimension is known also
            packed codes, uint8 of shape (n, bytes).

        Raises
        ------
        InputError
            With all problems listed; as DuplicateIdError, NonFiniteError, DimensionError or ZeroVectorError where
            all are of one kind.
        NotTrainedError
            The engine needs training and these vectors are too few for it.
        """
        with self._changing:
            named, incoming = checked_items(ids, vectors, self._table, self._dimension, self.metric)
            engine, ready = self._engine_for(incoming.dimension), incoming.vectors
            with self._lock.write():
                if engine.needs_training and len(ready):
                    engine.train(ready)
                start = self._table.next_row
                engine.add(np.arange(start, start + len(ready)), ready)
                self._table.append(named)
                self._engine, self._dimension, self._fingerprint = engine, engine.dimension, None

    def remove(self, ids: Iterable[Id]) -> None:
        """Take items out by id; all of them or, on any error, none.

        Raises
        ------
        UnknownIdError
            Ids that are not there, listed.
        DuplicateIdError
            An id twice in the call.
        """
        named = Ids(listed(ids), what="ids")
        with self._changing:
            rows = self._known_rows(named)
            with self._lock.write():
                self._engine.remove(rows)
                self._table.remove(named)
                self._fingerprint = None

    def vector(self, item: Id) -> Vectors:
        """One item's stored vector, float32 of shape (dimension,); its packed code, uint8, under ``hamming``."""
        stored: Vectors = self.vectors([item])[0]
        return stored

    def vectors(self, ids: Iterable[Id]) -> Vectors:
        """Stored vectors of items, float32 of shape (n, dimension); UnknownIdError lists ids that are not there.

        Under ``hamming`` packed codes, uint8 of shape (n, ceil(dimension / 8)).
        """
        with self._lock.read():
            return self._engine.vectors(self._known_rows(listed(ids)))

    def search(self, vectors: Any, k: int, *, query_ids: Iterable[Any] | None = None) -> Ranking:
        """The k nearest items of each query.

        Parameters
        ----------
        vectors : array-like of shape (n, dimension)
            Query vectors.
        k : int
            How many items, from 1 to ``len(index)``.
        query_ids : iterable of str or of int, optional
            Names of the queries in the ranking; 0, 1, 2... where left out.

        Returns
        -------
        Ranking
            Ragged: an approximate engine may find fewer than k. Its ``items`` are shared, not copied.

        Raises
        ------
        DepthError
            k is more than the index holds.
        DimensionError, NonFiniteError, ZeroVectorError, InputError
            As for ``add``.
        """
        depth = checked_depth(k)
        queries = None if query_ids is None else Ids(listed(query_ids), what="queries")
        with self.moment() as moment:
            count = len(moment)
            if depth > count:
                raise DepthError(
                    f"k: got {depth}, but the index holds {counted(count, 'item', 'items')}; k may be 1..{count}"
                )
            ready = self.ready(vectors, queries)  # inside: a load must not come between check and search
            found = moment.nearest(ready, depth)
        return ragged_ranking(Ids(range(len(ready))) if queries is None else queries, found.items, [(found, None)])

    def ready(self, vectors: Any, queries: Ids | None = None) -> Vectors:
        """Query vectors as the engine takes them, checked; ``queries`` names them in error messages."""
        return checked_vectors(vectors, self._dimension, self.metric, subject="search", names=queries).vectors

    @contextmanager
    def moment(self) -> Iterator[Moment]:
        """The index as it is now, held while the block runs: several looks at it belong together.

        Other readers go on; whoever changes the index waits. Inside the block ask the moment, not the index.
        """
        with self._lock.read():
            yield Moment(self._engine, self._table)

    def fingerprint(self) -> str:
        """SHA-256 over ids and stored vectors in order: equal for two indexes that hold the same."""
        with self._lock.read():
            if self._fingerprint is None:
                self._fingerprint = contents_fingerprint(self._engine, self._table)
            return self._fingerprint

    def compact(self) -> None:
        """Forget what was removed: ids always, and tombstones by building the engine anew.

        A rebuilt engine is as if the items that are there had been added at once. Searches go on meanwhile.
        """
        with self._changing:
            old, rows = self._engine, self._table.live_rows()
            if old.tombstones:
                fresh = create_engine(old.name, old.dimension, old.metric, old.settings)
                kept = old.vectors(rows)
                if fresh.needs_training:
                    fresh.train(kept)
                fresh.add(np.arange(len(rows)), kept)
                table = IdTable(self._table.ids)
            else:
                fresh, table = old, IdTable(self._table.ids, rows, self._table.next_row)
            with self._lock.write():
                self._engine, self._table = fresh, table

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save into a folder of its own, whole or not at all; see docs/explanation/index-files.md.

        A structure in which tombstones outnumber half the live items is rebuilt first (``compact``).

        Raises
        ------
        InputError
            The path is a file or a folder with other things in it, the index has no dimension yet, or ``extra``
            holds what JSON cannot.
        """
        if self._dimension is None:
            raise InputError("save: an index without vectors and without a dimension; add vectors first")
        check_extra(self.extra)
        check_attachments(self.attachments)
        with self._changing:
            if 2 * self._engine.tombstones > len(self._table):
                self.compact()
            parts = IndexParts(
                self._engine,
                self._table,
                self._embedder,
                self.extra,
                self.attachments,
                self._created,
                self.fingerprint(),
            )
            self._created = save_parts(Path(path), parts).created

    def load(self, path: str | os.PathLike[str]) -> None:
        """Take the place of what this index holds with what ``save`` wrote; on any error nothing changes.

        Raises
        ------
        FileFormatError
            No index there, or one that is truncated, foreign, of a newer version, or whose files are missing or not
            what the manifest says.
        DimensionError, InputError
            Its dimension, or its metric, engine or a setting, is not the one this index was made for.
        """
        parts = load_parts(Path(path))
        self._asked.check(parts.engine, parts.embedder, path)
        with self._changing, self._lock.write():
            self._take(parts)

    @classmethod
    def open(cls, path: str | os.PathLike[str]) -> Self:
        """Load an index whatever its dimension, metric and engine.

        Examples
        --------
        >>> import tempfile
        >>> index = VectorIndex()
        >>> index.add([7], [[3.0, 4.0]])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     index.save(folder + "/index")
        ...     VectorIndex.open(folder + "/index")
        VectorIndex(1 x 2, cosine, flat)
        """
        index = cls()
        index.load(path)
        return index

    @classmethod
    def from_faiss(
        cls,
        path: str | os.PathLike[str],
        ids: Iterable[Any] | Mapping[int, Any] | None = None,
        *,
        metric: Metric,
        embedder: EmbedderDescription | None = None,
    ) -> Self:
        """Take over a FAISS index file made elsewhere.

        Parameters
        ----------
        path : str or path
            An ``IndexFlat``, ``IndexHNSWFlat`` or ``IndexIVFFlat`` as ``faiss.write_index`` wrote it, bare or
            inside an ``IndexIDMap``.
        ids : iterable or mapping, optional
            A list names the vectors in the file's order; a dict goes from the numbers that an ``IndexIDMap`` or an
            inverted file keeps to ids. Left out, the ids are the file's numbers.
        metric : "cosine", "ip" or "l2"
            What scores mean. A file for inner product serves ``ip``, and ``cosine`` if all its vectors are of unit
            length.
        embedder : EmbedderDescription, optional
            What made the vectors.

        Raises
        ------
        FileFormatError
            Truncated, foreign, or a FAISS structure that does not keep whole vectors.
        InputError
            Another metric, or not as many ids as vectors.
        UnknownIdError
            A dict lacks some of the file's numbers.
        """
        engine, names, rows = adopt_faiss(Path(path), ids, metric)
        index = cls(engine.dimension, metric, engine.name, embedder=embedder)
        next_row = len(engine) + engine.tombstones
        index._take(IndexParts(engine, IdTable(names, rows, next_row), embedder, {}, {}, None, None))
        return index

    def _take(self, parts: IndexParts) -> None:
        self._engine = parts.engine
        self._dimension = parts.engine.dimension
        self._table = parts.table
        self._embedder = parts.embedder
        self.extra = dict(parts.extra)
        self.attachments = dict(parts.attachments)
        self._created = parts.created
        self._fingerprint = parts.fingerprint

    def _engine_for(self, dimension: int) -> Engine:
        if self._dimension is not None:
            return self._engine
        old = self._engine
        return create_engine(old.name, dimension, old.metric, old.settings)

    def _known_rows(self, ids: Sequence[Id]) -> Int64Array:
        try:
            rows = self._table.rows(ids)
        except TypeError as error:  # a list among them, for example, which cannot be looked up
            raise InputError(f"ids: {error}; an id is text or a whole number") from error
        missing = [ids[place] for place in np.flatnonzero(rows < 0).tolist()]
        if missing:
            raise UnknownIdError(f"ids: {len(missing)} are not in the index: {first_few(missing)}")
        return rows
