"""One number for agreement, with the reason where there is none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from visual_search.evaluation.statistics.interval import Interval

__all__ = ["Coefficient"]


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient of agreement.

    Attributes
    ----------
    name : str
        As in ``Krippendorff's alpha (ordinal)``.
    value : float
        NaN where it is undefined, never 0 or 1 in its place.
    pairs : int
        (query, item) pairs that entered it.
    left_out : int
        Pairs with a grade that did not, since the definition cannot use them.
    reason : str
        Why it is undefined; empty where it is defined.
    interval : Interval or None
        Where these judges' agreement would lie on other queries.
    """

    name: str
    value: float
    pairs: int
    left_out: int = 0
    reason: str = ""
    interval: Interval | None = None

    @property
    def defined(self) -> bool:
        """Whether there is a number."""
        return not self.reason

    def with_interval(self, interval: Interval | None) -> Coefficient:
        """The same with its interval."""
        return replace(self, interval=interval)

    def as_json(self) -> dict[str, Any]:
        """As a JSON object; an undefined value is null."""
        return {
            "name": self.name,
            "value": self.value if self.defined else None,
            "pairs": self.pairs,
            "left_out": self.left_out,
            "reason": self.reason or None,
            "interval": None if self.interval is None else self.interval.as_json(),
        }
