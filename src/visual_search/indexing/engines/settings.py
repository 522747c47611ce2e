"""Settings of engines, declared once: the checks, the defaults and the messages all come from the table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any, Literal, TypeAlias

from visual_search.errors import InputError, Problems

__all__ = ["AnySetting", "Setting", "TextSetting", "checked_settings"]


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

    def read(self, value: Any) -> int:
        """The value as the engine takes it; ValueError with the words for what is wrong with it."""
        if isinstance(value, bool) or not _is_whole(value):
            raise ValueError(f"{self.name}={value!r}: must be a whole number in {self.least}..{self.most}")
        if not self.least <= int(value) <= self.most:
            raise ValueError(f"{self.name}={value}: must lie in {self.least}..{self.most} ({self.meaning})")
        return int(value)


@dataclass(frozen=True, slots=True)
class TextSetting:
    """One setting of an engine that is text.

    Parameters
    ----------
    name : str
    default : str
    choices : tuple of str
        What it may be; empty where any text may come, which the engine then checks itself.
    when : "build" or "search"
    meaning : str
    """

    name: str
    default: str
    choices: tuple[str, ...]
    when: Literal["build", "search"]
    meaning: str

    def read(self, value: Any) -> str:
        """The value as the engine takes it; ValueError with the words for what is wrong with it."""
        if not isinstance(value, str):
            raise ValueError(f"{self.name}={value!r}: must be text ({self.meaning})")  # noqa: TRY004 - one class for all
        if self.choices and value not in self.choices:
            raise ValueError(f"{self.name}={value!r}: must be one of {', '.join(self.choices)} ({self.meaning})")
        return value


AnySetting: TypeAlias = Setting | TextSetting


def checked_settings(
    engine: str,
    table: Sequence[AnySetting],
    given: Mapping[str, Any],
    *,
    when: Literal["build", "search"] = "build",
) -> dict[str, Any]:
    """Check settings against an engine's table, all problems at once.

    With ``when="build"`` every setting may be given and defaults fill the rest; with ``when="search"`` only the
    search-time settings are allowed and only what was given is returned.
    """
    problems = Problems(f"settings of engine {engine!r}")
    allowed = {setting.name: setting for setting in table if when == "build" or setting.when == "search"}
    checked: dict[str, Any] = {}
    if when == "build":
        checked |= {name: setting.default for name, setting in allowed.items()}
    fixed = {setting.name for setting in table} - set(allowed)
    for name, value in given.items():
        setting = allowed.get(name)
        if setting is None:
            problems.add(_unknown(name, allowed, fixed))
        else:
            try:
                checked[name] = setting.read(value)
            except ValueError as error:
                problems.add(str(error))
    problems.raise_if_any(InputError)
    return checked


def _is_whole(value: Any) -> bool:
    # numpy's integers are whole numbers too, and all of them have __index__.
    return hasattr(type(value), "__index__")


def _unknown(name: str, allowed: Mapping[str, AnySetting], fixed: set[str]) -> str:
    if name in fixed:
        return f"{name}: shapes the structure, so it is chosen when the index is made; make a new index"
    close = get_close_matches(name, allowed, n=1)
    meant = f"did you mean {close[0]!r}? " if close else ""
    known = "; ".join(f"{setting.name} ({setting.meaning})" for setting in allowed.values()) or "none"
    return f"{name}: no such setting; {meant}known: {known}"
