"""Lists of judged items alone: what a score says when what nobody judged is passed over."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.result import Result
from visual_search.evaluation.scoring import evaluate
from visual_search.evaluation.ties import TieRule
from visual_search.formats.ragged import offsets_of
from visual_search.ground_truth.relevance import Relevance
from visual_search.rankings.ranking import Ranking

__all__ = ["condensed", "evaluate_judged_only"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]


def condensed(ranking: Ranking, relevance: Relevance) -> Ranking:
    """The same lists without the items that nobody judged for that query.

    Parameters
    ----------
    ranking : Ranking
    relevance : Relevance
        Judged pairs, and pairs ignored, which a measure takes out itself.

    Returns
    -------
    Ranking
        Scores and ties as they were. Lists of queries that the relevance lacks stay whole; nothing reads them.

    References
    ----------
    T. Sakai, Alternatives to Bpref, SIGIR 2007: condensed lists.

    Examples
    --------
    >>> run = Ranking.from_dict({"q": {"a": 3.0, "b": 2.0, "c": 1.0}})
    >>> condensed(run, Relevance.from_dict({"q": {"c": 1, "a": 0}})).listed("q")
    [('a', 3.0), ('c', 1.0)]
    """
    kept = _judged(ranking, relevance)
    query = ranking.query_of_position()
    cut = ranking.cut_ties
    return Ranking(
        ranking.queries,
        ranking.items,
        offsets_of(np.bincount(query[kept], minlength=len(ranking))),
        ranking.rows[kept],
        ranking.scores[kept],
        cut_ties=np.zeros(len(ranking), dtype=np.bool_) if cut is None else cut,
        notes=ranking.notes,
        scored=ranking.scored,
    )


def evaluate_judged_only(
    ranking: Ranking,
    relevance: Relevance,
    measures: Iterable[str | Measure],
    *,
    ties: TieRule | None = None,
) -> Result:
    """Measure lists from which the unjudged items were taken out.

    Parameters
    ----------
    ranking, relevance, measures, ties
        As for :func:`visual_search.evaluation.scoring.evaluate`.

    Returns
    -------
    Result

    How to read it
    --------------
    Kinder to a system that finds what no pooled system found, since its unjudged items no longer count as not
    relevant; too kind where most of what it alone finds is not relevant. Read it beside the plain score and its
    bounds: where all three agree, the holes do not matter.

    Examples
    --------
    >>> run = Ranking.from_dict({"q": {"a": 2.0, "b": 1.0}})
    >>> evaluate_judged_only(run, Relevance.from_dict({"q": {"b": 1}}), ["RR"])["RR"].mean
    1.0
    """
    return evaluate(condensed(ranking, relevance), relevance, measures, ties=ties)


def _judged(ranking: Ranking, relevance: Relevance) -> BoolArray:
    """Positions of the ranking whose pair the relevance has, bool of shape (positions,)."""
    query, item = relevance.queries.rows(ranking.queries), relevance.items.rows(ranking.items)
    width = len(relevance.items) + 1
    here = query[ranking.query_of_position()] * width + item[ranking.rows]
    known = (query[ranking.query_of_position()] >= 0) & (item[ranking.rows] >= 0)
    there = relevance.query_of_entry() * width + relevance.rows
    unjudged_query = query[ranking.query_of_position()] < 0
    return (known & np.isin(here, there)) | unjudged_query
