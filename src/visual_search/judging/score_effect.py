"""A score with all that the judgements leave open: how much is judged, what the rest could do, what the judges do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from visual_search.counted import counted
from visual_search.evaluation.judged_only import evaluate_judged_only
from visual_search.evaluation.measures.bpref import Bpref
from visual_search.evaluation.measures.judged import Judged
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.scoring import chosen_measures, evaluate
from visual_search.evaluation.slices import Attribute
from visual_search.evaluation.statistics.interval import Resampling
from visual_search.evaluation.ties import TieRule
from visual_search.evaluation.unjudged_bounds import UnjudgedBounds, unjudged_bounds
from visual_search.judging.aggregation import DEFAULT_RULE, Rule, checked_rule, relevance_of_judgements
from visual_search.judging.judge_intervals import JudgedScore, judge_intervals
from visual_search.judging.judgement_table import JudgementTable
from visual_search.rankings.ranking import Ranking
from visual_search.undefined import none_if_nan

__all__ = ["MeasureEffect", "ScoreEffect", "score_effect"]


@dataclass(frozen=True, slots=True)
class MeasureEffect:
    """One measure with what the judgements leave open.

    Attributes
    ----------
    score : JudgedScore
        Its mean, with intervals over queries and over queries and judges.
    judged : float
        `Judged` down to the measure's rank, or of whole lists: the share of what was read that somebody judged.
    depth : int
        That rank.
    judged_only : float
        The measure on lists without the unjudged items.
    listed, gallery : UnjudgedBounds
        Between which values it lies whatever the unjudged items of the lists, or of the whole gallery, are; none of
        them of a higher grade than any judge gave.
    """

    score: JudgedScore
    judged: float
    depth: int
    judged_only: float
    listed: UnjudgedBounds
    gallery: UnjudgedBounds

    def as_json(self) -> dict[str, Any]:
        """As a JSON object; what is undefined is null."""
        return {
            **self.score.as_json(),
            "depth": self.depth,
            "judged": none_if_nan(self.judged),
            "judged_only": none_if_nan(self.judged_only),
            "bounds_of_lists": self.listed.as_json(),
            "bounds_of_gallery": self.gallery.as_json(),
        }


@dataclass(frozen=True, slots=True)
class ScoreEffect:
    """One ranking's measures, each with what the judgements leave open, and Bpref beside them.

    Attributes
    ----------
    rule : str
    measures : tuple of MeasureEffect
    bpref : float
        Of judged items only; NaN where no query has a relevant item.
    notes : tuple of str
        Of the scoring, and of what was adjudicated.
    """

    rule: Rule
    measures: tuple[MeasureEffect, ...]
    bpref: float
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "rule": self.rule,
            "measures": [one.as_json() for one in self.measures],
            "bpref": none_if_nan(self.bpref),
            "notes": list(self.notes),
        }


def score_effect(
    ranking: Ranking,
    table: JudgementTable,
    measures: Iterable[str | Measure],
    *,
    rule: str = DEFAULT_RULE,
    ties: TieRule | None = None,
    groups: Attribute | None = None,
    resampling: Resampling | None = None,
) -> ScoreEffect:
    """Score a ranking by judgements and say what they leave open.

    Parameters
    ----------
    ranking : Ranking
    table : JudgementTable
    measures : iterable of str or Measure
    rule : str
        How several grades become one.
    ties : {"expected", "listed", "id_desc", "id_asc"}, optional
    groups : mapping or sequence, optional
        Independent group of each query.
    resampling : Resampling, optional

    Returns
    -------
    ScoreEffect

    How to read it
    --------------
    First how much was judged: where ``Judged`` is near 1 the bounds are close and the rest hardly matters. Then the two
    intervals: the wider one says what other judges would change. Then the bounds: what no interval holds, since
    unjudged items are no random sample of all.

    Examples
    --------
    >>> table = JudgementTable.from_table(
    ...     {"judge": ["ann", "bo"], "query": ["q", "q"], "item": ["a", "a"], "grade": [1, 1]}
    ... )
    >>> [found] = score_effect(Ranking.from_dict({"q": {"b": 2.0, "a": 1.0}}), table, ["RR"]).measures
    >>> found.score.mean, found.judged, found.judged_only, (found.listed.low, found.listed.high)
    (0.5, 0.5, 1.0, (0.5, 1.0))
    """
    used, chosen = checked_rule(rule), chosen_measures(measures)
    truth = relevance_of_judgements(table, used)
    scores = judge_intervals(ranking, table, chosen, rule=used, ties=ties, groups=groups, resampling=resampling)
    longest = max(int(ranking.lengths.max(initial=0)), 1)
    depths = {one: one.depth if isinstance(one.depth, int) else longest for one in chosen}
    beside = {depth: Judged(k=depth) for depth in depths.values()}
    plain = evaluate(ranking, truth, [*chosen, Bpref()], ties=ties)
    coverage = evaluate(ranking, truth, list(beside.values()), ties=ties)
    alone = evaluate_judged_only(ranking, truth, chosen, ties=ties)
    given = np.unique(np.concatenate((table.scale, truth.grades)))
    grades = given[given > 0].tolist() or None
    listed = unjudged_bounds(ranking, truth, chosen, unjudged="listed", grades=grades, ties=ties)
    gallery = unjudged_bounds(ranking, truth, chosen, unjudged="gallery", grades=grades, ties=ties)
    return ScoreEffect(
        used,
        tuple(
            MeasureEffect(
                score,
                coverage[beside[depths[one]]].mean,
                depths[one],
                alone[one].mean,
                listed[one],
                gallery[one],
            )
            for one, score in zip(chosen, scores, strict=True)
        ),
        plain[Bpref()].mean,
        (*_on_adjudication(table, used), *plain.notes),
    )


def _on_adjudication(table: JudgementTable, rule: Rule) -> tuple[str, ...]:
    decided = int(table.adjudicated.sum())
    if rule != "adjudicated" or not decided:
        return ()
    pairs = counted(decided, "pair was", "pairs were")
    return (
        f"{pairs} adjudicated; those grades are taken for the truth, also by the interval that knows the judges",
    )
