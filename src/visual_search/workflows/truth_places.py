"""Vectors from a file, a data set inside one, or the folder of an index."""

from __future__ import annotations

import os
from pathlib import Path

from visual_search.errors import FileFormatError, InputError
from visual_search.formats.vectors import VECTOR_FORMATS, read_vectors
from visual_search.ground_truth.truth_vectors import TruthVectors, truth_vectors
from visual_search.indexing.index_table import VectorIndex

__all__ = ["placed_vectors"]


def placed_vectors(place: str | os.PathLike[str], *, what: str) -> TruthVectors:
    """Take vectors and ids from a place that a person names.

    Parameters
    ----------
    place : path
        A file of any format of `read_vectors`; ``data.hdf5:test`` for one data set of an HDF5 file; or the folder of
        an index, whose vectors are those it searches (of unit length under cosine) and whose metric is known.
    what : str
        Whose vectors, for messages.

    Raises
    ------
    FileFormatError, InputError
        No such place, or nothing that holds vectors.
    """
    path = Path(place)
    if path.is_dir():
        index = VectorIndex.open(path)
        if not len(index):
            raise InputError(f"{what}: the index {path} is empty")
        held = truth_vectors(index.vectors(index.ids), index.ids, what=what)
        return TruthVectors(held.vectors, held.ids, metric=index.metric)
    file, _, dataset = str(place).rpartition(":")
    if not path.exists() and file and Path(file).suffix.lower() in VECTOR_FORMATS["hdf5"]:
        return truth_vectors(read_vectors(file, dataset=dataset), what=what)
    if not path.exists():
        raise FileFormatError(f"{what}: {path} is not there; give a file of vectors or the folder of an index")
    return truth_vectors(path, what=what)
