"""Rankings from files and tables."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from visual_search.counted import counted
from visual_search.formats.columns import ColumnTable
from visual_search.formats.trec import TrecTable, read_run
from visual_search.rankings.parts import RankingParts, of_lines

__all__ = ["of_run", "of_table"]


def of_run(path: str | os.PathLike[str]) -> RankingParts:
    """From a TREC run; scores order it, and a rank column that says otherwise is noted."""
    table = read_run(path)
    parts = of_lines(table.queries, table.query, table.items, table.item, table.value)
    against = _against_rank(table)
    if not against:
        return parts
    note = (
        f"{path}: the rank column contradicts the scores in {against} of "
        f"{counted(len(table.queries), 'query', 'queries')}; the scores "
        "were followed, as trec_eval does; if they are distances, write their negatives"
    )
    return replace(parts, notes=(note,))


def _against_rank(table: TrecTable) -> int:
    """In how many queries two lines have a better rank and a lower score."""
    if table.rank is None:
        return 0
    order = np.lexsort((table.rank, table.query))
    query, rank, score = table.query[order], table.rank[order], table.value[order]
    worse = (query[1:] == query[:-1]) & (rank[1:] > rank[:-1]) & (score[1:] > score[:-1])
    return len(np.unique(query[1:][worse]))


def of_table(source: Any, *, query: str, item: str, score: str) -> RankingParts:
    """From a Parquet file, a data frame or a mapping of columns, one row a result."""
    table = ColumnTable(source, what="ranking")
    queries, query_codes = table.ids(query)
    items, item_codes = table.ids(item)
    return of_lines(queries, query_codes, items, item_codes, table.scores(score))
