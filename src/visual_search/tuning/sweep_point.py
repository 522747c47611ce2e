"""One point of a sweep: a setting, what it found, and what it costs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError, UnknownNameError
from visual_search.tuning.grid import point_label
from visual_search.tuning.load import LoadedLatency
from visual_search.tuning.sweep_shapes import check_point
from visual_search.undefined import none_if_nan

__all__ = ["COSTS", "COST_WORDS", "SweepPoint"]

FloatArray: TypeAlias = npt.NDArray[np.float64]

#: What may be called the cost of a setting: the unit, and whether less is better.
COSTS: dict[str, tuple[str, bool]] = {
    "latency_mean": ("s", True),
    "latency_p50": ("s", True),
    "latency_p95": ("s", True),
    "latency_p99": ("s", True),
    "throughput": ("queries/s", False),
    "index_bytes": ("bytes", True),
    "memory_bytes": ("bytes", True),
    "peak_build_bytes": ("bytes", True),
    "build_seconds": ("s", True),
}

#: The same for people to read.
COST_WORDS: dict[str, str] = {
    "latency_mean": "mean latency",
    "latency_p50": "median latency",
    "latency_p95": "95th percentile of latency",
    "latency_p99": "99th percentile of latency",
    "throughput": "throughput",
    "index_bytes": "index size",
    "memory_bytes": "memory",
    "peak_build_bytes": "peak memory of the build",
    "build_seconds": "build time",
}


@dataclass(frozen=True, eq=False)
class SweepPoint:
    """A setting with everything that was measured under it.

    Attributes
    ----------
    key : str
        Equal for equal settings only.
    place : int
        Place in the order in which points were asked for.
    engine, library : str
    ladder : str
        Engine and build settings; points of one ladder share a structure.
    settings : mapping
        All of the engine's, defaults too, as they were during the search.
    asked : mapping
        The search settings that were asked for.
    values : mapping of str to float64 array of shape (n,)
        Of every measure, one a query; NaN where undefined.
    returned : float
        Mean number of results per query; below k where lists are short.
    cost : mapping or None
        Latency, throughput and their counts; None where costs were not measured.
    load : mapping or None
        Latency under load.
    build : mapping
        Seconds, threads, peak memory of the build that it was measured on and how it was taken, when that began
        (``begun``), and whether it had a process of its own (``own_process``).
    index_bytes, memory_bytes : int
    missed : sequence of sequences of int, or None
        Of every query, the places (from 1) in its exact answer of the neighbours that were not returned; None without
        exact neighbours, and in files of versions that did not keep them.
    ladder_builds : tuple of mapping
        All builds of its structure in the sweep that it belongs to; empty for a point by itself.
    """

    key: str
    place: int
    engine: str
    library: str
    ladder: str
    settings: Mapping[str, Any]
    asked: Mapping[str, Any]
    values: Mapping[str, FloatArray]
    returned: float
    cost: Mapping[str, Any] | None
    load: Mapping[str, Any] | None
    build: Mapping[str, Any]
    index_bytes: int
    memory_bytes: int
    missed: Sequence[Sequence[int]] | None = None
    ladder_builds: tuple[Mapping[str, Any], ...] = ()

    @property
    def label(self) -> str:
        """As a person names it: the ladder, then what was asked of the search."""
        return point_label(self.ladder, self.asked)

    def of(self, cost: str) -> float | None:
        """A cost by name; None where it was not measured.

        Time and peak memory of the build are those of the structure: where the sweep built it several times, the
        highest, so that they are the same for all points that share it.

        Raises
        ------
        UnknownNameError
            No such cost.
        """
        if cost not in COSTS:
            known = ", ".join(f"{name} ({words})" for name, words in COST_WORDS.items())
            raise UnknownNameError(f"cost: no {cost!r}; known: {known}")
        value: float | None
        if cost in ("index_bytes", "memory_bytes"):
            value = float(self.index_bytes if cost == "index_bytes" else self.memory_bytes)
        elif cost in ("peak_build_bytes", "build_seconds"):
            part = "seconds" if cost == "build_seconds" else "peak_bytes"
            taken = [build[part] for build in (self.build, *self.ladder_builds) if build[part] is not None]
            value = max(taken, default=None)
        elif self.cost is None:
            value = None
        elif cost == "throughput":
            value = self.cost["throughput"]
        else:
            value = self.cost["latency"][cost.removeprefix("latency_")]
        return None if value is None else float(value)

    def loaded_words(self) -> str:
        """Latency under load in one line."""
        return "not measured under load" if self.load is None else LoadedLatency.from_json(self.load).words()

    def as_json(self, *, values: bool = True) -> dict[str, Any]:
        """As a JSON object; with ``values`` those of every query, else their means."""
        told = {
            "key": self.key,
            "place": self.place,
            "engine": self.engine,
            "library": self.library,
            "ladder": self.ladder,
            "settings": dict(self.settings),
            "asked": dict(self.asked),
            "returned": self.returned,
            "cost": self.cost,
            "load": self.load,
            "build": dict(self.build),
            "index_bytes": self.index_bytes,
            "memory_bytes": self.memory_bytes,
        }
        if values:
            return told | {
                "values": {
                    name: [none_if_nan(value) for value in array.tolist()] for name, array in self.values.items()
                },
                "missed": self.missed,
            }
        return told | {"means": {name: _mean(array) for name, array in self.values.items()}}

    @classmethod
    def from_json(cls, record: Any) -> SweepPoint:
        """Read back what ``as_json`` wrote.

        Raises
        ------
        FileFormatError
            Something else; every value of another type than it should have.
        """
        check_point(record)
        try:
            values = {
                name: np.array([np.nan if value is None else value for value in listed], dtype=np.float64)
                for name, listed in record["values"].items()
            }
            return cls(**{**record, "values": values})
        except (KeyError, TypeError, AttributeError, ValueError, OverflowError) as error:
            raise FileFormatError(f"not a point of a sweep: {error}") from error


def _mean(values: FloatArray) -> float | None:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else None
