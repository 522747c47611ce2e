"""Both directions of a split as a section of a report: the split with its proof, the numbers, the differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import isnan
from typing import Any

from visual_search.evaluation.protocols.directions import Directions
from visual_search.evaluation.protocols.split import Split
from visual_search.evaluation.result import Interval, MeasureResult
from visual_search.reports.comparisons import comparisons_from
from visual_search.reports.page import Section
from visual_search.reports.rendering import render_part

__all__ = ["directions_section"]


@dataclass(frozen=True, slots=True)
class Cell:
    """A number with its interval, or without; None where undefined."""

    mean: float | None
    interval: Interval | None = None


@dataclass(frozen=True, slots=True)
class Row:
    """One system on one measure.

    Attributes
    ----------
    system : str
    there, back, pooled : Cell
    asymmetry : Cell
    p : float or None
    reference : bool
        Whether it is what chance gives, and no system.
    """

    system: str
    there: Cell
    back: Cell
    pooled: Cell
    asymmetry: Cell
    p: float | None
    reference: bool


def directions_section(
    split: Split,
    systems: Mapping[str, Directions],
    *,
    random: Directions | None = None,
    comparisons: Iterable[Mapping[str, Any]] = (),
    names: tuple[str, str] = ("there", "back"),
    anchor: str = "directions",
    title: str = "Both directions",
) -> Section:
    """Make a section for :func:`visual_search.reports.page.write_report`.

    Parameters
    ----------
    split : Split
        Its claims are listed, and those of its reverse counted.
    systems : mapping of label to Directions
        Of this split.
    random : Directions, optional
        Exact expectation of a ranking by chance.
    comparisons : iterable of mapping
        Paired differences, as ``write_report`` takes them.
    names : tuple of two str
        What the two directions are called in the table.
    anchor, title : str

    Returns
    -------
    Section

    How to read it
    --------------
    Where the interval of the difference between the directions excludes 0, one side is the harder one to search from,
    and the pooled number is a mean of two tasks.
    """
    shown = [*((label, found, False) for label, found in systems.items())]
    if random is not None:
        shown.append(("random order", random, True))
    first = next(iter(systems.values()))
    body = render_part(
        "directions_section.html.j2",
        split=split,
        other=split.reversed(),
        names=names,
        groups=len(split.groups_where()),
        queries=len(first.pooled.queries),
        measures=[
            (text, [_row(label, found, text, chance) for label, found, chance in shown]) for text in first.there
        ],
        comparisons=comparisons_from(comparisons),
    )
    return Section(anchor, title, body)


def _row(label: str, found: Directions, text: str, chance: bool) -> Row:  # noqa: FBT001 - one flag of a private row
    there, back, pooled = (_cell(one[text], bare=chance) for one in (found.there, found.back, found.pooled))
    gap = found.asymmetry.get(text)
    if gap is None or chance:
        return Row(label, there, back, pooled, Cell(None), None, chance)
    return Row(label, there, back, pooled, Cell(_known(gap.difference), gap.interval), _known(gap.p_value), chance)


def _cell(found: MeasureResult, *, bare: bool) -> Cell:
    return Cell(_known(found.mean), None if bare else found.interval)


def _known(number: float | None) -> float | None:
    return None if number is None or isnan(number) else number
