"""An index on disk, a dataset on disk: search, measure, compare, write."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from visual_search.evaluation.baselines import BaselineComparison, compare_baselines
from visual_search.evaluation.dataset import EvaluationDataset
from visual_search.evaluation.evaluation_result import EvaluationResult
from visual_search.evaluation.model_evaluator import ModelEvaluator
from visual_search.evaluation.protocols.split import Split
from visual_search.evaluation.ties import TieRule, checked_tie_rule
from visual_search.formats.outputs import refuse_overwriting
from visual_search.formats.result_copy import copy_result
from visual_search.formats.results import StoredResult, check_result_path, read_result
from visual_search.indexing.index_table import VectorIndex
from visual_search.prediction.nearest_neighbor import NearestNeighborSearch
from visual_search.workflows.baselines import baseline_service
from visual_search.workflows.report import report_results

__all__ = ["PREVIOUS", "Evaluated", "evaluate_index"]

# The baseline that is whatever lies at the output.
PREVIOUS = "previous"


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What :func:`evaluate_index` made.

    Attributes
    ----------
    result : EvaluationResult
    comparison : BaselineComparison or None
        Against the baselines, where any were given, and random retrieval.
    page : Path or None
        The HTML page, where one was asked for.
    notes : tuple of str
        What was asked for and could not be done.
    """

    result: EvaluationResult
    comparison: BaselineComparison | None
    page: Path | None
    notes: tuple[str, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """The result's record and, where there are baselines, the comparison."""
        if self.comparison is None:
            return self.result.record
        return {**self.result.record, "comparison": self.comparison.as_json()}

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
    ties: TieRule = "listed",
    model_name: str | None = None,
    baselines: Sequence[str] = (),
    report: str | os.PathLike[str] | None = None,
    split: str | os.PathLike[str] | None = None,
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
    ties : str
        What is done with equal scores; as returned by default, as the evaluation guide has it.
    model_name : str, optional
    baselines : sequence of str
        What to hold the result against: an earlier results JSON on the same data (refused where the data differ), or
        an embedder's name, such as ``"histogram"``, with which the index's own images are embedded again; its result
        is written beside ``output``. Exact random retrieval is always there.
    report : path, optional
        HTML page to write; the baselines stand beside the result there.
    split : path, optional
        The split that the dataset was made from. It is proven again, index and dataset must be its own, and its proof
        goes into the record.

    Returns
    -------
    Evaluated
    """
    output = _check_outputs(index, dataset, output, baselines, report)
    notes: tuple[str, ...] = ()
    if PREVIOUS in baselines and not output.exists():
        baselines = [name for name in baselines if name != PREVIOUS]
        notes = (f"no previous result: {os.fspath(output)} was not there; this result is the first",)
    queries = EvaluationDataset.from_json(dataset)
    protocol = None if split is None else Split.load(split)
    service = NearestNeighborSearch(index=VectorIndex.open(index))
    evaluator = ModelEvaluator(service, model_name=model_name, application_k=application_k, ties=ties)
    earlier = {
        name: _kept(output) if name == PREVIOUS else read_result(name)
        for name in baselines
        if name == PREVIOUS or _is_file_name(name)
    }
    result = evaluator.evaluate(queries, k_values, exclude_self=exclude_self, protocol=protocol)
    against = {name: earlier.get(name) or _baseline(name, service, queries, output, result) for name in baselines}
    comparison = compare_baselines(result, against) if against else None
    result.to_json(output)
    page = None
    if report is not None:
        page = report_results([*(stored.path for stored in against.values()), output], report)
    return Evaluated(result, comparison, page, notes)


def _kept(output: Path) -> StoredResult:
    """The result that is about to be replaced, copied beside it."""
    return copy_result(read_result(output), output.with_name(f"{output.stem}.{PREVIOUS}.json"))


def _is_file_name(baseline: str) -> bool:
    return baseline.endswith(".json") or Path(baseline).is_file()


def _check_outputs(
    index: str | os.PathLike[str],
    dataset: str | os.PathLike[str],
    output: str | os.PathLike[str],
    baselines: Sequence[str],
    report: str | os.PathLike[str] | None,
) -> Path:
    """Refuse to write over what is read, before anything is done, and tell where the result really goes."""
    target = check_result_path(output)
    read = [index, dataset, *(name for name in baselines if _is_file_name(name))]
    refuse_overwriting({"output": output, "report": report}, read)
    return target


def _baseline(
    name: str, service: NearestNeighborSearch, queries: EvaluationDataset, output: Path, result: EvaluationResult
) -> StoredResult:
    """The result of another embedder on the same images and queries, written beside the output."""
    evaluator = ModelEvaluator(
        baseline_service(service.index, name), model_name=name, ties=checked_tie_rule(result.measures.ties)
    )
    beside = output.with_name(f"{output.stem}.{name.replace('/', '-').replace(':', '-')}.json")
    return evaluator.evaluate(
        queries,
        result.k_values,
        exclude_self=result.exclude_self,
        protocol=result.protocol,
    ).to_json(beside)
