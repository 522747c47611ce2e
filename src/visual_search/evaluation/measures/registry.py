"""Which measures there are, by name.

A measure comes from the table below, from a class decorated with `register`, or from a package that declares an
entry point in the group ``visual_search.measures``. All three are loaded when their name is first asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, TypeVar

from visual_search.errors import InputError, UnknownNameError
from visual_search.evaluation.measures.measure import Measure

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["BUILT_IN", "ENTRY_POINT_GROUP", "measure_class", "measure_names", "register"]

ENTRY_POINT_GROUP = "visual_search.measures"

# Also declared as entry points in pyproject.toml; kept here so that they are found without reading the metadata of
# every installed package, which costs more than evaluating a run.
_ROOM = "visual_search.evaluation.measures"
BUILT_IN = {
    "HitRate": f"{_ROOM}.hit_rate:HitRate",
    "Recall": f"{_ROOM}.recall:Recall",
    "RPrecision": f"{_ROOM}.recall:RPrecision",
    "Precision": f"{_ROOM}.precision:Precision",
    "AP": f"{_ROOM}.average_precision:AP",
    "RR": f"{_ROOM}.reciprocal_rank:RR",
    "DCG": f"{_ROOM}.gain:DCG",
    "nDCG": f"{_ROOM}.gain:nDCG",
    "ERR": f"{_ROOM}.err:ERR",
    "RBP": f"{_ROOM}.rbp:RBP",
    "Bpref": f"{_ROOM}.bpref:Bpref",
    "F1": f"{_ROOM}.f1:F1",
    "INP": f"{_ROOM}.extreme_ranks:INP",
    "FirstRank": f"{_ROOM}.extreme_ranks:FirstRank",
    "Judged": f"{_ROOM}.judged:Judged",
    "NeighborRecall": f"{_ROOM}.neighbor_recall:NeighborRecall",
    "LowNeighborRecall": f"{_ROOM}.neighbor_recall:LowNeighborRecall",
    "DistanceRatio": f"{_ROOM}.distance_ratio:DistanceRatio",
}

_registered: dict[str, type[Measure]] = {}
_Class = TypeVar("_Class", bound=type[Measure])


def register(family: _Class) -> _Class:
    """Make a measure class known by its name, for `parse_measure` and every command.

    Parameters
    ----------
    family : class
        A frozen dataclass below `Measure`; its class name is the name in the text form.

    Returns
    -------
    class
        The same class, so that this serves as a decorator.

    Raises
    ------
    InputError
        Not a measure class, or another class has the name.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from visual_search.evaluation.measures.measure import Measure
    >>> from visual_search.evaluation.measures.parsing import parse_measure
    >>> @register
    ... @dataclass(frozen=True, kw_only=True)
    ... class FoundAll(Measure):
    ...     "Whether every relevant item is in the list."
    ...     def expectation(self, positions):
    ...         total = positions.relevant_counts()
    ...         return positions.retrieved_counts() == total, total > 0
    >>> parse_measure("FoundAll")
    FoundAll(average='macro', empty='undefined', ties='call')
    """
    if not _is_family(family):
        raise InputError(f"register: {family!r} is not a class below Measure")
    name = family.__name__
    other = _registered.get(name)
    # A module that is loaded again brings the same class anew; that replaces it.
    same = other is not None and (other.__module__, other.__qualname__) == (family.__module__, family.__qualname__)
    if name in BUILT_IN or (other is not None and not same):
        raise InputError(f"register: there is already a measure {name}; give the class another name")
    _registered[name] = family
    return family


def measure_names() -> tuple[str, ...]:
    """Names of all measures that can be parsed, sorted."""
    return tuple(sorted({*BUILT_IN, *_registered, *(point.name for point in _plugged_in())}, key=str.lower))


def measure_class(name: str) -> type[Measure]:
    """Return the class of that name, loaded now if it was not.

    Raises
    ------
    UnknownNameError
        There is none; the message lists those there are and the nearest.
    """
    if name in BUILT_IN:
        module, _, attribute = BUILT_IN[name].partition(":")
        built_in: type[Measure] = getattr(import_module(module), attribute)
        return built_in
    if name in _registered:
        return _registered[name]
    for point in _plugged_in():
        if point.name == name:
            return register(_loaded(point))
    from difflib import get_close_matches

    known = measure_names()
    near = get_close_matches(name.lower(), [other.lower() for other in known], n=1)
    meant = next((f", did you mean {other}?" for other in known if near and other.lower() == near[0]), "")
    raise UnknownNameError(f"no measure {name!r}{meant}; there are {', '.join(known)}")


def _plugged_in() -> list[EntryPoint]:
    # Metadata and its parsers are loaded only when a name is not one of the table's.
    from importlib.metadata import entry_points

    return [point for point in entry_points(group=ENTRY_POINT_GROUP) if point.name not in BUILT_IN]


def _loaded(point: EntryPoint) -> type[Measure]:
    family = point.load()
    if not _is_family(family) or family.__name__ != point.name:
        raise InputError(
            f"entry point {point.name} = {point.value} in group {ENTRY_POINT_GROUP}: it must name a class below "
            f"Measure called {point.name}; it gives {family!r}"
        )
    loaded: type[Measure] = family
    return loaded


def _is_family(found: Any) -> bool:
    return isinstance(found, type) and issubclass(found, Measure)
