"""Precision against recall of hash codes, by radius or by rank, macro or micro."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.evaluation.code_curves import EmptyBall, json_values, precision_at_n, within_radius
from visual_search.evaluation.code_histograms import CodeHistograms

__all__ = ["PrecisionRecallCurve", "precision_recall_curve"]

Int64Array: TypeAlias = npt.NDArray[np.int64]
FloatArray: TypeAlias = npt.NDArray[np.float64]
Average: TypeAlias = Literal["macro", "micro"]


@dataclass(frozen=True, slots=True, eq=False)
class PrecisionRecallCurve:
    """Precision against recall.

    Attributes
    ----------
    by : {"radius", "rank"}
        What is moved along the curve.
    average : {"macro", "micro"}
    empty : {"undefined", "zero"} or None
        What the precision of an empty ball is; None by rank, where there is none.
    at : int64 array of shape (points,)
        Radius or rank of each point.
    recall, precision : float64 arrays of shape (points,)
    """

    by: Literal["radius", "rank"]
    average: Average
    empty: EmptyBall | None
    at: Int64Array
    recall: FloatArray
    precision: FloatArray

    def as_json(self) -> dict[str, Any]:
        """As a JSON object; undefined is null."""
        return {
            "curve": "precision against recall",
            "by": self.by,
            "average": self.average,
            "empty_ball": self.empty,
            "at": self.at.tolist(),
            "recall": json_values(self.recall),
            "precision": json_values(self.precision),
        }


def precision_recall_curve(
    histograms: CodeHistograms,
    *,
    by: Literal["radius", "rank"],
    average: Average = "macro",
    empty: EmptyBall = "undefined",
    ranks: Sequence[int] | None = None,
) -> PrecisionRecallCurve:
    """Precision against recall, as the radius or the rank grows.

    Parameters
    ----------
    histograms : CodeHistograms
        Codes by distance.
    by : {"radius", "rank"}
        Hash lookup: a point for each radius. Hamming ranking: a point for each N, ties in expectation.
    average : {"macro", "micro"}
        Mean of the queries' precision and mean of their recall; or sums over all queries, in which a query with many
        relevant items weighs more.
    empty : {"undefined", "zero"}
        By radius, what an empty ball is in the macro average.
    ranks : sequence of int, optional
        By rank, the N.

    How to read it
    --------------
    The two averages and the two ways of moving give four curves of the same codes; a paper shows one. Compare curves
    only when all three choices are the same.

    Examples
    --------
    >>> from visual_search import SharedLabels
    >>> from visual_search.evaluation.code_histograms import code_histograms
    >>> found = code_histograms([[0, 0]], [[0, 0], [0, 1], [1, 1], [0, 1]], SharedLabels.of([1], [1, 1, 0, 0]))
    >>> curve = precision_recall_curve(found, by="radius", average="micro")
    >>> curve.recall.tolist(), curve.precision.round(3).tolist()
    ([0.5, 1.0, 1.0], [1.0, 0.667, 0.5])
    """
    for name, value, allowed in (("by", by, ("radius", "rank")), ("average", average, get_args(Average))):
        if value not in allowed:
            raise InputError(f"{name}={value!r}: one of {', '.join(allowed)}")
    if by == "rank":
        curve = precision_at_n(histograms, ranks)
        recall = curve.recall if average == "macro" else curve.micro_recall
        return PrecisionRecallCurve(by, average, None, curve.ranks, recall, curve.precision)
    balls = within_radius(histograms, empty=empty)
    pair = (
        (balls.macro_recall, balls.macro_precision)
        if average == "macro"
        else (balls.micro_recall, balls.micro_precision)
    )
    return PrecisionRecallCurve(by, average, empty, balls.radii, *pair)
