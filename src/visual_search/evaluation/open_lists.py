"""Where the unjudged items of each list stand, beside the judged ones: what completing the judgements can change."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.joining import join
from visual_search.evaluation.positions import Positions
from visual_search.evaluation.ties import TieRule
from visual_search.formats.ragged import offsets_of
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Ids
from visual_search.rankings.ranking import Ranking

__all__ = ["Completion", "OpenLists"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]
BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Completion:
    """Grades for some unjudged items of one query.

    Attributes
    ----------
    query : int
        Row of the query.
    listed : float64 array of shape (open items of the list,)
        A grade for each, down the list; 0 is not relevant.
    outside : int
        Items that are not in the list and get the highest grade.
    """

    query: int
    listed: FloatArray
    outside: int = 0


class OpenLists:
    """Judged and unjudged items of each query's list.

    Parameters
    ----------
    ranking : Ranking
    relevance : Relevance
    ties : str
        ``expected``, or a rule that puts tied items in an order.
    """

    def __init__(self, ranking: Ranking, relevance: Relevance, ties: TieRule = "expected") -> None:
        self.relevance = relevance
        self._whole = join(ranking, _with_every_listed(ranking, relevance)).ordered(ties)
        query = self._whole.query_of_hit
        self._open: BoolArray = self._whole.grades < 0
        self._grades: FloatArray = np.zeros(len(self._open))
        self._grades[~self._open] = relevance.grades[self._whole.grades[~self._open].astype(np.int64)]
        order = np.argsort(query * 2 + self._open, kind="stable")
        starts = np.searchsorted((query * 2 + self._open)[order], np.arange(2 * len(relevance) + 1))
        self._judged_hits = [order[starts[2 * i] : starts[2 * i + 1]] for i in range(len(relevance))]
        self._open_hits = [order[starts[2 * i + 1] : starts[2 * i + 2]] for i in range(len(relevance))]
        judged = ~relevance.ignored
        of_entry = relevance.query_of_entry()
        self._judged_grades = [
            np.sort(relevance.grades[judged & (of_entry == i)])[::-1] for i in range(len(relevance))
        ]
        self.outside = _outside(ranking, relevance)

    def __len__(self) -> int:
        return len(self.relevance)

    @property
    def lengths(self) -> Int64Array:
        """List length of each query, ignored items taken out."""
        return self._whole.lengths

    def open_places(self, query: int) -> tuple[Int64Array, Int64Array]:
        """Candidates above and tied with each unjudged item of a list, down the list."""
        rows = self._open_hits[query]
        return self._whole.above[rows], self._whole.tied[rows]

    def judged_places(self, query: int) -> tuple[Int64Array, Int64Array, FloatArray]:
        """Candidates above and tied with each judged item of a list, and its grade."""
        rows = self._judged_hits[query]
        return self._whole.above[rows], self._whole.tied[rows], self._grades[rows]

    def judged_grades(self, query: int) -> FloatArray:
        """Grades of all judged items of a query, in the list or not, falling."""
        return self._judged_grades[query]

    def completed(self, completions: list[Completion], highest: float) -> Positions:
        """One row for each completion, as if it were a query of its own.

        Items that get 0 are left as they are, which changes no measure that takes unjudged items for not relevant.
        """
        hits, grades, judged, counts = [], [], [], []
        for one in completions:
            own, unjudged = self._judged_hits[one.query], self._open_hits[one.query]
            given = one.listed > 0
            rows = np.concatenate((own, unjudged[given]))
            place = np.argsort(rows, kind="stable")
            hits.append(rows[place])
            grades.append(np.concatenate((self._grades[own], one.listed[given]))[place])
            known = np.concatenate((self._judged_grades[one.query], one.listed[given], [highest]))
            falling = np.argsort(-known, kind="stable")
            judged.append(known[falling])
            counts.append(np.append(np.ones(len(known) - 1, dtype=np.int64), one.outside)[falling])
        rows = np.concatenate(hits) if hits else np.zeros(0, dtype=np.int64)
        which = np.array([one.query for one in completions], dtype=np.int64)
        return replace(
            self._whole,
            queries=Ids(range(len(completions)), what="completions"),
            offsets=offsets_of(np.array([len(part) for part in hits], dtype=np.int64)),
            grades=np.concatenate(grades) if grades else np.zeros(0),
            above=self._whole.above[rows],
            tied=self._whole.tied[rows],
            lengths=self._whole.lengths[which],
            judged_offsets=offsets_of(np.array([len(part) for part in judged], dtype=np.int64)),
            judged_grades=np.concatenate(judged) if judged else np.zeros(0),
            judged_counts=np.concatenate(counts) if counts else np.zeros(0, dtype=np.int64),
            ignored=self._whole.ignored[which],
            missing=self._whole.missing[which],
            cut_ties=self._whole.cut_ties[which],
            places=None,
        )


def _with_every_listed(ranking: Ranking, relevance: Relevance) -> Relevance:
    """The relevance with every listed item among its pairs; a pair's grade is its old number, -1 where it had none."""
    lacking = ranking.items.rows(relevance.items) < 0
    more = [item for item, absent in zip(relevance.items, lacking.tolist(), strict=True) if absent]
    items = ranking.items.extended(more) if more else ranking.items
    width = len(items)
    old = relevance.query_of_entry() * width + items.rows(relevance.items)[relevance.rows]
    query = relevance.queries.rows(ranking.queries)[ranking.query_of_position()]
    listed = (query * width + ranking.rows)[query >= 0]
    new = listed[~np.isin(listed, old)]
    keys = np.concatenate((old, new))
    grades = np.concatenate((np.arange(len(old), dtype=np.float64), np.full(len(new), -1.0)))
    ignored = np.concatenate((relevance.ignored, np.zeros(len(new), dtype=np.bool_)))
    order = np.argsort(keys, kind="stable")
    offsets = offsets_of(np.bincount(keys // width, minlength=len(relevance)))
    return Relevance(relevance.queries, items, offsets, (keys % width)[order], grades[order], ignored[order])


def _outside(ranking: Ranking, relevance: Relevance) -> Int64Array:
    """Items of the gallery that are neither in a query's list nor judged or ignored for it, int64 of shape (n,)."""
    width = len(ranking.items)
    item = ranking.items.rows(relevance.items)[relevance.rows] if len(relevance.rows) else relevance.rows
    there = item >= 0
    old = (relevance.query_of_entry() * width + item)[there]
    query = relevance.queries.rows(ranking.queries)[ranking.query_of_position()]
    listed = (query * width + ranking.rows)[query >= 0]
    known = np.unique(np.concatenate((old, listed))) // max(width, 1)
    return width - np.bincount(known, minlength=len(relevance)).astype(np.int64)
