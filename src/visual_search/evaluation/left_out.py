"""Queries that a convention leaves out of every mean."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from visual_search.evaluation.result import MeasureResult, Result

__all__ = ["without_queries"]


def without_queries(result: Result, left_out: npt.NDArray[np.bool_]) -> Result:
    """Make every measure undefined for some queries, so that they enter no mean and are counted as undefined.

    Parameters
    ----------
    result : Result
        Without intervals, which would no longer be of these means.
    left_out : bool array of shape (n,)

    Examples
    --------
    Precision is 0 for a query without relevant items, unless a convention leaves such queries out:

    >>> from visual_search import Ranking, Relevance, evaluate
    >>> run = {"q1": {"a": 2.0}, "q2": {"a": 2.0}}
    >>> result = evaluate(Ranking.from_dict(run), Relevance.from_dict({"q1": {"a": 1}, "q2": {}}), ["Precision@1"])
    >>> result["Precision@1"].mean, without_queries(result, np.array([False, True]))["Precision@1"].mean
    (0.5, 1.0)
    """
    if not left_out.any():
        return result
    return result.replaced({found.measure: _without(found, result, left_out) for found in result.values()})


def _without(found: MeasureResult, result: Result, left_out: npt.NDArray[np.bool_]) -> MeasureResult:
    parts = found.parts.without(left_out)
    undefined = np.flatnonzero(~parts.defined)
    return replace(
        found,
        parts=parts,
        mean=found.measure.mean(parts),
        counted=len(left_out) - len(undefined),
        undefined=len(undefined),
        undefined_queries=tuple(result.queries.take(undefined.tolist())),
        interval=None,
    )
