"""Result files to one page, with the paired differences that their stored per-query values allow."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from visual_search.formats.outputs import refuse_overwriting
from visual_search.reports.page import write_report
from visual_search.reports.protocol_groups import group_by_protocol
from visual_search.reports.systems import load_systems, read_all
from visual_search.workflows.page_comparisons import PageComparison, adjusted, compare_with_baseline

__all__ = ["report_results"]


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
    refuse_overwriting({"out": out}, results)
    stored = read_all(results)
    groups = group_by_protocol(load_systems(stored, baseline=baseline))
    chosen = baseline
    if chosen is None and any(len(group.systems) > 1 for group in groups):
        chosen = str(stored[0].record["model_name"])
        groups = group_by_protocol(load_systems(stored, baseline=chosen))
    comparisons: list[PageComparison] = []
    warnings: list[str] = []
    for group in groups:
        found, told = compare_with_baseline(group, chosen)
        comparisons += found
        warnings += told
    shown = [one.as_json() for one in adjusted(comparisons)]
    options: dict[str, Any] = {} if title is None else {"title": title}
    return write_report(stored, out, baseline=chosen, comparisons=shown, warnings=warnings, **options)
