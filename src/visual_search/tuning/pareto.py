"""The settings that no other beats in quality and cost together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from visual_search.errors import InputError
from visual_search.evaluation.measures.parsing import parse_measure
from visual_search.evaluation.text_table import text_table
from visual_search.tuning.not_finished import NotFinished
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
    not_finished : tuple of NotFinished
        Settings that are on no front, since they were given up.
    """

    measure: str
    cost: str
    points: tuple[SweepPoint, ...]
    beaten: tuple[SweepPoint, ...]
    not_finished: tuple[NotFinished, ...] = ()

    def left_out(self) -> str:
        """What a figure does not show, and why, in a line; empty where it shows all."""
        alike: dict[str, list[str]] = {}
        for one in self.not_finished:
            alike.setdefault(one.words(), []).append(one.label)
        parts = [f"{', '.join(labels[:3])}{_more(labels)} ({words})" for words, labels in alike.items()]
        return f"not shown: {'; '.join(parts)}" if parts else ""

    def mean(self, point: SweepPoint) -> float:
        """Mean of the measure at a point."""
        return float(np.nanmean(point.values[self.measure]))

    def table(self) -> str:
        """The front in plain text."""
        rows = [
            [point.label, f"{self.mean(point):.4f}", cost_in_words(self.cost, point.of(self.cost))]
            for point in self.points
        ]
        table = text_table(["setting", self.measure, COST_WORDS[self.cost]], rows)
        return "\n".join([table, *filter(None, [self.left_out()])])

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "measure": self.measure,
            "cost": self.cost,
            "unit": COSTS[self.cost][0],
            "front": [self._told(point) for point in self.points],
            "beaten": [self._told(point) for point in self.beaten],
            "not_finished": [one.told() for one in self.not_finished],
        }

    def _told(self, point: SweepPoint) -> dict[str, Any]:
        return {
            "setting": point.label,
            "settings": dict(point.settings),
            "mean": self.mean(point),
            "cost": point.of(self.cost),
        }


def _more(labels: Sequence[str]) -> str:
    return f" and {len(labels) - 3} more" if len(labels) > 3 else ""


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
    _check(sweep, name, cost)
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
    return Front(name, cost, tuple(kept), tuple(beaten), sweep.not_finished)


def _check(sweep: Sweep, measure: str, cost: str) -> None:
    sweep.refuse_if_empty()
    points = sweep.points
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
