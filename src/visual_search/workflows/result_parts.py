"""What a result's numbers count, and its queries in parts: as a report has them, computed once and kept."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import partial
from typing import Any

from visual_search.catalogue.opened import OpenedResult
from visual_search.reports.coverage import Coverage, coverage_of
from visual_search.reports.protocol_groups import ProtocolGroup, group_by_protocol
from visual_search.reports.slice_tables import Ends, SliceCell, SliceRow, SliceTable, slice_tables
from visual_search.reports.stored_slices import stored_slice_tables
from visual_search.reports.systems import System, load_systems
from visual_search.workflows.explored_results import ExploredResults
from visual_search.workflows.same_result import same_result

__all__ = ["ResultParts", "made_parts", "result_group", "result_parts"]

#: Queries up to which it is computed while the page waits.
AT_ONCE = 2_000
_TOLD = [one.name for one in fields(Coverage) if one.name != "system"]


@dataclass(frozen=True, slots=True)
class ResultParts:
    """What lies under the means of one result.

    Attributes
    ----------
    coverage : list of Coverage
        One, or none where it is still being computed.
    slices : list of SliceTable
    as_json : dict or None
        The same as a JSON value: ``coverage`` and ``slices``; None while it is being computed.
    """

    coverage: list[Coverage] = field(default_factory=list)
    slices: list[SliceTable] = field(default_factory=list)
    as_json: dict[str, Any] | None = None


def result_parts(explored: ExploredResults, opened: OpenedResult, group: ProtocolGroup) -> ResultParts:
    """Count what one result's numbers are made of; of a large one behind the page's back, where it was not yet.

    Parameters
    ----------
    explored : ExploredResults
    opened : OpenedResult
    group : ProtocolGroup
        The result as a report's, alone.
    """
    (system,) = group.systems
    made_from = {"result": opened.entry.fingerprint, "files": opened.stored.companion_marks()}
    path, fingerprint = str(opened.stored.path), opened.entry.fingerprint
    kept = explored.kept_or_later(
        made_from,
        lambda: _made(group),
        at_once=system.record["num_queries"] <= AT_ONCE,
        kind="parts 1",
        beside=partial(
            explored.beside.call, made_parts, path=path, fingerprint=fingerprint, files=made_from["files"]
        ),
    )
    if kept is None:
        return ResultParts()
    if "refused" in kept:  # what is wrong with its files is told where queries would be
        return ResultParts(as_json={"coverage": None, "slices": []})
    return ResultParts(
        [Coverage(system, **kept["coverage"] | {"counted": _pair(kept["coverage"]["counted"])})],
        [_table(one, system) for one in kept["slices"]],
        kept,
    )


def result_group(opened: OpenedResult) -> ProtocolGroup:
    """One result as a report has it, alone."""
    (system,) = load_systems([opened.stored])
    # The file of places may be long; each picture is asked for by itself, and says for itself what is wrong.
    system.places_problem = None
    (group,) = group_by_protocol([system])
    return group


def made_parts(path: str, fingerprint: str, files: dict[str, Any]) -> dict[str, Any] | None:
    """The parts of a result file as a JSON value; None where it, or a file beside it, is no longer the same.

    Raises
    ------
    VisualSearchError
        It cannot be read.
    """
    opened = same_result(path, fingerprint)
    if opened is None or opened.stored.companion_marks() != files:
        return None
    return _made(result_group(opened))


def _made(group: ProtocolGroup) -> dict[str, Any]:
    (coverage,) = coverage_of(group)
    return {
        "coverage": {name: getattr(coverage, name) for name in _TOLD},
        "slices": [_table_json(table) for table in (*slice_tables(group), *stored_slice_tables(group))],
    }


def _pair(counted: list[int] | None) -> tuple[int, int] | None:
    return None if counted is None else (counted[0], counted[1])


def _table_json(table: SliceTable) -> dict[str, Any]:
    rows = []
    for row in table.rows:
        cell = row.cells[0] or SliceCell(None)
        ends = cell.interval
        told = {"mean": cell.mean, "low": ends and ends.low, "high": ends and ends.high}
        rows.append(
            {"slice": row.name, "queries": row.queries, **told}
            | {"counted": cell.counted, "undefined": cell.undefined}
        )
    return {"attribute": table.attribute, "measure": table.measure, "rows": rows, "more": table.more}


def _table(told: dict[str, Any], system: System) -> SliceTable:
    rows = tuple(
        SliceRow(
            row["slice"],
            row["queries"],
            (
                SliceCell(
                    row["mean"],
                    None if row["low"] is None else Ends(row["low"], row["high"]),
                    row["counted"],
                    row["undefined"],
                ),
            ),
        )
        for row in told["rows"]
    )
    return SliceTable(told["attribute"], told["measure"], (system,), rows, told["more"])
