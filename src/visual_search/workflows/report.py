"""Result files to one page, with the paired differences that their stored per-query values allow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError, InputError
from visual_search.evaluation.statistics.paired import paired_difference
from visual_search.ids import Id
from visual_search.reports.page import write_report
from visual_search.reports.protocol_groups import ProtocolGroup, group_by_protocol
from visual_search.reports.systems import System, load_systems, read_all

if TYPE_CHECKING:
    import pyarrow as pa

__all__ = ["report_results"]

FloatArray = npt.NDArray[np.float64]

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
        except FileFormatError as problem:
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
    FileFormatError
        A file of per-query values that is gone, damaged, of another run, or without these queries.
    """
    names = _measures(group, system, against)
    if not names:
        return
    first, second = system.result.queries(), against.result.queries()
    order = _order(first, second, against)
    groups = _groups(first, second, order)
    drawn = "queries one by one" if groups is None else "all queries of a group together"
    for name in names:
        found = paired_difference(
            _values(first, name, system), _values(second, name, against)[order], groups=groups
        )
        yield {
            **found.as_json(),
            "protocol": group.name,
            "a": system.label,
            "b": against.label,
            "measure": name,
            "words": f"Interval and test draw {drawn}.",
        }


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


def _order(first: pa.Table, second: pa.Table, against: System) -> list[int]:
    """Row of the second table for each query of the first."""
    rows: Mapping[Id, int] = {query: row for row, query in enumerate(second["query"].to_pylist())}
    wanted = first["query"].to_pylist()
    missing = [query for query in wanted if query not in rows]
    if missing or len(rows) != len(wanted):
        raise FileFormatError(
            f"{against.result.path.name}: its per-query values are of other queries than its fingerprint says; "
            "evaluate again"
        )
    return [rows[query] for query in wanted]


def _values(table: pa.Table, name: str, system: System) -> FloatArray:
    if name not in table.column_names:
        raise FileFormatError(f"{system.result.path.name}: its per-query values lack {name}; evaluate again")
    values: FloatArray = np.asarray(table[name].to_numpy(), dtype=np.float64)
    return values


def _groups(first: pa.Table, second: pa.Table, order: list[int]) -> list[object] | None:
    """Group of each query, of the first result that has any."""
    for table, rows in ((first, range(len(order))), (second, order)):
        if "group" in table.column_names:
            column = table["group"].to_pylist()
            if any(group is not None for group in column):
                return [column[row] for row in rows]
    return None
