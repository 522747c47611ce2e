"""Runs a sweep: every setting measured on the same data, each point on disk as soon as it is finished."""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from visual_search.errors import FingerprintError, InputError, Problems
from visual_search.evaluation.provenance import machine, utc_now, versions
from visual_search.evaluation.seeds import seeded
from visual_search.formats.fingerprint import fingerprint_json
from visual_search.formats.json_lines import JsonLines
from visual_search.formats.outputs import names_a_folder, written_file
from visual_search.ground_truth.exact_neighbors import ExactNeighbors
from visual_search.tuning.costs import CostPlan
from visual_search.tuning.engine_text import EngineText
from visual_search.tuning.grid import GridPoint, applied_settings, applied_words, grid
from visual_search.tuning.limited_structure import LimitedStructure, OutOfTimeError, check_time_limit
from visual_search.tuning.load import LoadPlan
from visual_search.tuning.missed_neighbors import missed_neighbors
from visual_search.tuning.not_finished import NotFinished, Step
from visual_search.tuning.setting_checks import check_settings, settings_without_use
from visual_search.tuning.structure import Measured, Structure, StructureHere, StructureJob
from visual_search.tuning.sweep_data import SweepData
from visual_search.tuning.sweep_plan import asked_record, check_asked, split_records
from visual_search.tuning.sweep_point import SweepPoint
from visual_search.tuning.sweep_record import FORMAT, Sweep, is_header
from visual_search.tuning.sweep_shapes import check_lengths

__all__ = ["LoadPlan", "SweepProgress", "sweep"]

