"""Vectors on disk and a split on disk, to both directions' numbers."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError, InputError, first_few
from visual_search.evaluation.products import Metric
from visual_search.evaluation.protocols.directions import Directions, evaluate_directions_vectors
from visual_search.evaluation.protocols.measured import Measures
from visual_search.evaluation.protocols.split import Split
from visual_search.evaluation.statistics.interval import Resampling
from visual_search.formats.npy_header import check_whole_npy
from visual_search.formats.text_lines import lines_of
from visual_search.formats.vectors import read_vectors
from visual_search.ids import Id, Ids
from visual_search.indexing.index_table import VectorIndex

__all__ = ["directions_of_files"]

PathLike = str | os.PathLike[str]
Matrix = npt.NDArray[Any]


def directions_of_files(
    vectors: PathLike,
    split: PathLike,
    measures: Measures = None,
    *,
    ids: PathLike | None = None,
    gallery_vectors: PathLike | None = None,
    gallery_ids: PathLike | None = None,
    metric: Metric = "cosine",
    seed: int = 0,
) -> Directions:
    """Measure both directions of a split.

    Parameters
    ----------
    vectors : path
        One row an item: a NumPy file, whose rows may be of more than one dimension (pixels) and are taken as one long
        vector; any other file of `visual_search.formats.vectors.read_vectors`; or the folder of an index.
    split : path
        What ``visual-search split`` wrote; it is proven again.
    measures : iterable of str, optional
    ids : path, optional
        Text file with the id of each row; what the file or index calls them, else row numbers, where left out.
    gallery_vectors, gallery_ids : path, optional
        The same of the gallery, where its vectors are in a file of their own (texts, for one).
    metric : {"cosine", "ip", "l2"}
    seed : int
        Of the intervals.

    Returns
    -------
    Directions
    """
    held = Split.load(split).require()
    queries = _rows_of(vectors, ids, held.query_ids)
    gallery = _rows_of(gallery_vectors or vectors, gallery_ids if gallery_vectors else ids, held.gallery_ids)
    return evaluate_directions_vectors(
        held, queries, gallery, measures, metric=metric, resampling=Resampling(seed=seed)
    )


def _rows_of(path: PathLike, ids: PathLike | None, wanted: Ids) -> Matrix:
    """Vectors of the wanted items in their order."""
    matrix, own = _loaded(Path(path))
    if ids is not None:
        names = Ids(_read_ids(Path(ids), wanted), what="ids")
    else:
        names = own or Ids(range(len(matrix)), what="ids")
    if len(names) != len(matrix):
        raise InputError(f"{os.fspath(ids or path)}: {len(names)} ids for {len(matrix)} vectors; give one a row")
    rows = names.rows(wanted)
    absent = wanted.take(np.flatnonzero(rows < 0)[:5].tolist())
    if absent:
        raise InputError(
            f"{Path(path).name}: no vector for {int((rows < 0).sum())} items of the split, first {first_few(absent)}; "
            f"rows are named {first_few(names, 3)}. Give the ids of the rows in a text file, one a line (--ids)"
        )
    return matrix[rows].reshape(len(rows), -1)


def _loaded(path: Path) -> tuple[Matrix, Ids | None]:
    """Rows of a file or an index, and what it calls them."""
    if path.is_dir():
        index = VectorIndex.open(path)
        return index.vectors(list(index.ids)), index.ids
    if path.suffix.lower() in (".npy", ".npz"):
        return _pixels_or_vectors(path), None
    found = read_vectors(path)
    return found.vectors, found.ids


def _pixels_or_vectors(path: Path) -> Matrix:
    """A NumPy file whose rows may have any shape."""
    check_whole_npy(path)
    try:
        matrix: Matrix = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as problem:
        raise FileFormatError(f"{path.name}: not a NumPy file of numbers ({problem})") from problem
    if isinstance(matrix, np.lib.npyio.NpzFile) or matrix.ndim < 2 or matrix.dtype.kind not in "biuf":
        raise FileFormatError(f"{path.name}: one array of numbers, a row an item, is needed")
    return matrix


def _read_ids(path: Path, wanted: Ids) -> list[Id]:
    lines = lines_of(path.read_bytes().decode("utf-8-sig"))
    if wanted.kind is not int:
        return list(lines)
    wrong = [line for line in lines if not line.strip().lstrip("-").isdecimal()]
    if wrong:
        raise InputError(f"{path.name}: the split's ids are integers; got {first_few(wrong)}")
    return [int(line) for line in lines]
