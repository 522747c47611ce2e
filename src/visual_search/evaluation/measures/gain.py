"""DCG and nDCG: graded gains, discounted by rank."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError
from visual_search.evaluation.measures.measure import EmptyRule, Measure
from visual_search.evaluation.measures.parameters import choice, cutoff, number_text, threshold
from visual_search.evaluation.measures.sums import discount_sum
from visual_search.evaluation.positions import Positions
from visual_search.formats.ragged import offsets_of

__all__ = ["DCG", "gains_of", "nDCG"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]

# The largest sum of gains, with room for a few items that stand for many.
_MOST = 1e300

_GAIN_WORDS = {"linear": "gain g", "exponential": "gain 2^g - 1", "binary": "gain 1 if relevant"}


def gains_of(grades: FloatArray, gain: str, rel: float) -> FloatArray:
    """Gain of each grade; negative grades gain 0."""
    if gain == "binary":
        return (grades >= rel).astype(np.float64)
    positive = np.maximum(grades, 0)
    return np.exp2(positive) - 1 if gain == "exponential" else positive


@dataclass(frozen=True, kw_only=True)
class _Discounted(Measure):
    """What DCG and nDCG share."""

    gain: str = choice(
        "linear", "linear", "exponential", "binary", about="gain of a grade g: g, 2^g - 1, or 1", named=True
    )
    k: int | str | None = cutoff(required=False)
    rel: float = threshold()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.rel != 1 and self.gain != "binary":
            raise InputError(
                f"{self.name}: rel={self.rel!r} changes nothing under gain={self.gain}, which reads the grade "
                "itself; leave it out, or say gain=binary"
            )

    def _dcg(self, positions: Positions) -> FloatArray:
        self._check_gains(positions)
        groups = positions.gain_groups(gains_of(positions.grades, self.gain, self.rel))
        limits = self.limits(positions)[groups.query]
        inside = np.flatnonzero(groups.above < limits)
        above, size, query = groups.above[inside], groups.size[inside], groups.query[inside]
        last = np.minimum(limits[inside], above + size)
        return positions.sum_by_query(query, groups.total[inside] / size * discount_sum(above, last))

    def _check_gains(self, positions: Positions) -> None:
        """Refuse grades whose gains no float64 can add up."""
        with np.errstate(over="ignore"):
            gains = gains_of(positions.judged_grades, self.gain, self.rel)
        beyond = np.flatnonzero(gains > _MOST / max(len(gains), 1))
        if beyond.size:
            first = positions.queries[int(positions.query_of_judged[beyond[0]])]
            raise InputError(
                f"{self}: {counted(beyond.size, 'grade has', 'grades have')} a gain that float64 cannot add up, up to "
                f"grade {number_text(float(positions.judged_grades.max()))}, first for query {first!r}; give smaller "
                "grades" + (", or gain=linear" if self.gain == "exponential" else "")
            )

    def _ideal(self, positions: Positions) -> FloatArray:
        query, first, last, grades = self._ideal_runs(positions)
        terms = gains_of(grades, self.gain, self.rel) * discount_sum(first, last)
        return positions.sum_by_query(query, terms)

    def _ideal_runs(self, positions: Positions) -> tuple[Int64Array, Int64Array, Int64Array, FloatArray]:
        """Query, place before the first, last place and grade of the judged items above the cut, by falling grade."""
        if positions.judged_counts is not None:
            query, running = positions.query_of_judged, offsets_of(positions.judged_counts)
            before = running[positions.judged_offsets[:-1]][query]
            first, last = running[:-1] - before, running[1:] - before
            if self.k is not None:
                limit = self.limits(positions)[query]
                first, last = np.minimum(first, limit), np.minimum(last, limit)
            return query, first, last, positions.judged_grades
        begins, counts = positions.judged_offsets[:-1], np.diff(positions.judged_offsets)
        if self.k is not None:
            counts = np.minimum(counts, self.limits(positions))
        query = np.repeat(np.arange(len(counts)), counts)
        place = np.arange(len(query)) - (np.cumsum(counts) - counts)[query]
        return query, place, place + 1, positions.judged_grades[begins[query] + place]


@dataclass(frozen=True, kw_only=True)
class DCG(_Discounted):
    """Discounted cumulative gain.

    ::

        DCG@k = sum over ranks r <= k of gain(grade at r) / log2(r + 1)

    Parameters
    ----------
    gain : {"linear", "exponential", "binary"}
        Gain of a grade g: g, 2^g - 1, or 1 when relevant. Negative grades and unjudged items gain 0.
    k : int, optional
        The rank down to which the list is read; without it the whole list.
    rel : float
        Under ``gain=binary``, an item is relevant when its grade is at least this.

    Convention
    ----------
    A query without relevant items scores 0 and is counted.

    How to read it
    --------------
    Not bounded by 1 and not comparable between queries with other judgements: `nDCG` is.

    References
    ----------
    Jarvelin and Kekalainen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002.

    Examples
    --------
    >>> str(DCG(gain="exponential") @ 5)
    'DCG(gain=exponential)@5'
    """

    bounds: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    perfect: ClassVar[float | None] = None

    @property
    def on_empty(self) -> EmptyRule:
        """What a query without relevant items is."""
        return "zero"

    @property
    def never_falls_with_k(self) -> bool:
        """Whether a deeper cut-off never gives less."""
        return True

    @property
    def words(self) -> str:
        """What the number is."""
        within = "" if self.k is None else f" of the first {self.k}"
        return f"gains{within} divided by log2(rank + 1), summed; {_GAIN_WORDS[self.gain]}"

    def largest(self, relevant: Int64Array) -> FloatArray:
        """The discounts of the first min(R, k) places under binary gain; without a limit under others."""
        if self.gain != "binary":
            return super().largest(relevant)
        return discount_sum(np.zeros_like(relevant), self.places(relevant))

    def expectation(self, positions: Positions) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Mean gain of each group times the discounts of its places."""
        return self._dcg(positions), np.ones(len(positions))


