"""Intervals that know the judges: how far a score would move with other queries and other judges.

An interval over queries takes the judges' grades for the truth. Other judges would have graded otherwise, some more
leniently throughout, and that does not average out over queries. Here both are drawn again, queries (in their groups)
and judges, independently of each other [1]_; from every draw of judges the grades are made anew by the same rule.

.. [1] A. B. Owen, The pigeonhole bootstrap, Annals of Applied Statistics 1(2), 2007; P. McCullagh, Resampling and
   exchangeable arrays, Bernoulli 6(2), 2000.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.regraded import Regraded
from visual_search.evaluation.scoring import chosen_measures
from visual_search.evaluation.slices import Attribute, group_codes
from visual_search.evaluation.statistics.beta import student_quantile
from visual_search.evaluation.statistics.interval import Interval, Resampling
from visual_search.evaluation.statistics.measure_intervals import MeanBootstrap
from visual_search.evaluation.ties import TieRule, checked_tie_rule
from visual_search.judging.aggregation import DEFAULT_RULE, Rule, checked_rule, relevance_of_judgements
from visual_search.judging.judge_draws import JudgeDraws, draws_of_judges
from visual_search.judging.judgement_table import JudgementTable
from visual_search.rankings.ranking import Ranking
from visual_search.undefined import none_if_nan

__all__ = ["JudgedScore", "judge_intervals"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

# Draws of judges that are scored; all of them, each with its probability, where there are no more: up to five judges.
JUDGE_DRAWS = 200


@dataclass(frozen=True, slots=True)
class JudgedScore:
    """A score with the interval over queries alone and the one that knows the judges.

    Attributes
    ----------
    measure : Measure
    mean : float
        By the rule; NaN where no query has a value.
    queries_only : Interval or None
        As every score has one: the judges' grades taken for the truth.
    interval : Interval or None
        Over queries and judges; never narrower than the other. None where there is one judge only.
    judges : int
        Judges that were drawn from.
    share : float
        Share of the score's variance that is due to the judges; NaN where it cannot be told.
    reason : str
        Why there is no interval over judges; empty where there is one.
    """

    measure: Measure
    mean: float
    queries_only: Interval | None
    interval: Interval | None
    judges: int
    share: float
    reason: str = ""

    def as_json(self) -> dict[str, Any]:
        """As a JSON object; what is undefined is null."""
        return {
            "measure": str(self.measure),
            "mean": none_if_nan(self.mean),
            "queries_only": None if self.queries_only is None else self.queries_only.as_json(),
            "interval": None if self.interval is None else self.interval.as_json(),
            "judges": self.judges,
            "judges_share_of_variance": none_if_nan(self.share),
            "reason": self.reason or None,
        }


def judge_intervals(
    ranking: Ranking,
    table: JudgementTable,
    measures: Iterable[str | Measure],
    *,
    rule: str = DEFAULT_RULE,
    ties: TieRule | None = None,
    groups: Attribute | None = None,
    resampling: Resampling | None = None,
) -> tuple[JudgedScore, ...]:
    r"""Score a ranking by judgements, with intervals over queries and judges.

    .. math:: \hat\theta \mp \sqrt{(\hat\theta - L)^2 + d_J^2}, \quad
        d_J = \tfrac{t_{\nu}}{p} \sqrt{\max\left(\tfrac{J}{J - 1} \operatorname{Var}^*(\theta),
        \tfrac{J - 1}{J} \sum_j (\theta_{-j} - \bar\theta_{-})^2\right)}

    with L (and U likewise above) the end of the interval over queries; :math:`\operatorname{Var}^*` the variance of
    the score over draws of J judges from the J there are, all queries kept; :math:`\theta_{-j}` the score without
    judge j. Draws see too little where a pair has two judges of many, leaving one out sees too little where there are
    two: the larger counts. Judges show only on pairs that two of them graded, a share p; they are taken to be alike
    on the others. Both parts are joined as ends of independent parts are (Zou and Donner). :math:`\nu` are the degrees
    of freedom of the whole by Satterthwaite, between J - 1 and those of the queries, since J judges tell little of how
    far judges differ.

    Parameters
    ----------
    ranking : Ranking
    table : JudgementTable
    measures : iterable of str or Measure
    rule : str
        How several grades become one; adjudicated grades stand whatever judges are drawn.
    ties : str, optional
    groups : mapping or sequence, optional
        Independent group of each query.
    resampling : Resampling, optional

    Returns
    -------
    tuple of JudgedScore

    Convention
    ----------
    A judge drawn twice counts twice in the rule. A pair of which no judge was drawn keeps its grade. Queries whose
    value is undefined under a draw are left out of that draw's mean.

    How to read it
    --------------
    Where the judges' share of the variance is large, more queries do not help: more judges do, or a clearer guideline.
    It holds for panels of as many judges of the same kind under the same rule. With two or three judges it is wide,
    and rightly so.

    References
    ----------
    G. Y. Zou, A. Donner, Construction of confidence limits about effect measures: a general approach, Statistics in
    Medicine 27(10), 2008. F. E. Satterthwaite, An approximate distribution of estimates of variance components,
    Biometrics Bulletin 2(6), 1946.

    Examples
    --------
    >>> table = JudgementTable.from_table(
    ...     {
    ...         "judge": ["ann", "bo"] * 4,
    ...         "query": ["q1", "q1", "q2", "q2", "q3", "q3", "q4", "q4"],
    ...         "item": ["a"] * 8,
    ...         "grade": [1, 1, 0, 0, 1, 0, 1, 0],
    ...     }
    ... )
    >>> run = Ranking.from_dict({query: {"a": 1.0} for query in table.queries})
    >>> [found] = judge_intervals(run, table, ["Precision@1"], rule="mean")
    >>> found.mean, found.judges
    (0.25, 2)
    """
    settings, chosen = resampling or Resampling(), chosen_measures(measures)
    order = checked_tie_rule(ties or "expected")
    used = checked_rule(rule)
    draws, truth = JudgeDraws(table, used), relevance_of_judgements(table, used)
    pairs = Regraded(ranking, truth)
    by_group = None if groups is None else group_codes(groups, table.queries)
    why = _why_not(used, draws)
    weights, chances = draws_of_judges(1 if why else draws.judges, JUDGE_DRAWS, settings.seed)
    without = 1 - np.eye(draws.judges)
    drawn = [] if why else [pairs.graded(draws.grades(row)) for row in np.concatenate((weights, without))]
    made = []
    for measure in chosen:
        base = measure.values(pairs.graded(truth.grades), order)
        plain = MeanBootstrap(settings)(measure, base, by_group)
        means = np.array([measure.mean(measure.values(positions, order)) for positions in drawn])
        by_judges = float("nan") if why else _by_judges(means, chances, draws)
        made.append(_scored(measure, measure.mean(base), plain, by_judges, draws.judges, why))
    return tuple(made)


def _why_not(rule: Rule, draws: JudgeDraws) -> str:
    if draws.judges < 2:
        return f"{counted(draws.judges, 'judge', 'judges')} gave grades: how far judges differ cannot be told"
    if rule == "agreed":
        return "rule=agreed leaves out the pairs on which judges differ, so that nothing moves with the judges"
    if not draws.shared:
        return "no pair that is not adjudicated was graded by two: judges cannot be told from the pairs they had"
    return ""


def _by_judges(means: FloatArray, chances: FloatArray, draws: JudgeDraws) -> float:
    """Variance of the score that is due to the judges, the larger of two estimates."""
    count, drawn = draws.judges, len(chances)
    by_draws = _variance(means[:drawn], chances) * count / (count - 1)
    left_out = _variance(means[drawn:], np.ones(count)) * (count - 1)
    return max(by_draws, left_out) / draws.shared**2


def _scored(
    measure: Measure,
    mean: float,
    plain: Interval | None,
    by_judges: float,
    judges: int,
    why: str,
) -> JudgedScore:
    if not why and plain is None:
        why = "fewer than two independent queries have a value"
    if why or plain is None:
        return JudgedScore(measure, mean, plain, None, judges, float("nan"), why)
    freedom = max(plain.groups - 1, 1)
    by_queries = ((plain.high - plain.low) / 2 / student_quantile(1 - _tail(plain), freedom)) ** 2
    whole = by_judges + by_queries
    interval = plain
    if by_judges > 0:
        pooled = whole**2 / (by_queries**2 / freedom + by_judges**2 / (judges - 1))
        reach = student_quantile(1 - _tail(plain), pooled) * sqrt(by_judges)
        least, most = measure.bounds
        interval = replace(
            plain,
            low=max(least, mean - sqrt((mean - plain.low) ** 2 + reach**2)),
            high=min(most, mean + sqrt((plain.high - mean) ** 2 + reach**2)),
            method=f"{plain.method}, joined with draws of {judges} judges",
        )
    return JudgedScore(measure, mean, plain, interval, judges, by_judges / whole if whole > 0 else float("nan"))


def _variance(values: FloatArray, chances: FloatArray) -> float:
    known = ~np.isnan(values)
    if not known.any():
        return 0.0
    weights = chances[known] / chances[known].sum()
    apart = values[known] - float(weights @ values[known])
    # What rounding makes of equal means is no spread.
    return float(weights @ apart**2) if float(np.abs(apart).max()) > 1e-12 else 0.0


def _tail(interval: Interval) -> float:
    return (1 - interval.confidence) / 2
