"""Intervals without width: a mark for tables, and what to make of one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

__all__ = ["MARK", "agreement_note", "between", "has_no_width"]

MARK = "*"


class _Ends(Protocol):
    @property
    def low(self) -> float: ...
    @property
    def high(self) -> float: ...
    @property
    def confidence(self) -> float: ...


def has_no_width(interval: _Ends | None) -> bool:
    """Whether all groups agree, so that resampling finds no spread."""
    return interval is not None and interval.low == interval.high


def between(interval: _Ends | None, form: str = ".3f", link: str = " to ") -> str:
    """Both ends as text, marked where they are one; empty without an interval.

    Examples
    --------
    >>> from visual_search.evaluation.statistics.interval import Interval
    >>> between(Interval(1.0, 1.0, 0.95, "BCa bootstrap over groups", 2000, 0, 40))
    '1.000 to 1.000*'
    """
    if interval is None:
        return ""
    mark = MARK if has_no_width(interval) else ""
    return f"{interval.low:{form}}{link}{interval.high:{form}}{mark}"


def agreement_note(intervals: Iterable[_Ends | None], mark: str = MARK) -> str | None:
    r"""Footnote to marked intervals; None where all have width.

    .. math:: 1 - (1 - \text{confidence})^{1/G}

    is the share of other groups that G groups, all alike, leave possible: about 3/G at 95 %.

    Examples
    --------
    >>> from visual_search.evaluation.statistics.interval import Interval
    >>> print(agreement_note([Interval(1.0, 1.0, 0.95, "BCa bootstrap over groups", 2000, 0, 40)]))
    * all 40 groups agree, so that resampling finds no spread; up to 7.2 % of groups may still differ (95 %, one-sided)
    """
    flat = [one for one in intervals if one is not None and has_no_width(one)]
    counts = [(int(number), one.confidence) for one in flat if (number := getattr(one, "groups", 0))]
    if not counts:
        return None
    groups, confidence = min(counts)
    share = 1 - (1 - confidence) ** (1 / groups)
    return (
        f"{mark} all {groups:,} groups agree, so that resampling finds no spread; up to {share:.1%} of groups may "
        f"still differ ({confidence:.0%}, one-sided)"
    ).replace("%", " %")
