"""The loss of an index apart from the loss of the vectors, as a section of a report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from visual_search.formats.json_shapes import COUNT, ID, NUMBER, TEXT, There, whole
from visual_search.formats.result_extensions import INTERVAL
from visual_search.reports.page_section import Section, checked
from visual_search.reports.rendering import render_part
from visual_search.tuning.attributed_loss import IndexAttribution

__all__ = ["attribution_section"]

_NUMBERS = ("exact", "index", "representation_loss", "index_loss", "overlap")
_ROW = whole(
    *("k", *_NUMBERS),
    **dict.fromkeys(_NUMBERS, NUMBER),
    k=There(COUNT),
    index_loss_interval=INTERVAL,
    exact_right_index_wrong=There([ID]),
    index_right_exact_wrong=There([ID]),
)
_SHAPE = {
    "index": There(TEXT),
    "num_queries": There(COUNT),
    "rows": There([There(_ROW)]),
    "stages": {"words": TEXT},
    "validity": There(TEXT),
    "notes": There([TEXT]),
}


def attribution_section(
    attribution: IndexAttribution | Mapping[str, Any],
    *,
    anchor: str = "attribution",
    title: str = "Index error and representation error",
) -> Section:
    """Make an attribution a section for :func:`visual_search.reports.page.write_report`.

    Parameters
    ----------
    attribution : IndexAttribution or mapping
        Itself, or what its ``as_json`` gave.
    anchor, title : str

    Returns
    -------
    Section

    Raises
    ------
    FileFormatError
        A mapping with values of another kind; all of them are listed.

    How to read it
    --------------
    Exact and index stand in columns of their own; what the vectors miss no index mends, and what the index misses a
    better setting may. Below stand the queries that pay, and what the numbers are valid for.
    """
    given = attribution.as_json() if isinstance(attribution, IndexAttribution) else attribution
    value = checked(given, _SHAPE, "attribution", needed=("index", "num_queries", "rows", "validity"))
    body = render_part("attribution_section.html.j2", anchor=anchor, attribution=value)
    return Section(anchor, title, body)
