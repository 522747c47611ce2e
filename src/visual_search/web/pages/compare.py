"""Compare: whether results can be compared, then what differs, and the queries that changed most."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query

from visual_search.web.explorer import ExplorerOf
from visual_search.web.page import Page
from visual_search.workflows.compare_view import LEAST, compare_choice, compare_view

__all__ = ["PAGES"]


def _compare(
    explorer: ExplorerOf,
    result: Annotated[list[str], Query(max_length=50)] = [],  # noqa: B006 - FastAPI copies it
    measure: Annotated[list[str], Query(max_length=50)] = [],  # noqa: B006
    by: Annotated[str, Query(max_length=1000)] = "",
    despite: Annotated[str, Query(max_length=1000)] = "",
) -> dict[str, Any]:
    if len(set(result)) < LEAST:
        return compare_choice(explorer.results, result)
    return compare_view(explorer.results, result, measures=measure, by=by, despite=despite.strip() or None)


PAGES = (Page("/compare", "compare.html.j2", _compare, "Compare"),)
