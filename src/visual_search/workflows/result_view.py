"""One stored result as a page shows it: as in the report, with lists and pictures read when they are asked for."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from markupsafe import Markup

from visual_search.catalogue.opened import OpenedResult, Order
from visual_search.errors import FileFormatError, UnknownIdError
from visual_search.reports.cases import Case
from visual_search.reports.charts import Panel, curve_panels, spread_panel
from visual_search.reports.definitions import Definition, definitions_of
from visual_search.reports.ledger_tables import LedgerTable, ledger_tables
from visual_search.reports.page_words import footnotes_of
from visual_search.reports.protocol_part import ProtocolPart
from visual_search.reports.provenance import Fingerprints, fingerprints_of, provenance, rules_of
from visual_search.reports.remarks import remarks_of
from visual_search.reports.systems import QueryValues, System
from visual_search.undefined import none_if_nan
from visual_search.workflows.comparable_results import told_differences
from visual_search.workflows.explored_results import ExploredResults
from visual_search.workflows.query_lists import PictureOf, case_json, case_of
from visual_search.workflows.result_parts import ResultParts, result_group, result_parts
from visual_search.workflows.same_result import same_result

__all__ = ["ResultView", "drawn_panels", "result_panels", "result_view"]

_CASES = 5
_SHOWN = 10


@dataclass(frozen=True)
class ResultView:
    """What the page of a result shows.

    Attributes
    ----------
    opened : OpenedResult
    part : ProtocolPart
        As a report has it.
    measure : str or None
        By which queries are worst and best.
    cases : dict of ``worst`` and ``best`` to list of Case
    tied : dict of ``worst`` and ``best`` to int
        How many queries share the one value of all shown; 0 where values differ.
    undefined : int
        Queries without a value of the measure.
    problem : str or None
        Why there are no queries to look at.
    comparable : list of dict
        Other results that can be compared with this one: ``key``, ``name``, ``file``, ``pinned``; latest first.
    parts : ResultParts
        What the numbers count, and the queries in parts, as far as they are computed.
    """

    opened: OpenedResult
    part: ProtocolPart
    measure: str | None
    cases: dict[str, list[Case]]
    tied: dict[str, int]
    undefined: int
    problem: str | None
    comparable: list[dict[str, Any]]
    parts: ResultParts

    @property
    def pending(self) -> bool:
        """Whether something is still being computed."""
        return self.parts.as_json is None

    @property
    def system(self) -> System:
        """The result as a report's system."""
        return self.part.group.systems[0]

    @cached_property
    def definitions(self) -> dict[str, Definition]:
        """What each measure means, by canonical text."""
        return definitions_of([self.part.group])

    @property
    def listed(self) -> list[Definition]:
        """The same, each once."""
        return list({one.number: one for one in self.definitions.values()}.values())

    @property
    def remarks(self) -> Any:
        """What a reader must know before the numbers."""
        return remarks_of([self.part.group], ())

    @property
    def rules(self) -> list[tuple[str, str]]:
        """The set of rules that the numbers follow."""
        return rules_of([self.part.group])

    @property
    def footnotes(self) -> list[str]:
        """What holds for every number."""
        return footnotes_of([self.part.group])

    @property
    def ledgers(self) -> list[LedgerTable]:
        """What became of every picture."""
        return ledger_tables([self.part.group])

    @property
    def prints(self) -> Fingerprints:
        """Which data it is of, and what made it."""
        return fingerprints_of([self.part.group])

    @property
    def origin(self) -> list[tuple[str, str]]:
        """How the numbers came to be."""
        return provenance(self.system)

    def as_json(self) -> dict[str, Any]:
        """As a JSON value: the record, what was noted, and the queries shown."""
        entry = self.opened.entry
        record = {key: value for key, value in self.opened.record.items() if key != "per_query_results"}
        return {
            "key": entry.key,
            "file": entry.file,
            "fingerprint": entry.fingerprint,
            "note": {"text": entry.note.text, "version": entry.note.version, "time": entry.note.time},
            "pinned": entry.pinned > 0,
            "measure": self.measure,
            "undefined": self.undefined,
            "tied": self.tied,
            "pending": self.pending,
            **(self.parts.as_json or {"coverage": None, "slices": None}),
            "problem": self.problem,
            **{kind: [case_json(case) for case in cases] for kind, cases in self.cases.items()},
            "comparable": self.comparable,
            "record": record,
        }


