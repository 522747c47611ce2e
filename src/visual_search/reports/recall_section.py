"""Recall of an index query by query, the worst with what they miss, as a section of a report."""

from __future__ import annotations

from visual_search.evaluation.neighbor_recall_table import NeighborRecallTable
from visual_search.evaluation.neighbor_recall_words import summary_lines
from visual_search.evaluation.query_recall import QueryRecall
from visual_search.reports.page_section import Section
from visual_search.reports.rendering import render_part
from visual_search.reports.wording import listed, value
from visual_search.undefined import none_if_nan

__all__ = ["recall_section"]


def recall_section(
    table: NeighborRecallTable,
    *,
    anchor: str = "recall",
    title: str = "What the index misses",
    threshold: float = 0.9,
    worst: int = 10,
) -> Section:
    """Make a recall table a section for :func:`visual_search.reports.page.write_report`.

    Parameters
    ----------
    table : NeighborRecallTable
    anchor, title : str
    threshold : float
        The share of queries below it is told.
    worst : int
        So many queries are named, those of lowest recall that miss something.

    Returns
    -------
    Section

    How to read it
    --------------
    The mean tells how an index does on the whole; the queries below it, whom it fails. Where the hardest quarter by
    local intrinsic dimension pays for all, a wider search for everybody buys little for most.
    """
    shown = [_cells(one) for one in table.worst(worst) if one.missed]
    body = render_part(
        "recall_section.html.j2",
        anchor=anchor,
        lines=[*summary_lines(table, threshold=threshold), *table.notes],
        rows=shown,
    )
    return Section(anchor, title, body)


def _cells(one: QueryRecall) -> tuple[str, list[str], str]:
    hardness = [none_if_nan(one.dimension), none_if_nan(one.contrast)]
    numbers = [value(one.recall), str(one.returned), str(one.missed), *(value(number, 2) for number in hardness)]
    return str(one.query), numbers, listed([f"{item} (rank {rank})" for item, rank in one.missing], 5)
