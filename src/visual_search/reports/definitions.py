"""The list of definitions that every number on a page points to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from visual_search.reports.protocol_groups import ProtocolGroup
from visual_search.reports.systems import Measured

__all__ = ["Definition", "definitions_of"]


@dataclass
class Definition:
    """One convention, for all depths at which it was measured.

    Parameters
    ----------
    number : int
        Its place in the list, from 1.
    measured : Measured
        The deepest of its measures.
    depths : list of int
        Distinct depths, rising; empty for the full list.
    """

    number: int
    measured: Measured
    depths: list[int] = field(default_factory=list)

    @property
    def title(self) -> str:
        """Short name; with several depths ``@k``."""
        return self.measured.title.partition("@")[0] + "@k" if len(self.depths) > 1 else self.measured.title

    @property
    def text(self) -> str:
        """Canonical text; with several depths ``@k`` and the list of them."""
        if len(self.depths) < 2:
            return self.measured.name
        head, _, _ = self.measured.name.rpartition("@")
        return f"{head}@k, k = {', '.join(map(str, self.depths))}"

    @property
    def words(self) -> str:
        """The convention in words; with several depths k stands for them."""
        return self._template if len(self.depths) > 1 else self.measured.words

    @property
    def _template(self) -> str:
        return re.sub(rf"\b{self.measured.depth}\b", "k", self.measured.words)

    def covers(self, other: Measured) -> bool:
        """Whether another measure is this one at another depth: the same words, but for the depth in them."""
        if (other.family, other.settings, other.depth is None) != (
            self.measured.family,
            self.measured.settings,
            self.measured.depth is None,
        ):
            return False
        return other.words in {self.measured.words, re.sub(r"\bk\b", str(other.depth), self._template)}


def definitions_of(groups: Sequence[ProtocolGroup]) -> dict[str, Definition]:
    """Canonical text -> its definition; measures that differ only in depth share one when their words do."""
    listed = {name: group.first(name) for group in reversed(groups) for name in group.measure_names}
    order = list(dict.fromkeys(name for group in groups for name in group.measure_names))
    # The deepest makes the template: in the words of @1, a 1 may be the depth or part of a formula.
    shared: list[Definition] = []
    for measured in sorted(listed.values(), key=lambda one: -(one.depth or 0)):
        if not any(one.covers(measured) for one in shared):
            shared.append(Definition(0, measured))
    found = {name: next(one for one in shared if one.covers(listed[name])) for name in order}
    for number, one in enumerate({id(one): one for one in found.values()}.values(), start=1):
        one.number = number
        one.depths = sorted({m.depth for m in listed.values() if m.depth is not None and found[m.name] is one})
    return found
