"""An index on disk, a dataset on disk: search, measure, compare, write."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from visual_search.evaluation.baselines import BaselineComparison, compare_baselines
from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.evaluation.evaluation_result import EvaluationResult
from visual_search.evaluation.model_evaluator import ModelEvaluator
from visual_search.indexing.index_table import VectorIndex
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch
from visual_search.workflows.report import report_results

__all__ = ["Evaluated", "evaluate_index"]


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What :func:`evaluate_index` made.

    Attributes
    ----------
    result : EvaluationResult
    comparison : BaselineComparison or None
        Against the earlier result, where one was given.
    page : Path or None
        The HTML page, where one was asked for.
    """

    result: EvaluationResult
    comparison: BaselineComparison | None
    page: Path | None

    def summary(self) -> str:
        """The result's table, and the comparison's."""
        parts = [self.result.summary()]
        if self.comparison is not None:
            parts.append(self.comparison.summary())
        return "\n\n".join(parts)


def evaluate_index(
    index: str | os.PathLike[str],
    dataset: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    k_values: Iterable[int] | str,
    application_k: int | None = None,
    exclude_self: bool = False,
    model_name: str | None = None,
    baseline: str | os.PathLike[str] | None = None,
    report: str | os.PathLike[str] | None = None,
) -> Evaluated:
    """Evaluate an index and write the result.

    Parameters
    ----------
    index, dataset, output : path
        The index's folder, the JSON of right answers, and the results JSON to write.
    k_values : iterable of int, or "user" or "analysis"
    application_k : int, optional
        How many results the application shows.
    exclude_self : bool
        Leave-one-out: the item with the query's own id counts neither way.
    model_name : str, optional
    baseline : path, optional
        An earlier results JSON on the same data; refused where the data differ.
    report : path, optional
        HTML page to write; the baseline stands beside the result there.

    Returns
    -------
    Evaluated
    """
    queries = EvaluationDataset.from_json(dataset)
    service = NearestNeighborSearch(index=VectorIndex.open(index))
    evaluator = ModelEvaluator(service, model_name=model_name, application_k=application_k)
    result = evaluator.evaluate(queries, k_values, output_path=output, exclude_self=exclude_self)
    comparison = None if baseline is None else compare_baselines(result, {"baseline": baseline})
    page = None
    if report is not None:
        page = report_results([output] if baseline is None else [baseline, output], report)
    return Evaluated(result, comparison, page)
