"""The queue of disagreements: what an adjudicator looks at first, and who said what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.ids import Id
from visual_search.judging.aggregation import decided_grades, rule_grades
from visual_search.judging.grade_counts import grade_counts
from visual_search.judging.judgement_table import JudgementTable
from visual_search.undefined import none_if_nan

__all__ = ["Disagreement", "disagreements", "dispute"]

FloatArray: TypeAlias = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One pair on which judges differ, or of which nobody could tell.

    Attributes
    ----------
    query, item : id
    said : tuple of (judge, grade)
        In the order of the grades; the grade is None where the judge could not tell.
    dispute : float
        Mean distance of the grades of two judges of this pair; 0 where nobody could tell.
    matters : bool
        Whether the judges differ on the item's being relevant at all, and not only on how much.
    majority : float or None
        What the rule says that holds until the pair is adjudicated.
    adjudicated : float or None
        The adjudicated grade; None where there is none.
    decided : bool
        Whether somebody adjudicated it, with a grade or without.
    """

    query: Id
    item: Id
    said: tuple[tuple[Id, float | None], ...]
    dispute: float
    matters: bool
    majority: float | None
    adjudicated: float | None
    decided: bool

    def words(self) -> str:
        """Who said what."""
        return ", ".join(
            f"{judge} {'cannot tell' if grade is None else f'{grade:g}'}" for judge, grade in self.said
        )

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "query": self.query,
            "item": self.item,
            "said": [{"judge": judge, "grade": grade} for judge, grade in self.said],
            "dispute": self.dispute,
            "matters": self.matters,
            "majority": self.majority,
            "adjudicated": self.adjudicated,
            "decided": self.decided,
        }


def disagreements(table: JudgementTable, *, rel: float = 1, decided: bool = False) -> tuple[Disagreement, ...]:
    """Pairs that wait for an adjudicator, the most disputed first.

    Parameters
    ----------
    table : JudgementTable
    rel : float
        A grade is relevant when at least this.
    decided : bool
        Whether pairs that were adjudicated stand there too, after the others.

    Returns
    -------
    tuple of Disagreement
        First by whether relevance itself is disputed, then by falling dispute, then by the number of judges; pairs of
        which nobody could tell come last.

    Examples
    --------
    >>> table = JudgementTable.from_table(
    ...     {"judge": ["ann", "bo"] * 2, "query": ["q"] * 4, "item": ["a", "a", "b", "b"], "grade": [2, 2, 0, 1]}
    ... )
    >>> [(one.item, one.words(), one.matters) for one in disagreements(table)]
    [('b', 'ann 0, bo 1', True)]
    """
    counts, scale = grade_counts(table), table.scale
    apart = dispute(counts, scale)
    above = counts[:, scale >= rel].sum(axis=1)
    matters = (above > 0) & (above < counts.sum(axis=1))
    is_decided, how = decided_grades(table)
    open_to_judges = np.bincount(table.pair[~table.adjudicated], minlength=table.pairs) > 0
    listed = ((apart > 0) | ((counts.sum(axis=1) == 0) & open_to_judges)) & (decided | ~is_decided)
    majority = rule_grades(counts, scale, "majority")
    found = np.flatnonzero(listed)
    order = np.lexsort((-counts[found].sum(axis=1), -apart[found], ~matters[found], is_decided[found]))
    said = _said(table)
    return tuple(
        Disagreement(
            *table.pair_name(pair),
            said[pair],
            float(apart[pair]),
            bool(matters[pair]),
            none_if_nan(majority[pair]),
            none_if_nan(how[pair]),
            bool(is_decided[pair]),
        )
        for pair in found[order].tolist()
    )


def dispute(counts: FloatArray, scale: FloatArray) -> FloatArray:
    """Mean distance of the grades of two judges of a pair, float64 of shape (pairs,); 0 with fewer than two.

    >>> dispute(np.array([[1.0, 1.0, 1.0], [2.0, 0.0, 0.0]]), np.array([0.0, 1.0, 2.0])).round(4).tolist()
    [1.3333, 0.0]
    """
    apart = np.abs(scale[:, None] - scale[None, :])
    total = counts.sum(axis=1)
    made = np.zeros(len(counts))
    np.divide(((counts @ apart) * counts).sum(axis=1), total * (total - 1), out=made, where=total > 1)
    return made


def _said(table: JudgementTable) -> dict[int, tuple[tuple[Id, float | None], ...]]:
    """Who said what of each pair, by grade, those who could not tell last."""
    rows = np.flatnonzero(~table.adjudicated)
    rows = rows[np.lexsort((table.judge[rows], table.grade[rows]))]
    found: dict[int, list[tuple[Id, float | None]]] = {}
    for row in rows.tolist():
        mark = table.judges[int(table.judge[row])], none_if_nan(table.grade[row])
        found.setdefault(int(table.pair[row]), []).append(mark)
    return {pair: tuple(marks) for pair, marks in found.items()}
