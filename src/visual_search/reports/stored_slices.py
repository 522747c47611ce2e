"""The queries in parts as a result's own file has them: those that ``score --slices`` was asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from visual_search.evaluation.slices import MEAN_OF_SLICES
from visual_search.reports.protocol_groups import ProtocolGroup
from visual_search.reports.slice_tables import MOST_PARTS, Ends, SliceCell, SliceRow, SliceTable
from visual_search.reports.systems import System

__all__ = ["stored_slice_tables"]

_UNNAMED = "slice"  # of results that were written before the attribute's name was kept


def stored_slice_tables(group: ProtocolGroup) -> list[SliceTable]:
    """The slices that were stored with the results of a protocol; empty where there are none.

    Convention
    ----------
    Measures in the order of the page, parts in that of the files; the mean of slices, in which each part weighs the
    same, comes last and has no number of queries.
    """
    by_attribute: dict[str, list[System]] = {}
    for system in group.systems:
        if system.record.get("slices"):
            by_attribute.setdefault(str(system.record.get("sliced_by") or _UNNAMED), []).append(system)
    return [
        table
        for attribute, systems in by_attribute.items()
        for measure in group.measure_names
        if (table := _table(attribute, measure, systems)) is not None
    ]


def _table(attribute: str, measure: str, systems: Sequence[System]) -> SliceTable | None:
    read = [
        {str(row["slice"]): row for row in system.record["slices"] if row["measure"] == measure}
        for system in systems
    ]
    names = list(dict.fromkeys(name for rows in read for name in rows))
    over = [name for name in names if name == MEAN_OF_SLICES]
    parts = [name for name in names if name != MEAN_OF_SLICES]
    if not parts:
        return None
    shown = tuple(_row(name, read) for name in [*parts[:MOST_PARTS], *over])
    return SliceTable(attribute, measure, tuple(systems), shown, max(len(parts) - MOST_PARTS, 0))


def _row(name: str, read: Sequence[Mapping[str, Mapping[str, Any]]]) -> SliceRow:
    given = [rows.get(name) for rows in read]
    sizes = [size for row in given if row is not None and (size := _queries(row)) is not None]
    return SliceRow(name, max(sizes, default=None), tuple(None if row is None else _cell(row) for row in given))


def _queries(row: Mapping[str, Any]) -> int | None:
    """Queries of a part; None for the mean of slices, or where the file does not say."""
    if row.get("counted") is None:
        return None
    return int(row["counted"]) + int(row.get("undefined") or 0)


def _cell(row: Mapping[str, Any]) -> SliceCell:
    low, high = row.get("low"), row.get("high")
    ends = None if low is None or high is None else Ends(float(low), float(high))
    return SliceCell(row["mean"], ends, int(row.get("counted") or 0), int(row.get("undefined") or 0))
