"""How many codes of a gallery are at each Hamming distance from each query, and how many of them are relevant."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, first_few
from visual_search.evaluation.code_rankings import CodeRankings
from visual_search.evaluation.full_rankings import RightAnswers
from visual_search.evaluation.label_codes import in_parts
from visual_search.ground_truth.relevance import Relevance
from visual_search.ground_truth.shared_labels import SharedLabels
from visual_search.ids import Ids
from visual_search.kernels.plain_codes import bits_in

__all__ = ["CodeHistograms", "code_histograms"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class CodeHistograms:
    """Counts of codes by distance; what every curve of codes is a function of.

    Attributes
    ----------
    queries : Ids
        The n queries.
    bits : int
        Bits of a code, the largest distance.
    retrieved : int64 array of shape (n, bits + 1)
        Codes of the gallery at distance 0, 1, ... bits, ignored ones left out.
    relevant : int64 array of shape (n, bits + 1)
        The relevant ones of them.
    total : int64 array of shape (n,)
        R, relevant items of each query, in the gallery or not.
    """

    queries: Ids
    bits: int
    retrieved: Int64Array
    relevant: Int64Array
    total: Int64Array

    def hits_at(self, ranks: Int64Array) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Relevant items among the first N, in expectation and under the best and worst order of ties.

        ::

            B + m r / n,  B + min(m, r),  B + max(0, m - (n - r))

        Parameters
        ----------
        ranks : int64 array of shape (ranks,)
            The N, each at least 1.

        Returns
        -------
        three float64 arrays of shape (ranks, n)
            Beyond the gallery all that is relevant there counts.
        """
        within = np.cumsum(self.retrieved, axis=1)
        found = np.cumsum(self.relevant, axis=1)
        row = np.arange(len(self.queries))
        made = np.zeros((3, len(ranks), len(self.queries)))
        for at, rank in enumerate(ranks.tolist()):
            # The distance at which the cut falls: the first within which there are as many as N.
            level = np.minimum((within < rank).sum(axis=1), self.bits)
            n, r = self.retrieved[row, level], self.relevant[row, level]
            before = found[row, level] - r
            m = np.minimum(rank - (within[row, level] - n), n)
            made[0, at] = before + m * r / np.maximum(n, 1)
            made[1, at] = before + np.minimum(m, r)
            made[2, at] = before + np.maximum(0, m - (n - r))
        return made[0], made[1], made[2]

    def __len__(self) -> int:
        return len(self.queries)

    def __repr__(self) -> str:
        return f"CodeHistograms({len(self)} queries, {self.bits} bits)"


def code_histograms(
    query_codes: Any,
    gallery_codes: Any,
    relevance: RightAnswers | SharedLabels,
    *,
    packed: bool = False,
    query_ids: Iterable[Any] | None = None,
    gallery_ids: Iterable[Any] | None = None,
) -> CodeHistograms:
    """Count codes by distance, blocked and on all processors.

    Parameters
    ----------
    query_codes, gallery_codes, relevance, packed, query_ids, gallery_ids
        As for `visual_search.evaluate_codes`. An item is relevant from grade 1.

    Returns
    -------
    CodeHistograms
        16 bytes for each query and distance.

    Raises
    ------
    InputError
        As for `visual_search.evaluate_codes`; or a query of the relevance that has no code.

    Examples
    --------
    >>> found = code_histograms([[0, 0]], [[0, 0], [0, 1], [1, 1], [0, 1]], SharedLabels.of([1], [1, 1, 0, 0]))
    >>> found.retrieved.tolist(), found.relevant.tolist(), found.total.tolist()
    ([[1, 2, 1]], [[1, 1, 0]], [2])
    """
    rankings = CodeRankings.of(
        query_codes, gallery_codes, relevance, packed=packed, query_ids=query_ids, gallery_ids=gallery_ids
    )
    distances = rankings.queries.bits + 1
    right = rankings.relevance
    if isinstance(right, SharedLabels):
        retrieved, relevant = _by_labels(rankings, right)
        return CodeHistograms(
            right.queries,
            rankings.queries.bits,
            retrieved[:, :distances],
            relevant[:, :distances],
            relevant.sum(axis=1),
        )
    retrieved, relevant, total = _by_pairs(rankings, right, distances)
    return CodeHistograms(right.queries, rankings.queries.bits, retrieved, relevant, total)


def _by_labels(rankings: CodeRankings, labels: SharedLabels) -> tuple[Int64Array, Int64Array]:
    def halves(_labels: SharedLabels, _first: int, _last: int, counts: Int64Array) -> tuple[Int64Array, Int64Array]:
        relevant = counts[:, :, 1:].sum(axis=2)
        return counts[:, :, 0] + relevant, relevant

    parts = in_parts(rankings.queries.words, rankings.gallery.words, labels, halves)
    return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])


def _by_pairs(
    rankings: CodeRankings, relevance: Relevance, distances: int
) -> tuple[Int64Array, Int64Array, Int64Array]:
    rows = rankings.query_ids.rows(relevance.queries)
    if (rows < 0).any():
        named = first_few(relevance.queries.take(np.flatnonzero(rows < 0)[:5].tolist()))
        raise InputError(
            f"query_codes: no code for {int((rows < 0).sum())} queries of the relevance, first {named}"
        )
    columns = rankings.gallery_ids.rows(relevance.items)
    retrieved, relevant = (np.zeros((len(rows), distances), dtype=np.int64) for _ in range(2))
    total = np.zeros(len(rows), dtype=np.int64)
    for at, row in enumerate(rows.tolist()):
        span = slice(int(relevance.offsets[at]), int(relevance.offsets[at + 1]))
        column, ignored = columns[relevance.rows[span]], relevance.ignored[span]
        right = (relevance.grades[span] >= 1) & ~ignored
        distance = bits_in(rankings.gallery.words ^ rankings.queries.words[row])
        retrieved[at] = np.bincount(distance, minlength=distances)
        retrieved[at] -= np.bincount(distance[column[ignored & (column >= 0)]], minlength=distances)
        relevant[at] = np.bincount(distance[column[right & (column >= 0)]], minlength=distances)
        total[at] = int(right.sum())
    return retrieved, relevant, total
