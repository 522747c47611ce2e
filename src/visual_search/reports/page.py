"""The report: one HTML file that opens from disk, holds its pictures, and asks nothing of any network."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from visual_search.formats.atomic import write_text
from visual_search.formats.results import StoredResult
from visual_search.reports.page_content import report_content
from visual_search.reports.page_section import Section
from visual_search.reports.rendering import render_page

__all__ = ["write_report"]


def write_report(
    results: Sequence[str | os.PathLike[str] | StoredResult],
    out: str | os.PathLike[str],
    *,
    title: str = "How well does the search find?",
    baseline: str | None = None,
    comparisons: Iterable[Mapping[str, Any]] = (),
    credit: str | None = None,
    warnings: Sequence[str] = (),
    sections: Sequence[Section] = (),
    cases: int = 5,
    shown: int = 10,
) -> Path:
    """Write one self-contained HTML page about one or more results.

    Everything comes from the results' files: measures and conventions from the JSON, lists from the ranking file,
    images from where the item file says. An image that has gone is an empty frame with a label, and is counted.

    Parameters
    ----------
    results : sequence of path or StoredResult
        Results JSON files; those of one protocol stand side by side.
    out : path
        The HTML file; written whole or not at all.
    title : str
        Heading of the page.
    baseline : str, optional
        ``model_name`` of the system the others are held against; of several under one protocol the first.
    comparisons : iterable of mapping
        Paired differences: ``a``, ``b`` (model names, or the labels of results that share one), ``measure``,
        ``difference`` (a minus b), and where known ``low``, ``high``, ``p``, ``wins``, ``losses``, ``ties``,
        ``protocol`` (its name), ``words``.
    credit : str, optional
        Whose data it is, shown at the foot.
    warnings : sequence of str
        What else a reader must know before the numbers, such as why two systems are not compared.
    sections : sequence of Section
        Further parts, after the protocols.
    cases : int
        Worst and best queries shown of each system, each this many; 0 shows none.
    shown : int
        Results shown of each query.

    Returns
    -------
    Path
        ``out``.

    Raises
    ------
    InputError
        No results, an unknown baseline, comparisons without their keys, a section's anchor that is taken or not
        allowed, ``cases`` below 0 or ``shown`` below 1.
    FileFormatError
        A results file that cannot be read. A missing or damaged companion is told on the page instead.

    How to read it
    --------------
    The cards answer "which system finds more", the tables say how each number is defined and how sure it is, the
    rows of pictures show what a number is made of.
    """
    content = report_content(
        results,
        title=title,
        baseline=baseline,
        comparisons=comparisons,
        credit=credit,
        warnings=warnings,
        sections=sections,
        cases=cases,
        shown=shown,
    )
    target = Path(out)
    write_text(target, render_page("report.html.j2", **content.values()))
    return target
