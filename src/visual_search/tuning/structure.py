"""A structure that is built once and measured under one search setting after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any, Protocol, Self, TypeAlias

import numpy as np
import numpy.typing as npt

from visual_search.errors import InputError, VisualSearchError
from visual_search.evaluation.provenance import utc_now
from visual_search.evaluation.seeds import seeded
from visual_search.indexing.engines.contract import Metric
from visual_search.tuning.building import build_engine, search_defaults, use_threads
from visual_search.tuning.costs import CostPlan, distinct_rows, measure_cost
from visual_search.tuning.engine_answer import checked_answer
from visual_search.tuning.engine_text import EngineText
from visual_search.tuning.load import LoadPlan, measure_under_load

__all__ = ["Measured", "Structure", "StructureHere", "StructureJob"]

Vectors: TypeAlias = npt.NDArray[np.float32]
Int64Array: TypeAlias = npt.NDArray[np.int64]

_BATCH = 1 << 12


@dataclass(frozen=True, slots=True)
class StructureJob:
    """What is built, and how it is measured.

    Parameters
    ----------
    engine : str
    build : mapping
        Settings that shape the structure.
    metric : "cosine", "ip" or "l2"
    depth : int
        Neighbours a query.
    plan : CostPlan
    costs, own_process : bool
        Whether times are taken; whether this is done in a process of its own.
    load : LoadPlan or None
    seed : int
    """

    engine: str
    build: Mapping[str, Any]
    metric: Metric
    depth: int
    plan: CostPlan
    costs: bool
    load: LoadPlan | None
    seed: int
    own_process: bool = False

    def as_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Self:
        """Read back what ``as_json`` wrote."""
        load = None if record["load"] is None else LoadPlan(**record["load"])
        return cls(**{**record, "plan": CostPlan(**record["plan"]), "load": load})


@dataclass(frozen=True, slots=True)
class Measured:
    """What a setting found, and what that cost.

    Attributes
    ----------
    rows, scores : arrays of shape (queries, depth)
    told : dict of JSON values
        ``engine``, ``library``, ``settings``, ``cost``, ``load``, ``build``, ``index_bytes``, ``memory_bytes``.
    """

    rows: Int64Array
    scores: Vectors
    told: dict[str, Any]


class Structure(Protocol):
    """Is built when the block begins, and let go when it ends."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *_: object) -> None: ...
    def measured(self, search: Mapping[str, Any]) -> Measured:
        """Search under these settings; what they leave out is the engine's default."""
        ...


class StructureHere:
    """A structure in this process.

    Raises
    ------
    InputError
        What a library raises, with the setting under which it did.
    """

    def __init__(self, job: StructureJob, gallery: Vectors, queries: Vectors) -> None:
        self._job, self._gallery, self._queries = job, gallery, queries

    def __enter__(self) -> Self:
        job = self._job
        begun = utc_now()
        with _told_of(job, {}):
            self._engine, build = build_engine(
                job.engine,
                self._gallery,
                metric=job.metric,
                settings=job.build,
                threads=job.plan.build_threads,
            )
        self._build = {**build, "begun": begun, "own_process": job.own_process}
        self._defaults = search_defaults(self._engine)
        return self

    def __exit__(self, *_: object) -> None:
        del self._engine

    def measured(self, search: Mapping[str, Any]) -> Measured:
        """Search, and search again for the times."""
        job, engine = self._job, self._engine
        with _told_of(job, search):
            engine.configure(**{**self._defaults, **search})
            with use_threads(engine, job.plan.threads, search):
                found = [self._found(self._queries[first : first + _BATCH]) for first in self._firsts()]
                cost = measure_cost(engine.search, self._queries, job.depth, plan=job.plan) if job.costs else None
                load = None if job.load is None else self._loaded(engine.search, job.load)
                told = {
                    "engine": engine.name,
                    "library": engine.library,
                    "settings": dict(engine.settings),
                    "cost": None if cost is None else cost.as_json(),
                    "load": load,
                    "build": self._build,
                    "index_bytes": engine.index_bytes,
                    "memory_bytes": engine.memory_bytes,
                }
        return Measured(
            np.concatenate([rows for rows, _ in found]), np.concatenate([scores for _, scores in found]), told
        )

    def _firsts(self) -> range:
        return range(0, len(self._queries), _BATCH)

    def _found(self, queries: Vectors) -> tuple[Int64Array, Vectors]:
        answer = self._engine.search(queries, self._job.depth)
        return checked_answer(
            self._engine.name, answer, queries=len(queries), k=self._job.depth, items=len(self._gallery)
        )

    def _loaded(self, search: Callable[..., Any], load: LoadPlan) -> dict[str, Any]:
        different = seeded(self._job.seed).permutation(distinct_rows(self._queries))
        asked = self._queries[different]

        def answer(number: int) -> None:
            place = number % len(asked)
            search(asked[place : place + 1], self._job.depth)

        made = measure_under_load(
            answer,
            load.rate,
            load.queries,
            workers=load.workers,
            distinct=min(load.queries, len(asked)),
            seed=self._job.seed,
        )
        return made.as_json()


@contextmanager
def _told_of(job: StructureJob, search: Mapping[str, Any]) -> Iterator[None]:
    """Let what a library raises say under which setting it did; the points before are on disk."""
    try:
        yield
    except (VisualSearchError, OSError):
        raise
    except Exception as error:
        setting = EngineText(job.engine, {**job.build, **search})
        raise InputError(
            f"engine: {setting} failed with {type(error).__name__}: {error}; the points before it are kept: leave it "
            "out, or mend it, and run again"
        ) from error
