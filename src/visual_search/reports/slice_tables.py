"""The queries in parts: each measure by category, and by how many right answers a query has."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError, InputError
from visual_search.evaluation.measures.parsing import parse_measure
from visual_search.evaluation.statistics.bootstrap import bootstrap_mean
from visual_search.evaluation.statistics.interval import Interval
from visual_search.reports.protocol_groups import ProtocolGroup
from visual_search.reports.systems import System

__all__ = ["MOST_PARTS", "Ends", "SliceCell", "SliceRow", "SliceTable", "slice_tables"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

MOST_PARTS = 30  # shown; more are counted
_FAMILIES = ("HitRate", "AP")


@dataclass(frozen=True, slots=True)
class Ends:
    """An interval of which nothing but the ends is known."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class SliceCell:
    """The mean of a system over one part; None where no query of it has a value."""

    mean: float | None
    interval: Interval | Ends | None = None
    counted: int = 0
    undefined: int = 0


@dataclass(frozen=True, slots=True)
class SliceRow:
    """One part of the queries; ``queries`` is None in the row of the mean over all parts."""

    name: str
    queries: int | None
    cells: tuple[SliceCell | None, ...]


@dataclass(frozen=True, slots=True)
class SliceTable:
    """One measure by one attribute of the queries.

    Attributes
    ----------
    attribute : str
        What the queries are parted by.
    measure : str
        Canonical text.
    systems : tuple of System
    rows : tuple of SliceRow
        The largest part first, or by the attribute's own order.
    more : int
        Parts that are not shown.
    """

    attribute: str
    measure: str
    systems: tuple[System, ...]
    rows: tuple[SliceRow, ...]
    more: int = 0


@dataclass(frozen=True, slots=True, eq=False)
class _Columns:
    """The table of queries of one system: values by measure, and what the queries are parted by."""

    values: Mapping[str, FloatArray]
    groups: npt.NDArray[Any]
    parts: Mapping[str, npt.NDArray[Any]]


def slice_tables(group: ProtocolGroup) -> list[SliceTable]:
    """Part the queries of a protocol; empty where all are of one kind, or where their values were not kept.

    Convention
    ----------
    Means are over the queries of a part that have a value; intervals draw the groups of that part. Measures whose mean
    is not one over queries (micro, median) are left out.
    """
    read = [(system, columns) for system in group.systems if (columns := _columns(system)) is not None]
    if not read:
        return []
    tables = []
    for attribute in read[0][1].parts:
        names = _names(read[0][1].parts[attribute].tolist(), ordered=attribute != "category")
        if len(names) < 2:
            continue
        for measure in _measures(group):
            systems = tuple(system for system, _ in read)
            rows = tuple(
                _row(name, [columns for _, columns in read], attribute, measure) for name in names[:MOST_PARTS]
            )
            tables.append(SliceTable(attribute, measure, systems, rows, max(len(names) - MOST_PARTS, 0)))
    return tables


def _columns(system: System) -> _Columns | None:
    if "queries" not in (system.record.get("files") or {}):
        return None
    try:
        table = system.result.queries()
    except FileFormatError:  # told where the queries are compared
        return None
    categories = [None if one is None else str(one) for one in table.column("category").to_pylist()]
    sizes = table.column("num_relevant").to_pylist()
    fixed = {"query", "group", "category", "num_relevant"}
    return _Columns(
        {name: np.asarray(table.column(name).to_numpy(), np.float64) for name in set(table.column_names) - fixed},
        np.array(table.column("group").to_pylist(), dtype=object),
        {
            "category": np.array(categories, dtype=object),
            "number of right answers": np.array(_by_size(sizes), dtype=object),
        },
    )


def _by_size(sizes: Sequence[int]) -> list[str | None]:
    """Each query's place among four sizes of right answers, told as a range; none where it has none."""
    edges = [(1, 1), (2, 5), (6, 20), (21, None)]
    names: list[str | None] = []
    for size in sizes:
        found = next(((low, high) for low, high in edges if size >= low and (high is None or size <= high)), None)
        if found is None:
            names.append(None)
        else:
            low, high = found
            names.append("1" if high == 1 else f"{low} or more" if high is None else f"{low} to {high}")
    return names


def _names(parts: Sequence[str | None], *, ordered: bool) -> list[str]:
    counts = Counter(name for name in parts if name is not None)
    if ordered:
        return sorted(counts, key=lambda name: int(name.split(" ")[0]))
    return [name for name, _ in counts.most_common()]


def _measures(group: ProtocolGroup) -> Iterator[str]:
    """The hit rate and the average precision that head the page, as far as their means are over queries."""
    for family in _FAMILIES:
        for name in group.headline_names:
            if group.first(name).family == family and _is_macro(name):
                yield name


def _is_macro(name: str) -> bool:
    try:
        return parse_measure(name).average == "macro"
    except InputError:  # of a later version, or a plug-in that is not installed
        return False


def _row(name: str, read: Sequence[_Columns], attribute: str, measure: str) -> SliceRow:
    cells: list[SliceCell | None] = []
    sizes = []
    for columns in read:
        inside = columns.parts[attribute] == name
        sizes.append(int(inside.sum()))
        values = columns.values.get(measure)
        cells.append(None if values is None else _cell(values[inside], columns.groups[inside].tolist()))
    return SliceRow(name, max(sizes), tuple(cells))


def _cell(values: FloatArray, groups: Sequence[Any]) -> SliceCell:
    known = ~np.isnan(values)
    if not known.any():
        return SliceCell(None)
    owners = [g for g, k in zip(groups, known, strict=True) if k]
    interval = bootstrap_mean(values[known], groups=None if None in owners else owners)
    return SliceCell(float(values[known].mean()), interval, int(known.sum()), int((~known).sum()))
