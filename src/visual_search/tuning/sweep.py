"""Runs a sweep: every setting measured on the same data, each point on disk as soon as it is finished."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from visual_search.errors import FingerprintError, InputError, Problems, VisualSearchError
from visual_search.evaluation.provenance import machine, utc_now, versions
from visual_search.evaluation.seeds import seeded
from visual_search.formats.fingerprint import fingerprint_json
from visual_search.formats.json_lines import JsonLines
from visual_search.formats.outputs import names_a_folder, written_file
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.indexing.engines.contract import Engine
from visual_search.tuning.building import build_engine, search_defaults, use_threads
from visual_search.tuning.costs import CostPlan, distinct_rows, measure_cost
from visual_search.tuning.engine_answer import checked_answer
from visual_search.tuning.engine_text import EngineText
from visual_search.tuning.grid import GridPoint, grid
from visual_search.tuning.load import check_load, measure_under_load
from visual_search.tuning.missed_neighbors import missed_neighbors
from visual_search.tuning.setting_checks import check_settings
from visual_search.tuning.sweep_data import SweepData
from visual_search.tuning.sweep_plan import asked_record, check_asked, split_records
from visual_search.tuning.sweep_point import SweepPoint
from visual_search.tuning.sweep_record import FORMAT, Sweep, is_header
from visual_search.tuning.sweep_shapes import check_lengths

__all__ = ["LoadPlan", "SweepProgress", "sweep"]

# Parts of the header that follow from the others, or tell when: a file's name does not depend on them.
_NOT_IDENTITY = ("created", "neighbors", "stored_gallery")

_BATCH = 1 << 12


@dataclass(frozen=True, slots=True)
class LoadPlan:
    """Under which load latency is measured as well.

    Parameters
    ----------
    rate : float
        Queries per second that arrive.
    queries : int
        How many arrive.
    workers : int
        How many are answered at a time.
    """

    rate: float
    queries: int = 1000
    workers: int = 1

    def __post_init__(self) -> None:
        check_load(self.rate, self.queries, self.workers)


class SweepProgress(Protocol):
    """Is told how far a sweep has come."""

    def start(self, total: int | None) -> None:
        """The sweep begins; ``total`` points are to be measured."""
        ...

    def advance(self, count: int) -> None:
        """``count`` more points are on disk."""
        ...


def sweep(
    data: SweepData,
    engines: Iterable[str | EngineText],
    settings: Mapping[str, Sequence[Any]] | None = None,
    *,
    out: str | os.PathLike[str],
    costs: CostPlan | None = CostPlan(),  # noqa: B008 - a frozen value
    load: LoadPlan | None = None,
    seed: int = 0,
    progress: SweepProgress | None = None,
) -> Sweep:
    """Measure engines under every combination of settings, in quality and in cost.

    Parameters
    ----------
    data : SweepData
        Vectors, right answers and measures: ``SweepData.of(gallery, queries, k=10, truth=truth)``.
    engines : iterable of str
        Text forms: ``"flat"``, ``"hnsw(m=16)"``, ``"faiss(factory=IVF64,PQ8np)"``.
    settings : mapping, optional
        Values by setting, all combinations: ``{"ef_search": [16, 64], "ivf.nprobe": [1, 4]}``.
    out : path
        File of the points, one a line; or a folder, in which the file's name carries the fingerprint of data and
        protocol, so that no two sweeps meet in one; a folder that is not there is made where its name ends in a slash.
        Points that are there already are not measured again.
    costs : CostPlan or None
        None measures no costs, and says so.
    load : LoadPlan, optional
        Measure latency under load, too.
    seed : int
        Of the order of the points.
    progress : SweepProgress, optional

    Returns
    -------
    Sweep
        All points asked for, also those that an earlier run measured.

    Raises
    ------
    FingerprintError
        The file has points of other data, measured otherwise, with other versions or on another machine: the parts
        that differ are listed.
    InputError, UnknownNameError
        Settings that are not allowed, before anything is built.

    Convention
    ----------
    Recall comes from a search of all queries that is not timed, times come from searches whose answers are not looked
    at. Points that differ only in how they are searched share one structure. Structures are built in an order drawn by
    seed, and so are the points of each, so that no setting is always the first or the last. Memory: the vectors as
    float32, one structure at a time.

    How to read it
    --------------
    Costs are of this machine in this hour; only points of one sweep are held against each other.

    Examples
    --------
    >>> import tempfile
    >>> from visual_search.testing.exact_answers import exact_by_brute_force
    >>> rng = np.random.default_rng(0)
    >>> gallery, queries = rng.normal(size=(300, 4)), rng.normal(size=(20, 4))
    >>> truth = exact_by_brute_force(gallery, queries, 5)
    >>> data = SweepData.of(gallery, queries, k=5, truth=truth)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     found = sweep(data, ["flat", "ivf(nlist=4)"], {"nprobe": [1, 4]}, out=folder)
    >>> [(point.label, float(point.values[found.measure()].mean()) == 1) for point in found.points]
    [('flat', True), ('ivf(nlist=4) nprobe=1', False), ('ivf(nlist=4) nprobe=4', True)]
    """
    seeded(seed)
    points = grid(engines, settings)
    check_settings(points, int(data.gallery.shape[1]), data.metric)
    header = _header(data, costs, load, seed)
    file = _place(out, header)
    with JsonLines(file) as lines:
        done = _done(lines, header, points)
        missing = [point for point in points if point.key not in done]
        if progress is not None:
            progress.start(len(missing))
        for ladder in _shuffled(list(dict.fromkeys(point.ladder for point in missing)), seed):
            of_ladder = [point for point in missing if point.ladder == ladder]
            for measured in _Ladder(data, of_ladder, costs, load, seed).points():
                lines.append(measured.as_json())
                done[measured.key] = measured
                if progress is not None:
                    progress.advance(1)
    return replace(Sweep.of(header, [replace(done[point.key], place=point.place) for point in points]), file=file)


class _Ladder:
    """Points that share a structure."""

    def __init__(
        self, data: SweepData, points: list[GridPoint], costs: CostPlan | None, load: LoadPlan | None, seed: int
    ) -> None:
        self._data, self._points, self._costs, self._load, self._seed = data, points, costs, load, seed
        self._plan = costs or CostPlan()

    def points(self) -> Iterable[SweepPoint]:
        """Build, then measure one after the other."""
        first = self._points[0]
        with _told_of(first.ladder):
            engine, build = build_engine(
                first.engine,
                self._data.gallery,
                metric=self._data.metric,
                settings=first.build,
                threads=self._plan.build_threads,
            )
        defaults = search_defaults(engine)
        for point in _shuffled(self._points, self._seed):
            with _told_of(str(point)):
                engine.configure(**{**defaults, **point.search})
                with use_threads(engine, self._plan.threads, point.search):
                    measured = self._measured(engine, point, build)
            yield measured

    def _measured(self, engine: Engine, point: GridPoint, build: Mapping[str, Any]) -> SweepPoint:
        data = self._data
        depth = min(data.k, len(data.gallery))
        found = [self._found(engine, data.queries[first : first + _BATCH], depth) for first in _firsts(data)]
        rows = np.concatenate([part[0] for part in found])
        values = data.values(rows, np.concatenate([part[1] for part in found]))
        cost = None if self._costs is None else measure_cost(engine.search, data.queries, depth, plan=self._costs)
        return SweepPoint(
            key=point.key,
            place=point.place,
            engine=engine.name,
            library=engine.library,
            ladder=point.ladder,
            settings=dict(engine.settings),
            asked=dict(point.search),
            values={
                name: np.array([np.nan if value is None else value for value in listed])
                for name, listed in values.items()
            },
            returned=float((rows >= 0).sum(axis=1).mean()),
            cost=None if cost is None else cost.as_json(),
            load=None if self._load is None else self._loaded(engine.search, depth, self._load),
            build=build,
            index_bytes=engine.index_bytes,
            memory_bytes=engine.memory_bytes,
            missed=None if data.truth is None else missed_neighbors(rows, data.truth, data.k),
        )

    def _found(self, engine: Engine, queries: Any, depth: int) -> tuple[Any, Any]:
        answer = engine.search(queries, depth)
        return checked_answer(engine.name, answer, queries=len(queries), k=depth, items=len(self._data.gallery))

    def _loaded(self, search: Callable[..., Any], depth: int, load: LoadPlan) -> dict[str, Any]:
        different = seeded(self._seed).permutation(distinct_rows(self._data.queries))
        asked = self._data.queries[different]

        def answer(number: int) -> None:
            place = number % len(asked)
            search(asked[place : place + 1], depth)

        made = measure_under_load(
            answer,
            load.rate,
            load.queries,
            workers=load.workers,
            distinct=min(load.queries, len(asked)),
            seed=self._seed,
        )
        return made.as_json()


@contextmanager
def _told_of(setting: str) -> Iterator[None]:
    """Let what a library raises say under which setting it did; the points before are on disk."""
    try:
        yield
    except (VisualSearchError, OSError):
        raise
    except Exception as error:
        raise InputError(
            f"engine: {setting} failed with {type(error).__name__}: {error}; the points before it are kept: leave it "
            "out, or mend it, and run again"
        ) from error


def _firsts(data: SweepData) -> range:
    return range(0, len(data.queries), _BATCH)


def _header(data: SweepData, costs: CostPlan | None, load: LoadPlan | None, seed: int) -> dict[str, Any]:
    plan = costs or CostPlan()
    return {
        "format": FORMAT,
        "data": data.identity(),
        "query_ids": list(data.query_ids),
        "stored_gallery": data.gallery_ids.fingerprint_with(data.gallery),
        "neighbors": None if data.truth is None else _neighbors(data.truth, data.k),
        "protocol": {
            "threads": plan.threads,
            "build_threads": plan.build_threads,
            "costs": None if costs is None else asdict(costs),
            "load": None if load is None else asdict(load),
            "seed": seed,
        },
        "versions": versions(),
        "machine": machine(),
        "created": utc_now(),
    }


def _neighbors(truth: ExactNeighbors, k: int) -> list[list[Any]]:
    """Ids of the exact neighbours of every query, nearest first: what the places that a point missed lead to."""
    return [truth.gallery.take([row for row in line if row >= 0]) for line in truth.positions[:, :k].tolist()]


def _place(out: str | os.PathLike[str], header: Mapping[str, Any]) -> Path:
    """The file itself, or one in a folder whose name carries what was measured and how; the folder is made."""
    place = Path(out)
    if names_a_folder(out):
        place.mkdir(parents=True, exist_ok=True)
    if not place.is_dir():
        return written_file(place, "out")  # of a link what it leads to
    same = {name: value for name, value in header.items() if name not in _NOT_IDENTITY}
    return place / f"sweep-{fingerprint_json(same).removeprefix('sha256:')}.jsonl"


def _done(lines: JsonLines, header: Mapping[str, Any], points: Sequence[GridPoint]) -> dict[str, SweepPoint]:
    """Points that are there; a new file gets its header, and every file what is asked for now and was not before."""
    if not lines.records:
        lines.append(header)
        lines.append(asked_record(points))
        return {}
    there = lines.records[0]
    if not is_header(there):
        raise InputError("out: the file holds something else than a sweep; give another name")
    problems = Problems(
        "out: the file has points of another sweep; give another name, or a folder to have one made"
    )
    for part in ("data", "protocol", "versions", "machine"):
        old, new = there.get(part) or {}, header[part]
        for name in dict.fromkeys((*old, *new)):
            if old.get(name) != new.get(name):
                problems.add(f"{part}: {name} is {new.get(name)!r} here and {old.get(name)!r} in the file")
    problems.raise_if_any(FingerprintError)
    before, measured = split_records(lines.records[1:])
    asked = check_asked(before)
    if more := [point for point in points if point.key not in asked]:
        lines.append(asked_record(more))
    done = {point.key: point for point in map(SweepPoint.from_json, measured)}
    for record in measured:
        check_lengths(record, header["data"]["measures"], len(header["query_ids"]))
    return done


def _shuffled(values: list[Any], seed: int) -> list[Any]:
    return [values[place] for place in seeded(seed).permutation(len(values))]
