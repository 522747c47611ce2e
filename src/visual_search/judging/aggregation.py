"""From several judges' grades of a pair to one grade, by a stated rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.formats.ragged import offsets_of
from visual_search.ground_truth.relevance import Relevance
from visual_search.judging.grade_counts import grade_counts
from visual_search.judging.judgement_table import JudgementTable

__all__ = [
    "DEFAULT_RULE",
    "RULES",
    "RULE_WORDS",
    "Rule",
    "aggregated_grades",
    "checked_rule",
    "decided_grades",
    "relevance_of_judgements",
    "rule_grades",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Rule: TypeAlias = Literal["adjudicated", "majority", "median", "mean", "min", "max", "agreed"]
RULES: tuple[Rule, ...] = get_args(Rule)
DEFAULT_RULE: Rule = "adjudicated"

RULE_WORDS: Mapping[Rule, str] = {
    "adjudicated": "the adjudicated grade where there is one, else the majority",
    "majority": "the grade most judges gave, of several such the lowest",
    "median": "the grade in the middle, between two the mean of both",
    "mean": "the mean grade",
    "min": "the lowest grade anyone gave",
    "max": "the highest grade anyone gave",
    "agreed": "the grade where all judges gave one; other pairs count as unjudged",
}


def checked_rule(rule: str) -> Rule:
    """Return the rule, or raise if there is none of that name.

    Examples
    --------
    >>> checked_rule("vote")
    Traceback (most recent call last):
    ...
    visual_search.errors.InputError: rule='vote': one of adjudicated, majority, median, mean, min, max, agreed
    """
    if rule not in RULES:
        raise InputError(f"rule={rule!r}: one of {', '.join(RULES)}")
    return rule


def rule_grades(counts: FloatArray, scale: FloatArray, rule: Rule) -> FloatArray:
    """One grade for each pair from how often each grade was given.

    Parameters
    ----------
    counts : float64 array of shape (pairs, grades)
        Judgements by grade; where judges are resampled, weighted by how often each was drawn.
    scale : float64 array of shape (grades,)
        The grades, rising.
    rule : str
        One of `RULES`; ``adjudicated`` is here the majority it falls back to.

    Returns
    -------
    float64 array of shape (pairs,)
        NaN where nobody gave a grade, or where the rule gives none.

    Examples
    --------
    >>> counts, scale = np.array([[1.0, 0.0, 1.0], [1.0, 2.0, 0.0]]), np.array([0.0, 1.0, 2.0])
    >>> {rule: rule_grades(counts, scale, rule).round(2).tolist() for rule in RULES}
    {'adjudicated': [0.0, 1.0], 'majority': [0.0, 1.0], 'median': [1.0, 1.0], 'mean': [1.0, 0.67],
     'min': [0.0, 0.0], 'max': [2.0, 1.0], 'agreed': [nan, nan]}
    """
    grades = _BY_RULE[rule](counts, scale)
    return np.where(counts.sum(axis=1) > 0, grades, np.nan)


def _majority(counts: FloatArray, scale: FloatArray) -> FloatArray:
    most: FloatArray = scale[np.argmax(counts, axis=1)]
    return most


def _median(counts: FloatArray, scale: FloatArray) -> FloatArray:
    reached, half = np.cumsum(counts, axis=1), counts.sum(axis=1, keepdims=True) / 2
    last = len(scale) - 1
    lower = np.minimum((reached < half).sum(axis=1), last)
    upper = np.minimum((reached <= half).sum(axis=1), last)
    middle: FloatArray = (scale[lower] + scale[upper]) / 2
    return middle


def _mean(counts: FloatArray, scale: FloatArray) -> FloatArray:
    mean: FloatArray = counts @ scale / np.maximum(counts.sum(axis=1), 1)
    return mean


def _least(counts: FloatArray, scale: FloatArray) -> FloatArray:
    least: FloatArray = scale[np.argmax(counts > 0, axis=1)]
    return least


def _most(counts: FloatArray, scale: FloatArray) -> FloatArray:
    most: FloatArray = scale[len(scale) - 1 - np.argmax(counts[:, ::-1] > 0, axis=1)]
    return most


def _agreed(counts: FloatArray, scale: FloatArray) -> FloatArray:
    return np.where((counts > 0).sum(axis=1) == 1, _least(counts, scale), np.nan)


_BY_RULE: dict[Rule, Callable[[FloatArray, FloatArray], FloatArray]] = {
    "adjudicated": _majority,
    "majority": _majority,
    "median": _median,
    "mean": _mean,
    "min": _least,
    "max": _most,
    "agreed": _agreed,
}


def decided_grades(table: JudgementTable) -> tuple[npt.NDArray[np.bool_], FloatArray]:
    """Which pairs an adjudication decided, and how: arrays of shape (pairs,), NaN where no grade could be given."""
    decided, grades = np.zeros(table.pairs, dtype=np.bool_), np.full(table.pairs, np.nan)
    rows = np.flatnonzero(table.adjudicated)
    decided[table.pair[rows]] = True
    grades[table.pair[rows]] = table.grade[rows]
    return decided, grades


def aggregated_grades(table: JudgementTable, rule: str = DEFAULT_RULE) -> FloatArray:
    """One grade for each pair of the table by a rule, float64 of shape (pairs,); NaN where the rule gives none."""
    checked = checked_rule(rule)
    grades = rule_grades(grade_counts(table), table.scale, checked)
    if checked != "adjudicated":
        return grades
    decided, how = decided_grades(table)
    return np.where(decided, how, grades)


def relevance_of_judgements(table: JudgementTable, rule: str = DEFAULT_RULE) -> Relevance:
    """Right answers from judgements by a stated rule.

    Parameters
    ----------
    table : JudgementTable
    rule : {"adjudicated", "majority", "median", "mean", "min", "max", "agreed"}
        See `RULE_WORDS`. Under every rule but the first, adjudications are left out.

    Returns
    -------
    Relevance
        All queries of the table; a pair to which the rule gives no grade is unjudged.

    Convention
    ----------
    A grade between two of the scale, from ``mean`` or ``median``, is relevant where it reaches the measure's ``rel``.

    Examples
    --------
    >>> table = JudgementTable.from_table(
    ...     {"judge": ["ann", "bo"], "query": ["q", "q"], "item": ["a", "a"], "grade": [1, 2]}
    ... )
    >>> relevance_of_judgements(table, "mean").judged("q")
    {'a': 1.5}
    """
    grades = aggregated_grades(table, rule)
    known = ~np.isnan(grades)
    offsets = offsets_of(np.bincount(table.pair_query[known], minlength=len(table.queries)))
    return Relevance(table.queries, table.items, offsets, table.pair_item[known], grades[known])
