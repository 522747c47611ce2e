"""What a value is to be read against: random retrieval below it, the best that can be reached above it."""

from __future__ import annotations

from collections.abc import Iterable

from visual_search.evaluation.measures.measure import Measure
from visual_search.evaluation.positions import all_tied
from visual_search.evaluation.result import Result
from visual_search.evaluation.scoring import evaluate_positions
from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Ids

__all__ = ["ceilings", "random_baseline"]


def random_baseline(relevance: Relevance, gallery: Ids | int, measures: Iterable[str | Measure]) -> Result:
    """Give the exact expectation of every measure when items are returned in random order.

    No order is drawn: a gallery in which every item has one score is in random order, and the expectation over such
    a tie is known exactly.

    Parameters
    ----------
    relevance : Relevance
        The right answers; ignored pairs are taken out of the gallery.
    gallery : Ids or int
        The gallery's ids, or its size where every judged item is known to be in it.
    measures : iterable of str or Measure

    Returns
    -------
    Result
        ``mean`` is the expectation over the queries, ``values`` those of each query.

    Examples
    --------
    One relevant item among four, of which one is returned:

    >>> random_baseline(Relevance.from_dict({"q": {"d": 1}}), 4, ["Recall@1"])["Recall@1"].mean
    0.25
    """
    return evaluate_positions(all_tied(relevance, gallery), measures, ties="expected")


def ceilings(relevance: Relevance, gallery: Ids | int, measures: Iterable[str | Measure]) -> Result:
    """Give the highest value of every measure that any ranking of the gallery can reach.

    It lies below 1 where a query has more relevant items than places (Recall@1 with three right answers is at most
    1/3), fewer than places (Precision@10 with two is at most .2), or relevant items that the gallery lacks.

    Parameters
    ----------
    relevance, gallery, measures
        As for :func:`random_baseline`.

    Examples
    --------
    >>> relevance = Relevance.from_dict({"q": {"a": 1, "b": 1, "gone": 1}})
    >>> round(ceilings(relevance, Ids("abcd"), ["Recall@2"])["Recall@2"].mean, 3)
    0.667
    """
    return evaluate_positions(all_tied(relevance, gallery), measures, ties="best")
