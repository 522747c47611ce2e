"""FAISS structures from factory strings: made, seeded, looked into, set, measured."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from visual_search.errors import InputError

__all__ = [
    "code_book_of",
    "links_of",
    "lists_of",
    "made_from",
    "serialized_bytes",
    "training_vectors",
    "without_detours",
]

# FAISS asks for this many training vectors a list (its ClusteringParameters.min_points_per_centroid).
_VECTORS_PER_LIST = 39


def made_from(factory: str, dimension: int, metric: int, *, polysemous: bool) -> Any:
    """An empty structure; the training for polysemous filtering is done only where it is asked for.

    FAISS does it unasked for every ``PQ`` without ``np``: a simulated annealing over the order of the code book,
    seconds for each sub-quantiser, of use only to searches that set ``ht``.

    Raises
    ------
    InputError
        FAISS does not know the string, or not for this dimension or metric; or it numbers vectors itself.
    """
    import faiss

    if not factory.strip():
        raise InputError("factory: the empty text; give a FAISS factory string, such as 'IVF64,PQ8np'")
    if "IDMap" in factory:
        raise InputError(f"factory: {factory!r} has an id map; the engine keeps the rows itself, so leave it out")
    try:
        structure = faiss.index_factory(dimension, factory, metric)
    except (RuntimeError, MemoryError) as error:
        reason = str(error).rsplit("Error: ", 1)[-1].strip().splitlines()[0] if str(error) else "out of memory"
        raise InputError(
            f"factory: FAISS makes nothing of {factory!r} for dimension {dimension} and this metric ({reason}); "
            "sub-quantisers must divide the dimension; examples: 'IVF64,PQ8np', 'IVF64,SQ8', 'PQ16', 'HNSW32,SQ8'"
        ) from error
    for part in without_detours(structure):
        if hasattr(part, "do_polysemous_training"):
            part.do_polysemous_training = polysemous
    return structure


def without_detours(structure: Any) -> Iterator[Any]:
    """The structure and what it wraps (rotations before it, refinement after it), outermost first."""
    import faiss

    part = faiss.downcast_index(structure)
    while True:
        yield part
        if isinstance(part, faiss.IndexPreTransform):
            part = faiss.downcast_index(part.index)
        elif isinstance(part, faiss.IndexRefine):
            part = faiss.downcast_index(part.base_index)
        else:
            return


def lists_of(structure: Any) -> int:
    """Lists of the inverted file inside, 0 where there is none."""
    return max((int(part.nlist) for part in without_detours(structure) if hasattr(part, "nlist")), default=0)


def links_of(structure: Any) -> Any:
    """The HNSW graph inside, None where there is none."""
    return next((part.hnsw for part in without_detours(structure) if hasattr(part, "hnsw")), None)


def code_book_of(structure: Any) -> int:
    """Centroids of one sub-quantiser of the product quantiser inside, 0 where there is none."""
    return max((int(part.pq.ksub) for part in without_detours(structure) if hasattr(part, "pq")), default=0)


def training_vectors(structure: Any) -> int:
    """Least number of vectors to train on: 39 a list, as many as code-book entries, and 39 in any case."""
    return max(_VECTORS_PER_LIST * max(1, lists_of(structure)), code_book_of(structure))


def serialized_bytes(structure: Any) -> int:
    """Bytes of the structure written out, counted and not kept."""
    import faiss

    counted = [0]

    def count(block: bytes) -> None:
        counted[0] += len(block)

    faiss.write_index(structure, faiss.PyCallbackIOWriter(count))
    return counted[0]
