"""Between which values a score would lie, whatever the unjudged items turned out to be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.evaluation.best_gains import best_grades
from visual_search.evaluation.completion_kinds import completion_kind
from visual_search.evaluation.extreme_averages import extreme_averages, extreme_quotients
from visual_search.evaluation.measures.average_precision import AP
from visual_search.evaluation.measures.gain import gains_of, nDCG
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.sums import discount_sum
from visual_search.evaluation.open_lists import Completion, OpenLists
from visual_search.evaluation.scoring import chosen_measures
from visual_search.evaluation.ties import TieRule
from visual_search.ground_truth.relevance import Relevance
from visual_search.rankings.ranking import Ranking
from visual_search.undefined import none_if_nan

__all__ = ["MOST_OPEN", "UnjudgedBounds", "unjudged_bounds"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Scope: TypeAlias = Literal["gallery", "listed"]

# Where a measure needs every number of relevant items tried, work grows with the square of a list's unjudged items.
MOST_OPEN = 300
_HITS_AT_A_TIME = 200_000


@dataclass(frozen=True, slots=True, eq=False)
class UnjudgedBounds:
    """Lowest and highest value of one measure over all completions of the judgements.

    Attributes
    ----------
    measure : Measure
    low, high : float
        Of the average over queries; NaN where there is no bound. Both are reached by some completion.
    lows, highs : float64 arrays of shape (n,)
        Of each query, over the completions under which it has a value; NaN where it has one under none.
    reason : str
        Why there is no bound; empty where there is one.
    """

    measure: Measure
    low: float
    high: float
    lows: FloatArray
    highs: FloatArray
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """As a JSON object; what is undefined is null."""
        return {
            "measure": str(self.measure),
            "low": none_if_nan(self.low),
            "high": none_if_nan(self.high),
            "reason": self.reason or None,
        }


def unjudged_bounds(
    ranking: Ranking,
    relevance: Relevance,
    measures: Iterable[str | Measure],
    *,
    unjudged: Scope = "gallery",
    grades: Iterable[float] | None = None,
    ties: TieRule | None = None,
) -> dict[Measure, UnjudgedBounds]:
    r"""Bound measures over everything that the unjudged items may be.

    Parameters
    ----------
    ranking : Ranking
    relevance : Relevance
    measures : iterable of str or Measure
    unjudged : {"gallery", "listed"}
        Which unjudged items may be relevant: all of the gallery, or those of the query's list only, all others being
        taken for not relevant. The gallery is the ranking's vocabulary; a run file knows the items that it lists.
    grades : iterable of float, optional
        Grades above 0 that an unjudged item may have; where left out those of the relevance, or 1. With these, grades
        between them change no bound; only a higher one would.
    ties : {"expected", "listed", "id_desc", "id_asc"}, optional

    Returns
    -------
    dict of Measure to UnjudgedBounds
        With a reason in place of numbers where a measure has no bound that is proven here.

    Convention
    ----------
    For a given number of relevant items none of these measures falls when a relevant item moves up. So the highest
    value is among those where the uppermost unjudged items are relevant, the lowest among those where the lowest of
    the list are and every item outside it is; where the measure also falls with the number of relevant items (Recall,
    AP, nDCG), all numbers are tried. nDCG of grades is lowest with grades at their ends, being a ratio of a linear and
    a convex function of the gains; where it is highest :mod:`visual_search.evaluation.best_gains` tells.

    How to read it
    --------------
    No assumption is in it: whatever further judging finds, the score ends between the two. Wide bounds say that the
    judgements do not settle the score; they are no interval, and nothing says that their middle is likely. With a
    whole gallery in question the lower bound of recall and AP is near 0: it says what cannot be excluded.

    Raises
    ------
    InputError
        ``ties`` best or worst, which are bounds of their own; no grade above 0.

    Examples
    --------
    >>> run = Ranking.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> truth = Relevance.from_dict({"q": {"b": 1}})
    >>> [(str(m), round(b.low, 3), round(b.high, 3)) for m, b in unjudged_bounds(run, truth, ["RR", "AP"]).items()]
    [('RR', 0.5, 1.0), ('AP(denominator=all)', 0.5, 1.0)]
    """
    if unjudged not in ("gallery", "listed"):
        raise InputError(f"unjudged={unjudged!r}: one of gallery, listed")
    rule: TieRule = ties or "expected"
    if rule in ("best", "worst"):
        raise InputError(f"ties={rule!r}: bounds are taken under expected, listed, id_desc or id_asc")
    chosen = chosen_measures(measures)
    allowed = _allowed(grades, relevance)
    made: dict[Measure, UnjudgedBounds] = {}
    joined: dict[TieRule, OpenLists] = {}
    for measure in chosen:
        own = measure.tie_rule(rule)
        kind = completion_kind(measure)
        reason = kind.reason or ("" if own not in ("best", "worst") else f"ties={own} is a bound of its own")
        if not reason:
            lists = joined[own] = joined.get(own) or OpenLists(ranking, relevance, own)
            reason = _too_many(lists, measure) if kind.every_number else ""
        if reason:
            empty = np.full(len(relevance), np.nan)
            made[measure] = UnjudgedBounds(measure, float("nan"), float("nan"), empty, empty, reason)
        else:
            made[measure] = _bounded(
                measure, lists, allowed, every=kind.every_number, all_of_it=unjudged == "gallery"
            )
    return made


def _allowed(grades: Iterable[float] | None, relevance: Relevance) -> FloatArray:
    given = relevance.grades[~relevance.ignored] if grades is None else np.array(list(grades), dtype=np.float64)
    above = np.unique(given[given > 0])
    if grades is None:
        return above if len(above) else np.ones(1)
    if not len(above) or not np.isfinite(given).all():
        raise InputError(f"grades: at least one finite grade above 0 is needed; got {given.tolist()}")
    return above


def _reach(lists: OpenLists, measure: Measure, query: int) -> int:
    """How many unjudged items of a list the measure sees."""
    above, _ = lists.open_places(query)
    depth = None if isinstance(measure, AP) and measure.cut == "relevant" else measure.depth
    return int((above < depth).sum()) if isinstance(depth, int) else len(above)


def _too_many(lists: OpenLists, measure: Measure) -> str:
    most = max((_reach(lists, measure, query) for query in range(len(lists))), default=0)
    if most <= MOST_OPEN:
        return ""
    return (
        f"{most:,} unjudged items in one list, more than the {MOST_OPEN} that are tried; cut the measure at a rank"
    )


def _bounded(
    measure: Measure, lists: OpenLists, allowed: FloatArray, *, every: bool, all_of_it: bool
) -> UnjudgedBounds:
    highest = float(allowed[-1])
    lows, highs, bases = (np.full(len(lists), np.nan) for _ in range(3))
    choices: list[tuple[npt.NDArray[np.int64], FloatArray, FloatArray]] = []
    for batch in _batches(lists, measure, allowed, every=every, all_of_it=all_of_it):
        values = measure.values(lists.completed(batch, highest), "expected")
        which, known = np.array([one.query for one in batch]), values.defined
        np.fmin.at(lows, which[known], values.value[known])
        np.fmax.at(highs, which[known], values.value[known])
        base = np.array([not one.outside and not one.listed.any() for one in batch])
        bases[which[base]] = values.value[base]
        choices.append((which, values.numerator, values.denominator))
    if measure.average == "micro" and choices:
        query, tops, bottoms = (np.concatenate(part) for part in zip(*choices, strict=True))
        reached = extreme_quotients(query, tops, bottoms)
    else:
        reached = extreme_averages(measure, lows, highs, always=~np.isnan(bases))
    return UnjudgedBounds(measure, *reached, lows, highs)


def _batches(
    lists: OpenLists, measure: Measure, allowed: FloatArray, *, every: bool, all_of_it: bool
) -> Iterator[list[Completion]]:
    batch: list[Completion] = []
    size = 0
    for query in range(len(lists)):
        for one in _tried(lists, measure, query, allowed, every=every, all_of_it=all_of_it):
            batch.append(one)
            size += 1 + int((one.listed > 0).sum()) + len(lists.judged_places(query)[0])
        if size > _HITS_AT_A_TIME:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _tried(
    lists: OpenLists, measure: Measure, query: int, allowed: FloatArray, *, every: bool, all_of_it: bool
) -> Iterator[Completion]:
    """Completions of one query among which its lowest and highest value are."""
    total, reach = len(lists.open_places(query)[0]), _reach(lists, measure, query)
    outside = total - reach + (int(lists.outside[query]) if all_of_it else 0)
    highest = allowed[-1]
    nothing = np.zeros(total)
    yield Completion(query, nothing)
    if outside:
        yield Completion(query, nothing, outside)
    for number in range(1, reach + 1) if every else sorted({1, reach} - {0}):
        if number > reach:
            continue
        upper, lower = nothing.copy(), nothing.copy()
        upper[:number] = highest
        lower[reach - number : reach] = highest
        yield Completion(query, upper)
        yield Completion(query, lower, outside)
    if isinstance(measure, nDCG) and measure.gain != "binary" and reach:
        yield Completion(query, _best(lists, measure, query, allowed, reach))


def _best(lists: OpenLists, measure: nDCG, query: int, allowed: FloatArray, reach: int) -> FloatArray:
    """Grades that give the highest nDCG."""
    limit = int(lists.lengths[query]) if measure.k is None else int(measure.k)  # a number, since R has no bound
    above, tied = (part[:reach] for part in lists.open_places(query))
    own_above, own_tied, own = lists.judged_places(query)
    discount = discount_sum(above, np.minimum(limit, above + tied)) / tied
    mine = np.where(
        own_above < limit, discount_sum(own_above, np.minimum(limit, own_above + own_tied)) / own_tied, 0
    )
    judged = lists.judged_grades(query)
    deepest = limit if measure.k is not None else len(judged) + reach
    ranks = np.arange(deepest + 1)
    found = best_grades(
        discount,
        float(mine @ gains_of(own, measure.gain, measure.rel)),
        gains_of(judged, measure.gain, measure.rel),
        discount_sum(np.zeros_like(ranks), ranks),
        (allowed, gains_of(allowed, measure.gain, measure.rel)),
    )
    return np.concatenate((found, np.zeros(len(lists.open_places(query)[0]) - reach)))