@dataclass(frozen=True, kw_only=True)
class nDCG(_Discounted):  # noqa: N801 - the field writes it so, and the class is the name in the text form
    """Discounted cumulative gain over that of the ideal ranking.

    ::

        nDCG@k = DCG@k / ideal DCG@k

    Parameters
    ----------
    gain : {"linear", "exponential", "binary"}
        Gain of a grade g: g, 2^g - 1, or 1 when relevant. Negative grades and unjudged items gain 0.
    ideal : {"all"}
        The ideal ranking holds all judged items of the query by falling grade, cut at k; not only those retrieved.
    k : int, optional
        The rank down to which the list is read; without it the whole list.
    rel : float
        Under ``gain=binary``, an item is relevant when its grade is at least this.

    Convention
    ----------
    Undefined for a query in which no judged item has a gain. Under ``linear`` and ``exponential`` a grade between 0
    and 1 is a gain like any other, so that a query may have a value here while R = 0, and other measures have none.

    How to read it
    --------------
    1 when the first k are the best k in the best order. ``linear`` and ``exponential`` are both called nDCG in the
    literature; they agree on grades 0 and 1 only.

    References
    ----------
    Jarvelin and Kekalainen, ACM TOIS 20(4), 2002 (linear); Burges et al., ICML 2005 (exponential); trec_eval's
    ``ndcg`` and ``ndcg_cut`` (linear).

    Examples
    --------
    >>> str(nDCG() @ 10), str(nDCG(gain="exponential"))
    ('nDCG(gain=linear)@10', 'nDCG(gain=exponential)')
    """

    averages: ClassVar[tuple[str, ...]] = ("macro", "micro", "median")

    ideal: str = choice("all", "all", about="what the ideal ranking is made of")

    @property
    def words(self) -> str:
        """What the number is."""
        within = "" if self.k is None else f" at {self.k}"
        return (
            f"discounted gain{within} over that of the ideal ranking of all judged items; {_GAIN_WORDS[self.gain]}"
        )

    def expectation(self, positions: Positions) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Expected DCG over the ideal one."""
        return self._dcg(positions), self._ideal(positions)
