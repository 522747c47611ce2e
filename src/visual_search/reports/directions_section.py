"""Both directions of a split as a section of a report: the split with its proof, the numbers, the differences."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from visual_search.errors import FileFormatError
from visual_search.evaluation.protocols.directions import Directions
from visual_search.evaluation.protocols.split import Split
from visual_search.evaluation.statistics.agreement import agreement_note
from visual_search.evaluation.statistics.interval import Interval
from visual_search.formats.json_shapes import ANY, COUNT, NUMBER, TEXT, Each, There
from visual_search.formats.result_extensions import INTERVAL, PROOF
from visual_search.reports.comparisons import comparisons_from
from visual_search.reports.page_section import Section, checked
from visual_search.reports.rendering import render_part

__all__ = ["directions_record_section", "directions_section"]

_MEASURES = There(Each(There({"mean": NUMBER, "words": TEXT, "counted": COUNT, "interval": INTERVAL})))
_ONE = {"num_queries": COUNT, "measures": _MEASURES, "protocol": {"name": TEXT, "words": TEXT, "proof": PROOF}}
_WAY = There(_ONE)
_DIRECTIONS = {
    **dict.fromkeys(("there", "back", "pooled"), _WAY),
    "asymmetry": Each(There({"difference": NUMBER, "interval": INTERVAL, "p_value": NUMBER})),
}
_SPLIT = {"words": TEXT, "condition": TEXT, "warnings": There([TEXT]), "proof": PROOF}
_SHAPE = {
    "split": _SPLIT,
    "systems": There(Each(There(_DIRECTIONS))),
    "random": _DIRECTIONS,
    "comparisons": There([There(Each(ANY))]),
    "names": [TEXT],
}


@dataclass(frozen=True, slots=True)
class Cell:
    """A number with its interval, or without; None where undefined."""

    mean: float | None
    interval: Interval | Mapping[str, Any] | None = None


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
    told = {
        "split": split.record(),
        "systems": {label: found.as_json() for label, found in systems.items()},
        "random": None if random is None else random.as_json(),
        "comparisons": list(comparisons),
        "names": list(names),
    }
    return directions_record_section(told, groups=len(split.groups_where()), anchor=anchor, title=title)


def directions_record_section(
    record: Mapping[str, Any],
    *,
    label: str = "vectors",
    groups: int | None = None,
    anchor: str = "directions",
    title: str = "Both directions",
) -> Section:
    """Make the section of a record: what ``visual-search directions --json`` prints, or several systems of one split.

    Parameters
    ----------
    record : mapping
        ``there``, ``back``, ``pooled`` and ``asymmetry`` of one system; or ``systems``, such a mapping by label, with
        ``split`` and, where known, ``random``, ``comparisons`` and ``names``.
    label : str
        What a single system is called.
    groups : int, optional
        Independent groups of the split; those of the intervals where not given.
    anchor, title : str

    Raises
    ------
    FileFormatError
        Values of another kind; all of them are listed.
    """
    one = "systems" not in record
    value = checked({"systems": {label: dict(record)}} if one else record, _SHAPE, title, needed=("systems",))
    systems = value["systems"]
    first = next(iter(systems.values()), None)
    ways = [found[way] for found in systems.values() for way in ("there", "back", "pooled")]
    if first is None or any(way is None or way["measures"] is None for way in ways):
        raise FileFormatError(f"{title}: there, back and pooled are needed, with measures, of at least one system")
    split = value["split"] or first["there"]["protocol"] or {"words": None, "proof": None}
    shown = [(name, found, False) for name, found in systems.items()]
    if value["random"]:
        shown.append(("random order", value["random"], True))
    intervals = [
        measured["interval"]
        for ways in systems.values()
        for way in ("pooled", "there", "back")
        for measured in ways[way]["measures"].values()
    ]
    known = [found["groups"] for found in intervals if found and found.get("groups")]
    tables = [
        (text, _marked([_row(name, found, text, chance) for name, found, chance in shown]))
        for text in first["there"]["measures"]
    ]
    body = render_part(
        "directions_section.html.j2",
        anchor=anchor,
        split=split | {"condition": split.get("condition"), "warnings": split.get("warnings") or []},
        other=_reverse(first),
        names=value["names"] if len(value["names"]) == 2 else ["there", "back"],
        groups=groups if groups is not None else min(known, default=None),
        queries=first["pooled"]["num_queries"] or 0,
        measures=tables,
        flat=agreement_note(_Ends.of(one) for one in intervals if one),
        comparisons=comparisons_from(value["comparisons"] or ()),
    )
    return Section(anchor, title, body)


@dataclass(frozen=True, slots=True)
class _Ends:
    low: float
    high: float
    confidence: float
    groups: int

    @classmethod
    def of(cls, interval: Mapping[str, Any]) -> _Ends:
        return cls(
            interval["low"], interval["high"], interval.get("confidence") or 0.95, interval.get("groups") or 1
        )


def _reverse(first: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The proof of the split the other way round, which stands in the result of the way back."""
    proof: Mapping[str, Any] | None = (first["back"]["protocol"] or {}).get("proof")
    return proof


def _row(label: str, found: Mapping[str, Any], text: str, chance: bool) -> Row:  # noqa: FBT001 - one flag of a private row
    cells = [(found[way]["measures"] or {}).get(text) or {} for way in ("there", "back", "pooled")]
    there, back, pooled = (Cell(one.get("mean"), None if chance else one.get("interval")) for one in cells)
    gap = (found["asymmetry"] or {}).get(text)
    if gap is None or chance:
        return Row(label, there, back, pooled, Cell(None), None, chance)
    return Row(label, there, back, pooled, Cell(gap["difference"], gap["interval"]), gap["p_value"], chance)


def _marked(rows: list[Row]) -> list[tuple[Row, frozenset[str]]]:
    """Each row with the columns in which no other system is higher, where there are several."""
    systems = [row for row in rows if not row.reference]
    best = {}
    for column in ("there", "back", "pooled"):
        means = [getattr(row, column).mean for row in systems if getattr(row, column).mean is not None]
        best[column] = max(means) if len(means) > 1 else None
    return [
        (
            row,
            frozenset(
                column
                for column, highest in best.items()
                if not row.reference and highest is not None and getattr(row, column).mean == highest
            ),
        )
        for row in rows
    ]
