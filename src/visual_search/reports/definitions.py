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
    """One convention, for all depths at which it was measured."""

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
        return f"{head}@k, k = {', '.join(map(str, sorted(self.depths)))}"

    @property
    def words(self) -> str:
        """The convention in words; with several depths k stands for them."""
        return _at_any_depth(self.measured) if len(self.depths) > 1 else self.measured.words


def _at_any_depth(measured: Measured) -> str:
    return measured.words if measured.depth is None else re.sub(rf"\b{measured.depth}\b", "k", measured.words)


def definitions_of(groups: Sequence[ProtocolGroup]) -> dict[str, Definition]:
    """Canonical text -> its definition; measures that differ only in depth share one when their words do."""
    shared: dict[tuple[str, str, str, bool], Definition] = {}
    found: dict[str, Definition] = {}
    for group in groups:
        for name in group.measure_names:
            measured = group.first(name)
            key = (measured.family, measured.settings, _at_any_depth(measured), measured.depth is None)
            definition = shared.setdefault(key, Definition(len(shared) + 1, measured))
            if name not in found and measured.depth is not None:
                definition.depths.append(measured.depth)
            found.setdefault(name, definition)
    return found
