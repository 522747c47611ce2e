"""Two systems on the same queries, and whether the difference is more than luck.

The difference is taken query by query, so that what makes a query hard for both drops out. Its interval comes from
the bootstrap over groups; its p-value from a paired randomisation [1]_: if the systems were the same, each group's
differences could as well have had the other sign.

.. [1] M. Smucker, J. Allan, B. Carterette, A comparison of statistical significance tests for information retrieval
   evaluation, CIKM 2007.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError
from visual_search.evaluation.statistics.bootstrap import bootstrap_mean
from visual_search.evaluation.statistics.flips import flip_test
from visual_search.evaluation.statistics.interval import Interval, Resampling, resampling_groups
from visual_search.evaluation.statistics.sparse_differences import (
    differing_groups,
    fewest_differing,
    sparse_interval,
)

__all__ = ["FEWEST_GROUPS", "PairedDifference", "caution_on", "paired_difference"]

# Below it resampling knows too few other samples; a rule of thumb.
FEWEST_GROUPS = 10

FloatArray = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class PairedDifference:
    """How much higher the first system's mean is, over the queries where both values are defined.

    Attributes
    ----------
    difference : float
        Mean of first minus second; NaN where no query has both.
    interval : Interval or None
        Around the difference; None with fewer than two groups. Where too few groups differ for resampling, that of the
        shares of groups that win and lose.
    p_value : float
        Two-sided; (1 + flips at least as far from 0) / (1 + flips), so never 0.
    wins, losses, ties : int
        Queries where the first value is higher, lower, equal.
    queries : int
        Queries compared.
    differing : int
        Independent groups whose differences do not add up to 0.
    only_first, only_second : int
        Queries left out because one of the values is undefined.
    flips : int
        Flips taken; where there are no more ways to sign the groups than were asked for, all of them but the one that
        came, so that p is exact.
    seed : int
    """

    difference: float
    interval: Interval | None
    p_value: float
    wins: int
    losses: int
    ties: int
    queries: int
    differing: int
    only_first: int
    only_second: int
    flips: int
    seed: int

    @property
    def caution(self) -> str | None:
        """What to bear in mind where few groups are there or differ, or where interval and p disagree; or None."""
        return caution_on(self.interval, self.differing, self.p_value)

    def as_json(self) -> dict[str, Any]:
        """As a JSON object; an undefined difference is null."""
        value = asdict(self) | {"caution": self.caution}
        return value if self.queries else value | {"difference": None, "p_value": None}


def caution_on(interval: Interval | None, differing: int, p_value: float) -> str | None:
    """What to bear in mind with a difference: few groups that differ, few groups, or an interval against its p."""
    if interval is None:
        return None
    groups = interval.groups
    among = f"only {differing} of {groups}" if differing else f"none of {groups}"
    verb = "differ" if differing > 1 else "differs"
    if differing < fewest_differing(interval.confidence):
        meant = (
            "the interval is too narrow to be relied on"
            if interval.resamples
            else "the interval is that of the shares of groups that win and lose, each by as much as one of these "
            "queries can differ"
        )
        least = f"and cannot fall below {2 / 2**differing:.2g} with {differing}" if differing else "and is 1 here"
        return (
            f"{among} independent groups {verb}, too few for resampling; {meant}; p counts sign flips of the groups "
            f"that differ, {least}"
        )
    if groups < FEWEST_GROUPS:
        return (
            f"only {groups} independent groups: an interval of so few is too narrow to be relied on, also where it "
            f"excludes 0; go by p, which counts sign flips of the groups and cannot fall below {2 / 2**groups:.2g} "
            f"with {groups}"
        )
    if p_value > 1 - interval.confidence and 0 not in interval:
        return (
            f"the interval excludes 0 and p is {p_value:.2g}: resampling and sign flips disagree on the {differing} "
            "groups that differ; go by p"
        )
    return None


def paired_difference(
    first: FloatArray,
    second: FloatArray,
    *,
    groups: Sequence[object] | None = None,
    resampling: Resampling | None = None,
    flips: int = 10_000,
    largest: float | None = None,
) -> PairedDifference:
    """Compare two systems' values on the same queries, in the same order.

    Parameters
    ----------
    first, second : float64 arrays of shape (n,)
        One value a query; NaN where undefined.
    groups : sequence of length n, optional
        Group of each query; a group's differences change sign together.
    resampling : Resampling, optional
        For the interval; its seed also draws the flips.
    flips : int
        Random sign flips, at least 100; all ways to sign where these are no more.
    largest : float, optional
        The largest difference one query can have; where left out 1 if all values lie between 0 and 1, else it is not
        known and the interval is always that of resampling.

    Returns
    -------
    PairedDifference

    How to read it
    --------------
    An interval that excludes 0 and a small p say that these queries tell the systems apart. Where fewer than 6 groups
    differ, or fewer than 10 are there, resampling is too narrow to say so, and p alone counts; see ``caution``. A large
    p does not say that the systems are equal.

    Raises
    ------
    InputError
        Other lengths, infinite values, or too few flips.

    Examples
    --------
    >>> better = paired_difference(np.array([1.0, 1, 1, 0, 1, 1, 1]), np.array([0.0, 0, 1, 0, 0, 0, 0]))
    >>> round(better.difference, 3), better.wins, better.losses, better.ties
    (0.714, 5, 0, 2)
    >>> better.p_value, better.flips    # 2 of the 2**5 ways to sign five queries
    (0.0625, 31)
    """
    settings = resampling or Resampling()
    _check(first, second, flips)
    codes, count, unit = resampling_groups(groups, len(first))
    has_first, has_second = ~np.isnan(first), ~np.isnan(second)
    both = has_first & has_second
    difference = np.where(both, first - second, np.nan)
    known = difference[both]
    sums: FloatArray = np.bincount(codes[both], weights=known, minlength=count).astype(np.float64)
    weights: FloatArray = np.bincount(codes[both], minlength=count).astype(np.float64)
    test = flip_test(sums[:, None], flips=flips, seed=settings.seed)
    differing = int(differing_groups(sums).sum())
    interval = bootstrap_mean(difference, groups=groups, resampling=settings)
    if differing < fewest_differing(settings.confidence):
        limit = _largest(first[both], second[both]) if largest is None else largest
        interval = sparse_interval(sums, weights, limit, settings, unit) or interval
    return PairedDifference(
        difference=float(known.mean()) if len(known) else float("nan"),
        interval=interval,
        p_value=float(test.p_values[0]) if len(known) else float("nan"),
        wins=int((known > 0).sum()),
        losses=int((known < 0).sum()),
        ties=int((known == 0).sum()),
        queries=len(known),
        differing=differing,
        only_first=int((has_first & ~has_second).sum()),
        only_second=int((has_second & ~has_first).sum()),
        flips=test.flips,
        seed=settings.seed,
    )


def _largest(first: FloatArray, second: FloatArray) -> float:
    values = np.concatenate((first, second))
    return 1.0 if ((values >= 0) & (values <= 1)).all() else float("inf")


def _check(first: FloatArray, second: FloatArray, flips: int) -> None:
    if first.ndim != 1 or first.shape != second.shape:
        raise InputError(f"first and second must have one value a query each; got {first.shape} and {second.shape}")
    if np.isinf(first).any() or np.isinf(second).any():
        raise InputError("first and second must be finite; NaN stands where a value is undefined")
    if flips < 100:
        raise InputError(f"flips is {flips}; at least 100 are needed")
