"""Systems measured under one protocol, side by side: which measures they share, which is highest, what differs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from visual_search.reports.systems import Measured, System
from visual_search.reports.wording import begun

__all__ = ["ProtocolGroup", "group_by_protocol"]

_FAMILIES = ("HitRate", "Recall", "Precision", "AP", "RR", "nDCG")


@dataclass
class ProtocolGroup:
    """Systems measured under one protocol, side by side.

    Parameters
    ----------
    name, words : str
        As the records say; a record without a protocol has its dataset's name, or none.
    systems : list of System
    differences : list of str
        Why the systems are not comparable: which fingerprints or settings differ. Empty when they agree.
    """

    name: str
    words: str
    systems: list[System] = field(default_factory=list)
    differences: list[str] = field(default_factory=list)

    @property
    def heading(self) -> str:
        """What heads its part of the page: a protocol begins with a capital, a dataset is written as it is named."""
        protocol = self.systems[0].record.get("protocol") if self.systems else None
        return begun(self.name) if (protocol or {}).get("name") else self.name or "Results"

    @property
    def under(self) -> str:
        """Ends a phrase about its systems: " under " and the name, nothing without a name."""
        return f" under {self.name}" if self.name else ""

    @property
    def after(self) -> str:
        """Ends a title: a comma and the name, nothing without a name."""
        return f", {self.name}" if self.name else ""

    @property
    def measure_names(self) -> list[str]:
        """Canonical texts of all systems: known families first, settings as the records list them, then depth."""
        names = {name: measured for system in self.systems for name, measured in system.measures.items()}
        settings = list(dict.fromkeys(measured.settings for measured in names.values()))

        def place(name: str) -> tuple[int, int, float]:
            family = names[name].family
            order = _FAMILIES.index(family) if family in _FAMILIES else len(_FAMILIES)
            return order, settings.index(names[name].settings), names[name].depth or float("inf")

        return sorted(names, key=place)

    def is_highest(self, system: System, name: str) -> bool:
        """Whether a system has the highest mean of several, where higher is better."""
        means = {label: one.mean for label, one in self._of(name).items() if one.mean is not None}
        mean = means.get(system.label)
        lower_is_better = self.first(name).family == "FirstRank"
        return mean is not None and len(means) > 1 and mean == max(means.values()) and not lower_is_better

    def references(self, names: Sequence[str]) -> list[tuple[str, str, list[float | None]]]:
        """Rows below the systems: random order and the best that is reachable, where the records have them."""
        rows: list[tuple[str, str, list[float | None]]] = [
            ("random", "random order", [self.first(name).random for name in names]),
            ("ceiling", "best reachable", [self.first(name).ceiling for name in names]),
        ]
        return [row for row in rows if any(one is not None for one in row[2])]

    def _of(self, name: str) -> dict[str, Measured]:
        return {s.label: s.measures[name] for s in self.systems if name in s.measures}

    def measured(self, name: str) -> list[Measured | None]:
        """One measure of every system, None where a system lacks it."""
        return [system.measures.get(name) for system in self.systems]

    def first(self, name: str) -> Measured:
        """One measure of the first system that has it: its words, random expectation and ceiling."""
        return next(found for found in self.measured(name) if found is not None)

    @property
    def headline_names(self) -> list[str]:
        """The few measures that head the page: the first results, the order of the list, its first page."""
        chosen: list[str] = []
        for family, depth in (("HitRate", 1), ("Recall", 1), ("AP", None), ("RR", None), ("nDCG", 10)):
            same = [name for name in self.measure_names if self.first(name).family == family]
            exact = [name for name in same if depth is not None and self.first(name).depth == depth]
            # Without the usual depth: the smallest for the first results, the deepest for the whole list.
            rest = same[:1] if family in {"HitRate", "Recall"} else same[-1:]
            chosen += exact[:1] or rest
        return chosen or self.measure_names[:5]


def group_by_protocol(systems: Sequence[System]) -> list[ProtocolGroup]:
    """Put systems of one protocol together, in the order they came."""
    groups: dict[tuple[str, str], ProtocolGroup] = {}
    for system in systems:
        key = system.protocol
        groups.setdefault(key, ProtocolGroup(*key)).systems.append(system)
    for group in groups.values():
        group.differences = _differences(group.systems)
    return list(groups.values())


def _differences(systems: Sequence[System]) -> list[str]:
    """Which of the things that must agree do not."""
    different = []
    for part in ("gallery", "queries", "relevance", "exclusions"):
        known = {(system.record.get("fingerprints") or {}).get(part) for system in systems} - {None}
        if len(known) > 1:
            different.append(part)
    settings = ("num_queries", "k_values", "ties", "preset")
    return different + [part for part in settings if len({str(s.record.get(part)) for s in systems}) > 1]
