"""Exact answers of the parts of a gallery become those of the whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from visual_search.errors import DepthError, Problems
from visual_search.ground_truth.exact_answers import ExactAnswers
from visual_search.ground_truth.nearest_so_far import NearestSoFar, Pairs

__all__ = ["merge"]


def merge(parts: Sequence[ExactAnswers], sizes: Sequence[int], k: int, *, tie_cap: int = 100) -> ExactAnswers:
    """Join the answers of shards, searched with the same queries and metric, into those of the whole gallery.

    Parameters
    ----------
    parts : sequence of ExactAnswers
        Of consecutive shards. Each has k answers a query, or all its rows where it has fewer.
    sizes : sequence of int
        Rows of each shard; rows of the whole are numbered through.
    k : int
        Answers a query.
    tie_cap : int
        Tied rows to keep a query; the parts must have kept as many.

    Returns
    -------
    ExactAnswers
        The same as a search of the whole gives, but that ``evaluations`` adds up what was done for the parts. A query
        is certified where it is in all parts.

    Raises
    ------
    InputError, DepthError
        Parts of different numbers of queries, or too few answers in one of them.

    Examples
    --------
    >>> from visual_search.ground_truth.exact_search import search_exactly
    >>> gallery, queries = np.array([[0.0], [3.0], [1.0]]), np.array([[0.9]])
    >>> parts = [search_exactly(gallery[:2], queries, 2), search_exactly(gallery[2:], queries, 1)]
    >>> merge(parts, [2, 1], 2).positions.tolist()
    [[2, 0]]
    """
    _check(parts, sizes, k)
    queries = len(parts[0].positions)
    nearest = NearestSoFar(queries, k, tie_cap)
    first = 0
    for part, size in zip(parts, sizes, strict=True):
        kept = min(k, part.positions.shape[1])
        for numbers, rows, distances in (
            (np.repeat(np.arange(queries), kept), part.positions[:, :kept], part.distances[:, :kept]),
            _tied(part, k),
        ):
            nearest.add(Pairs(numbers, rows.ravel() + first, distances.ravel()))
        capped = part.ties_capped & (part.distances[:, -1] == nearest.kth)
        nearest.dropped[capped] = np.minimum(nearest.dropped[capped], part.distances[capped, -1])
        nearest.evaluations += part.evaluations
        first += size
    return nearest.answers(np.logical_and.reduce([part.certified for part in parts]))


def _tied(part: ExactAnswers, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows beyond the k-th: those that tie with the last, and the last ones of a longer answer."""
    counts = np.diff(part.tie_offsets)
    numbers = np.repeat(np.arange(len(counts)), counts)
    longer = part.positions[:, k:]
    numbers = np.concatenate((np.repeat(np.arange(len(counts)), longer.shape[1]), numbers))
    rows = np.concatenate((longer.ravel(), part.tie_positions))
    distances = np.concatenate((part.distances[:, k:].ravel(), np.repeat(part.distances[:, -1], counts)))
    order = np.argsort(numbers, kind="stable")
    return numbers[order], rows[order], distances[order]


def _check(parts: Sequence[ExactAnswers], sizes: Sequence[int], k: int) -> None:
    problems = Problems("merge")
    if len(parts) != len(sizes) or not parts:
        problems.add(f"{len(parts)} parts and {len(sizes)} sizes; one size for each part, and one part at least")
        problems.raise_if_any()
    if k < 1 or k > sum(sizes):
        problems.add(f"k is {k} and the parts have {sum(sizes)} rows together")
        problems.raise_if_any(DepthError)
    for number, (part, size) in enumerate(zip(parts, sizes, strict=True)):
        if len(part.positions) != len(parts[0].positions):
            problems.add(f"part {number} has {len(part.positions)} queries and part 0 {len(parts[0].positions)}")
        if part.positions.shape[1] < min(k, size):
            problems.add(f"part {number} has {part.positions.shape[1]} answers a query; {min(k, size)} are needed")
        if part.positions.size and int(part.positions.max()) >= size:
            problems.add(f"part {number} has row {int(part.positions.max())} and {size} rows")
    problems.raise_if_any()
