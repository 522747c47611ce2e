"""A result as a comparison sees it: values per query, groups, and what it was measured on, wherever it came from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError, InputError, UnknownNameError
from visual_search.evaluation.evaluation_result import EvaluationResult
from visual_search.evaluation.fingerprints import fingerprint_ids
from visual_search.evaluation.guide_measures import GuideMeasures
from visual_search.evaluation.item_states import relevant_counts
from visual_search.evaluation.measures.measure import MeasureValues
from visual_search.evaluation.measures.parsing import parse_measure
from visual_search.evaluation.protocols.proof import broken_claims
from visual_search.evaluation.result import Result
from visual_search.formats.results import StoredResult, read_result
from visual_search.ids import Id

__all__ = [
    "AnyResult",
    "ComparedResult",
    "canonical",
    "depth_of",
    "higher_is_better",
    "record_parts",
]

FloatArray: TypeAlias = npt.NDArray[np.float64]
Int64Array: TypeAlias = npt.NDArray[np.int64]
AnyResult: TypeAlias = "Result | EvaluationResult | StoredResult | str | os.PathLike[str]"

_NO_MEDIAN = "a difference of medians is no mean of differences; compare an average=macro of it"
_NO_PARTS = "a micro mean needs numerators and denominators, which result files do not keep; compare in memory"


@dataclass(frozen=True, slots=True, eq=False)
class ComparedResult:
    """One side of a comparison.

    Attributes
    ----------
    name : str
    queries : sequence of ids
    tops, bottoms : mapping of canonical text to float64 array of shape (n,)
        Whose summed quotient is the mean: value and 1, or numerator and denominator; both 0 where undefined.
    groups : sequence or None
        Group of each query.
    parts : mapping of str to str or None
        What it was measured on, by fingerprint or name; None where it does not tell, absent where it cannot.
    left_out : mapping of canonical text to str
        Measures that have no paired difference, and why.
    unproven : tuple of str
        What its split does not hold, or was allowed by name not to hold; empty where all holds or no split is told.
    longest_list : int or None
        Items in the longest of a run's lists; None where the whole gallery was ranked, or it is not told.
    relevant : int64 array of shape (n,) or None
        How many items of grade 1 or more each query has; None where it is not told.
    """

    name: str
    queries: Sequence[Id]
    tops: Mapping[str, FloatArray]
    bottoms: Mapping[str, FloatArray]
    groups: Sequence[object] | None
    parts: Mapping[str, str | None]
    left_out: Mapping[str, str] = field(default_factory=dict)
    unproven: tuple[str, ...] = ()
    longest_list: int | None = None
    relevant: Int64Array | None = None

    @classmethod
    def of(cls, result: AnyResult, name: str | None = None) -> ComparedResult:
        """Take in a result in memory, a stored one, or the path of one; a name given goes before its own.

        Raises
        ------
        InputError
            Something else.
        FileFormatError
            Files that cannot be read, or with no values per query.
        """
        if isinstance(result, str | os.PathLike):
            result = read_result(result)
        if isinstance(result, StoredResult):
            return replace(
                _of_files(result, name),
                unproven=broken_claims(result.record.get("protocol")),
                longest_list=result.record.get("longest_list"),
            )
        if isinstance(result, EvaluationResult):
            owners = [query.group for query in result.dataset.queries]
            side = _in_memory(result.measures, name or result.model_name, owners, record_parts(result.record))
            return replace(
                side, unproven=broken_claims(result.protocol), relevant=relevant_counts(result.relevance)
            )
        if isinstance(result, Result):
            groups = None if result.groups is None else result.groups.tolist()
            side = _in_memory(result, name or "result", groups, _result_parts(result))
            longest = None if result.setting is None else result.setting.longest_list
            counts = result.relevant_counts
            return replace(side, unproven=broken_claims(result.protocol), longest_list=longest, relevant=counts)
        raise InputError(
            f"results: {type(result).__name__} given; a result is what evaluate, evaluate_model or read_result "
            "returned, or the path of a results JSON"
        )

    def at(self, queries: Sequence[Id]) -> ComparedResult:
        """The same for some of its queries, in their order."""
        rows = {query: row for row, query in enumerate(self.queries)}
        order = np.array([rows[query] for query in queries], dtype=np.int64)
        return replace(
            self,
            queries=queries,
            tops={text: sums[order] for text, sums in self.tops.items()},
            bottoms={text: sums[order] for text, sums in self.bottoms.items()},
            groups=None if self.groups is None else [self.groups[row] for row in order.tolist()],
            relevant=None if self.relevant is None else self.relevant[order],
        )


def canonical(text: str) -> str:
    """The measure's canonical text; a text that names no known measure stays as it is.

    >>> canonical("P@5"), canonical("share of happy users")
    ('Precision(denominator=k)@5', 'share of happy users')
    """
    try:
        return str(parse_measure(text))
    except (UnknownNameError, InputError):
        return text


def higher_is_better(text: str) -> bool:
    """Whether more of a measure is better; of an unknown one it is taken to be."""
    try:
        return parse_measure(text).higher_is_better
    except (UnknownNameError, InputError):
        return True


def depth_of(text: str) -> int | None:
    """The depth at which a measure stops; None where it reads the whole list, or is not known.

    >>> depth_of("HitRate@1"), depth_of("RR")
    (1, None)
    """
    try:
        depth = parse_measure(text).depth
    except (UnknownNameError, InputError):
        return None
    return depth if isinstance(depth, int) else None


def _in_memory(
    result: Result, name: str, groups: Sequence[object] | None, parts: Mapping[str, str | None]
) -> ComparedResult:
    tops, bottoms, left_out = {}, {}, {}
    for text, found in result.items():
        if found.measure.average == "median":
            left_out[text] = _NO_MEDIAN
        else:
            tops[text], bottoms[text] = _sums(found.parts, micro=found.measure.average == "micro")
    return ComparedResult(name, list(result.queries), tops, bottoms, _some(groups), parts, left_out)


def _of_files(stored: StoredResult, name: str | None) -> ComparedResult:
    if "queries" in (stored.record.get("files") or {}):
        table = stored.queries()
        queries: list[Id] = table["query"].to_pylist()
        groups: list[object] = table["group"].to_pylist()
        names = [text for text in table.column_names if text not in ("query", "group", "category", "num_relevant")]
        columns = {text: np.asarray(table[text].to_numpy(), dtype=np.float64) for text in names}
        relevant: list[int | None] = table["num_relevant"].to_pylist()
    else:
        entries = stored.record["per_query_results"]
        queries, groups = [entry["query_id"] for entry in entries], [entry.get("group") for entry in entries]
        columns = GuideMeasures.of(stored.record["k_values"]).columns(entries)
        relevant = [entry.get("num_relevant") for entry in entries]
    if len(set(queries)) < len(queries):
        raise FileFormatError(f"{stored.path.name}: a query stands twice among its values per query")
    tops, bottoms, left_out = {}, {}, {}
    for text, values in columns.items():
        average = _average(text)
        if average != "macro":
            left_out[canonical(text)] = _NO_MEDIAN if average == "median" else _NO_PARTS
            continue
        defined = ~np.isnan(values)
        tops[canonical(text)], bottoms[canonical(text)] = np.where(defined, values, 0.0), defined.astype(np.float64)
    shown = name or str(stored.record["model_name"])
    parts = record_parts(stored.record)
    counts = None if None in relevant else np.array(relevant, dtype=np.int64)
    return ComparedResult(shown, queries, tops, bottoms, _some(groups), parts, left_out, relevant=counts)


def _sums(parts: MeasureValues, *, micro: bool) -> tuple[FloatArray, FloatArray]:
    defined = parts.defined
    if micro:
        return np.where(defined, parts.numerator, 0.0), np.where(defined, parts.denominator, 0.0)
    return np.where(defined, parts.value, 0.0), defined.astype(np.float64)


def _average(text: str) -> str:
    try:
        return parse_measure(text).average
    except (UnknownNameError, InputError):
        return "macro"


def _some(groups: Sequence[object] | None) -> Sequence[object] | None:
    return None if groups is None or all(group is None for group in groups) else groups


def record_parts(record: Mapping[str, Any]) -> dict[str, str | None]:
    """What a result's record says it was measured on, part by part; None where it does not tell."""
    prints = record.get("fingerprints") or {}
    metric = (record.get("index") or {}).get("metric")
    parts = {part: prints.get(part) for part in ("gallery", "queries", "relevance", "exclusions")}
    if prints.get("query_pictures") is not None:
        # Results without pictures, or from before these were looked at, have nothing to be asked of them.
        parts["query_pictures"] = prints["query_pictures"]
    if record.get("lists") == "run":
        # Lists cannot tell what they were drawn from, so that there is nothing to ask of them.
        del parts["gallery"]
    return parts | {"metric": metric, "ties": record.get("ties"), "preset": record.get("preset")}


def _result_parts(result: Result) -> dict[str, str | None]:
    parts: dict[str, str | None] = {"queries": fingerprint_ids(result.queries)}
    if result.setting is None:
        parts |= {"relevance": None}
    else:
        prints = result.setting.fingerprints()
        # Lists cannot tell what they were drawn from, so that there is nothing to ask of them.
        parts |= {part: found for part, found in prints.items() if part != "gallery" or found is not None}
        if result.setting.metric is not None:
            parts["metric"] = result.setting.metric
    return parts | {"ties": result.ties, "preset": result.preset}