# Parts of the header that follow from the others, or tell when: a file's name does not depend on them.
_NOT_IDENTITY = ("created", "neighbors", "stored_gallery")


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
    time_limit: float | None = None,
    progress: SweepProgress | None = None,
    tell: Callable[[str], object] | None = None,
) -> Sweep:
    """Measure engines under every combination of settings, in quality and in cost.

    Parameters
    ----------
    data : SweepData
        Vectors, right answers and measures: ``SweepData.of(gallery, queries, k=10, truth=truth)``.
    engines : iterable of str
        Text forms: ``"flat"``, ``"hnsw(m=16)"``, ``"faiss(factory=IVF64,PQ8np)"``.
    settings : mapping, optional
        Values by setting, all combinations: ``{"ef_search": [16, 64], "ivf.nprobe": [1, 4]}``. A setting goes to
        every structure that has a use for it; ``applied`` of the result says which.
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
    time_limit : float, optional
        Seconds that the build of a structure may take, and everything that is measured under one setting. What takes
        longer is ended and kept as not finished, and the sweep goes on with the next. Points that were given up are
        tried again only with a longer limit, or none.
    progress : SweepProgress, optional
    tell : callable, optional
        Is told, before anything is built, of each setting that not every structure has a use for which it goes to.

    Returns
    -------
    Sweep
        All points asked for, also those that an earlier run measured; ``not_finished`` has those that were given up.

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
    float32, one structure at a time. With a time limit each structure has a process of its own, which begins anew
    after a point that was given up: the vectors stand in memory twice, and the structure is built again for the points
    left. Without one everything is done in this process, where a library that hangs cannot be ended but with the
    process.

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
    limit = _checked_limit(time_limit, load)
    dimension = int(data.gallery.shape[1])
    points = grid(
        engines, settings, without_use=partial(settings_without_use, dimension=dimension, metric=data.metric)
    )
    check_settings(points, dimension, data.metric)
    applied = applied_settings(points, settings)
    if tell is not None:
        for line in applied_words(applied, points):
            tell(line)
    header = _header(data, costs, load, seed)
    file = _place(out, header)
    with JsonLines(file) as lines:
        done, given_up = _done(lines, header, points)
        missing = [point for point in points if point.key not in done and _is_tried(given_up.get(point.key), limit)]
        if progress is not None:
            progress.start(len(missing))
        for ladder in _shuffled(list(dict.fromkeys(point.ladder for point in missing)), seed):
            of_ladder = [point for point in missing if point.ladder == ladder]
            job = _job(data, of_ladder[0], costs, load, seed)
            with closing(_Ladder(data, of_ladder, job, limit).points()) as measured:
                for one in measured:
                    if isinstance(one, NotFinished):
                        lines.append(one.as_record())
                        given_up[one.key] = one
                    else:
                        lines.append(one.as_json())
                        done[one.key] = one
                    if progress is not None:
                        progress.advance(1)
    places = {point.key: point.place for point in points}
    found = Sweep.of(
        header,
        [replace(one, place=places[key]) for key, one in done.items() if key in places],
        given_up=[replace(one, place=places[key]) for key, one in given_up.items() if key in places.keys() - done],
    )
    return replace(found, file=file, applied=applied)


class _Ladder:
    """Points that share a structure."""

    def __init__(
        self, data: SweepData, points: list[GridPoint], job: StructureJob, time_limit: float | None
    ) -> None:
        self._data, self._points, self._job, self._limit = data, points, job, time_limit

    def points(self) -> Generator[SweepPoint | NotFinished, None, None]:
        """Build, then measure one after the other; where one is given up, the structure is built again for the rest."""
        left = _shuffled(self._points, self._job.seed)
        while left:
            given_up = list(left)
            step: Step = "build"
            try:
                with self._structure() as structure:
                    while left:
                        given_up, step = left[:1], "search"
                        measured = self._point(left[0], structure.measured(left[0].search))
                        del left[0]
                        yield measured
            except OutOfTimeError:
                del left[: len(given_up)]
                for point in given_up:
                    yield NotFinished.of(point, step, self._limit or 0.0)

    def _structure(self) -> Structure:
        vectors = self._data.gallery, self._data.queries
        if self._limit is None:
            return StructureHere(self._job, *vectors)
        return LimitedStructure(self._job, *vectors, self._limit)

    def _point(self, point: GridPoint, found: Measured) -> SweepPoint:
        data = self._data
        values = data.values(found.rows, found.scores)
        return SweepPoint(
            key=point.key,
            place=point.place,
            ladder=point.ladder,
            asked=dict(point.search),
            values={
                name: np.array([np.nan if value is None else value for value in listed])
                for name, listed in values.items()
            },
            returned=float((found.rows >= 0).sum(axis=1).mean()),
            missed=None if data.truth is None else missed_neighbors(found.rows, data.truth, data.k),
            **found.told,
        )


def _job(
    data: SweepData, first: GridPoint, costs: CostPlan | None, load: LoadPlan | None, seed: int
) -> StructureJob:
    return StructureJob(
        engine=first.engine,
        build=dict(first.build),
        metric=data.metric,
        depth=min(data.k, len(data.gallery)),
        plan=costs or CostPlan(),
        costs=costs is not None,
        load=load,
        seed=seed,
    )


def _is_tried(before: NotFinished | None, limit: float | None) -> bool:
    """Whether a point may be finished now, if it was given up before."""
    return before is None or limit is None or limit > before.seconds


def _checked_limit(time_limit: float | None, load: LoadPlan | None) -> float | None:
    """Refuse a limit that is none, or that the test under load alone exceeds."""
    if time_limit is None:
        return None
    limit = check_time_limit(time_limit)
    if load is not None and load.queries / load.rate >= limit:
        raise InputError(
            f"time_limit: got {limit:g} s, and {load.queries:,} queries at {load.rate:g} a second take "
            f"{load.queries / load.rate:,.1f} s by themselves; give a longer one, or a higher rate"
        )
    return limit


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


def _done(
    lines: JsonLines, header: Mapping[str, Any], points: Sequence[GridPoint]
) -> tuple[dict[str, SweepPoint], dict[str, NotFinished]]:
    """Points that are there, and those that were given up.

    A new file gets its header, and every file what is asked for now and was not before.
    """
    if not lines.records:
        lines.append(header)
        lines.append(asked_record(points))
        return {}, {}
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
    before, measured, given_up = split_records(lines.records[1:])
    asked = check_asked(before)
    if more := [point for point in points if point.key not in asked]:
        lines.append(asked_record(more))
    done = {point.key: point for point in map(SweepPoint.from_json, measured)}
    for record in measured:
        check_lengths(record, header["data"]["measures"], len(header["query_ids"]))
    return done, NotFinished.latest(given_up, done)


def _shuffled(values: list[Any], seed: int) -> list[Any]:
    return [values[place] for place in seeded(seed).permutation(len(values))]
