"""An interval around a mean, with all that is needed to make it again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np
import numpy.typing as npt

from visual_search.counted import counted
from visual_search.errors import InputError
from visual_search.evaluation.folds import group_codes

__all__ = ["Interval", "IntervalMethod", "ProportionMethod", "Resampling", "resampling_groups"]

Int64Array = npt.NDArray[np.int64]
IntervalMethod: TypeAlias = Literal["percentile", "bca"]
ProportionMethod: TypeAlias = Literal["wilson", "clopper-pearson", "bootstrap"]


@dataclass(frozen=True, slots=True)
class Interval:
    """Where the mean would lie if the queries had been drawn again.

    Attributes
    ----------
    low, high : float
        Ends, in the measure's own unit.
    confidence : float
        Share of such intervals that would hold the mean of the population of groups.
    method : str
        In words.
    resamples : int
        How many the ends come from; resamples in which the mean was undefined are not among them. 0 where the ends
        follow from a formula.
    seed : int
    groups : int
        Independent groups with a defined value; with fewer than about 20 the interval is itself uncertain, mostly
        too narrow.

    Examples
    --------
    >>> interval = Interval(0.2, 0.4, 0.95, "percentile bootstrap over groups", 2000, 0, 40)
    >>> 0.3 in interval, 0.5 in interval
    (True, False)
    """

    low: float
    high: float
    confidence: float
    method: str
    resamples: int
    seed: int
    groups: int

    def __contains__(self, value: float) -> bool:
        return self.low <= value <= self.high

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Resampling:
    """How intervals are made: confidence, number of resamples, seed, method.

    Parameters
    ----------
    resamples : int, at least 100
        Ends are percentiles of this many means; 2,000 settle the second decimal of their share.
    confidence : float in (0, 1)
    seed : int
        The same seed gives the same interval.
    method : {"bca", "percentile"}
        Percentiles of the resampled means corrected for bias and for a spread that changes with the mean (BCa), or as
        they are. Medians always take percentiles.
    proportions : {"wilson", "clopper-pearson", "bootstrap"}
        What is done where every value is 0 or 1 and every query stands alone, as with the hit rate of independent
        queries: a formula that holds at shares near 0 and 1, where resampling does not.
    enumerated : int
        Where there are no more different resamples than this, all are taken, each with its probability, and nothing
        is random; 10,000 are those of 8 groups. 0: never.
    widened : bool
        Whether percentiles are taken further out, the more so the fewer groups there are, since resamples of few
        groups spread too little.

    Raises
    ------
    InputError
        A value outside its range.
    """

    resamples: int = 2000
    confidence: float = 0.95
    seed: int = 0
    method: IntervalMethod = "bca"
    proportions: ProportionMethod = "wilson"
    enumerated: int = 10_000
    widened: bool = True

    def __post_init__(self) -> None:
        if self.resamples < 100:
            raise InputError(f"resamples is {self.resamples}; percentiles need at least 100")
        if not 0 < self.confidence < 1:
            raise InputError(f"confidence is {self.confidence}; it must lie between 0 and 1, such as 0.95")
        if self.seed < 0:
            raise InputError(f"seed is {self.seed}; it must not be negative")
        for name, allowed in (("method", get_args(IntervalMethod)), ("proportions", get_args(ProportionMethod))):
            if getattr(self, name) not in allowed:
                raise InputError(f"{name} is {getattr(self, name)!r}; allowed are {', '.join(allowed)}")
        if not 0 <= self.enumerated <= 100_000:
            raise InputError(
                f"enumerated is {self.enumerated}; at least 0 and at most 100,000 resamples are listed in memory"
            )

    @property
    def tail(self) -> float:
        """Share that is left outside on either side."""
        return (1 - self.confidence) / 2


def resampling_groups(groups: Sequence[object] | None, count: int) -> tuple[Int64Array, int, str]:
    """Group number of each query, how many groups there are, and what they are called.

    >>> resampling_groups(["ann", "bob", "ann"], 3)
    (array([0, 1, 0]), 2, 'groups')
    """
    if groups is None or all(group is None for group in groups):
        codes, unit = np.arange(count, dtype=np.int64), "queries"
    else:
        codes, unit = group_codes(list(groups)), "groups"
    if len(codes) != count:
        raise InputError(
            f"groups has {counted(len(codes), 'entry', 'entries')}; one is needed for each of "
            f"{counted(count, 'query', 'queries')}"
        )
    return codes, int(codes.max()) + 1 if count else 0, unit
