"""Histograms of Hamming distances by relevance with NumPy alone; the plain twin of label_codes.hpp."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.kernels.joined import LabelRule
from visual_search.kernels.plain_codes import bits_in

__all__ = ["count_labelled_codes"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
Words: TypeAlias = npt.NDArray[np.uint64]


def count_labelled_codes(
    queries: Words,
    gallery: Words,
    query_labels: Words,
    gallery_labels: Words,
    *,
    rule: LabelRule,
    own: Int64Array,
    levels: int,
    threads: int | None = None,
) -> Int64Array:
    """Count the codes of a gallery at each Hamming distance from a query, by how relevant their labels make them.

    Parameters
    ----------
    queries, gallery : uint64 arrays of shape (n, words) and (m, words)
        Codes, 64 bits a word.
    query_labels, gallery_labels : uint64 arrays of shape (n, label words) and (m, label words)
        Label sets, a bit each; or classes as numbers, under ``rule="equal"``.
    rule : {"any shared", "equal", "number shared"}
        What makes the grade: 1 where any label is shared; 1 where all words are equal; how many labels are shared.
    own : int64 array of shape (n,)
        A gallery row to leave out for each query, -1 for none.
    levels : int
        Grades that can be, 0 among them.
    threads : int, optional
        At most so many; all processors by default. Without the compiled kernels it is one anyway.

    Returns
    -------
    int64 array of shape (n, 64 * words + 1, levels)
        How many codes are at each distance with each grade.
    """
    del threads
    distances = 64 * gallery.shape[1] + 1
    kind = next(small for small in (np.uint8, np.uint16, np.int64) if distances * levels <= np.iinfo(small).max)
    into = np.empty((len(queries), distances, levels), dtype=np.int64)
    for row in range(len(queries)):
        # In the smallest integers that hold them: what is counted is cast once, by the counting.
        cells = bits_in(gallery ^ queries[row], kind) * kind(levels)
        cells += _grades(query_labels[row], gallery_labels, rule, kind)
        counts = np.bincount(cells, minlength=distances * levels)
        if own[row] >= 0:
            counts[cells[own[row]]] -= 1
        into[row] = counts.reshape(distances, levels)
    return into


def _grades(mine: Words, labels: Words, rule: LabelRule, kind: type[np.integer[Any]]) -> npt.NDArray[Any]:
    if rule == "number shared":
        return bits_in(labels & mine, kind)
    relevant: npt.NDArray[np.bool_]
    if labels.shape[1] == 1:
        relevant = labels[:, 0] == mine[0] if rule == "equal" else (labels[:, 0] & mine[0]) != 0
    else:
        relevant = (labels == mine).all(axis=1) if rule == "equal" else ((labels & mine) != 0).any(axis=1)
    return relevant.astype(kind)
