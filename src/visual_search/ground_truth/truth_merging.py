"""Truths of a gallery's shards become the truth of the whole."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain, pairwise
from typing import Any

from visual_search.errors import FingerprintError, InputError, Problems
from visual_search.ground_truth.exact_merge import merge
from visual_search.ground_truth.exact_neighbors import ExactNeighbors, neighbors_of
from visual_search.ground_truth.gallery_ids import GalleryIds
from visual_search.ground_truth.truth_vectors import TruthVectors, truth_vectors

__all__ = ["merge_neighbors"]


def merge_neighbors(
    parts: Sequence[ExactNeighbors], gallery: Any, *, k: int | None = None, tie_cap: int = 100
) -> ExactNeighbors:
    """Join the truths of consecutive shards, of the same queries and metric, into that of the whole gallery.

    Parameters
    ----------
    parts : sequence of ExactNeighbors
        In the order of the shards. Each has k neighbours a query, or all its items where it has fewer.
    gallery : array-like, memmap or path
        The whole gallery, for its fingerprint; every part is held against its rows of it.
    k : int, optional
        Neighbours a query; by default as many as the deepest part has.
    tie_cap : int
        Items to keep that tie with the k-th; the parts must have kept as many.

    Returns
    -------
    ExactNeighbors
        What a search of the whole gives. Shards whose ids are row numbers are numbered through; other ids stay.

    Raises
    ------
    InputError
        Truths of samples or filters, of different metrics or queries, or too shallow.
    FingerprintError
        A part that is not of its rows of the gallery.
    DuplicateIdError
        An id in two shards.

    Examples
    --------
    >>> from visual_search.ground_truth.truth_building import exact_neighbors
    >>> gallery, queries = [[0.0], [3.0], [1.0]], [[0.9]]
    >>> parts = [exact_neighbors(gallery[:2], queries, 2), exact_neighbors(gallery[2:], queries, 1)]
    >>> merge_neighbors(parts, gallery).ids.tolist()
    [[2, 0]]
    """
    _check(parts)
    sizes = [part.gallery_size for part in parts]
    numbered = all(isinstance(part.gallery.held, range) for part in parts)
    named = (part.gallery.take(range(part.gallery_size)) for part in parts)
    ids: Any = sum(sizes) if numbered else list(chain.from_iterable(named))
    whole = truth_vectors(gallery, GalleryIds(ids), what="gallery")
    _check_shards(parts, whole, [0, *accumulate(sizes)])
    depth = max(part.k for part in parts) if k is None else k
    return neighbors_of(
        merge([part.answers for part in parts], sizes, depth, tie_cap=tie_cap),
        gallery_ids=whole.ids,
        query_ids=parts[0].queries,
        metric=parts[0].metric,
        gallery_fingerprint=whole.fingerprint,
        queries_fingerprint=parts[0].queries_fingerprint,
    )


def _check(parts: Sequence[ExactNeighbors]) -> None:
    problems = Problems("merge")
    if not parts:
        raise InputError("parts: none; give the truth of each shard, in order")
    for number, part in enumerate(parts):
        if part.kind != "full":
            scope = part.scope.label(part.gallery_size)
            problems.add(f"part {number} is the truth of {scope}; whole shards are joined")
        if part.metric != parts[0].metric:
            problems.add(f"part {number} is by {part.metric} and part 0 by {parts[0].metric}")
        if part.queries_fingerprint != parts[0].queries_fingerprint:
            problems.add(f"part {number} is of other queries than part 0")
    problems.raise_if_any(InputError)


def _check_shards(parts: Sequence[ExactNeighbors], whole: TruthVectors, borders: Sequence[int]) -> None:
    problems = Problems("merge")
    for number, (part, (first, last)) in enumerate(zip(parts, pairwise(borders), strict=True)):
        if part.gallery.fingerprint_with(whole.vectors[first:last]) != part.gallery_fingerprint:
            problems.add(f"part {number} was not made of rows {first:,} to {last - 1:,} of this gallery")
    problems.raise_if_any(FingerprintError)
