"""Results as tables: for a terminal, for Markdown, and in full precision for other programs."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from visual_search.errors import InputError
from visual_search.formats.results import StoredResult
from visual_search.reports.protocol_groups import ProtocolGroup, group_by_protocol
from visual_search.reports.systems import Measured, System, load_systems, read_all
from visual_search.reports.wording import markdown, plural, printable, value

if TYPE_CHECKING:
    from rich.console import RenderableType

__all__ = ["LONG_COLUMNS", "ResultsTable", "results_tables", "to_delimited"]

LONG_COLUMNS = (
    *("protocol", "system", "result", "measure", "mean", "low", "high", "counted", "undefined"),
    *("random", "ceiling"),
)


@dataclass(frozen=True)
class ResultsTable:
    """Systems of one protocol, one row each; made by :func:`results_tables`.

    Parameters
    ----------
    group : ProtocolGroup
        The systems.
    names : sequence of str
        Canonical texts of the measures shown to people, one column each.
    """

    group: ProtocolGroup
    names: Sequence[str]

    @property
    def title(self) -> str:
        """Protocol and number of queries."""
        queries = plural(self.group.systems[0].record["num_queries"], "query", "queries")
        return f"{printable(self.group.name)}, {queries}" if self.group.name else queries

    @property
    def columns(self) -> list[str]:
        """Heads, the short names of the measures."""
        return ["system", *(self.group.first(name).title for name in self.names)]

    @property
    def rows(self) -> list[list[str]]:
        """Texts: each system, then random order and the best that is reachable where known."""
        rows = [
            [_labelled(system), *(_cell(system.measures.get(name)) for name in self.names)]
            for system in self.group.systems
        ]
        for _, label, means in self.group.references(self.names):
            rows.append([label, *(value(mean) for mean in means)])
        return rows

    @property
    def notes(self) -> list[str]:
        """What the columns are, in canonical text and words, one line each."""
        firsts = [self.group.first(name) for name in self.names]
        lines = [f"{first.title}: {first.name}; {first.words}" for first in firsts]
        if self.group.differences:
            lines.insert(0, f"not comparable: the systems differ in {', '.join(self.group.differences)}")
        return [printable(line) for line in lines]

    def to_rich(self) -> RenderableType:
        """A table for rich's console; names are shown as they are, never read as markup."""
        from rich.table import Table
        from rich.text import Text

        table = Table(title=Text(self.title), title_justify="left", box=None, pad_edge=False, header_style="bold")
        for place, column in enumerate(self.columns):
            table.add_column(Text(column), justify="right" if place else "left", no_wrap=bool(place))
        for number, row in enumerate(self.rows):
            reference = number >= len(self.group.systems)
            table.add_row(*(Text(text) for text in row), style="dim" if reference else "")
        return table

    def to_text(self, *, width: int | None = None) -> str:
        """Plain text without colours; lines end where their content does.

        Parameters
        ----------
        width : int, optional
            Characters a line; as wide as needed when None.
        """
        from rich.console import Console

        wanted = sum(
            max(len(row[place]) for row in (self.columns, *self.rows)) + 2 for place in range(len(self.columns))
        )
        console = Console(width=width or max(wanted, len(self.title)), color_system=None, file=io.StringIO())
        with console.capture() as capture:
            console.print(self.to_rich())
        return "\n".join(line.rstrip() for line in capture.get().rstrip().split("\n"))

    def to_markdown(self) -> str:
        """A Markdown table under its title; pipes, backslashes and angle brackets of names are escaped."""
        head = "| " + " | ".join(markdown(column) for column in self.columns) + " |"
        rule = "|---|" + "---:|" * len(self.names)
        body = ["| " + " | ".join(markdown(text) for text in row) + " |" for row in self.rows]
        return "\n".join([f"**{markdown(self.title)}**", "", head, rule, *body])

    def long_rows(self) -> Iterator[list[str]]:
        """One row a system and measure, every measure, numbers in full precision; see :func:`to_delimited`."""
        for system in self.group.systems:
            for measured in system.measures.values():
                interval = measured.interval or {}
                numbers = [measured.mean, interval.get("low"), interval.get("high"), measured.counted]
                numbers += [measured.undefined, measured.random, measured.ceiling]
                exact = ["" if number is None else repr(number) for number in numbers]
                yield [self.group.name, system.label, system.result.path.name, measured.name, *exact]


def results_tables(
    results: Sequence[str | os.PathLike[str] | StoredResult],
    *,
    measures: Sequence[str] | None = None,
    baseline: str | None = None,
) -> list[ResultsTable]:
    """Make one table a protocol.

    Parameters
    ----------
    results : sequence of path or StoredResult
    measures : sequence of str, optional
        Canonical texts, the columns; the main measures when None.
    baseline : str, optional
        ``model_name`` of the system the others are held against.

    Raises
    ------
    InputError
        No results, an unknown baseline, or a measure that no result has.
    """
    tables = []
    for group in group_by_protocol(load_systems(read_all(results), baseline=baseline)):
        unknown = [name for name in measures or () if name not in group.measure_names]
        if unknown:
            where = f" under {group.name!r}" if group.name else ""
            raise InputError(
                f"measures: no result{where} has {', '.join(map(repr, unknown))}; there are "
                f"{', '.join(group.measure_names)}"
            )
        tables.append(ResultsTable(group, tuple(measures or group.headline_names)))
    return tables


def to_delimited(tables: Sequence[ResultsTable], delimiter: str = "\t") -> str:
    """All measures of all tables, one row each, as TSV or CSV with a head line.

    Parameters
    ----------
    tables : sequence of ResultsTable
    delimiter : str
        A tab for TSV, a comma for CSV.

    Convention
    ----------
    Undefined and unknown values are empty. Fields that hold the delimiter, quotes or line breaks are quoted.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter, lineterminator="\n")
    writer.writerow(LONG_COLUMNS)
    for table in tables:
        writer.writerows(table.long_rows())
    return stream.getvalue()


def _labelled(system: System) -> str:
    return printable(system.label) + (" (baseline)" if system.is_baseline else "")


def _cell(measured: Measured | None) -> str:
    if measured is None:
        return value(None)
    interval = measured.interval
    span = f" [{value(interval['low'])}, {value(interval['high'])}]" if interval else ""
    undefined = f" ({measured.undefined} undefined)" if measured.undefined else ""
    return value(measured.mean) + span + undefined
