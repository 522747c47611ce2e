"""A set of vectors with its ids, from an array, a map or a file, known by its fingerprint."""

from __future__ import annotations

import os
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.formats.arrays import as_numpy
from visual_search.formats.vectors import VectorFile, read_vectors
from visual_search.ground_truth.gallery_ids import GalleryIds
from visual_search.ground_truth.metric_names import searched_metric
from visual_search.ground_truth.packed_gallery import PackedGallery, pack_gallery

__all__ = ["TruthVectors", "truth_vectors"]

AnyArray: TypeAlias = npt.NDArray[Any]
Int64Array: TypeAlias = npt.NDArray[np.int64]


class TruthVectors:
    """Vectors and one id for each; made by `truth_vectors`.

    Parameters
    ----------
    vectors : array or map of shape (n, d)
    ids : GalleryIds
    metric : str or None
        What their file says they are compared by.
    packed : PackedGallery or None
        The same vectors made ready for several searches.
    """

    def __init__(
        self, vectors: AnyArray, ids: GalleryIds, *, metric: str | None = None, packed: PackedGallery | None = None
    ) -> None:
        self.vectors = vectors
        self.ids = ids
        self.metric = metric
        self.packed = packed

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def fingerprint(self) -> str:
        """Of the vectors with their ids, in order; all of them are read for it, once."""
        return self.ids.fingerprint_with(self.vectors)

    def at(self, rows: Int64Array) -> TruthVectors:
        """Some of them, in memory, under the ids they have here."""
        return TruthVectors(
            np.ascontiguousarray(self.vectors[rows]), GalleryIds(self.ids.array(rows)), metric=self.metric
        )

    def packed_for(self, metric: str, *, memory_bytes: int) -> TruthVectors:
        """The same made ready for several searches, where its codes fit into memory and the metric has such a form."""
        name = searched_metric(metric)
        if name in ("hamming", "jaccard") or self.vectors.size > memory_bytes:
            return self
        ready = TruthVectors(
            self.vectors,
            self.ids,
            metric=self.metric,
            packed=pack_gallery(self.vectors, metric=name, memory_bytes=memory_bytes),
        )
        if "fingerprint" in self.__dict__:
            ready.__dict__["fingerprint"] = self.fingerprint
        return ready


def truth_vectors(source: Any, ids: Any = None, *, what: str) -> TruthVectors:
    """Take vectors from wherever they are.

    Parameters
    ----------
    source : array-like, memmap, path, VectorFile, PackedGallery or TruthVectors
        A path is read, or mapped, by `read_vectors`.
    ids : optional
        One a row; by default the file's, else the row numbers.
    what : str
        Whose vectors, for messages.

    Returns
    -------
    TruthVectors

    Raises
    ------
    InputError, FileFormatError
        No vectors, ids that are not one a row, or a file that is not whole.
    """
    if isinstance(source, TruthVectors) and ids is None:
        return source
    packed = source if isinstance(source, PackedGallery) else None
    metric = None
    if isinstance(source, str | os.PathLike):
        source = read_vectors(Path(source))
    if isinstance(source, VectorFile):
        metric = source.metric
        ids = source.ids if ids is None else ids
    if isinstance(source, VectorFile | TruthVectors):
        source = source.vectors
    vectors = packed.gallery if packed is not None else as_numpy(source, what=what)
    if vectors.ndim != 2:
        raise InputError(f"{what}: shape {vectors.shape}; (rows, dimension) is needed")
    named = GalleryIds(len(vectors) if ids is None else ids, what=f"{what} ids")
    if len(named) != len(vectors):
        raise InputError(f"{what} ids: {len(named):,} ids for {len(vectors):,} vectors; give one to each, in order")
    return TruthVectors(vectors, named, metric=metric, packed=packed)
