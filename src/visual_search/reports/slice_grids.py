"""The parts of the queries of one system: a row a part, a column a measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from visual_search.reports.slice_tables import SliceCell, SliceTable

__all__ = ["SliceGrid", "slice_grids"]


@dataclass(frozen=True, slots=True)
class SliceGrid:
    """Several measures of one system by one attribute of the queries.

    Attributes
    ----------
    attribute : str
    measures : tuple of str
        Canonical texts.
    rows : tuple of (str, int or None, tuple of SliceCell or None)
        Name of the part, its queries, and a cell a measure; None where the part has not got that measure.
    more : int
        Parts that are not shown.
    """

    attribute: str
    measures: tuple[str, ...]
    rows: tuple[tuple[str, int | None, tuple[SliceCell | None, ...]], ...]
    more: int


def slice_grids(tables: Sequence[SliceTable]) -> list[SliceGrid]:
    """Put the tables of one system and one attribute side by side."""
    by_attribute: dict[str, list[SliceTable]] = {}
    for table in tables:
        by_attribute.setdefault(table.attribute, []).append(table)
    return [_grid(attribute, found) for attribute, found in by_attribute.items()]


def _grid(attribute: str, tables: Sequence[SliceTable]) -> SliceGrid:
    by_name = [{row.name: row for row in table.rows} for table in tables]
    sizes = {row.name: row.queries for table in tables for row in table.rows}
    rows = tuple(
        (name, queries, tuple(rows[name].cells[0] if name in rows else None for rows in by_name))
        for name, queries in sizes.items()
    )
    return SliceGrid(attribute, tuple(table.measure for table in tables), rows, max(table.more for table in tables))
