"""The points of a sweep: every engine under every combination of the values asked for."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from visual_search.errors import InputError, Problems
from visual_search.tuning.engine_text import EngineText, parse_engine, settings_table

__all__ = ["GridPoint", "grid"]


@dataclass(frozen=True)
class GridPoint:
    """One engine, what shapes its structure, and how it is searched.

    Parameters
    ----------
    engine : str
    build, search : mapping
        Settings that were asked for; the engine's defaults fill the rest.
    place : int
        Its place in the order in which the points were asked for.
    """

    engine: str
    build: Mapping[str, Any]
    search: Mapping[str, Any]
    place: int

    @property
    def ladder(self) -> str:
        """Equal for points that share a structure and differ only in how it is searched."""
        return str(EngineText(self.engine, dict(sorted(self.build.items()))))

    @property
    def key(self) -> str:
        """Equal for equal points, and for no others, whatever the order of their settings."""
        return json.dumps([self.engine, dict(self.build), dict(self.search)], sort_keys=True)

    def __str__(self) -> str:
        return str(EngineText(self.engine, {**self.build, **self.search}))


def grid(
    engines: Iterable[str | EngineText], settings: Mapping[str, Sequence[Any]] | None = None
) -> tuple[GridPoint, ...]:
    """Every engine under every combination of values.

    Parameters
    ----------
    engines : iterable of str
        Text forms, as in ``"hnsw(m=16)"``.
    settings : mapping, optional
        Values by setting: ``{"ef_search": [16, 64]}`` for every engine that has it, ``{"ivf.nprobe": [1, 4]}`` for one.

    Returns
    -------
    tuple of GridPoint
        Each once, in the order asked for.

    Raises
    ------
    InputError
        No engine; a setting that none of them has; a value that is not allowed; a setting given by the text form and
        by values; all of them are listed.

    Examples
    --------
    >>> [str(point) for point in grid(["flat", "hnsw(m=16)"], {"ef_search": [16, 32]})]
    ['flat', 'hnsw(m=16,ef_search=16)', 'hnsw(m=16,ef_search=32)']
    """
    asked = [parse_engine(one) for one in ([engines] if isinstance(engines, str) else engines)]
    if not asked:
        raise InputError("engines: none given; name one or more, as in 'hnsw(m=16)'")
    wanted = {name: _listed(values) for name, values in (settings or {}).items()}
    problems = Problems("settings of the sweep")
    for name, values in wanted.items():
        if not values:
            problems.add(f"{name}: no values; give some, as in {name}=16,32")
        if not any(_meant(name, one.name) for one in asked):
            known = "; ".join(f"{one.name}: {', '.join(settings_table(one.name)) or 'none'}" for one in asked)
            problems.add(f"{name}: no engine of the sweep has it; known: {known}")
    points: dict[str, GridPoint] = {}
    for one in asked:
        named = [own for name in wanted if (own := _meant(name, one.name))]
        for own in sorted({own for own in named if named.count(own) > 1}):
            problems.add(f"{own}: given for all engines and for {one.name} alone; give {one.name} one of the two")
        meant = {own: values for name, values in wanted.items() if (own := _meant(name, one.name))}
        for twice in sorted(meant.keys() & one.settings.keys()):
            problems.add(f"{twice}: given by {one} and by values; give it once")
        for chosen in product(*meant.values()):
            try:
                text = parse_engine(EngineText(one.name, {**one.settings, **dict(zip(meant, chosen, strict=True))}))
            except InputError as error:
                problems.add(str(error))
                continue
            build, search = text.split()
            point = GridPoint(one.name, build, search, len(points))
            points.setdefault(point.key, point)
    problems.raise_if_any(InputError)
    return tuple(points.values())


def _meant(name: str, engine: str) -> str | None:
    """The setting of this engine that a name means, if any."""
    owner, dot, own = name.rpartition(".")
    if dot and owner != engine:
        return None
    return own if own in settings_table(engine) else None


def _listed(values: Any) -> list[Any]:
    return [values] if isinstance(values, (str, int)) else list(values)
