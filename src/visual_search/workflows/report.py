"""Result files to one page."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from visual_search.formats.results import read_result
from visual_search.reports.page import write_report

__all__ = ["report_results"]


def report_results(
    results: Sequence[str | os.PathLike[str]], out: str | os.PathLike[str], *, title: str | None = None
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

    Returns
    -------
    Path
        The page.
    """
    options: dict[str, Any] = {} if title is None else {"title": title}
    return write_report([read_result(path) for path in results], out, **options)
