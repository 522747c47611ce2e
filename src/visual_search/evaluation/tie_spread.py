"""How far the order of equal scores, which says nothing of the search, can move the numbers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.evaluation.guide_measures import GuideMeasures
from visual_search.evaluation.left_out import without_queries
from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.positions import Positions
from visual_search.evaluation.result import Result
from visual_search.evaluation.scoring import evaluate_positions
from visual_search.evaluation.ties import TIE_WORDS, TieRule

__all__ = ["tie_warnings"]

_ROUNDING = 1e-12
_BY_ORDER: tuple[TieRule, ...] = ("listed", "id_desc", "id_asc")


def tie_warnings(
    positions: Positions, guide: GuideMeasures, left_out: npt.NDArray[np.bool_], ties: TieRule
) -> list[str]:
    """Warn where a number hangs on the order of items with equal scores.

    Parameters
    ----------
    positions : Positions
        What was measured.
    guide : GuideMeasures
        With which measures; HitRate at the smallest depth and mAP are told first.
    left_out : bool array of shape (n,)
        Queries that enter no mean.
    ties : str
        The rule that was used; the exact expectation, the best and the worst order hang on no order.

    Returns
    -------
    list of str
        How many queries it touches, and the means under the best and the worst order; then how many lists end
        inside a tie while relevant items are still to be found, of which these two means know nothing.
    """
    if ties not in _BY_ORDER:
        return []
    said = []
    if positions.any_tied:
        best, worst = (
            without_queries(evaluate_positions(positions, guide.all, ties=order), left_out)
            for order in ("best", "worst")
        )
        touched = _touched(best, worst, guide.all)
        if touched.any():
            moved = _moved(best, worst, guide)
            said.append(
                f"equal scores: for {counted(int(touched.sum()), 'query', 'queries')} the numbers hang on the "
                f"order of items with the same score ({TIE_WORDS[ties]}), which says nothing of the search; over "
                f"these orders {moved}; {_MEND}"
            )
    open_end = positions.cut_ties & ~left_out & (positions.retrieved_counts() < positions.relevant_counts())
    if open_end.any():
        many = int(open_end.sum())
        said.append(
            f"equal scores: the {'list' if many == 1 else 'lists'} of {counted(many, 'query', 'queries')} "
            f"{'ends' if many == 1 else 'end'} inside a run of equal scores, and relevant items not listed may have "
            "that score too; which of them are listed is chance; ask for a larger k to see them"
        )
    return said


_MEND = 'ties="expected" of ModelEvaluator and evaluate_model gives the exact expectation over all orders'


def _touched(best: Result, worst: Result, measures: Sequence[Measure]) -> npt.NDArray[np.bool_]:
    touched = np.zeros(len(best.queries), dtype=np.bool_)
    for measure in measures:
        # Undefined values are NaN on both sides and compare as not touched.
        touched |= np.abs(best[measure].values - worst[measure].values) > _ROUNDING
    return touched


def _told(guide: GuideMeasures, best: Result, worst: Result) -> list[Measure]:
    """The headline measures where they move, else the first measures that do."""
    moving = [measure for measure in guide.all if abs(best[measure].mean - worst[measure].mean) > _ROUNDING]
    headline = (guide.at("hit_rate", min(guide.k_values)), guide.average_precision)
    return [measure for measure in headline if measure in moving] or moving[:2]


def _moved(best: Result, worst: Result, guide: GuideMeasures) -> str:
    told = [
        f"{guide.title(measure)} lies between {worst[measure].mean:.3f} and {best[measure].mean:.3f}"
        for measure in _told(guide, best, worst)
    ]
    return " and ".join(told) or "no mean moves"
