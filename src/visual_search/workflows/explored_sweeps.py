"""The sweeps that are looked through: their settings, what may be chosen, and the queries that a setting loses."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from stat import S_ISREG
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from visual_search.errors import FileFormatError, UnknownNameError, VisualSearchError, first_few
from visual_search.tuning.choice import Choice
from visual_search.tuning.choose import choose
from visual_search.tuning.pareto import Front, pareto_front
from visual_search.tuning.sweep_point import COSTS, SweepPoint
from visual_search.tuning.sweep_record import Sweep
from visual_search.workflows.explored_indexes import ExploredIndex, ExploredIndexes

__all__ = ["ExploredSweep", "ExploredSweeps", "LostQuery", "SweepView"]

Made = TypeVar("Made")

_MOST_KEPT = 256
_USUAL_COST = "latency_p50"
_COST_WITHOUT_TIMES = "index_bytes"


@dataclass(frozen=True, slots=True)
class SweepView:
    """A sweep as it is looked at.

    Attributes
    ----------
    measure, cost : str or None
        The sweep's first, and ``latency_p50`` (``index_bytes`` where no times were taken), where None.
    target : float or None
        For the mean; with one, a setting is chosen.
    confidence : float
    """

    measure: str | None = None
    cost: str | None = None
    target: float | None = None
    confidence: float = 0.95


@dataclass(frozen=True, slots=True)
class LostQuery:
    """A query and what a setting did to it.

    Attributes
    ----------
    query : str or int
    value : float
    missed : list of (int, str or int or None), or None
        Place in the exact answer, from 1, and id of each neighbour that was not returned; None where the file does not
        say.
    is_item : bool
        The query is the gallery's item of its id: that is one of its own exact neighbours or, where the file has none,
        the id is a text. A row number says nothing: query 7 of one file is not item 7 of another.
    """

    query: Any
    value: float
    missed: list[tuple[int, Any]] | None
    is_item: bool


class ExploredSweep:
    """One sweep's file, read again when it has grown.

    Parameters
    ----------
    name : str
        Distinct among those explored together; never read as a path.
    path : Path

    Raises
    ------
    FileFormatError
        Not a sweep's file, or one that cannot be read.
    """

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self._path = path
        self._reading = threading.Lock()
        self._read: tuple[tuple[int, int], Sweep] | None = None
        self._made: OrderedDict[Hashable, Any] = OrderedDict()
        self.sweep()

    def sweep(self) -> Sweep:
        """The finished points as they are now.

        Raises
        ------
        FileFormatError
            The file is gone, cannot be read, or is no longer that of a sweep.
        """
        try:
            status = self._path.stat()
            if not S_ISREG(status.st_mode):
                raise FileFormatError(f"{self._path}: a folder, pipe or device where the file of a sweep should be")
            stamp = (status.st_size, status.st_mtime_ns)
            with self._reading:
                if self._read is None or self._read[0] != stamp:
                    self._read = (stamp, Sweep.load(self._path))
                    self._made.clear()
                return self._read[1]
        except OSError as problem:
            raise FileFormatError(
                f"{self._path}: the file of this sweep cannot be read ({problem.strerror}); bring it back, or start "
                "without it"
            ) from problem

    def made(self, key: Hashable, make: Callable[[], Made]) -> Made:
        """What was made of the points under a key, kept until they change: drawings and bounds take their time."""
        sweep = self.sweep()
        with self._reading:
            if key in self._made:
                self._made.move_to_end(key)
                kept: Made = self._made[key]
                return kept
        new = make()
        with self._reading:
            if self._read is not None and self._read[1] is sweep:
                self._made[key] = new
                while len(self._made) > _MOST_KEPT:
                    self._made.popitem(last=False)
        return new

    def front(self, view: SweepView) -> Front:
        """The settings that no other beats in measure and cost; all points are either on it or beaten."""
        cost = self.cost(view)
        return self.made(("front", view.measure, cost), lambda: pareto_front(self.sweep(), view.measure, cost))

    def cost(self, view: SweepView) -> str:
        """The cost that is looked at.

        Raises
        ------
        UnknownNameError
            No such cost.
        """
        if view.cost is not None:
            if view.cost not in COSTS:
                raise UnknownNameError(f"cost: no {view.cost[:100]!r}; known: {', '.join(COSTS)}")
            return view.cost
        timed = all(point.of(_USUAL_COST) is not None for point in self.sweep().points)
        return _USUAL_COST if timed else _COST_WITHOUT_TIMES

    def choice(self, view: SweepView) -> Choice | None:
        """The cheapest setting certified for the target; None where no target is given."""
        if view.target is None:
            return None
        return self.made(
            ("choice", view),
            lambda: choose(
                self.sweep(), view.target, measure=view.measure, confidence=view.confidence, cost=self.cost(view)
            ),
        )

    def table(self, view: SweepView) -> list[dict[str, Any]]:
        """Every setting, in the order they were asked for: ``{key, label, mean, lowest, lost, costs}``."""
        sweep = self.sweep()
        measure = sweep.measure(view.measure)
        return [_told(point, point.values[measure]) for point in sweep.points]

    def point(self, key: str) -> SweepPoint:
        """A setting by its key.

        Raises
        ------
        UnknownNameError
            None has it.
        """
        for point in self.sweep().points:
            if point.key == key:
                return point
        raise UnknownNameError(f"point: {self.name} has none of this key: {key[:200]!r}")

    def lost(self, point: SweepPoint, measure: str, first: int, count: int) -> tuple[list[LostQuery], int]:
        """Queries with less than 1 under a setting, the lowest value first; ``count`` of them from ``first``, and all.

        Queries of one value stand in their own order; undefined ones are left out.
        """
        sweep = self.sweep()
        values = point.values[measure]
        lost = np.flatnonzero(values < 1)
        order = lost[np.argsort(values[lost], kind="stable")]
        shown = order[first : first + count].tolist()
        return [self._lost(sweep, point, measure, row) for row in shown], len(order)

    @staticmethod
    def _lost(sweep: Sweep, point: SweepPoint, measure: str, row: int) -> LostQuery:
        missed = None
        query = sweep.query_ids[row]
        ids = sweep.neighbors[row] if sweep.neighbors is not None else []
        is_item = isinstance(query, str) if sweep.neighbors is None else query in ids
        if point.missed is not None:
            missed = [(place, ids[place - 1] if place <= len(ids) else None) for place in point.missed[row]]
        return LostQuery(query, float(point.values[measure][row]), missed, is_item)

    def index_among(self, indexes: ExploredIndexes) -> ExploredIndex | None:
        """The index that holds exactly what was swept over, by its fingerprint; its images are those of the ids.

        Either the vectors as they were given, or as an index keeps them: float32, and of unit length under ``cosine``.
        """
        header = self.sweep().header
        swept = {header["data"].get("gallery"), header.get("stored_gallery")} - {None}
        return next((one for one in indexes if one.fingerprint in swept), None) if swept else None


class ExploredSweeps:
    """Sweeps by name.

    Parameters
    ----------
    paths : iterable of path
        Files that ``visual-search sweep`` wrote; a name is the file's, with a number where two are alike.
    found : iterable of path
        More of them, which nobody asked for by name: one that cannot be read is told in ``problems``.

    Raises
    ------
    FileFormatError
        Not a sweep's file.
    """

    def __init__(
        self, paths: Iterable[str | os.PathLike[str]], *, found: Iterable[str | os.PathLike[str]] = ()
    ) -> None:
        self._by_name: dict[str, ExploredSweep] = {}
        self.problems: list[str] = []
        for path in map(Path, paths):
            self._open(path)
        for path in map(Path, found):
            try:
                self._open(path)
            except (VisualSearchError, OSError) as problem:
                self.problems.append(f"{path.name} is not served: {problem}")

    def _open(self, path: Path) -> None:
        name, number = path.name, 1
        while name in self._by_name:
            number += 1
            name = f"{path.name} ({number})"
        self._by_name[name] = ExploredSweep(name, path)

    def __iter__(self) -> Iterator[ExploredSweep]:
        return iter(self._by_name.values())

    def __len__(self) -> int:
        return len(self._by_name)

    def named(self, name: str | None) -> ExploredSweep | None:
        """The sweep of a name; the first, if any, where none is given.

        Raises
        ------
        UnknownNameError
            None has it.
        """
        if name is None:
            return next(iter(self._by_name.values()), None)
        if name not in self._by_name:
            raise UnknownNameError(f"sweep: none is named {name[:200]!r}; there are {first_few(self._by_name)}")
        return self._by_name[name]


def _told(point: SweepPoint, values: npt.NDArray[np.float64]) -> dict[str, Any]:
    known = values[~np.isnan(values)]
    return {
        "key": point.key,
        "label": point.label,
        "ladder": point.ladder,
        "mean": float(known.mean()) if known.size else None,
        "lowest": float(known.min()) if known.size else None,
        "lost": int((known < 1).sum()),
        "costs": {name: point.of(name) for name in COSTS},
    }
