"""ERR: where a reader who stops when satisfied would stop."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError
from visual_search.evaluation.measures.draws import weighted_inverse_ranks
from visual_search.evaluation.measures.measure import EmptyRule, Measure
from visual_search.evaluation.measures.parameters import cutoff, number, number_text
from visual_search.evaluation.measures.sums import harmonic_sum
from visual_search.evaluation.positions import Positions
from visual_search.evaluation.tie_groups import GainGroups

__all__ = ["ERR"]

# A share of a sum far below what float64 can tell.
_LEFT = 1e-18
# Places after which no reader is left whom the highest grade, a chance of a half or more, has not stopped.
_MOST_STOPS = 1000

FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True)
class ERR(Measure):
    """Expected reciprocal rank of the item at which a reader stops.

    ::

        stop(g)  = (2^g - 1) / 2^max_grade
        ERR@k    = sum over ranks r <= k of stop(g_r) / r * product over q < r of (1 - stop(g_q))
        expected = per group Q * sum over j of (a_{j-1} - a_j) / (s + j)

    where a_j is the mean, over all choices of j items of the group, of the product of their 1 - stop, and Q the
    product over earlier groups.

    Parameters
    ----------
    max_grade : int
        The highest grade of the scale, which must be said: it is not in the data.
    k : int, optional
        The rank down to which the list is read; without it the whole list.

    Raises
    ------
    InputError
        On evaluation, when a grade is above ``max_grade``.

    Convention
    ----------
    Negative grades and unjudged items never stop the reader. A query without relevant items scores 0 and is
    counted.

    How to read it
    --------------
    Near 1 when a perfect item comes first. Everything after a good item matters little.

    References
    ----------
    Chapelle, Metlzer, Zhang and Grinspan, "Expected reciprocal rank for graded relevance", CIKM 2009.

    Examples
    --------
    >>> str(ERR(max_grade=4, k=20))
    'ERR(max_grade=4)@20'
    """

    perfect: ClassVar[float | None] = None

    max_grade: float = number(None, about="the highest grade of the scale", low=1, high=1000)
    k: int | str | None = cutoff(required=False)

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
        within = "" if self.k is None else f", within the first {self.k}"
        scale = f"2^{number_text(self.max_grade)}"
        return f"expected 1 / rank at which a reader stops{within}; an item stops with chance (2^g - 1) / {scale}"

    def largest(self, relevant: Int64Array) -> FloatArray:
        """With the highest grade at every place; R says nothing, since grades below 1 stop readers too."""
        stop = 1 - 2.0**-self.max_grade
        most = 1.0
        if isinstance(self.k, int):
            ranks = np.arange(1, min(self.k, _MOST_STOPS) + 1)
            most = float((stop * (1 - stop) ** (ranks - 1) / ranks).sum())
        elif stop < 1:
            most = -stop * math.log(stop) / (1 - stop)
        return np.full(len(relevant), most)

    def expectation(self, positions: Positions) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Chance of reaching each group, times the expected reciprocal of the rank at which it stops the reader."""
        self._check_grades(positions)
        stops = (np.exp2(np.maximum(positions.grades, 0)) - 1) / 2**self.max_grade
        groups = positions.gain_groups(stops)
        reached = _reached(positions, groups.query, positions.group_products(1 - stops))
        inside = np.clip(self.limits(positions)[groups.query] - groups.above, 0, groups.size)
        stopping = positions.gain_groups((stops > 0).astype(np.float64)).total
        # One item that may stop is at each place with chance 1/n.
        terms = groups.total / groups.size * harmonic_sum(groups.above, groups.above + inside)
        single = groups.size == 1
        terms[single] = np.where(inside[single] > 0, groups.total[single] / (groups.above[single] + 1), 0.0)
        several = np.flatnonzero((stopping > 1) & (inside > 0))
        terms[several] = _several(positions, groups, stops, several, inside)
        return positions.sum_by_query(groups.query, reached * terms), np.ones(len(positions))

    def _check_grades(self, positions: Positions) -> None:
        beyond = np.flatnonzero(positions.judged_grades > self.max_grade)
        if beyond.size:
            highest = number_text(float(positions.judged_grades.max()))
            first = positions.queries[int(positions.query_of_judged[beyond[0]])]
            raise InputError(
                f"{self}: {counted(beyond.size, 'grade is', 'grades are')} above max_grade, up to "
                f"{highest}, first for query {first!r}; "
                f"give the highest grade of the scale, as in ERR(max_grade={highest})"
            )


def _reached(positions: Positions, query: Int64Array, passing: FloatArray) -> FloatArray:
    """For each group the product of ``passing`` over the earlier groups of its query."""
    place = np.arange(len(query)) - np.searchsorted(query, query)
    order = np.argsort(place, kind="stable")
    reached = np.empty(len(query))
    running = np.ones(len(positions))
    # All first groups, then all second groups, ...: a product per query in order, without a loop over queries.
    for chosen in np.split(order, np.cumsum(np.bincount(place))[:-1]) if len(place) else ():
        reached[chosen] = running[query[chosen]]
        running[query[chosen]] *= passing[chosen]
    return reached


def _several(
    positions: Positions, groups: GainGroups, stops: FloatArray, chosen: Int64Array, inside: Int64Array
) -> FloatArray:
    """The sum over places for groups in which several items may stop the reader; alike groups are done at once."""
    starts = np.append(positions.group_starts, len(stops))
    alike: dict[tuple[int, bytes], list[int]] = {}
    for place, group in enumerate(chosen.tolist()):
        mine = stops[starts[group] : starts[group + 1]]
        if positions.counts is not None:
            mine = np.repeat(mine, positions.counts[starts[group] : starts[group + 1]])
        mine = np.sort(mine)
        alike.setdefault((int(groups.size[group]), mine[mine > 0].tobytes()), []).append(place)
    sums = np.empty(len(chosen))
    for (n, packed), places in alike.items():
        these = chosen[places]
        depth, stopping = inside[these], np.frombuffer(packed)
        passed = _mean_products(n, 1 - stopping, min(int(depth.max()), _places_that_count(n, stopping)))
        sums[places] = weighted_inverse_ranks(passed[:-1] - passed[1:], groups.above[these], depth)
    return sums


def _places_that_count(n: int, stopping: FloatArray) -> int:
    """Places of a group after which what is left changes no bit of its sum.

    The mean product of j of the items is at most the j-th power of their mean (Maclaurin's inequality), so that a
    reader is past the first places of a group with many that stop.
    """
    mean = float(stopping.sum()) / n
    if mean >= 1:
        return 1
    return min(math.ceil((math.log(mean) + math.log(_LEFT)) / math.log1p(-mean)), n)


def _mean_products(n: int, passing: FloatArray, depth: int) -> FloatArray:
    """Mean product of ``passing`` over all choices of j of n items, j = 0..depth; items not given pass with chance 1.

    The elementary symmetric sum e_j over C(n, j), built item by item as a weighted mean, so that nothing overflows:
    a choice of j of t items, the newest among them, leaves that one out with chance (t - j)/t. Choices of few items
    need none of those of more.
    """
    means, j = np.ones(depth + 1), np.arange(depth + 1, dtype=np.float64)
    for t, chance in enumerate(passing.tolist(), n - len(passing) + 1):
        size = min(t, depth) + 1
        known, chosen = means[:size], j[:size]
        with_new = known[:-1] * chosen[1:]
        known *= t - chosen
        known[1:] += with_new * chance
        known /= t
    return means
