"""Right answers with some items of some queries ignored."""

from __future__ import annotations

from collections.abc import Collection, Mapping

import numpy as np

from visual_search.ground_truth.relevance import Relevance
from visual_search.ids import Id, Ids

__all__ = ["ignoring"]


def ignoring(relevance: Relevance, matches: Mapping[Id, Collection[Id]]) -> Relevance:
    """The same right answers, the given items of the given queries ignored: out of ranking and right answers.

    Queries that the relevance lacks are passed over.

    Examples
    --------
    >>> from visual_search import Relevance
    >>> ignoring(Relevance.from_dict({"q": {"a": 1, "b": 1}}), {"q": ["a", "c"]})
    Relevance(1 query, 1 judged pair, 2 ignored)
    """
    items = Ids(relevance.items, what="items")
    named = dict.fromkeys(item for query, some in matches.items() if query in relevance.queries for item in some)
    items = items.extended([item for item in named if item not in items])
    out = {
        (relevance.queries.row(query), int(row))
        for query, some in matches.items()
        if query in relevance.queries
        for row in items.rows(some)
    }
    queries = relevance.query_of_entry()
    known = list(zip(queries.tolist(), relevance.rows.tolist(), strict=True))
    flags = relevance.ignored | np.fromiter((pair in out for pair in known), dtype=np.bool_, count=len(known))
    added = sorted(out - set(known))
    query = np.concatenate([queries, np.array([pair[0] for pair in added], dtype=np.int64)])
    rows = np.concatenate([relevance.rows, np.array([pair[1] for pair in added], dtype=np.int64)])
    grades = np.concatenate([np.where(flags, 0.0, relevance.grades), np.zeros(len(added))])
    order = np.argsort(query, kind="stable")
    counts = np.bincount(query, minlength=len(relevance))
    return Relevance(
        relevance.queries,
        items,
        np.concatenate(([0], np.cumsum(counts))),
        rows[order],
        grades[order],
        np.concatenate([flags, np.ones(len(added), dtype=np.bool_)])[order],
    )
