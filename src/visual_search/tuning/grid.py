"""The points of a sweep: every engine under every combination of the values asked for."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, TypeAlias

from visual_search.errors import InputError, Problems
from visual_search.tuning.engine_text import EngineText, parse_engine, settings_table

__all__ = ["GridPoint", "WithoutUse", "applied_settings", "applied_words", "grid", "point_label"]

#: Of an engine and the settings that shape its structure: settings that the structure has nothing for, and why.
WithoutUse: TypeAlias = Callable[[str, Mapping[str, Any]], Mapping[str, str]]


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

    @property
    def label(self) -> str:
        """As a person names it: the ladder, then what is asked of the search."""
        return point_label(self.ladder, self.search)

    def __str__(self) -> str:
        return str(EngineText(self.engine, {**self.build, **self.search}))


def point_label(ladder: str, search: Mapping[str, Any]) -> str:
    """A point's name, of its ladder and the search settings asked for.

    >>> point_label("hnsw(m=16)", {"ef_search": 32})
    'hnsw(m=16) ef_search=32'
    """
    return f"{ladder} {' '.join(f'{name}={value}' for name, value in search.items())}".strip()


def grid(
    engines: Iterable[str | EngineText],
    settings: Mapping[str, Sequence[Any]] | None = None,
    *,
    without_use: WithoutUse | None = None,
) -> tuple[GridPoint, ...]:
    """Every engine under every combination of values.

    Parameters
    ----------
    engines : iterable of str
        Text forms, as in ``"hnsw(m=16)"``.
    settings : mapping, optional
        Values by setting: ``{"ef_search": [16, 64]}`` for every engine that has it, ``{"ivf.nprobe": [1, 4]}`` for one.
    without_use : callable, optional
        Tells of a structure which settings of its engine it has nothing for, as ``ef_search`` where there is no graph:
        values of them go to the others alone.

    Returns
    -------
    tuple of GridPoint
        Each once, in the order asked for.

    Raises
    ------
    InputError
        No engine; a setting that none of them has, with what each allows; a value that is not allowed; a setting given
        by the text form and by values; all of them are listed.

    Examples
    --------
    >>> [str(point) for point in grid(["flat", "hnsw(m=16)"], {"ef_search": [16, 32]})]
    ['flat', 'hnsw(m=16,ef_search=16)', 'hnsw(m=16,ef_search=32)']
    """
    listed = [engines] if isinstance(engines, str | EngineText) else engines
    asked = [parse_engine(one) for one in (listed or ())]
    if not asked:
        raise InputError("engines: none given; name one or more, as in 'hnsw(m=16)'")
    wanted = _wanted(settings)
    problems = Problems("settings of the sweep")
    made = _Points(wanted, without_use or _all_of_use, problems)
    for one in asked:
        made.add(one)
    for name, values in wanted.items():
        if not values:
            problems.add(f"{name}: no values; give some, as in {name}=16,32")
        elif name not in made.taken:
            problems.add(f"{name}: no engine of the sweep has it; known: {made.known(asked)}")
    problems.raise_if_any(InputError)
    return tuple(made.points.values())


def applied_settings(
    points: Iterable[GridPoint], settings: Mapping[str, Sequence[Any]] | None
) -> dict[str, tuple[str, ...]]:
    """Structures that each setting given by values went to, in their order.

    >>> swept = {"ef_search": [16], "nprobe": [4], "ivf.nlist": [2, 4]}
    >>> applied_settings(grid(["hnsw", "ivf"], swept), swept)
    {'ef_search': ('hnsw',), 'nprobe': ('ivf(nlist=2)', 'ivf(nlist=4)'), 'ivf.nlist': ('ivf(nlist=2)', 'ivf(nlist=4)')}
    """
    listed = list(points)
    found: dict[str, tuple[str, ...]] = {}
    for name in _wanted(settings):
        ladders = [
            point.ladder
            for point in listed
            if (own := _meant(name, point.engine)) is not None and own in {**point.build, **point.search}
        ]
        found[name] = tuple(dict.fromkeys(ladders))
    return found


def applied_words(applied: Mapping[str, Sequence[str]], points: Iterable[GridPoint]) -> list[str]:
    """A line for each setting that did not go to all structures.

    >>> swept = {"ef_search": [16], "seed": [1]}
    >>> points = grid(["hnswlib(m=8)", "ivf", "flat"], swept)
    >>> applied_words(applied_settings(points, swept), points)
    ['ef_search goes to hnswlib(m=8,seed=1), not to ivf(seed=1), flat', \
'seed goes to hnswlib(m=8,seed=1), ivf(seed=1), not to flat']
    """
    every = list(dict.fromkeys(point.ladder for point in points))
    said = []
    for name, ladders in applied.items():
        others = [ladder for ladder in every if ladder not in ladders]
        if others:
            said.append(f"{name} goes to {', '.join(ladders)}, not to {', '.join(others)}")
    return said


class _Points:
    """Points as they come, each once, and what was taken of the values on the way."""

    def __init__(self, wanted: Mapping[str, list[Any]], without_use: WithoutUse, problems: Problems) -> None:
        self.points: dict[str, GridPoint] = {}
        self.taken: set[str] = set()
        self._wanted, self._without_use, self._problems = wanted, without_use, problems

    def add(self, one: EngineText) -> None:
        """Every combination of the values that this engine has a use for."""
        meant = self._meant(one)
        table = settings_table(one.name)
        shaping = [name for name in meant if table[name].when == "build"]
        for chosen in product(*(self._wanted[meant[name]] for name in shaping)):
            text = self._checked(EngineText(one.name, {**one.settings, **dict(zip(shaping, chosen, strict=True))}))
            if text is None:
                continue
            useless = self._without_use(one.name, text.split()[0])
            searched = [name for name in meant if name not in shaping and name not in useless]
            self.taken |= {meant[name] for name in (*shaping, *searched)}
            for values in product(*(self._wanted[meant[name]] for name in searched)):
                given = dict(zip(shaping, chosen, strict=True)) | dict(zip(searched, values, strict=True))
                # In the order asked for, so that labels name settings in it.
                self._keep(
                    EngineText(one.name, {**one.settings, **{name: given[name] for name in meant if name in given}})
                )

    def known(self, engines: Iterable[EngineText]) -> str:
        """What each engine allows, without what its structure has nothing for."""
        told = []
        for one in engines:
            table = settings_table(one.name)
            useless = self._without_use(one.name, one.split()[0])
            why = f" ({', '.join(dict.fromkeys(useless.values()))})" if useless else ""
            told.append(f"{one}: {', '.join(name for name in table if name not in useless) or 'none'}{why}")
        return "; ".join(dict.fromkeys(told))

    def _meant(self, one: EngineText) -> dict[str, str]:
        """Settings of this engine that values are given for, by the name they are given under."""
        named = [(own, name) for name in self._wanted if (own := _meant(name, one.name))]
        owns = [own for own, _ in named]
        for own in dict.fromkeys(owns):
            if owns.count(own) > 1:
                self._problems.add(
                    f"{own}: given for all engines and for {one.name} alone; give {one.name} one of the two"
                )
            if own in one.settings:
                self._problems.add(f"{own}: given by {one} and by values; give it once")
        self.taken |= {name for own, name in named if own in one.settings or owns.count(own) > 1}
        return dict(named)

    def _checked(self, text: EngineText) -> EngineText | None:
        try:
            return parse_engine(text)
        except InputError as error:
            self._problems.add(str(error))
            return None

    def _keep(self, text: EngineText) -> None:
        checked = self._checked(text)
        if checked is not None:
            build, search = checked.split()
            point = GridPoint(checked.name, build, search, len(self.points))
            self.points.setdefault(point.key, point)


def _all_of_use(engine: str, build: Mapping[str, Any]) -> Mapping[str, str]:  # noqa: ARG001 - as others are asked
    return {}


def _meant(name: str, engine: str) -> str | None:
    """The setting of this engine that a name means, if any."""
    owner, dot, own = name.rpartition(".")
    if dot and owner != engine:
        return None
    return own if own in settings_table(engine) else None


def _wanted(settings: Any) -> dict[str, list[Any]]:
    """Values by setting; one value alone is one."""
    given = {} if settings is None else settings
    if not isinstance(given, Mapping) or not all(isinstance(name, str) for name in given):
        raise InputError(f"settings: got {given!r}; must be values by setting, as in {{'ef_search': [16, 64]}}")
    return {name: _listed(values) for name, values in given.items()}


def _listed(values: Any) -> list[Any]:
    if isinstance(values, str):
        return [values]
    try:
        return list(values)
    except TypeError:  # one value
        return [values]
