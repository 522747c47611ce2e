"""The loss of an index apart from the loss of the vectors, as a section of a report."""

from __future__ import annotations

from visual_search.reports.page import Section
from visual_search.reports.rendering import render_part
from visual_search.tuning.attributed_loss import IndexAttribution

__all__ = ["attribution_section"]


def attribution_section(
    attribution: IndexAttribution,
    *,
    anchor: str = "attribution",
    title: str = "Index error and representation error",
) -> Section:
    """Make an attribution a section for :func:`visual_search.reports.page.write_report`.

    Parameters
    ----------
    attribution : IndexAttribution
    anchor, title : str

    Returns
    -------
    Section

    How to read it
    --------------
    Exact and index stand in columns of their own; what the vectors miss no index mends, and what the index misses a
    better setting may. Below stand the queries that pay, and what the numbers are valid for.
    """
    return Section(anchor, title, render_part("attribution_section.html.j2", attribution=attribution))