def result_view(explored: ExploredResults, key: str, *, measure: str, picture_of: PictureOf) -> ResultView:
    """Gather what the page of a result shows.

    Parameters
    ----------
    explored : ExploredResults
    key : str
    measure : str
        By which queries are worst and best; the deepest AP where empty.
    picture_of : callable
        Gives pictures.

    Raises
    ------
    UnknownIdError
        No such result or measure.
    FileFormatError
        The result cannot be read.
    """
    opened = explored.opened(key)
    problem = opened.problem()
    cases: dict[str, list[Case]] = {"worst": [], "best": []}
    tied = {"worst": 0, "best": 0}
    undefined, chosen = 0, None
    if problem is None:
        chosen = measure or opened.leading_measure
        undefined = int(np.isnan(opened.values(chosen)).sum())
        try:
            cases = {kind: _cases(opened, chosen, kind, picture_of) for kind in ("worst", "best")}
            tied = {kind: _tied(opened, chosen, kind) for kind in ("worst", "best")}
        except FileFormatError as told:
            problem = str(told)
    elif measure:
        raise UnknownIdError(f"measure: {measure[:100]!r}; {problem}")
    group = result_group(opened)
    roles = {system.label: "series-1" for system in group.systems}
    parts = result_parts(explored, opened, group)
    part = ProtocolPart(
        "result",
        group,
        roles,
        result_panels(explored, opened),
        [],
        {},
        coverage=parts.coverage,
        slices=parts.slices,
    )
    comparable = _comparable(explored, opened)
    return ResultView(opened, part, chosen, cases, tied, undefined, problem, comparable, parts)


def _cases(opened: OpenedResult, measure: str, kind: Order, picture_of: PictureOf) -> list[Case]:
    rows = opened.order(measure, kind)[:_CASES].tolist()
    return [case_of(opened, str(opened.query_ids[row]), picture_of, shown=_SHOWN) for row in rows]


def _tied(opened: OpenedResult, measure: str, kind: Order) -> int:
    values = opened.values(measure)
    shown = values[opened.order(measure, kind)[:_CASES]]
    return int((values == shown[0]).sum()) if len(shown) and (shown == shown[0]).all() else 0


def result_panels(explored: ExploredResults, opened: OpenedResult, *, beside: bool = False) -> list[Panel]:
    """The figures of a result, drawn once and kept; ``beside`` the pages where nobody waits for them."""
    made_from = [opened.entry.fingerprint, opened.entry.name, opened.problem()]
    path = str(opened.stored.path)
    there = partial(explored.beside.call, drawn_panels, path=path, fingerprint=opened.entry.fingerprint)
    draw = there if beside else partial(_drawn, opened)
    drawn = explored.kept_or_later(made_from, draw, at_once=True, kind="figures 1")
    if drawn is None or isinstance(drawn, dict):  # refused: what is wrong is told where queries would be
        return []
    return [Panel(**(panel | {"svg": Markup(panel["svg"])})) for panel in drawn]  # noqa: S704 - drawn here


def drawn_panels(path: str, fingerprint: str) -> list[dict[str, Any]] | None:
    """The figures of a result file as a JSON value; None where it is no longer the same.

    Raises
    ------
    FileFormatError
        It cannot be read.
    """
    opened = same_result(path, fingerprint)
    return None if opened is None else _drawn(opened)


def _drawn(opened: OpenedResult) -> list[dict[str, Any]]:
    group = result_group(opened)
    (system,) = group.systems
    if opened.problem() is None and not system.per_query:
        values = opened.values(opened.leading_measure).tolist()
        system.per_query = [
            QueryValues(query, none_if_nan(ap), None, None, None)
            for query, ap in zip(opened.query_ids, values, strict=True)
        ]
    roles = {system.label: "series-1"}
    panels = [*curve_panels(group, roles, "result"), *spread_panel(group, roles, "result")]
    return [asdict(panel) for panel in panels]


def _comparable(explored: ExploredResults, opened: OpenedResult) -> list[dict[str, Any]]:
    own = opened.entry
    others = [
        entry
        for entry in explored.entries()
        if entry.key != own.key and not entry.problem and not told_differences(own, entry)
    ]
    others.sort(key=lambda entry: (-entry.pinned, -entry.time.timestamp(), entry.file))
    return [
        {"key": entry.key, "name": entry.name, "file": entry.file, "pinned": entry.pinned > 0}
        for entry in others[:20]
    ]
