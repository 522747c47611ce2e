"""Every picture accounted for: used, with what was done to it, or left out, with the reason."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from visual_search.reports.protocol_groups import ProtocolGroup

__all__ = ["LedgerTable", "ledger_table", "ledger_tables"]

_SHOWN = 500


@dataclass(frozen=True, slots=True)
class LedgerTable:
    """One account of pictures.

    Attributes
    ----------
    names : tuple of str
        Whose gallery it is of; several where they share it.
    used, changed, left_out : int
        ``changed`` is a part of ``used``.
    changes, reasons : tuple of (str, int)
        What was done, and why pictures were left out, the most frequent first.
    files : tuple of (str, str)
        Pictures left out, each with its reason; the first of them where they are many.
    """

    names: tuple[str, ...]
    used: int
    changed: int
    left_out: int
    changes: tuple[tuple[str, int], ...]
    reasons: tuple[tuple[str, int], ...]
    files: tuple[tuple[str, str], ...]

    @property
    def more(self) -> int:
        """Pictures that were left out and are not named here."""
        return self.left_out - len(self.files)


def ledger_table(names: Sequence[str], ledger: Mapping[str, Any]) -> LedgerTable:
    """Read an account as results and indexes keep it; ``left_out_files`` has an id and a reason each."""
    files = [(str(one.get("id")), str(one.get("reason"))) for one in ledger.get("left_out_files") or () if one]
    return LedgerTable(
        tuple(names),
        int(ledger.get("used") or 0),
        int(ledger.get("changed") or 0),
        int(ledger.get("left_out") or 0),
        _counts(ledger.get("changes")),
        _counts(ledger.get("reasons")),
        tuple(files[:_SHOWN]),
    )


def ledger_tables(groups: Sequence[ProtocolGroup]) -> list[LedgerTable]:
    """The accounts of all results of a page; equal ones stand once, under all their names."""
    found: list[tuple[Mapping[str, Any], list[str]]] = []
    for group in groups:
        for system in group.systems:
            ledger = system.record.get("ledger")
            if not ledger:
                continue
            name = f"{system.label}{group.after}"
            same = next((names for other, names in found if other == ledger), None)
            if same is None:
                found.append((ledger, [name]))
            else:
                same.append(name)
    return [ledger_table(names, ledger) for ledger, names in found]


def _counts(counts: Any) -> tuple[tuple[str, int], ...]:
    given = counts.items() if isinstance(counts, Mapping) else ()
    return tuple((str(name), int(count)) for name, count in given if isinstance(count, int))
