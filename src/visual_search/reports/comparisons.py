"""Paired differences between systems, as given by whoever computed them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from visual_search.errors import InputError, Problems
from visual_search.reports.wording import value

__all__ = ["Comparison", "comparisons_from"]


@dataclass(frozen=True)
class Comparison:
    """A difference between two systems on the same queries: ``a`` minus ``b``.

    Parameters
    ----------
    a, b : str
        Model names.
    measure : str
        Canonical text.
    difference : float
    low, high : float, optional
        Its interval.
    p : float, optional
        Of a paired test.
    wins, losses, ties : int, optional
        Queries on which a has the higher, the lower, the same value.
    protocol : str, optional
        Name of the protocol it was found under.
    words : str
        How interval and p were made.
    p_adjusted : float, optional
        Of the same test, valid for all comparisons of the page at once.
    effect_size : float, optional
        Difference over the standard deviation of the groups' differences.
    detectable : float, optional
        Smallest true difference that as many groups would show four times in five.
    caution : str, optional
        What to bear in mind, such as that the groups are few.
    """

    a: str
    b: str
    measure: str
    difference: float
    low: float | None = None
    high: float | None = None
    p: float | None = None
    wins: int | None = None
    losses: int | None = None
    ties: int | None = None
    protocol: str | None = None
    words: str = ""
    p_adjusted: float | None = None
    effect_size: float | None = None
    detectable: float | None = None
    caution: str | None = None

    @property
    def has_interval(self) -> bool:
        """Whether both ends are known."""
        return self.low is not None and self.high is not None

    @property
    def reading(self) -> str:
        """What the interval allows to say."""
        if self.low is None or self.high is None:
            return "no interval given"
        if self.low > 0:
            return "higher; the interval excludes 0"
        if self.high < 0:
            return "lower; the interval excludes 0"
        seen = (
            ""
            if self.detectable is None
            else f"; one of {value(self.detectable)} would have been seen four times in five"
        )
        return f"not told apart; the interval includes 0{seen}"


def comparisons_from(given: Iterable[Mapping[str, Any]]) -> list[Comparison]:
    """Make comparisons of mappings; keys beyond the known ones are left to other readers.

    An ``interval`` with ``low`` and ``high``, and ``p_value``, are read too.

    Raises
    ------
    InputError
        A mapping without a, b, measure or difference; all of them are listed.
    """
    known = {one.name for one in fields(Comparison)}
    problems = Problems("comparisons")
    made = []
    for row, one in enumerate(given):
        missing = [key for key in ("a", "b", "measure", "difference") if one.get(key) is None]
        if missing:
            problems.add(
                f"comparisons[{row}]: {', '.join(missing)} missing; each needs a, b, measure and difference"
            )
        else:
            made.append(
                Comparison(**{k: what for k, what in _flat(one).items() if k in known and what is not None})
            )
    problems.raise_if_any(InputError)
    return made


def _flat(one: Mapping[str, Any]) -> dict[str, Any]:
    interval = one.get("interval") or {}
    found = {"low": interval.get("low"), "high": interval.get("high"), "p": one.get("p_value")}
    return {**found, **one}
