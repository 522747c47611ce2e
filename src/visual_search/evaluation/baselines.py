"""A result beside its baselines: random retrieval, simpler models, a previous result; on the same queries only."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import FingerprintError, InputError, Problems
from visual_search.evaluation.evaluation_result import EvaluationResult
from visual_search.evaluation.guide_measures import GuideMeasures
from visual_search.evaluation.model_evaluator import ModelEvaluator
from visual_search.evaluation.search_service import SearchService
from visual_search.evaluation.statistics.paired import PairedDifference, paired_difference
from visual_search.evaluation.text_table import decimals, text_table
from visual_search.formats.results import StoredResult, read_result

__all__ = ["Baseline", "BaselineComparison", "compare_baselines"]

FloatArray = npt.NDArray[np.float64]
_SAME = ("gallery", "queries", "relevance", "exclusions")


@dataclass(frozen=True, slots=True)
class Baseline:
    """One baseline, measure by measure.

    Attributes
    ----------
    name : str
    means : dict of canonical text to float
    differences : dict of canonical text to PairedDifference
        Model minus baseline, query by query.
    not_compared : tuple of str
        Measures of the model that the baseline does not have.
    tested : bool
        Whether p-values mean anything: not for random retrieval, whose values are expectations.
    """

    name: str
    means: Mapping[str, float]
    differences: Mapping[str, PairedDifference]
    not_compared: tuple[str, ...] = ()
    tested: bool = True

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "means": {text: None if np.isnan(mean) else mean for text, mean in self.means.items()},
            "differences": {
                text: found.as_json() | ({} if self.tested else {"p_value": None})
                for text, found in self.differences.items()
            },
            "not_compared": list(self.not_compared),
        }


@dataclass(frozen=True, slots=True, eq=False)
class BaselineComparison:
    """A result and its baselines, all on the same queries.

    Attributes
    ----------
    result : EvaluationResult
    baselines : dict of name to Baseline
    """

    result: EvaluationResult
    baselines: Mapping[str, Baseline]

    def __getitem__(self, name: str) -> Baseline:
        return self.baselines[name]

    def summary(self) -> str:
        """Write one table a baseline: both values, the difference with its interval, p, wins and losses."""
        return "\n\n".join(self._table(baseline) for baseline in self.baselines.values())

    def _table(self, baseline: Baseline) -> str:
        header = [
            "",
            self.result.model_name,
            baseline.name,
            "difference",
            "interval",
            "p",
            "wins",
            "losses",
            "ties",
        ]
        rows = []
        for text, found in baseline.differences.items():
            measured = self.result.measures[text]
            between = found.interval
            rows.append(
                [
                    self.result.guide.title(measured.measure),
                    decimals(measured.mean),
                    decimals(baseline.means[text]),
                    "-" if np.isnan(found.difference) else f"{found.difference:+.3f}",
                    "" if between is None else f"{between.low:+.3f} to {between.high:+.3f}",
                    decimals(found.p_value, 4) if baseline.tested else "",
                    str(found.wins),
                    str(found.losses),
                    str(found.ties),
                ]
            )
        lines = [f"Against {baseline.name}", text_table(header, rows)]
        if baseline.not_compared:
            lines.append(f"Not compared, since {baseline.name} lacks them: {', '.join(baseline.not_compared)}")
        return "\n".join(lines)

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "model_name": self.result.model_name,
            "baselines": {name: baseline.as_json() for name, baseline in self.baselines.items()},
        }


def compare_baselines(
    result: EvaluationResult,
    baselines: Mapping[str, EvaluationResult | StoredResult | SearchService | str | os.PathLike[str]] | None = None,
    *,
    flips: int = 10_000,
) -> BaselineComparison:
    """Set a result beside random retrieval and any other baselines, in one call.

    Parameters
    ----------
    result : EvaluationResult
        Of the model.
    baselines : mapping of name to baseline, optional
        An evaluated result; a stored result, or the path of its JSON (a previous version of the model); or a search
        service (a simpler model, such as a colour histogram), which is evaluated on the images of the same queries.
        Random retrieval is always there, as ``"random"``, where the gallery is known.
    flips : int
        Sign flips of the paired randomisation test.

    Returns
    -------
    BaselineComparison

    Raises
    ------
    FingerprintError
        A baseline had other gallery, queries, right answers or exclusions, or does not tell; every part that
        differs is listed.
    InputError
        A baseline of another kind, named ``"random"``, or without any measure in common.
    """
    made: dict[str, Baseline] = {}
    if result.random_baseline is not None:
        values = {text: found.values for text, found in result.random_baseline.items()}
        means = {text: found.mean for text, found in result.random_baseline.items()}
        made["random"] = _against(result, "random", values, means, flips, tested=False)
    for name, baseline in (baselines or {}).items():
        if name == "random":
            raise InputError("baselines: 'random' is the exact expectation and always there; choose another name")
        values, means = _values_of(result, name, baseline)
        made[name] = _against(result, name, values, means, flips)
    return BaselineComparison(result, made)


def _against(
    result: EvaluationResult,
    name: str,
    values: Mapping[str, FloatArray],
    means: Mapping[str, float],
    flips: int,
    *,
    tested: bool = True,
) -> Baseline:
    shared = [text for text in result.measures if text in values]
    if not shared:
        raise InputError(f"baseline {name!r}: no measure in common; evaluate both at the same k_values")
    groups = [query.group for query in result.dataset.queries]
    differences = {
        text: paired_difference(
            result.measures[text].values, values[text], groups=groups, resampling=result.resampling, flips=flips
        )
        for text in shared
    }
    lacking = tuple(text for text in result.measures if text not in values)
    return Baseline(name, {text: means[text] for text in shared}, differences, lacking, tested)


def _values_of(
    result: EvaluationResult, name: str, baseline: Any
) -> tuple[dict[str, FloatArray], dict[str, float]]:
    """Values per query, in the order of the result's queries, and means, by canonical text."""
    if isinstance(baseline, str | os.PathLike):
        baseline = read_result(baseline)
    elif callable(getattr(baseline, "search", None)):
        evaluator = ModelEvaluator(
            baseline, measures=result.guide.more, resampling=result.resampling, ties=result.measures.ties
        )
        baseline = evaluator.evaluate(result.dataset, result.k_values, exclude_self=result.exclude_self)
    if isinstance(baseline, EvaluationResult):
        _check_same(result, name, baseline.record)
        values = {text: found.values for text, found in baseline.measures.items()}
        means = {text: found.mean for text, found in baseline.measures.items()}
        order = baseline.measures.queries.rows(result.measures.queries)
    elif isinstance(baseline, StoredResult):
        _check_same(result, name, baseline.record)
        values, means = _stored_values(baseline.record)
        stored = {entry["query_id"]: row for row, entry in enumerate(baseline.record["per_query_results"])}
        order = np.array([stored[query] for query in result.measures.queries], dtype=np.int64)
    else:
        raise InputError(
            f"baseline {name!r} is {type(baseline).__name__}; give a result, the path of one, or a search service"
        )
    return {text: listed[order] for text, listed in values.items()}, means


