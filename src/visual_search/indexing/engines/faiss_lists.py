"""Whether vectors lie in the inverted lists that a FAISS search looks into."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.indexing.engines.faiss_structures import lists_of, without_detours

__all__ = ["in_probed_lists"]

Int64Array = npt.NDArray[np.int64]
Vectors = npt.NDArray[np.float32]


def in_probed_lists(structure: Any, queries: Vectors, positions: Int64Array) -> npt.NDArray[np.bool_]:
    """Whether the vector at each position of shape (n, m) is looked at for the query of its line; -1 is not.

    A structure without lists looks at all.
    """
    inside = positions >= 0
    if lists_of(structure):
        lists, probed = _list_of_each(structure)[positions], _lists_probed(structure, queries)
        for column in range(positions.shape[1]):
            inside[:, column] &= (lists[:, [column]] == probed).any(axis=1)
    return inside


def _lists_probed(structure: Any, queries: Vectors) -> Int64Array:
    """Numbers of the lists that a search of each query looks into, int64 of shape (n, nprobe)."""
    import faiss

    for part in without_detours(structure):
        if isinstance(part, faiss.IndexPreTransform):
            for place in range(part.chain.size()):
                queries = faiss.downcast_VectorTransform(part.chain.at(place)).apply(queries)
        if hasattr(part, "nlist"):
            _, lists = part.quantizer.search(queries, min(int(part.nprobe), int(part.nlist)))
            return np.asarray(lists, dtype=np.int64)
    raise AssertionError("a structure without lists has none to be probed")


def _list_of_each(structure: Any) -> Int64Array:
    """The list that holds the vector at each position, int64 of shape (vectors,)."""
    import faiss

    part = next(part for part in without_detours(structure) if hasattr(part, "nlist"))
    lists = np.full(structure.ntotal, -1, dtype=np.int64)
    for number in range(part.nlist):
        size = part.invlists.list_size(number)
        if size:
            lists[faiss.rev_swig_ptr(part.invlists.get_ids(number), size)] = number
    return lists
