"""How far judges agree: over all, two at a time, and query by query, with intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.evaluation.slices import Attribute, group_codes
from visual_search.evaluation.statistics.bootstrap import group_sums
from visual_search.evaluation.statistics.bootstrap_function import bootstrap_function
from visual_search.evaluation.statistics.interval import Resampling, resampling_groups
from visual_search.ids import Id
from visual_search.judging.coefficient import Coefficient
from visual_search.judging.fleiss_kappa import (
    agreeing_share,
    fleiss_kappa,
    fleiss_parts,
    kappa_of_fleiss_parts,
    percent_agreement,
    usual_judges,
)
from visual_search.judging.grade_counts import grade_counts
from visual_search.judging.judge_pairs import JudgePair, judge_pairs
from visual_search.judging.judgement_table import JudgementTable
from visual_search.judging.krippendorff_alpha import (
    LEVELS,
    alpha_of_coincidences,
    coincidences,
    krippendorff_alpha,
)
from visual_search.undefined import none_if_nan

__all__ = ["Agreement", "JudgeCount", "QueryAgreement", "agreement"]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]

# Two judges at a time grow with the square of the judges; up to six judges each two get intervals unasked.
MOST_PAIRS_WITH_INTERVALS = 15


@dataclass(frozen=True, slots=True)
class JudgeCount:
    """What one judge did.

    Attributes
    ----------
    judge : id
    judged : int
        Pairs given a grade.
    could_not_tell : int
        Pairs marked without one.
    mean_grade : float
        NaN where no grade was given. Judges who saw other pairs have other means without differing.
    """

    judge: Id
    judged: int
    could_not_tell: int
    mean_grade: float


@dataclass(frozen=True, slots=True)
class QueryAgreement:
    """How far the judges agree on one query's items.

    Attributes
    ----------
    query : id
    percent, alpha : Coefficient
        Percent agreement and the ordinal alpha of this query's pairs alone.
    """

    query: Id
    percent: Coefficient
    alpha: Coefficient


@dataclass(frozen=True, slots=True, eq=False)
class Agreement:
    """How far the judges of a table agree.

    Attributes
    ----------
    overall : tuple of Coefficient
        Percent agreement, Fleiss' kappa, Krippendorff's alpha by its levels.
    judges : tuple of JudgeCount
    judge_pairs : tuple of JudgePair
    queries : tuple of QueryAgreement
        Queries with a pair judged by two, the least agreed on first.
    scale : float64 array of shape (grades,)
    coincidence : float64 array of shape (grades, grades)
        Which grades meet on one pair, all judges together, each pair of m judgements with weight m.
    notes : tuple of str
    """

    overall: tuple[Coefficient, ...]
    judges: tuple[JudgeCount, ...]
    judge_pairs: tuple[JudgePair, ...]
    queries: tuple[QueryAgreement, ...]
    scale: FloatArray
    coincidence: FloatArray
    notes: tuple[str, ...] = field(default=())

    def __getitem__(self, name: str) -> Coefficient:
        return next(one for one in self.overall if one.name == name)

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "overall": [one.as_json() for one in self.overall],
            "judges": [
                {
                    "judge": one.judge,
                    "judged": one.judged,
                    "could_not_tell": one.could_not_tell,
                    "mean_grade": none_if_nan(one.mean_grade),
                }
                for one in self.judges
            ],
            "judge_pairs": [one.as_json() for one in self.judge_pairs],
            "queries": [
                {"query": one.query, "percent": one.percent.as_json(), "alpha": one.alpha.as_json()}
                for one in self.queries
            ],
            "scale": self.scale.tolist(),
            "coincidence": self.coincidence.tolist(),
            "notes": list(self.notes),
        }


def agreement(
    table: JudgementTable,
    *,
    groups: Attribute | None = None,
    resampling: Resampling | None = None,
    pair_intervals: bool | None = None,
) -> Agreement:
    """Measure how far judges agree.

    Parameters
    ----------
    table : JudgementTable
        Adjudications are left out, being made in sight of the others' grades; a mark without a grade is no judgement.
    groups : mapping or sequence, optional
        For each query the independent unit it belongs to; intervals are over these. Each query its own where left
        out.
    resampling : Resampling, optional
    pair_intervals : bool, optional
        Whether every two judges get intervals; where left out, up to six judges do.

    Returns
    -------
    Agreement

    Convention
    ----------
    Intervals resample queries with all their judgements: how far these judges would agree on other queries. Other
    judges may agree more or less, of which a handful of judges cannot tell. What is undefined is NaN, with its reason.

    How to read it
    --------------
    Begin with the percent agreement, then alpha (ordinal where grades have an order), then who differs from whom: a
    confusion that lies on one side of the diagonal is a judge of another threshold, which a talk mends.

    Examples
    --------
    >>> table = JudgementTable.from_table(
    ...     {
    ...         "judge": ["ann", "bo"] * 4,
    ...         "query": ["q1"] * 4 + ["q2"] * 4,
    ...         "item": ["a", "a", "b", "b"] * 2,
    ...         "grade": [1, 1, 0, 0, 1, 0, 0, 0],
    ...     }
    ... )
    >>> found = agreement(table)
    >>> found["percent agreement"].value, round(found["Krippendorff's alpha (nominal)"].value, 4)
    (0.75, 0.5333)
    """
    settings = resampling or Resampling()
    counts = grade_counts(table)
    by_group = None if groups is None else group_codes(groups, table.queries).tolist()
    codes, count, unit = resampling_groups(by_group, len(table.queries))
    each = _overall(counts, table.scale, codes[table.pair_query], count, unit, settings)
    judging = len(np.unique(table.judge[table.independent]))
    with_intervals = (
        judging * (judging - 1) // 2 <= MOST_PAIRS_WITH_INTERVALS if pair_intervals is None else pair_intervals
    )
    width = len(table.scale)
    return Agreement(
        each,
        _judge_counts(table),
        judge_pairs(table, codes, unit, resampling=settings if with_intervals else None),
        _by_query(table, counts),
        table.scale,
        coincidences(counts).sum(axis=0).reshape(width, width),
        _notes(table, each, intervals_of_pairs=with_intervals),
    )


def _overall(
    counts: FloatArray, scale: FloatArray, groups: Int64Array, count: int, unit: str, settings: Resampling
) -> tuple[Coefficient, ...]:
    def within(made: Coefficient, parts: FloatArray, statistic: Callable[[FloatArray], FloatArray]) -> Coefficient:
        if not made.defined:
            return made
        sums = group_sums(parts, groups, count)
        return made.with_interval(bootstrap_function(statistic, sums, resampling=settings, unit=unit))

    several = (counts.sum(axis=1) > 1).astype(np.float64)
    shares = np.column_stack((several, agreeing_share(counts)))
    usual = usual_judges(counts)
    together = coincidences(counts)
    return (
        within(percent_agreement(counts), shares, lambda sums: sums[:, 1] / sums[:, 0]),
        within(fleiss_kappa(counts), fleiss_parts(counts, usual), lambda sums: kappa_of_fleiss_parts(sums, usual)),
        *(
            within(
                krippendorff_alpha(counts, scale, level=level),
                together,
                lambda sums, level=level: alpha_of_coincidences(sums, scale, level),  # type: ignore[misc]
            )
            for level in LEVELS
        ),
    )


def _judge_counts(table: JudgementTable) -> tuple[JudgeCount, ...]:
    own = ~table.adjudicated
    with_grade = table.independent
    made = []
    for code in np.unique(table.judge[own]).tolist():
        grades = table.grade[with_grade & (table.judge == code)]
        unsure = int((own & ~with_grade & (table.judge == code)).sum())
        mean = float(grades.mean()) if len(grades) else float("nan")
        made.append(JudgeCount(table.judges[code], len(grades), unsure, mean))
    return tuple(made)


def _by_query(table: JudgementTable, counts: FloatArray) -> tuple[QueryAgreement, ...]:
    several = counts.sum(axis=1) > 1
    made = []
    for code in np.unique(table.pair_query[several]).tolist():
        part = counts[table.pair_query == code]
        alpha = krippendorff_alpha(part, table.scale, level="ordinal")
        made.append(QueryAgreement(table.queries[code], percent_agreement(part), alpha))
    return tuple(sorted(made, key=lambda one: (one.percent.value, -one.percent.pairs)))


def _notes(table: JudgementTable, overall: tuple[Coefficient, ...], *, intervals_of_pairs: bool) -> tuple[str, ...]:
    notes = []
    unsure = int((np.isnan(table.grade) & ~table.adjudicated).sum())
    if unsure:
        notes.append(
            f"{counted(unsure, 'mark says', 'marks say')} that the judge could not tell; they are no judgements"
        )
    if table.adjudicated.any():
        decided = counted(int(table.adjudicated.sum()), "adjudication is", "adjudications are")
        notes.append(f"{decided} left out, being made in sight of the others' grades")
    if table.replaced:
        notes.append(
            f"{counted(table.replaced, 'earlier mark', 'earlier marks')} of the same judge and pair left out"
        )
    notes += [
        f"{one.name}: {counted(one.left_out, 'pair', 'pairs')} with a grade left out"
        for one in overall[:2]
        if one.left_out
    ]
    notes += [f"{one.name} is undefined: {one.reason}" for one in overall if not one.defined]
    if not intervals_of_pairs:
        notes.append(
            "every two judges stand without intervals, of which there would be many; ask for them if needed"
        )
    return tuple(notes)