def _check_same(result: EvaluationResult, name: str, record: Mapping[str, Any]) -> None:
    ours, theirs = result.record["fingerprints"], record.get("fingerprints") or {}
    problems = Problems(f"baseline {name!r} cannot be compared: it was not measured on the same")
    for part in _SAME:
        if ours[part] is None or theirs.get(part) is None:
            whose = "this result" if ours[part] is None else "the baseline"
            problems.add(f"{part}: {whose} does not tell; evaluate with a service that names its items")
        elif ours[part] != theirs[part]:
            problems.add(f"{part}: {ours[part][:19]}... here, {theirs[part][:19]}... there")
    if record.get("ties") != result.measures.ties:
        problems.add(f"ties: {result.measures.ties} here, {record.get('ties')} there")
    problems.raise_if_any(FingerprintError)


def _stored_values(record: Mapping[str, Any]) -> tuple[dict[str, FloatArray], dict[str, float]]:
    """Take values per query and means of the guide's measures out of a results JSON."""
    guide = GuideMeasures.of(record["k_values"])
    entries = record["per_query_results"]
    columns = {str(guide.average_precision): [entry["average_precision"] for entry in entries]}
    columns[str(guide.reciprocal_rank)] = [entry["reciprocal_rank"] for entry in entries]
    for key in ("recall", "precision", "ndcg", "hit_rate"):
        for k in guide.k_values:
            columns[str(guide.at(key, k))] = [entry[f"{key}_at_k"][str(k)] for entry in entries]
    means = {text: record["measures"][text]["mean"] for text in columns}
    return (
        {text: np.array(listed, dtype=np.float64) for text, listed in columns.items()},
        {text: np.nan if mean is None else float(mean) for text, mean in means.items()},
    )
