"""Curves of hash codes: precision and recall within a radius, and among the first N.

All are exact functions of `CodeHistograms`; no ranking is sorted and no order of ties is taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, first_few
from visual_search.evaluation.code_histograms import CodeHistograms
from visual_search.undefined import none_if_nan

__all__ = [
    "EmptyBall",
    "RadiusCurve",
    "RankCurve",
    "json_values",
    "precision_at_n",
    "spread_ranks",
    "within_radius",
]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
EmptyBall: TypeAlias = Literal["undefined", "zero"]


@dataclass(frozen=True, slots=True, eq=False)
class RadiusCurve:
    """Precision and recall within Hamming radius 0, 1, ... bits.

    Attributes
    ----------
    empty : {"undefined", "zero"}
        What the precision of an empty ball is.
    radii : int64 array of shape (radii,)
    precision, recall : float64 arrays of shape (radii, n)
        Of each query; NaN where undefined: precision of an empty ball under ``empty="undefined"``, recall of a query
        without relevant items.
    macro_precision, macro_recall : float64 arrays of shape (radii,)
        Means over the queries where they are defined; NaN where there are none.
    micro_precision, micro_recall : float64 arrays of shape (radii,)
        Sums of relevant items in the balls over the sums of all items in them, and of all relevant items. An empty
        ball adds nothing to either sum, whatever ``empty`` says.
    empty_balls : int64 array of shape (radii,)
        Queries with nothing within the radius.
    retrieved : float64 array of shape (radii,)
        Mean number of items in a ball.
    """

    empty: EmptyBall
    radii: Int64Array
    precision: FloatArray
    recall: FloatArray
    macro_precision: FloatArray
    macro_recall: FloatArray
    micro_precision: FloatArray
    micro_recall: FloatArray
    empty_balls: Int64Array
    retrieved: FloatArray

    def as_json(self) -> dict[str, Any]:
        """As a JSON object, without the values per query; undefined is null."""
        return {
            "curve": "within radius",
            "empty_ball": self.empty,
            "radius": self.radii.tolist(),
            "macro_precision": json_values(self.macro_precision),
            "macro_recall": json_values(self.macro_recall),
            "micro_precision": json_values(self.micro_precision),
            "micro_recall": json_values(self.micro_recall),
            "empty_balls": self.empty_balls.tolist(),
            "mean_retrieved": json_values(self.retrieved),
        }


def within_radius(histograms: CodeHistograms, *, empty: EmptyBall) -> RadiusCurve:
    """Precision and recall of what lies within each Hamming radius of a query.

    ::

        precision = relevant items within r / items within r,  recall = relevant items within r / R

    Parameters
    ----------
    histograms : CodeHistograms
        Codes by distance.
    empty : {"undefined", "zero"}
        Whether the precision of a ball without any item is left out of the mean or counts as 0. There is no default:
        papers differ, and at small radii most balls of long codes are empty.

    How to read it
    --------------
    Radius 2 is the usual point, since a hash table can look up all codes within it. Read ``empty_balls`` beside it:
    under ``undefined`` a high precision may be that of the few queries that found anything.

    Examples
    --------
    >>> from visual_search import SharedLabels
    >>> from visual_search.evaluation.code_histograms import code_histograms
    >>> labels = SharedLabels.of([1, 1], [1, 1, 0, 0])
    >>> found = code_histograms([[0, 0], [1, 0]], [[0, 0], [0, 1], [1, 1], [0, 1]], labels)
    >>> within_radius(found, empty="undefined").macro_precision.round(3).tolist()
    [1.0, 0.583, 0.5]
    >>> within_radius(found, empty="zero").macro_precision.round(3).tolist()
    [0.5, 0.583, 0.5]
    """
    if empty not in get_args(EmptyBall):
        raise InputError(f"empty={empty!r}: one of {', '.join(get_args(EmptyBall))}")
    ball = np.cumsum(histograms.retrieved, axis=1).T
    hits = np.cumsum(histograms.relevant, axis=1).T
    precision = _divided(hits, ball, 0.0 if empty == "zero" else np.nan)
    recall = _divided(hits, np.broadcast_to(histograms.total, hits.shape))
    return RadiusCurve(
        empty,
        np.arange(histograms.bits + 1),
        precision,
        recall,
        _means(precision),
        _means(recall),
        _divided(hits.sum(axis=1), ball.sum(axis=1)),
        _divided(hits.sum(axis=1), np.full(len(hits), histograms.total.sum())),
        (ball == 0).sum(axis=1),
        ball.mean(axis=1) if len(histograms) else np.full(len(ball), np.nan),
    )


@dataclass(frozen=True, slots=True, eq=False)
class RankCurve:
    """Precision and recall among the first N, over N.

    Attributes
    ----------
    ranks : int64 array of shape (ranks,)
        The N.
    precision, best_precision, worst_precision : float64 arrays of shape (ranks,)
        Mean over the queries, in expectation over ties and under their best and worst order. Divided by N, also where
        the gallery is smaller.
    recall : float64 array of shape (ranks,)
        Mean expected recall over the queries that have relevant items.
    micro_recall : float64 array of shape (ranks,)
        Sum of relevant items found over the sum of all. (Precision has the same divisor for every query, so that its
        micro average is its macro average.)
    """

    ranks: Int64Array
    precision: FloatArray
    best_precision: FloatArray
    worst_precision: FloatArray
    recall: FloatArray
    micro_recall: FloatArray

    def as_json(self) -> dict[str, Any]:
        """As a JSON object; undefined is null."""
        return {
            "curve": "at N",
            "n": self.ranks.tolist(),
            "precision": json_values(self.precision),
            "best_precision": json_values(self.best_precision),
            "worst_precision": json_values(self.worst_precision),
            "macro_recall": json_values(self.recall),
            "micro_recall": json_values(self.micro_recall),
        }


def precision_at_n(histograms: CodeHistograms, ranks: Sequence[int] | None = None) -> RankCurve:
    """Precision and recall among the first N items, ties in expectation.

    Parameters
    ----------
    histograms : CodeHistograms
        Codes by distance.
    ranks : sequence of int, optional
        The N; by default about a hundred from 1 to the size of the gallery, in equal ratios.

    Examples
    --------
    >>> from visual_search import SharedLabels
    >>> from visual_search.evaluation.code_histograms import code_histograms
    >>> found = code_histograms([[0, 0]], [[0, 0], [0, 1], [1, 1], [0, 1]], SharedLabels.of([1], [1, 1, 0, 0]))
    >>> curve = precision_at_n(found, [1, 2, 4])
    >>> curve.precision.tolist(), curve.best_precision.tolist(), curve.worst_precision.tolist()
    ([1.0, 0.75, 0.5], [1.0, 1.0, 0.5], [1.0, 0.5, 0.5])
    """
    chosen = spread_ranks(histograms) if ranks is None else _ranks(ranks)
    expected, best, worst = histograms.hits_at(chosen)
    recall = _divided(expected, np.broadcast_to(histograms.total, expected.shape))
    total = np.full(len(chosen), histograms.total.sum())
    precision, highest, lowest = (_means(hits) / chosen for hits in (expected, best, worst))
    return RankCurve(chosen, precision, highest, lowest, _means(recall), _divided(expected.sum(axis=1), total))


def _ranks(ranks: Any) -> Int64Array:
    """Distinct ranks in rising order."""
    given = list(ranks) if isinstance(ranks, Iterable) else [ranks]
    wrong = [
        each
        for each in given
        if isinstance(each, (bool, np.bool_)) or not hasattr(each, "__index__") or not 1 <= index(each) < 2**63
    ]
    if wrong or not given or not isinstance(ranks, Iterable):
        came = first_few(wrong or given) if given else "none"
        raise InputError(f"ranks: {came}; a list of whole numbers of at least 1 is needed, such as [1, 10, 100]")
    return np.array(sorted({index(each) for each in given}), dtype=np.int64)


def spread_ranks(histograms: CodeHistograms, count: int = 100) -> Int64Array:
    """Ranks from 1 to the longest list in about equal ratios."""
    longest = int(histograms.retrieved.sum(axis=1).max(initial=1))
    return np.unique(np.geomspace(1, max(longest, 1), count).round().astype(np.int64))


def _divided(above: npt.NDArray[Any], below: npt.NDArray[Any], otherwise: float = np.nan) -> FloatArray:
    """Quotients, and ``otherwise`` where the divisor is 0."""
    made = np.full(above.shape, otherwise)
    np.divide(above, below, out=made, where=below != 0)
    return made


def _means(values: FloatArray) -> FloatArray:
    """Mean of each row over what is defined in it; NaN where nothing is."""
    defined = ~np.isnan(values)
    return _divided(np.where(defined, values, 0.0).sum(axis=1), defined.sum(axis=1))


def json_values(values: FloatArray) -> list[float | None]:
    """As a JSON list; undefined is null."""
    return [none_if_nan(value) for value in values.tolist()]
