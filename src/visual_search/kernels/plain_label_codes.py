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
    queries, gallery = _narrow(queries, gallery)
    query_labels, gallery_labels = _narrow(query_labels, gallery_labels)
    # Written over for each query: to have new memory of this size each time costs as much as the counting.
    differ, common = np.empty_like(gallery), np.empty_like(gallery_labels)
    places = np.empty(len(gallery), dtype=np.intp)
    into = np.empty((len(queries), distances, levels), dtype=np.int64)
    for row in range(len(queries)):
        np.bitwise_xor(gallery, queries[row], out=differ)
        (np.bitwise_xor if rule == "equal" else np.bitwise_and)(gallery_labels, query_labels[row], out=common)
        cells = bits_in(differ, kind)
        cells *= kind(levels)
        cells += _grades(common, rule, kind)
        places[:] = cells
        counts = np.bincount(places, minlength=distances * levels)
        if own[row] >= 0:
            counts[places[own[row]]] -= 1
        into[row] = counts.reshape(distances, levels)
    return into


def _narrow(queries: Words, gallery: Words) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Rows of one word in the smallest integers that hold the bits of both sides."""
    if gallery.shape[1] > 1:
        return queries, gallery
    most = max(int(side.max(initial=0)) for side in (queries, gallery))
    kind = next(small for small in (np.uint8, np.uint16, np.uint32, np.uint64) if most <= np.iinfo(small).max)
    return queries.astype(kind, copy=False), gallery.astype(kind, copy=False)


def _grades(common: npt.NDArray[Any], rule: LabelRule, kind: type[np.integer[Any]]) -> npt.NDArray[Any]:
    """Grades from the labels that are in both, or under ``equal`` from those that are in one alone."""
    if rule == "number shared":
        return bits_in(common, kind)
    any_set = common[:, 0] != 0 if common.shape[1] == 1 else (common != 0).any(axis=1)
    relevant: npt.NDArray[np.bool_] = ~any_set if rule == "equal" else any_set
    return relevant.astype(kind)
