"""What the aggregation rule does to a score: every rule beside the one in use, on the same queries."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.scoring import chosen_measures, evaluate
from visual_search.evaluation.slices import Attribute, group_codes
from visual_search.evaluation.statistics.interval import Resampling
from visual_search.evaluation.statistics.paired import PairedDifference, paired_difference
from visual_search.evaluation.ties import TieRule
from visual_search.judging.aggregation import (
    DEFAULT_RULE,
    RULES,
    Rule,
    aggregated_grades,
    checked_rule,
    relevance_of_judgements,
)
from visual_search.judging.judgement_table import JudgementTable
from visual_search.rankings.ranking import Ranking
from visual_search.undefined import none_if_nan

__all__ = ["RuleEffect", "rule_effects"]


@dataclass(frozen=True, slots=True)
class RuleEffect:
    """One measure under one aggregation rule.

    Attributes
    ----------
    rule : str
    measure : str
        Text form.
    mean : float
        NaN where no query has a value.
    counted : int
        Queries that entered it.
    relevant : int
        Pairs that reach the measure's ``rel`` (1 where it has none).
    difference : PairedDifference or None
        This rule's value less that of the rule in use, query by query; None for the rule in use itself, and where this
        one gives every pair the same grade.
    same : bool
        Whether it gives every pair the grade of the rule in use, so that no query of any sample can differ by it.
    """

    rule: Rule
    measure: str
    mean: float
    counted: int
    relevant: int
    difference: PairedDifference | None
    same: bool = False

    def as_json(self) -> dict[str, Any]:
        """As a JSON object; an undefined mean is null."""
        return {
            "rule": self.rule,
            "measure": self.measure,
            "mean": none_if_nan(self.mean),
            "counted": self.counted,
            "relevant_pairs": self.relevant,
            "difference": None if self.difference is None else self.difference.as_json(),
            "same_grades": self.same,
        }


def rule_effects(
    ranking: Ranking,
    table: JudgementTable,
    measures: Iterable[str | Measure],
    *,
    rule: str = DEFAULT_RULE,
    ties: TieRule | None = None,
    groups: Attribute | None = None,
    resampling: Resampling | None = None,
) -> tuple[RuleEffect, ...]:
    """Score one ranking under every aggregation rule.

    Parameters
    ----------
    ranking : Ranking
    table : JudgementTable
    measures : iterable of str or Measure
    rule : str
        The rule in use, which the others are held against.
    ties : str, optional
        As for :func:`visual_search.evaluation.scoring.evaluate`.
    groups : mapping or sequence, optional
        Independent group of each query, for the differences' intervals.
    resampling : Resampling, optional

    Returns
    -------
    tuple of RuleEffect
        Measure by measure, the rule in use first.

    How to read it
    --------------
    Where no rule moves a score by more than its interval, the disagreement of judges does not matter for it. Where
    one does, the rule is part of the number and has to stand beside it. Queries may have a value under one rule and
    none under another: the difference is over those that have both.

    Examples
    --------
    >>> table = JudgementTable.from_table(
    ...     {"judge": ["ann", "bo"], "query": ["q", "q"], "item": ["a", "a"], "grade": [0, 1]}
    ... )
    >>> found = rule_effects(Ranking.from_dict({"q": {"a": 1.0}}), table, ["Precision@1"])
    >>> {one.rule: one.mean for one in found if one.rule in ("adjudicated", "max")}
    {'adjudicated': 0.0, 'max': 1.0}
    """
    used, chosen = checked_rule(rule), chosen_measures(measures)
    order = (used, *(one for one in RULES if one != used))
    truths = {one: relevance_of_judgements(table, one) for one in order}
    results = {one: evaluate(ranking, truth, chosen, ties=ties) for one, truth in truths.items()}
    grades = {one: aggregated_grades(table, one) for one in order}
    same = {one: bool(np.array_equal(grades[one], grades[used], equal_nan=True)) for one in order}
    codes = None if groups is None else group_codes(groups, table.queries).tolist()
    made = []
    for measure in chosen:
        rel = getattr(measure, "rel", 1)
        base = results[used][measure].values
        for one in order:
            found = results[one][measure]
            difference = (
                None if same[one] else paired_difference(found.values, base, groups=codes, resampling=resampling)
            )
            reached = int((truths[one].grades >= rel).sum())
            made.append(RuleEffect(one, str(measure), found.mean, found.counted, reached, difference, same[one]))
    return tuple(made)
