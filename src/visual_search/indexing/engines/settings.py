"""Settings of engines, declared once: the checks, the defaults and the messages all come from the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal

from visual_search.errors import InputError, Problems

__all__ = ["Setting", "checked_settings"]


@dataclass(frozen=True, slots=True)
class Setting:
    """One whole-number setting of an engine.

    Parameters
    ----------
    name : str
        As users write it.
    default : int
        Value where none is given.
    least, most : int
        Allowed range, both ends included.
    when : "build" or "search"
        Whether it shapes the structure, or may change from search to search.
    meaning : str
        One line: what it is and what more of it costs.
    """

    name: str
    default: int
    least: int
    most: int
    when: Literal["build", "search"]
    meaning: str


def checked_settings(
    engine: str, table: Sequence[Setting], given: Mapping[str, Any], *, when: Literal["build", "search"] = "build"
) -> dict[str, int]:
    """Check settings against an engine's table, all problems at once.

    With ``when="build"`` every setting may be given and defaults fill the rest; with ``when="search"`` only the
    search-time settings are allowed and only what was given is returned.
    """
    problems = Problems(f"settings of engine {engine!r}")
    allowed = {setting.name: setting for setting in table if when == "build" or setting.when == "search"}
    checked = {name: setting.default for name, setting in allowed.items()} if when == "build" else {}
    fixed = {setting.name for setting in table} - set(allowed)
    for name, value in given.items():
        setting = allowed.get(name)
        if setting is None:
            problems.add(_unknown(name, allowed, fixed))
        elif isinstance(value, bool) or not _is_whole(value):
            problems.add(f"{name}={value!r}: must be a whole number in {setting.least}..{setting.most}")
        elif not setting.least <= int(value) <= setting.most:
            problems.add(f"{name}={value}: must lie in {setting.least}..{setting.most} ({setting.meaning})")
        else:
            checked[name] = int(value)
    problems.raise_if_any(InputError)
    return checked


def _is_whole(value: Any) -> bool:
    # numpy's integers are whole numbers too, and all of them have __index__.
    return hasattr(type(value), "__index__")


def _unknown(name: str, allowed: Mapping[str, Setting], fixed: set[str]) -> str:
    if name in fixed:
        return f"{name}: shapes the structure, so it is chosen when the index is made; make a new index"
    close = get_close_matches(name, allowed, n=1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    known = "; ".join(f"{setting.name} ({setting.meaning})" for setting in allowed.values()) or "none"
    return f"{name}: no such setting; {meant}known: {known}"
