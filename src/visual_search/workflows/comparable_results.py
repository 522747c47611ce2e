"""Which stored results answer the same questions, told from their records alone."""

from __future__ import annotations

import json
from collections.abc import Sequence

from visual_search.catalogue.entry import Entry
from visual_search.evaluation.comparability import differences
from visual_search.evaluation.compared import ComparedResult

__all__ = ["ComparableGroups", "told_differences"]


def told_differences(first: Entry, second: Entry) -> list[str]:
    """What keeps two results from being compared, by their records; empty where nothing does."""
    return differences(_side(first), _side(second))


def _side(entry: Entry) -> ComparedResult:
    return ComparedResult(entry.name, (), {}, {}, None, entry.parts)


class ComparableGroups:
    """Numbers results such that two have one number where they are comparable.

    Parameters
    ----------
    entries : sequence of Entry
        All results that may be asked about.
    """

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._numbers: dict[str, int] = {}
        self._firsts: list[tuple[str, Entry]] = []
        self._pinned = sorted((entry for entry in entries if entry.pinned), key=lambda entry: -entry.pinned)
        for entry in entries:
            if not entry.problem:
                self._place(entry)

    def _place(self, entry: Entry) -> None:
        text = _text(entry)
        if text in self._numbers:
            return
        for number, (_, first) in enumerate(self._firsts):
            if not told_differences(first, entry):
                self._numbers[text] = number
                return
        self._numbers[text] = len(self._firsts)
        self._firsts.append((text, entry))

    def of(self, entry: Entry) -> int:
        """The number of a result's group.

        A result that does not tell what it was measured on is comparable with no other, nor with itself: it has a
        group with those that tell as little, whose lines are then not to be trusted; see :meth:`joins`.
        """
        return self._numbers[_text(entry)]

    def joins(self, entry: Entry) -> bool:
        """Whether results of this one's group may be joined by a line."""
        return not told_differences(entry, entry)

    def baseline_of(self, entry: Entry) -> Entry | None:
        """The result pinned last that is comparable with this one; None where none is."""
        for pinned in self._pinned:
            if not pinned.problem and not told_differences(pinned, entry):
                return pinned
        return None

    @property
    def has_pins(self) -> bool:
        """Whether any result is pinned."""
        return bool(self._pinned)


def _text(entry: Entry) -> str:
    return json.dumps(dict(entry.parts), sort_keys=True)
