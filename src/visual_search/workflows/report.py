"""Result files and other records to one page or a folder of pages, with the paired differences they allow."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from visual_search.errors import InputError
from visual_search.formats.companions import without_companions
from visual_search.formats.outputs import check_output_file, refuse_overwriting
from visual_search.formats.results import StoredResult, read_result
from visual_search.indexing.progress import Progress
from visual_search.reports.bundle import check_bundle_place, write_bundle
from visual_search.reports.page import write_report
from visual_search.reports.page_content import report_content
from visual_search.reports.protocol_groups import group_by_protocol
from visual_search.reports.record_files import RecordFile, read_records
from visual_search.reports.record_sections import sections_of
from visual_search.reports.section_page import write_section_page
from visual_search.reports.systems import load_systems
from visual_search.workflows.page_comparisons import PageComparison, adjusted, compare_with_baseline

__all__ = ["report_bundle", "report_results"]

PathLike = str | os.PathLike[str]


@dataclass(frozen=True, slots=True)
class _Given:
    """What a report is made of."""

    results: list[StoredResult]
    others: list[RecordFile]
    baseline: str | None
    comparisons: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    @property
    def options(self) -> dict[str, Any]:
        return {"baseline": self.baseline, "comparisons": self.comparisons, "warnings": self.warnings}


def report_results(
    records: Sequence[PathLike],
    out: PathLike,
    *,
    title: str | None = None,
    baseline: str | None = None,
    left_out: Callable[[str], object] | None = None,
) -> Path:
    """Write the report of what lies on disk; nothing but the files is needed.

    Parameters
    ----------
    records : sequence of path
        Results, and what else is to stand on the page: sweeps with the choices made from them, attributions, leaks,
        truths, directions, splits, codes, comparisons, judgings,
        indexes. They are told apart by their content. The files of a result that is given too are left out.
    out : path
        The HTML page.
    title : str, optional
        Its headline.
    baseline : str, optional
        ``model_name`` of the system the others are held against; where two or more are shown under one protocol and
        none is named, the first result's.
    left_out : callable, optional
        Is told of each dataset (queries and right answers) beside other records; it is then passed over, not refused.

    Returns
    -------
    Path
        The page.

    Raises
    ------
    InputError
        No records, a baseline that no result is named after, or a page that is no plain file.
    FileFormatError
        Files that cannot be read, or that are none of these; all of them.

    Convention
    ----------
    Each other system is compared with the baseline of its protocol, query by query, on the hit rate at the smallest k
    and on average precision. Systems whose gallery, queries, right answers, exclusions or rule for ties differ, or are
    not told, are not compared; the page says which of these it was.
    """
    refuse_overwriting({"out": out}, records)
    target = check_output_file(out, "out")
    given = _gathered(records, baseline, left_out)
    sections = sections_of(given.others)
    options: dict[str, Any] = {} if title is None else {"title": title}
    if given.results:
        write_report(given.results, target, sections=sections, **given.options, **options)
    else:
        write_section_page(sections, target, title=title or "What was measured")
    return Path(out)


def report_bundle(
    records: Sequence[PathLike],
    folder: PathLike,
    *,
    title: str | None = None,
    baseline: str | None = None,
    per_page: int = 30,
    progress: Progress | None = None,
    left_out: Callable[[str], object] | None = None,
) -> Path:
    """Write the same as a folder of pages with every query, for measurements too large for one page.

    Parameters
    ----------
    records, title, baseline
        As for :func:`report_results`; at least one result among them.
    folder : path
        A bundle that is there is replaced; any other folder that is not empty is refused.
    per_page : int
        Queries of a page.
    progress : Progress, optional
        Told how many queries were written.
    left_out : callable, optional
        As for :func:`report_results`.

    Returns
    -------
    Path
        The index page.

    Raises
    ------
    InputError
        As for :func:`report_results`; no result; a folder that is no bundle, or that holds what is read.
    """
    place = check_bundle_place(folder)
    inside = [os.fspath(path) for path in records if Path(os.path.realpath(path)).is_relative_to(place)]
    if inside:
        raise InputError(f"bundle: {', '.join(inside[:3])} would be written over: it lies in {os.fspath(folder)}")
    given = _gathered(records, baseline, left_out)
    if not given.results:
        raise InputError("bundle: at least one result is needed; other records alone make one page (-o)")
    options: dict[str, Any] = {} if title is None else {"title": title}
    write_bundle(
        lambda album: report_content(
            given.results,
            sections=sections_of(given.others, album=lambda _: album),
            album=album,
            **given.options,
            **options,
        ),
        folder,
        per_page=per_page,
        progress=progress,
    )
    return Path(folder) / "index.html"


def _gathered(
    records: Sequence[PathLike], baseline: str | None, left_out: Callable[[str], object] | None
) -> _Given:
    if not records:
        raise InputError("records: at least one is needed; give the paths of results or other records")
    found = read_records(without_companions(records), left_out=left_out)
    results = [read_result(one.path) for one in found if one.kind == "result"]
    others = [one for one in found if one.kind != "result"]
    if not results:
        if baseline is not None:
            raise InputError(f"baseline: {baseline!r} is given, and no result is")
        return _Given([], others, None)
    groups = group_by_protocol(load_systems(results, baseline=baseline))
    chosen = baseline
    if chosen is None and any(len(group.systems) > 1 for group in groups):
        chosen = str(results[0].record["model_name"])
        groups = group_by_protocol(load_systems(results, baseline=chosen))
    comparisons: list[PageComparison] = []
    warnings: list[str] = []
    for group in groups:
        made, told = compare_with_baseline(group, chosen)
        comparisons += made
        warnings += told
    return _Given(results, others, chosen, [one.as_json() for one in adjusted(comparisons)], warnings)
