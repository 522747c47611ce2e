"""The settings that no other beats in quality and cost together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from visual_search.errors import InputError
from visual_search.evaluation.measures.parsing import parse_measure
from visual_search.evaluation.text_table import text_table
from visual_search.tuning.sweep_point import COST_WORDS, COSTS, SweepPoint
from visual_search.tuning.sweep_record import Sweep, cost_in_words

__all__ = ["Front", "pareto_front"]


@dataclass(frozen=True, slots=True)
class Front:
    """Points in the plane of one measure and one cost.

    Attributes
    ----------
    measure, cost : str
    points : tuple of SweepPoint
        On the front, the cheapest first; each costs more than the one before and has a better mean.
    beaten : tuple of SweepPoint
        The others: for each there is a point that is no dearer and no worse, and better in one of both.
    """

    measure: str
    cost: str
    points: tuple[SweepPoint, ...]
    beaten: tuple[SweepPoint, ...]

    def mean(self, point: SweepPoint) -> float:
        """Mean of the measure at a point."""
        return float(np.nanmean(point.values[self.measure]))

    def table(self) -> str:
        """The front in plain text."""
        rows = [
            [point.label, f"{self.mean(point):.4f}", cost_in_words(self.cost, point.of(self.cost))]
            for point in self.points
        ]
        return text_table(["setting", self.measure, COST_WORDS[self.cost]], rows)

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "measure": self.measure,
            "cost": self.cost,
            "unit": COSTS[self.cost][0],
            "front": [self._told(point) for point in self.points],
            "beaten": [self._told(point) for point in self.beaten],
        }

    def _told(self, point: SweepPoint) -> dict[str, Any]:
        return {
            "setting": point.label,
            "settings": dict(point.settings),
            "mean": self.mean(point),
            "cost": point.of(self.cost),
        }


def pareto_front(sweep: Sweep, measure: str | None = None, cost: str = "latency_p50") -> Front:
    """Find the settings worth looking at.

    Parameters
    ----------
    sweep : Sweep
    measure : str, optional
        The sweep's first by default.
    cost : str
        As for :func:`visual_search.tuning.choose.choose`.

    Raises
    ------
    InputError
        There is no point, the cost was not measured for some, or a measure is undefined for all queries.

    Convention
    ----------
    Means are over all queries, without regard to their error: the front is for looking, ``choose`` is for deciding.

    Examples
    --------
    >>> from visual_search.testing.simulated_sweeps import simulated_sweep
    >>> front = pareto_front(simulated_sweep([0.9, 0.97, 0.95]))
    >>> [point.asked["ef_search"] for point in front.points], [point.asked["ef_search"] for point in front.beaten]
    ([32, 64], [128])
    """
    name = sweep.measure(measure)
    _check(sweep.points, name, cost)
    less_is_better = COSTS[cost][1]

    def price(point: SweepPoint) -> float:
        value = point.of(cost) or 0.0
        return value if less_is_better else -value

    def mean(point: SweepPoint) -> float:
        return float(np.nanmean(point.values[name]))

    best, kept, beaten = float("-inf"), [], []
    up = 1 if parse_measure(name).higher_is_better else -1
    for point in sorted(sweep.points, key=lambda one: (price(one), -up * mean(one), one.place)):
        if up * mean(point) > best:
            best = up * mean(point)
            kept.append(point)
        else:
            beaten.append(point)
    return Front(name, cost, tuple(kept), tuple(beaten))


def _check(points: Sequence[SweepPoint], measure: str, cost: str) -> None:
    if not points:
        raise InputError("sweep: no point is finished; run it on")
    without = [point.label for point in points if point.of(cost) is None]
    if without:
        raise InputError(
            f"cost: {cost} not measured for {len(without)} points, such as {without[0]!r}; sweep with costs"
        )
    empty = [point.label for point in points if np.isnan(point.values[measure]).all()]
    if empty:
        raise InputError(
            f"measure: {measure} is undefined for every query of {len(empty)} points, such as {empty[0]!r}"
        )
