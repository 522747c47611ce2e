"""Whether a truth belongs to some vectors, and whether it is right."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import FingerprintError, InputError, first_few
from visual_search.evaluation.seeds import seeded
from visual_search.formats.mapped_pages import release_pages
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.ground_truth.exact_search import SearchProgress
from visual_search.ground_truth.metric_names import searched_metric
from visual_search.ground_truth.truth_vectors import TruthVectors
from visual_search.ids import Id
from visual_search.kernels.plain_pairs import pair_distances
from visual_search.workflows.truth_places import placed_vectors

__all__ = ["TruthCheck", "verify_truth"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]

_ROWS = 1 << 15
_BITS = ("hamming", "jaccard")


@dataclass(frozen=True, slots=True)
class TruthCheck:
    """What was compared and what differs.

    Attributes
    ----------
    label : str
        What the truth is the truth of.
    apart : str
        In what the vectors differ from those it was made for; empty where in nothing.
    recomputed : int
        Queries that were computed again.
    wrong : tuple of ids
        Those whose answer is not the one in the truth.
    """

    label: str
    apart: str
    recomputed: int
    wrong: tuple[Id, ...]

    @property
    def passed(self) -> bool:
        """Whether nothing differs."""
        return not self.apart and not self.wrong

    def words(self) -> str:
        """The outcome in some lines."""
        if self.apart:
            return f"not of these vectors: {self.apart}"
        lines = [f"of these vectors: {self.label}"]
        if self.recomputed:
            again = counted(self.recomputed, "query", "queries")
            lines.append(
                f"{again} computed again in float64 over every item: "
                + (f"{len(self.wrong)} differ, first {first_few(self.wrong)}" if self.wrong else "all the same")
            )
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "passed": self.passed,
            "label": self.label,
            "apart": self.apart or None,
            "recomputed": self.recomputed,
            "wrong": list(self.wrong),
        }


def verify_truth(
    path: str | os.PathLike[str],
    gallery: str | os.PathLike[str],
    queries: str | os.PathLike[str],
    *,
    recompute: int = 0,
    seed: int = 0,
    progress: SearchProgress | None = None,
) -> TruthCheck:
    """Hold a file of ground truth against vectors: every byte of them, and a sample of its answers.

    Parameters
    ----------
    path : path
    gallery, queries : path
        As for `placed_vectors`. For the truth of a sample the whole gallery, or the sample alone.
    recompute : int
        Queries, drawn by ``seed``, whose every distance is computed again, in float64 with NumPy alone, without screen,
        bound or compiled kernel. Distances must be the same to the last bit, and so must the ties.
    progress : SearchProgress, optional
        Is told gallery rows.

    Returns
    -------
    TruthCheck

    Raises
    ------
    FileFormatError, InputError
        No truth, no vectors; a filtered truth to be computed again, whose filters the file does not have.
    """
    truth = ExactNeighbors.load(path)
    items = placed_vectors(gallery, what="gallery")
    asked = placed_vectors(queries, what="queries")
    draw = seeded(seed)
    if recompute < 0:
        raise InputError(f"recompute: {recompute} queries; 0 or more")
    if recompute and truth.kind == "filtered":
        raise InputError(
            f"recompute: {path} is a filtered truth and does not hold its filters; compute it again with "
            "exact_neighbors(..., allowed=)"
        )
    try:
        items = _drawn(truth, items)
        truth.verify(
            items.fingerprint, asked.fingerprint, gallery_ids=items.ids, query_ids=asked.ids, metric=items.metric
        )
    except FingerprintError as error:
        return TruthCheck(truth.label(), str(error), 0, ())
    chosen = np.sort(draw.choice(len(truth), size=min(recompute, len(truth)), replace=False))
    wrong = _wrong(truth, items, asked, chosen, progress) if recompute else []
    return TruthCheck(truth.label(), "", len(chosen), tuple(truth.queries.take(wrong)))


def _drawn(truth: ExactNeighbors, items: TruthVectors) -> TruthVectors:
    """The items that a sample's truth is of, where the whole gallery was given."""
    if truth.kind != "sample" or len(items) != truth.scope.population or len(items) == truth.gallery_size:
        return items
    rows = items.ids.rows(truth.gallery.take(range(truth.gallery_size)))
    if (rows < 0).any():
        missing = truth.gallery.take(np.flatnonzero(rows < 0).tolist())
        raise FingerprintError(f"gallery: {len(missing)} items of the sample are not in it: {first_few(missing)}")
    return items.at(rows)


def _wrong(
    truth: ExactNeighbors,
    items: TruthVectors,
    asked: TruthVectors,
    chosen: Int64Array,
    progress: SearchProgress | None,
) -> list[int]:
    vectors = np.asarray(asked.vectors[chosen])
    distances = np.empty((len(chosen), len(items)))
    if progress is not None:
        progress.start(len(items))
    for first in range(0, len(items), _ROWS):
        block = np.ascontiguousarray(items.vectors[first : first + _ROWS])
        for place, query in enumerate(vectors):
            distances[place, first : first + len(block)] = _all_distances(block, query[None], truth.metric)
        release_pages(items.vectors)
        if progress is not None:
            progress.advance(len(block))
    return [
        number
        for number, found in zip(chosen.tolist(), distances, strict=True)
        if not _agrees(truth, number, found)
    ]


def _all_distances(block: npt.NDArray[Any], query: npt.NDArray[Any], metric: str) -> FloatArray:
    if metric in _BITS:
        differ = np.unpackbits(block ^ query, axis=1).sum(axis=1, dtype=np.int64)
        if metric == "hamming":
            counts: FloatArray = differ.astype(np.float64)
            return counts
        either = np.unpackbits(block | query, axis=1).sum(axis=1, dtype=np.int64)
        jaccard: FloatArray = differ / np.maximum(either, 1)
        return jaccard
    rows, zeros = np.arange(len(block)), np.zeros(len(block), dtype=np.int64)
    distances: FloatArray = pair_distances(block, query, rows, zeros, metric=searched_metric(metric))  # type: ignore[arg-type]
    return distances


def _agrees(truth: ExactNeighbors, number: int, found: FloatArray) -> bool:
    """Whether a query's answer has the least distances there are, each its own item's, and all ties if it says so."""
    positions, distances = truth.positions[number], truth.distances[number]
    least = np.sort(np.partition(found, truth.k - 1)[: truth.k])
    if not (np.array_equal(least, distances) and np.array_equal(found[positions], distances)):
        return False
    level = np.flatnonzero(found == distances[-1])
    beyond = np.setdiff1d(level, positions)
    tied = truth.answers.tied(number)
    return bool(np.isin(tied, beyond).all() and (truth.ties_capped[number] or len(tied) == len(beyond)))
