"""Result files to one page, with the paired differences that their stored per-query values allow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from visual_search.errors import FileFormatError, FingerprintError, InputError
from visual_search.evaluation.comparison import compare
from visual_search.evaluation.statistics.multiplicity import holm
from visual_search.reports.page import write_report
from visual_search.reports.protocol_groups import ProtocolGroup, group_by_protocol
from visual_search.reports.systems import System, load_systems, read_all

__all__ = ["report_results"]

# Differences query by query mean something only where these agree.
_PARTS = {
    "gallery": "the gallery",
    "queries": "the queries",
    "relevance": "the right answers",
    "exclusions": "what is left out of the lists",
}


def report_results(
    results: Sequence[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    title: str | None = None,
    baseline: str | None = None,
) -> Path:
    """Write the report of results that lie on disk; nothing but their files is needed.

    Parameters
    ----------
    results : sequence of path
        Results JSON files.
    out : path
        The HTML page.
    title : str, optional
        Its headline.
    baseline : str, optional
        ``model_name`` of the system the others are held against; where two or more are shown under one protocol and
        none is named, the first result's.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    InputError
        No results, or a baseline that no result is named after.
    FileFormatError
        A results file that cannot be read.

    Convention
    ----------
    Each other system is compared with the baseline of its protocol, query by query, on the hit rate at the smallest k
    and on average precision. Systems whose gallery, queries, right answers, exclusions or rule for ties differ, or are
    not told, are not compared; the page says which of these it was.
    """
    if any(Path(out).exists() and Path(one).exists() and Path(one).samefile(out) for one in results):
        raise InputError(f"out: {os.fspath(out)} is one of the results; the page would be written over it")
    stored = read_all(results)
    groups = group_by_protocol(load_systems(stored, baseline=baseline))
    chosen = baseline
    if chosen is None and any(len(group.systems) > 1 for group in groups):
        chosen = str(stored[0].record["model_name"])
        groups = group_by_protocol(load_systems(stored, baseline=chosen))
    comparisons: list[dict[str, Any]] = []
    warnings: list[str] = []
    for group in groups:
        _compare(group, chosen, comparisons, warnings)
    _adjust(comparisons)
    options: dict[str, Any] = {} if title is None else {"title": title}
    return write_report(stored, out, baseline=chosen, comparisons=comparisons, warnings=warnings, **options)


def _compare(
    group: ProtocolGroup, baseline: str | None, comparisons: list[dict[str, Any]], warnings: list[str]
) -> None:
    """Hold the systems of a protocol against its baseline; what cannot be compared is told."""
    if len(group.systems) < 2:
        return
    against = next((system for system in group.systems if system.is_baseline), None)
    if against is None:
        warnings.append(f"Nothing is compared{group.under}: the baseline, {baseline}, was not measured there.")
        return
    for system in group.systems:
        if system is against:
            continue
        pair = f"{system.label} is not compared with {against.label} query by query"
        obstacle = _obstacle(system, against)
        if obstacle is not None:
            warnings.append(f"{pair}: {obstacle}.")
            continue
        try:
            found = list(_differences(group, system, against))
        except (FileFormatError, FingerprintError, InputError) as problem:
            warnings.append(f"{pair}: {problem}")
            continue
        if not found:
            warnings.append(f"{pair}: they share neither a hit rate nor average precision.")
        comparisons += found


def _obstacle(system: System, against: System) -> str | None:
    """Why two results must not be compared: what differs between their data, or is not told."""
    ours, theirs = (one.record.get("fingerprints") or {} for one in (system, against))
    different, untold = [], []
    for part, words in _PARTS.items():
        if ours.get(part) and theirs.get(part):
            if ours[part] != theirs[part]:
                different.append(words)
        elif part != "exclusions" or ours.get(part) or theirs.get(part):  # nothing left out on either side agrees
            untold.append(words)
    if system.record.get("ties") != against.record.get("ties"):
        different.append("the rule for equal scores")
    reasons = []
    if different:
        reasons.append(f"these differ: {', '.join(different)}")
    if untold:
        reasons.append(f"the files do not tell whether these agree: {', '.join(untold)}")
    return "; ".join(reasons) or None


def _differences(group: ProtocolGroup, system: System, against: System) -> Iterator[dict[str, Any]]:
    """Paired differences of the two headline measures.

    Raises
    ------
    FileFormatError, FingerprintError, InputError
        A file of per-query values that is gone, damaged or of another run; data that differ after all.
    """
    names = _measures(group, system, against)
    if not names:
        return
    metrics = [(one.record.get("index") or {}).get("metric") for one in (against, system)]
    own = None not in metrics and metrics[0] != metrics[1]
    found = compare(
        {against.label: against.result, system.label: system.result},
        names,
        despite="each system likens by a metric of its own" if own else None,
    )
    drawn = "queries one by one" if found.groups == found.queries else "all queries of a group together"
    likened = f" Metrics differ: {metrics[1]} against {metrics[0]}." if own else ""
    for one in found:
        yield {
            **one.as_json(),
            "protocol": group.name,
            "a": system.label,
            "b": against.label,
            "words": f"Interval and test draw {drawn}.{likened}",
        }


def _adjust(comparisons: Sequence[dict[str, Any]]) -> None:
    """Raise the p-values to hold for all comparisons of the page at once."""
    raised = holm(np.array([np.nan if one["p_value"] is None else one["p_value"] for one in comparisons]))
    for one, p in zip(comparisons, raised.tolist(), strict=True):
        one["p_adjusted"] = None if np.isnan(p) else p


def _measures(group: ProtocolGroup, system: System, against: System) -> list[str]:
    """The hit rate at the smallest k and the deepest average precision that both systems have a value of."""
    both = [
        name
        for name in group.measure_names
        if all(name in one.measures and one.measures[name].mean is not None for one in (system, against))
    ]
    hit_rates = [name for name in both if system.measures[name].family == "HitRate"]
    precisions = [name for name in both if system.measures[name].family == "AP"]
    return [*hit_rates[:1], *precisions[-1:]]
