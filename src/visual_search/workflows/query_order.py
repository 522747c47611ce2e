"""In which order the queries of one or two results are gone through: the worst first, or what changed most."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.catalogue.opened import OpenedResult
from visual_search.errors import InputError
from visual_search.evaluation.compared import higher_is_better

__all__ = ["ONE_ORDERS", "PAIR_ORDERS", "neighbours", "ordered_rows"]

IntArray: TypeAlias = npt.NDArray[np.int64]
#: Orders of one result's queries, and of two results'.
ONE_ORDERS = {"worst": "worst first", "best": "best first", "file": "as in the file"}
PAIR_ORDERS = {
    "changed": "most changed first",
    "worsened": "most worsened first",
    "improved": "most improved first",
}


def ordered_rows(opened: Sequence[OpenedResult], measure: str, order: str) -> IntArray:
    """Rows of the first result's queries in an order.

    Parameters
    ----------
    opened : sequence of OpenedResult
        The orders of two compare the second with the first.
    measure : str
        Canonical text.
    order : str
        A key of :data:`ONE_ORDERS` or, for two results and more, of :data:`PAIR_ORDERS`.

    Returns
    -------
    int64 array
        Queries without a value, or that do not change, are left out; among equal ones the file's order.

    Raises
    ------
    InputError
        Another order, or one of two for one result.
    UnknownIdError
        A measure that has no values per query.
    """
    first = opened[0]
    if order == "file":
        return np.arange(len(first.query_ids))
    if order == "worst":
        return first.order(measure, "worst")
    if order == "best":
        return first.order(measure, "best")
    if order not in PAIR_ORDERS or len(opened) < 2:
        allowed = ONE_ORDERS | (PAIR_ORDERS if len(opened) > 1 else {})
        raise InputError(f"order: {order[:40]!r}; allowed are {', '.join(allowed)}")
    change = _changes(first, opened[1], measure)
    sign = 1.0 if higher_is_better(measure) else -1.0
    gain = sign * change
    weights = {"changed": -np.abs(gain), "worsened": gain, "improved": -gain}[order]
    rows: IntArray = np.argsort(weights, kind="stable")
    wanted = {"changed": gain != 0, "worsened": gain < 0, "improved": gain > 0}[order] & np.isfinite(gain)
    kept: IntArray = rows[wanted[rows]]
    return kept


def _changes(first: OpenedResult, second: OpenedResult, measure: str) -> Any:
    """Second minus first for each query of the first; NaN where either has no value."""
    theirs = second.values(measure)
    if first.query_ids == second.query_ids:
        return theirs - first.values(measure)
    places = [second.row_of(str(q)) if second.has_query(str(q)) else -1 for q in first.query_ids]
    rows = np.asarray(places, dtype=np.int64)
    return np.where(rows >= 0, theirs[rows], np.nan) - first.values(measure)


def neighbours(opened: OpenedResult, rows: IntArray, query: str) -> dict[str, Any]:
    """Where a query stands in an order, and what comes before and after it.

    Returns
    -------
    dict
        ``place`` from 1, None where it is not among them; ``of``; ``previous`` and ``next`` ids as text, or None.
    """
    found = np.flatnonzero(rows == opened.row_of(query))
    if not len(found):
        following = str(opened.query_ids[rows[0]]) if len(rows) else None
        return {"place": None, "of": len(rows), "previous": None, "next": following}
    at = int(found[0])
    return {
        "place": at + 1,
        "of": len(rows),
        "previous": str(opened.query_ids[rows[at - 1]]) if at else None,
        "next": str(opened.query_ids[rows[at + 1]]) if at + 1 < len(rows) else None,
    }
