"""What a reader must know before the numbers: warnings and notes, each once, with the systems they are about."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from visual_search.evaluation.protocols.proof import broken_claims
from visual_search.reports.protocol_groups import ProtocolGroup
from visual_search.reports.systems import System

__all__ = ["Remark", "remarks_of"]


@dataclass
class Remark:
    """A warning or a note.

    Parameters
    ----------
    kind : str
        ``warning`` or ``note``.
    text : str
    systems : list of str
        Whom it is about; empty when it is about all.
    """

    kind: str
    text: str
    systems: list[str] = field(default_factory=list)


def remarks_of(groups: Sequence[ProtocolGroup], warnings: Sequence[str] = ()) -> list[Remark]:
    """Collect the remarks of all records, and further warnings of whoever writes the page; warnings first."""
    found: dict[tuple[str, str], Remark] = {}
    for group in groups:
        for kind, text in _about_group(group):
            found.setdefault((kind, text), Remark(kind, text))
        for system in group.systems:
            for kind, text in dict.fromkeys(_about_system(system)):
                remark = found.setdefault((kind, text), Remark(kind, text))
                remark.systems.append(f"{system.label}{group.under}")
    total = sum(len(group.systems) for group in groups)
    for remark in found.values():
        if len(remark.systems) == total:
            remark.systems = []
    for text in warnings:
        found.setdefault(("warning", text), Remark("warning", text))
    return sorted(found.values(), key=lambda remark: remark.kind != "warning")


def _about_group(group: ProtocolGroup) -> Iterator[tuple[str, str]]:
    if group.differences:
        quoted = f" under “{group.name}”" if group.name else ""
        text = (
            f"The systems{quoted} differ in {', '.join(group.differences)}: their numbers do not "
            "answer the same question and must not be compared."
        )
        yield "warning", text


def _about_system(system: System) -> Iterator[tuple[str, str]]:
    record = system.record
    for text in (*record.get("warnings", ()), *(record.get("audit") or {}).get("warnings", ())):
        yield "warning", str(text)
    if broken := broken_claims(record.get("protocol")):
        yield "warning", f"The split is not proven: {'; '.join(broken)}. Numbers of such a split flatter."
    if system.places_problem:
        yield "warning", f"No pictures: {system.places_problem}"
    truth = record.get("truth") or {}
    if truth.get("kind") == "pseudo":
        maker = f" ({truth['pseudo_model']})" if truth.get("pseudo_model") else ""
        text = (
            f"The right answers are pseudo ground truth: a model{maker} chose them, nobody judged them. Scores say "
            "how far a system agrees with that model."
        )
        yield "warning", text
    for text in record.get("notes", ()):
        yield "note", str(text)
