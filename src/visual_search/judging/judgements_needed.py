"""How many more judgements until two systems separate: a forecast that knows how little the first ones tell."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isfinite, sqrt
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.measures.parsing import parse_measure
from visual_search.evaluation.scoring import evaluate
from visual_search.evaluation.slices import Attribute, group_codes
from visual_search.evaluation.statistics.beta import student_cdf, student_quantile
from visual_search.evaluation.statistics.bootstrap import group_sums
from visual_search.evaluation.statistics.interval import resampling_groups
from visual_search.evaluation.statistics.power import group_spread
from visual_search.evaluation.ties import TieRule
from visual_search.judging.aggregation import DEFAULT_RULE, relevance_of_judgements
from visual_search.judging.judgement_table import JudgementTable
from visual_search.rankings.ranking import Ranking

__all__ = ["JudgementsNeeded", "chance_to_separate", "groups_to_separate", "judgements_needed"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

_DEPTH = 20


@dataclass(frozen=True, slots=True)
class JudgementsNeeded:
    """A forecast for two systems under one measure.

    Attributes
    ----------
    measure : str
    difference : float
        Mean of first less second; NaN where no query has both.
    groups : int
        Independent groups of queries that have both values.
    separated : bool
        Whether the interval of the difference excludes 0 already.
    groups_more : int or None
        Further groups after which it does so with the chance asked for; None where it cannot be told.
    queries_more : int or None
        The same in queries, by the mean size of a group.
    unjudged : int
        Pairs of the judged queries, within the depth of either list, that have no grade yet.
    pairs_per_query : float
        Pairs within the depth of either list, on average.
    judgements_more : int or None
        To grade the unjudged pairs and all pairs of the further queries, by as many judges a pair as asked for.
    chance : float
    depth, judges_per_pair : int
    reason : str
        Why there is no forecast; empty where there is one.
    """

    measure: str
    difference: float
    groups: int
    separated: bool
    groups_more: int | None
    queries_more: int | None
    unjudged: int
    pairs_per_query: float
    judgements_more: int | None
    chance: float
    depth: int
    judges_per_pair: int
    reason: str = ""

    @property
    def words(self) -> str:
        """The forecast with its assumption."""
        if self.reason:
            return f"{self.measure}: no forecast: {self.reason}"
        if self.separated:
            left = counted(self.unjudged, "pair", "pairs")
            return f"{self.measure}: the two are separated already; {left} within rank {self.depth} are unjudged"
        assert self.queries_more is not None
        assert self.judgements_more is not None
        more = counted(self.queries_more, "more query", "more queries")
        marks = counted(self.judgements_more, "judgement", "judgements")
        return (
            f"{self.measure}: {more}, {marks} in all, and the interval excludes 0 with a chance of {self.chance:.0%}; "
            "if further queries are like these and what is unjudged in them does not change the difference"
        ).replace("%", " %")

    def as_json(self) -> dict[str, Any]:
        """As a JSON object; what is undefined is null."""
        return {
            "measure": self.measure,
            "difference": self.difference if isfinite(self.difference) else None,
            "groups": self.groups,
            "separated": self.separated,
            "groups_more": self.groups_more,
            "queries_more": self.queries_more,
            "unjudged": self.unjudged,
            "pairs_per_query": self.pairs_per_query if isfinite(self.pairs_per_query) else None,
            "judgements_more": self.judgements_more,
            "chance": self.chance,
            "depth": self.depth,
            "judges_per_pair": self.judges_per_pair,
            "words": self.words,
        }


def judgements_needed(
    first: Ranking,
    second: Ranking,
    table: JudgementTable,
    measure: str | Measure,
    *,
    rule: str = DEFAULT_RULE,
    judges_per_pair: int = 1,
    chance: float = 0.8,
    confidence: float = 0.95,
    ties: TieRule | None = None,
    groups: Attribute | None = None,
) -> JudgementsNeeded:
    r"""Forecast after how many further judgements two systems separate.

    Parameters
    ----------
    first, second : Ranking
    table : JudgementTable
    measure : str or Measure
        Its k is the depth to which lists are judged, 20 where it has none.
    rule : str
    judges_per_pair : int
        Judgements that each pair will get, from 1.
    chance, confidence : float in (0, 1)
        How sure the forecast is to hold, and the level of the interval that shall exclude 0.
    ties : str, optional
    groups : mapping or sequence, optional
        Independent group of each query.

    Returns
    -------
    JudgementsNeeded

    Convention
    ----------
    See :func:`groups_to_separate`. Assumed is that further groups of queries are drawn as these were, that nothing was
    known of the difference before, and that grading what is unjudged leaves the differences as they are: unjudged items
    count as not relevant until then.

    How to read it
    --------------
    A plan, not a promise. It is longer than the usual sample size, which takes the difference seen for the true one.
    Where the true difference is small beside its standard error, as between versions of one system, it is still too
    hopeful; ``benchmarks/agreement_coverage.py`` tells how often it holds.

    Examples
    --------
    >>> marks = {"judge": [], "query": [], "item": [], "grade": []}
    >>> for query, wins in zip("abcdef", (1, 1, 0, 1, 0, 1)):
    ...     for item, grade in (("x", wins), ("y", 1 - wins)):
    ...         for name, value in zip(marks, ("ann", query, item, grade)):
    ...             marks[name].append(value)
    >>> one, two = (Ranking.from_dict({query: {item: 1.0} for query in "abcdef"}) for item in "xy")
    >>> found = judgements_needed(one, two, JudgementTable.from_table(marks), "Precision@1")
    >>> found.separated, round(found.difference, 3), found.unjudged, found.queries_more > 10
    (False, 0.333, 0, True)
    """
    chosen = parse_measure(measure)
    if judges_per_pair < 1:
        raise InputError(f"judges_per_pair is {judges_per_pair}; at least 1")
    truth = relevance_of_judgements(table, rule)
    values = [evaluate(one, truth, [chosen], ties=ties)[chosen].values for one in (first, second)]
    apart = values[0] - values[1]
    known = ~np.isnan(apart)
    by_group = None if groups is None else group_codes(groups, table.queries).tolist()
    codes, count, _ = resampling_groups(by_group, len(truth))
    parts = np.column_stack((np.where(known, apart, 0.0), known.astype(np.float64)))
    sums = group_sums(parts, codes, count)
    sums = sums[sums[:, 1] > 0]
    depth = chosen.depth if isinstance(chosen.depth, int) else _DEPTH
    unjudged, per_query = _pool(first, second, table, rule, depth)
    difference = float(apart[known].mean()) if known.any() else float("nan")
    spread = float(group_spread(sums[:, :1], sums[:, 1:])[0])
    reason = _reason(len(sums), spread)
    more = (
        None if reason else groups_to_separate(difference, spread, len(sums), chance=chance, confidence=confidence)
    )
    queries = None if more is None else ceil(more * known.sum() / len(sums))
    marks = None if queries is None else ceil((unjudged + queries * per_query) * judges_per_pair)
    return JudgementsNeeded(
        str(chosen), difference, len(sums), more == 0, more, queries, unjudged, per_query, marks, chance, depth,
        judges_per_pair, reason,
    )  # fmt: skip


def _reason(groups: int, spread: float) -> str:
    if groups < 2:
        return "fewer than two independent queries have both values"
    return "" if spread > 0 else "all queries differ by the same, so that nothing tells how others would"


def groups_to_separate(
    difference: float, spread: float, groups: int, *, chance: float = 0.8, confidence: float = 0.95
) -> int:
    """Fewest further groups after which the interval excludes 0 with at least this chance; 0 where it does already.

    Parameters
    ----------
    difference, spread : float
        Mean and standard deviation over the groups so far.
    groups : int
        How many these are, at least 2.
    chance, confidence : float in (0, 1)

    Examples
    --------
    >>> groups_to_separate(0.1, 0.2, 100), groups_to_separate(0.02, 0.2, 100)
    (0, 2133)
    """
    for name, value in (("chance", chance), ("confidence", confidence)):
        if not 0 < value < 1:
            raise InputError(f"{name} is {value}; it must lie between 0 and 1")

    def reached(more: int) -> bool:
        return chance_to_separate(difference, spread, groups, more, confidence=confidence) >= chance

    if reached(0):
        return 0
    least, most = 0, 1
    while not reached(most):
        least, most = most, 2 * most
    while most - least > 1:
        middle = (least + most) // 2
        least, most = (least, middle) if reached(middle) else (middle, most)
    return most


def chance_to_separate(
    difference: float, spread: float, groups: int, more: int, *, confidence: float = 0.95
) -> float:
    r"""Chance that the interval of the difference excludes 0 after so many more groups.

    .. math:: P\left(|\hat d + s \sqrt{\tfrac{m}{n (n + m)}}\; T_{n-1}| >
        t_{n+m-1} \frac{s}{\sqrt{n + m}}\right)

    The mean of all n + m groups is foreseen from n of them with both uncertainties, that of the true difference and
    that of the groups to come; the usual formula for a sample size leaves the first out.

    References
    ----------
    D. J. Spiegelhalter, L. S. Freedman, P. R. Blackburn, Monitoring clinical trials: conditional or predictive power?,
    Controlled Clinical Trials 7, 1986.

    Examples
    --------
    >>> [round(chance_to_separate(0.05, 0.2, 40, more), 2) for more in (0, 40, 400)]
    [0.0, 0.6, 0.86]
    """
    total = groups + more
    edge = student_quantile((1 + confidence) / 2, total - 1) * spread / sqrt(total)
    if not more:
        return float(abs(difference) > edge)
    error = spread * sqrt(more / (groups * total))
    inside = student_cdf((edge - difference) / error, groups - 1) - student_cdf(
        (-edge - difference) / error, groups - 1
    )
    return 1 - inside


def _pool(first: Ranking, second: Ranking, table: JudgementTable, rule: str, depth: int) -> tuple[int, float]:
    """Pairs of the judged queries within the depth of either list that have no grade; and pairs a query."""
    truth = relevance_of_judgements(table, rule)
    unjudged = total = 0
    for query in truth.queries:
        listed: set[Any] = set()
        for one in (first, second):
            if query in one.queries:
                row = one.queries.row(query)
                begin = int(one.offsets[row])
                stop = min(begin + depth, int(one.offsets[row + 1]))
                listed.update(one.items.take(one.rows[begin:stop].tolist()))
        total += len(listed)
        unjudged += len(listed - truth.judged(query).keys())
    return unjudged, total / len(truth) if len(truth) else float("nan")
