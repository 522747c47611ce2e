"""A result beside its baselines: random retrieval, simpler models, a previous result; on the same queries only."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, first_few
from visual_search.evaluation.baseline_match import check_same
from visual_search.evaluation.evaluation_result import EvaluationResult
from visual_search.evaluation.guide_measures import GuideMeasures
from visual_search.evaluation.model_evaluator import ModelEvaluator
from visual_search.evaluation.search_service import SearchService
from visual_search.evaluation.statistics.paired import PairedDifference, paired_difference
from visual_search.evaluation.text_table import decimals, p_text, text_table
from visual_search.evaluation.ties import checked_tie_rule
from visual_search.formats.results import StoredResult, read_result
from visual_search.undefined import none_if_nan

__all__ = ["Baseline", "BaselineComparison", "compare_baselines"]

FloatArray = npt.NDArray[np.float64]


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
    model_name : str or None
        The model it was measured with; None for random retrieval.
    """

    name: str
    means: Mapping[str, float]
    differences: Mapping[str, PairedDifference]
    not_compared: tuple[str, ...] = ()
    tested: bool = True
    model_name: str | None = None

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "model_name": self.model_name,
            "means": {text: none_if_nan(mean) for text, mean in self.means.items()},
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
            self._column(baseline),
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
                    p_text(found.p_value) if baseline.tested else "",
                    str(found.wins),
                    str(found.losses),
                    str(found.ties),
                ]
            )
        model = "" if baseline.model_name in (None, "unknown", baseline.name) else f" ({baseline.model_name})"
        lines = [f"Against {baseline.name}{model}", text_table(header, rows)]
        if caution := next((said for found in baseline.differences.values() if (said := found.caution)), None):
            lines.append(caution if baseline.tested else caution.partition(";")[0])
        if baseline.not_compared:
            lines.append(f"Not compared, since {baseline.name} lacks them: {', '.join(baseline.not_compared)}")
        return "\n".join(lines)

    def _column(self, baseline: Baseline) -> str:
        """The baseline's name, or that of its model where the name given is a path or says only what it is."""
        model = baseline.model_name
        plain = baseline.name.lower() == "baseline" or baseline.name.endswith(".json")
        if not plain or model in (None, "unknown"):
            return baseline.name
        return f"{model} (baseline)" if model == self.result.model_name else str(model)

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
        Not a result, not a mapping, a baseline of another kind, named ``"random"``, or without any measure in common.
    """
    _check(result, baselines)
    made: dict[str, Baseline] = {}
    if result.random_baseline is not None:
        values = {text: found.values for text, found in result.random_baseline.items()}
        means = {text: found.mean for text, found in result.random_baseline.items()}
        made["random"] = _against(result, "random", values, means, flips, tested=False)
    for name, baseline in (baselines or {}).items():
        if name == "random":
            raise InputError("baselines: 'random' is the exact expectation and always there; choose another name")
        values, means, model = _values_of(result, name, baseline)
        made[name] = _against(result, name, values, means, flips, model=model)
    return BaselineComparison(result, made)


def _check(result: Any, baselines: Any) -> None:
    if not isinstance(result, EvaluationResult):
        raise InputError(
            f"result is {type(result).__name__}; give what ModelEvaluator.evaluate or evaluate_model returned, and "
            "stored results among the baselines"
        )
    if baselines is not None and not isinstance(baselines, Mapping):
        raise InputError(
            f"baselines is {type(baselines).__name__}; give a mapping of name to baseline, such as "
            '{"histogram": service} or {"last week": "results.json"}'
        )
    unnamed = [name for name in baselines or () if not isinstance(name, str)]
    if unnamed:
        raise InputError(f"baselines: names must be strings; got {first_few(unnamed)}")


def _against(
    result: EvaluationResult,
    name: str,
    values: Mapping[str, FloatArray],
    means: Mapping[str, float],
    flips: int,
    *,
    tested: bool = True,
    model: str | None = None,
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
    return Baseline(name, {text: means[text] for text in shared}, differences, lacking, tested, model)


def _values_of(
    result: EvaluationResult, name: str, baseline: Any
) -> tuple[dict[str, FloatArray], dict[str, float], str | None]:
    """Values per query, in the order of the result's queries, and means, by canonical text; and the model."""
    if isinstance(baseline, str | os.PathLike):
        baseline = read_result(baseline)
    elif callable(getattr(baseline, "search", None)):
        evaluator = ModelEvaluator(
            baseline,
            measures=result.guide.more,
            resampling=result.resampling,
            ties=checked_tie_rule(result.measures.ties),
        )
        baseline = evaluator.evaluate(result.dataset, result.k_values, exclude_self=result.exclude_self)
    if isinstance(baseline, EvaluationResult):
        check_same(result, name, baseline)
        values = {text: found.values for text, found in baseline.measures.items()}
        means = {text: found.mean for text, found in baseline.measures.items()}
        order = baseline.measures.queries.rows(result.measures.queries)
    elif isinstance(baseline, StoredResult):
        check_same(result, name, baseline)
        values, means = _stored_values(baseline.record)
        stored = {entry["query_id"]: row for row, entry in enumerate(baseline.record["per_query_results"])}
        order = np.array([stored[query] for query in result.measures.queries], dtype=np.int64)
    else:
        raise InputError(
            f"baseline {name!r} is {type(baseline).__name__}; give a result, the path of one, or a search service"
        )
    return {text: listed[order] for text, listed in values.items()}, means, baseline.record.get("model_name")


def _stored_values(record: Mapping[str, Any]) -> tuple[dict[str, FloatArray], dict[str, float]]:
    """Take values per query and means of the guide's measures out of a results JSON."""
    columns = GuideMeasures.of(record["k_values"]).columns(record["per_query_results"])
    means = {text: record["measures"][text]["mean"] for text in columns}
    return columns, {text: np.nan if mean is None else float(mean) for text, mean in means.items()}
