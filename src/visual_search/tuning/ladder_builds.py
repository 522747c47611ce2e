"""How often each structure of a sweep was built: a sweep that went on later built it again for the points left."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from visual_search.tuning.sweep_point import SweepPoint

__all__ = ["LadderBuild", "ladder_builds", "rebuilt_words", "with_builds"]

_NAMED = 3


@dataclass(frozen=True, slots=True)
class LadderBuild:
    """One build of a structure, and the points that were measured on it.

    Attributes
    ----------
    ladder : str
    number, count : int
        Which of how many builds of this structure that the points at hand were measured on, from 1.
    build : mapping
        Seconds, threads, peak memory.
    points : tuple of SweepPoint
    """

    ladder: str
    number: int
    count: int
    build: Mapping[str, Any]
    points: tuple[SweepPoint, ...]

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {
            "ladder": self.ladder,
            "number": self.number,
            "of": self.count,
            **self.build,
            "settings": [point.label for point in self.points],
        }


def ladder_builds(points: Sequence[SweepPoint]) -> list[LadderBuild]:
    """The builds of every structure, in order of their begin.

    Parameters
    ----------
    points : sequence of SweepPoint
        Points of one build have one record of it.
    """
    told: dict[str, dict[str, list[SweepPoint]]] = {}
    for point in points:
        told.setdefault(point.ladder, {}).setdefault(json.dumps(point.build, sort_keys=True), []).append(point)
    made = []
    for ladder, groups in told.items():
        ordered = sorted(groups.values(), key=lambda group: group[0].build.get("begun") or "")
        made += [
            LadderBuild(ladder, number, len(ordered), group[0].build, tuple(group))
            for number, group in enumerate(ordered, 1)
        ]
    return made


def with_builds(points: Sequence[SweepPoint]) -> list[SweepPoint]:
    """The same points, each with all builds of its structure: what a build costs is one value for all of them."""
    builds = ladder_builds(points)
    of_ladder: dict[str, list[Mapping[str, Any]]] = {}
    for one in builds:
        of_ladder.setdefault(one.ladder, []).append(one.build)
    return [replace(point, ladder_builds=tuple(of_ladder[point.ladder])) for point in points]


def rebuilt_words(points: Sequence[SweepPoint]) -> list[str]:
    """A note of each structure that was built several times; none where each was built once."""
    builds = ladder_builds(points)
    said = []
    for ladder in dict.fromkeys(one.ladder for one in builds if one.count > 1):
        own = [one for one in builds if one.ladder == ladder]
        parts = [
            f"build {one.number}: {one.build['seconds']:.2f} s, {_named([_asked(point) for point in one.points])}"
            for one in own
        ]
        said.append(
            f"{ladder} was built {len(own)} times, since the sweep went on after a stop, a point that was given up, or "
            f"a finished run ({'; '.join(parts)}); the structures may differ a little, and of build time and peak "
            "memory the highest counts for every setting of it"
        )
    return said


def _asked(point: SweepPoint) -> str:
    return " ".join(f"{name}={value}" for name, value in point.asked.items()) or "defaults"


def _named(settings: list[str]) -> str:
    more = f" and {len(settings) - _NAMED} more" if len(settings) > _NAMED else ""
    return ", ".join(settings[:_NAMED]) + more
