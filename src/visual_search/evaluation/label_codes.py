"""Full rankings by Hamming distance where label sets tell what is relevant: histograms instead of pairs.

A query has at most bits + 1 distances. How many codes are at each, and how many of them have each grade, is all that
a measure is a function of, ties included; no pair is ever written down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, first_few
from visual_search.evaluation.full_rankings import Asked, measured_in_parts
from visual_search.evaluation.measures.measure import MeasureValues
from visual_search.evaluation.positions import Positions
from visual_search.evaluation.result import Result
from visual_search.evaluation.setting import Setting
from visual_search.evaluation.ties import TieRule
from visual_search.formats.ragged import offsets_of
from visual_search.ground_truth.shared_labels import SharedLabels
from visual_search.ids import Ids
from visual_search.kernels.dispatch import kernels

__all__ = ["NO_ANSWER", "check_rows", "evaluate_labelled", "in_parts", "label_positions"]

Codes: TypeAlias = npt.NDArray[np.uint64]
Int64Array: TypeAlias = npt.NDArray[np.int64]
Made = TypeVar("Made")

NO_ANSWER = (
    "warning: no query has a right answer, since none shares a label with the gallery; look whether both sides' labels "
    "are written alike and stand in one order"
)

# Cells of the histograms that are in memory at a time, 8 MiB.
_CELLS = 1 << 20


def evaluate_labelled(
    queries: Codes, gallery: Codes, labels: SharedLabels, asked: Asked, *, ties: Sequence[TieRule]
) -> list[Result]:
    """Measure the ranking of all codes of a gallery for each query.

    Parameters
    ----------
    queries, gallery : uint64 arrays of shape (n, words) and (m, words)
        Codes in the order of the labels.
    labels : SharedLabels
        What the right answers are.
    asked : Asked
        What to measure.
    ties : sequence of str
        Tie rules, each of which makes a result.
    """
    answered: list[bool] = []

    def each_part(values: Callable[[Positions], list[MeasureValues]]) -> list[list[MeasureValues]]:
        def measured(labels: SharedLabels, first: int, last: int, counts: Int64Array) -> list[MeasureValues]:
            answered.append(bool(counts[:, :, 1:].any()))
            return values(label_positions(labels, first, last, counts))

        return in_parts(queries, gallery, labels, measured)

    setting = Setting(labels, labels.items, "hamming")
    outline = _positions(labels, 0, len(labels), None)
    results = measured_in_parts(each_part, outline, asked, ties=ties, setting=setting)
    if any(answered) or not len(labels):
        return results
    return [result.replaced(notes=(*result.notes, NO_ANSWER)) for result in results]


# What is called with labels, the first and last query, and their histograms of shape (queries, distances, grades).
WithHistograms: TypeAlias = "Callable[[SharedLabels, int, int, Int64Array], Made]"


def in_parts(queries: Codes, gallery: Codes, labels: SharedLabels, use: WithHistograms[Made]) -> list[Made]:
    """Call ``use`` with the histograms of some queries after the other, counted on all processors."""
    made = []
    for first, last in pairwise(_bounds(queries, gallery, labels)):
        counts = kernels().count_labelled_codes(
            queries[first:last],
            gallery,
            labels.query_words[first:last],
            labels.item_words,
            rule=labels.rule,
            own=labels.own[first:last],
            levels=_levels(labels),
        )
        made.append(use(labels, first, last, counts))
    return made


def _bounds(queries: Codes, gallery: Codes, labels: SharedLabels) -> list[int]:
    """Blocks of the queries whose histograms fit in memory; one even where there is no query."""
    cells = (64 * gallery.shape[1] + 1) * _levels(labels)
    return [*range(0, max(len(queries), 1), max(_CELLS // cells, 1)), len(queries)]


def _levels(labels: SharedLabels) -> int:
    return 64 * labels.query_words.shape[1] + 1 if labels.rule == "number shared" else 2


def label_positions(labels: SharedLabels, first: int, last: int, counts: Int64Array) -> Positions:
    """Positions of the queries first .. last; a hit stands for all items of one distance and grade.

    Parameters
    ----------
    labels : SharedLabels
        What the right answers are.
    first, last : int
        The queries.
    counts : int64 array of shape (last - first, distances, grades)
        How many items are at each distance with each grade.
    """
    return _positions(labels, first, last, counts)


def _positions(labels: SharedLabels, first: int, last: int, counts: Int64Array | None) -> Positions:
    """Positions from histograms; without hits where there are none."""
    n = last - first
    own = labels.own[first:last] >= 0
    lengths = np.where(own, len(labels.items) - 1, len(labels.items))
    histogram = np.zeros((n, 1, 2), dtype=np.int64) if counts is None else counts
    # A grade at a time: sums over a short last axis are slow.
    grades = [np.ascontiguousarray(histogram[:, :, grade]) for grade in range(histogram.shape[2])]
    level = grades[0].copy()
    for each in grades[1:]:
        level += each
    nearer = np.cumsum(level, axis=1)
    nearer -= level
    grade: npt.NDArray[np.float64]
    if len(grades) == 2:
        place = np.flatnonzero(grades[1])
        grade, found = np.ones(len(place), dtype=np.float64), grades[1].ravel()[place]
    else:
        stacked = histogram[:, :, 1:].reshape(-1, len(grades) - 1)
        place, above_one = np.nonzero(stacked)
        grade, found = (above_one + 1).astype(np.float64), stacked[place, above_one]
    judged = np.stack([each.sum(axis=1) for each in grades[:0:-1]], axis=1)  # by falling grade
    judged_query, below = np.nonzero(judged)
    return Positions(
        queries=labels.queries if n == len(labels) else Ids.distinct(labels.queries[first:last], what="queries"),
        offsets=offsets_of(np.bincount(place // level.shape[1], minlength=n)),
        grades=grade,
        above=nearer.ravel()[place],
        tied=level.ravel()[place],
        lengths=lengths,
        judged_offsets=offsets_of(np.bincount(judged_query, minlength=n)),
        judged_grades=(judged.shape[1] - below).astype(np.float64),
        ignored=own.astype(np.int64),
        missing=np.zeros(n, dtype=np.bool_),
        unjudged_queries=(),
        cut_ties=np.zeros(n, dtype=np.bool_),
        gallery=len(labels.items),
        places=None,
        counts=found,
        judged_counts=judged[judged_query, below],
    )


def check_rows(labels: SharedLabels, queries: Ids, items: Ids) -> None:
    """Refuse labels that are not those of the codes, whose ids these are.

    Raises
    ------
    InputError
        Another number of rows, or ids that are not the same in the same order.
    """
    for mine, given, side in ((labels.queries, queries, "query"), (labels.items, items, "gallery")):
        if len(given) != len(mine):
            raise InputError(
                f"{side}_codes has {len(given)} rows and the labels {len(mine)}; one row each, in order"
            )
        if given != mine:
            wrong = [pair for pair in zip(given, mine, strict=True) if pair[0] != pair[1]]
            raise InputError(
                f"{side}_ids are not those of the labels, in {len(wrong)} rows, first (code, label): "
                f"{first_few(wrong, 3)}; give both the same ids in the same order"
            )
